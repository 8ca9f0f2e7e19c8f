# SPDX-License-Identifier: Apache-2.0
"""C++ that SWIG 4.5.1 does not read: it gets a copy of the header that says the same in
other words, and where there is none the error shows the line.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Sequence
from pathlib import Path

from .incremental import BuildError, Runner, Step
from .nested import CLASH, Renames

__all__ = ["Headers"]

SYNTAX_ERROR = re.compile(
    r"^(.+?):(\d+): Error: (?:Syntax error|Error parsing|Unexpected)", re.M
)
HINT = """\
  {line}
SWIG does not read this line, or one near it.  Hide it with `#ifndef SWIG` and `#endif`
around it, or declare in the interface what Python needs instead of %include."""
# What it does not read, and how it does.
SPELLINGS = (
    # Which of the orderings does not matter to Python.
    (re.compile(r"\bauto(\s+operator\s*<=>)"), r"std::strong_ordering\1"),
    # Members of one declaration: `int a{1}, b{2};`
    (re.compile(r"(\b\w+)\s*\{[^{}();]*\}(?=\s*,\s*\w+\s*[{=;,])"), r"\1"),
    (re.compile(r"(,\s*\w+)\s*\{[^{}();]*\}(?=\s*;)"), r"\1"),
    # 1'000'000
    (re.compile(r"(?<=[0-9a-fA-F])'(?=[0-9a-fA-F])"), ""),
    (re.compile(r"\bexplicit\s*\(true\)"), "explicit"),
    (re.compile(r"\busing\s+enum\s+[\w:]+\s*;"), ""),
    # `int bits : 3 = 1;`
    (re.compile(r"(\b\w+\s*:\s*\d+)\s*=\s*\w+(?=\s*;)"), r"\1"),
    # `int f(int n = int{3})`
    (re.compile(r"(=\s*[\w:]+)\{([^{};]*)\}(?=\s*[,)])"), r"\1(\2)"),
)


class Headers:
    """The copies, which lie as their originals do below an -I folder."""

    def __init__(self, folder: Path, root: Path, include_dirs: Sequence[str]) -> None:
        self.folder = folder / "readable"
        self.root = root
        self.renames = Renames(folder, root)
        self.include_dirs = [".", *include_dirs]

    def run(self, step: Step, runner: Runner) -> None:
        """SWIG's step, once more for each header that it could not read."""
        self._refresh()
        while True:
            tried = self._with_copies(self.renames.used_by(step))
            try:
                return runner.run([tried])
            except BuildError as error:
                if CLASH in str(error):
                    self.renames.add(tried, error)
                    continue
                found = SYNTAX_ERROR.search(str(error))
                if not found:
                    raise
                if not self._copy(found[1]):
                    raise BuildError(f"{error}\n{self._hint(found)}") from None

    def _with_copies(self, step: Step) -> Step:
        if not self.folder.exists():
            return step
        # SWIG looks into its working folder first.
        *command, interface = (
            f"-I{self.root / word[2:]}" if word.startswith("-I") else word
            for word in step.command
        )
        command.append(str(self.root / interface))
        return dataclasses.replace(step, command=command, folder=self.folder)

    def _copy(self, path: str) -> bool:
        """Whether there is a copy of this header now that was not there before."""
        source = self.root / path
        if not source.is_file() or source.suffix == ".i":
            return False
        text = readable(source.read_text(encoding="utf-8", errors="surrogateescape"))
        made = False
        for name in {self._below(path, around) for around in self.include_dirs} - {""}:
            target = self.folder / name
            if not target.exists() and text is not None:
                _write(target, text)
                _write(target.with_name(f"{target.name}.from"), str(source))
                made = True
        return made

    def _refresh(self) -> None:
        """Copies of what has changed meanwhile."""
        for record in self.folder.rglob("*.from"):
            source = Path(record.read_text(encoding="utf-8"))
            target = record.with_suffix("")
            text = None
            if source.is_file():
                text = readable(
                    source.read_text(encoding="utf-8", errors="surrogateescape")
                )
            if text is None:
                target.unlink(missing_ok=True)
                record.unlink()
            elif target.read_text(encoding="utf-8", errors="surrogateescape") != text:
                _write(target, text)

    def _below(self, path: str, around: str) -> str:
        here = (self.root / path).resolve()
        there = (self.root / around).resolve()
        return str(here.relative_to(there)) if here.is_relative_to(there) else ""

    def _hint(self, found: re.Match[str]) -> str:
        source = self.root / found[1]
        lines = (
            source.read_text(errors="replace").splitlines() if source.is_file() else []
        )
        number = int(found[2])
        line = lines[number - 1].strip() if 0 < number <= len(lines) else ""
        return HINT.format(line=line)


def readable(text: str) -> str | None:
    """The header as SWIG reads it; None when nothing is to be changed."""
    changed = text
    for pattern, spelling in SPELLINGS:
        changed = pattern.sub(spelling, changed)
    return None if changed == text else changed


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8", errors="surrogateescape")
