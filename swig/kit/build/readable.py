# SPDX-License-Identifier: Apache-2.0
"""C++ that SWIG 4.5.1 does not read: it gets a copy of the header that says the same in
other words, and where there is none the error shows the line.

Nor does it see an instance of a template whose %template comes after a class that is
derived from it, which in one header cannot be otherwise: in the copy it stands before.
A private method that a class leaves to those derived from it is protected there: to
override it is what it is for.
"""

from __future__ import annotations

import dataclasses
import json
import os
import re
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from .incremental import BuildError, Runner, Step
from .nested import CLASH, Renames

__all__ = ["Headers"]

Insertion = tuple[int, str]  # before what begins on this line, counted from 1

SYNTAX_ERROR = re.compile(
    r"^(.+?):(\d+): Error: (?:Syntax error|Error parsing|Unexpected|Missing|Untermin)",
    re.M,
)
HINT = """\
  {line}
SWIG does not read this line, or one near it.  Hide it with `#ifndef SWIG` and `#endif`
around it, or declare in the interface what Python needs instead of %include."""
LATE = re.compile(
    r"^(.+?):(\d+): Warning 401: '(.+)' must be defined before it is used as a base",
    re.M,
)
HIDDEN = re.compile(
    r"^(.+?):(\d+): Warning 517: Director class '.+' is abstract, "
    r"abstract method '(.+)' is private",
    re.M,
)
# Of a comparison with a body: the copy says which ordering.
ORDER = re.compile(
    r"^(.+?):(\d+): Warning 345: Unable to deduce auto return type for "
    r"'(?:.*::)?(operator ?<=>)",
    re.M,
)
# Of one in an inline namespace, perhaps.
UNKNOWN_BASE = re.compile(
    r"^(.+?):(\d+): Warning 401: Nothing known about base class '(.+)'\. Ignored", re.M
)
INCLUDED = re.compile(r"^[ \t]*%include[ \t]*[\"<]([^\"<>]+)[\">]", re.M)
OPEN = "protected: "  # an insertion that is no text: the method's name follows
DIRECTIVE = re.compile(r"%template\s*\(\s*\w*\s*\)\s*([^;]+?)\s*;")
CLASS = re.compile(  # its comment included
    r"^(?:[ \t]*//.*\n|[ \t]*/\*(?:[^*]|\*(?!/))*\*/[ \t]*\n)*"
    r"[ \t]*(?:template\s*<[^;{}]*>\s*)?(?:class|struct)\s",
    re.M,
)
# `= [](int a) -> int {`
LAMBDA = re.compile(
    r"(?P<auto>\b(?:(?:inline|static|const|constexpr)\s+)*auto\s+\w+\s*)?"
    r"(?<![=!<>])=\s*\+?\s*\[[^\[\]\n]*\]\s*(?:\([^(){}]*(?:\([^()]*\)[^(){}]*)*\))?\s*"
    r"(?:mutable\s*|noexcept\s*|->\s*[\w:<>,&*\s]+)*\{"
)
# Of a class, up to its members.
HEAD = r"(\b(?:class|struct|union|enum)\b[^;{}()=]*\{)"
# What it does not read, and how it does.
SPELLINGS = (
    # Which of the orderings does not matter to Python.
    (re.compile(r"\bauto(\s+operator\s*<=>)"), r"std::strong_ordering\1"),
    # Members of one declaration: `int a{1}, b{2};`, and not `struct A : B, C {};`
    (re.compile(HEAD + r"|(\b\w+)\s*\{[^{}();]*\}(?=\s*,\s*\w+\s*[{=;,])"), r"\1\2"),
    (re.compile(HEAD + r"|(,\s*\w+)\s*\{[^{}();]*\}(?=\s*;)"), r"\1\2"),
    # 1'000'000
    (re.compile(r"(?<=[0-9a-fA-F])'(?=[0-9a-fA-F])"), ""),
    (re.compile(r"\bexplicit\s*\(\s*false\s*\)"), ""),
    (re.compile(r"\bexplicit\s*\((?:[^()]|\([^()]*\))*\)"), "explicit"),
    (re.compile(r"\bdecltype\s*\(\s*auto\s*\)"), "auto"),
    # `int f() const requires true;`
    (
        re.compile(
            r"(\)\s*(?:const\b\s*|noexcept\b\s*|&{1,2}\s*)*)requires\b"
            r"(?:[^;{}()]|\((?:[^()]|\([^()]*\))*\))*(?=[;{])"
        ),
        r"\1",
    ),
    # `std::string text("x");` and not `std::string text(int);`
    (
        re.compile(r"(\b(?!new\b)[\w:<>,]+[ \t]+\w+)\((?=[\"'\d-])[^;{}]*\)(?=\s*;)"),
        r"\1",
    ),
    # `auto [a, b] = pair;`
    (re.compile(r"\bauto\s*&?\s*\[[\w\s,]+\]\s*=[^;{}]*;"), ""),
    (re.compile(r"\busing\s+enum\s+[\w:]+\s*;"), ""),
    # Its names are those of the namespace around.
    (
        re.compile(r"\bnamespace\s+([\w:]+)::inline\s+(\w+)\s*\{"),
        r"namespace \1 { namespace \2 {} using namespace \2; } namespace \1::\2 {",
    ),
    (
        re.compile(r"\binline\s+namespace\s+(?:\[\[.*?\]\]\s*)?(\w+)\s*\{"),
        r"namespace \1 {} using namespace \1; namespace \1 {",
    ),
    # `int bits : 3 = 1;`
    (re.compile(r"(\b\w+\s*:\s*\d+)\s*=\s*\w+(?=\s*;)"), r"\1"),
)
# `int f(Ints list = Ints{3})`: SWIG passes over what stands in brackets.
BRACES = re.compile(r"(?<![=!<>])=\s*(?=[\w:]+\s*(?:<[^;{}()=]*>\s*)?(?P<open>\{))")
WRITTEN = "= SWIGKIT_AS_WRITTEN({})"
# Texts, in which nothing else begins, and what says nothing.
TEXT = r'R"(?P<mark>[^()\s\\]*)\(.*?\)(?P=mark)"|"(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)*\''
COMMENT = r"//[^\n]*|/\*.*?\*/"
TOKEN = re.compile(rf"(?P<text>{TEXT})|{COMMENT}|(?P<brace>[{{}}])", re.S)
SPACE = re.compile(rf"(?P<text>{TEXT})|(?:{COMMENT}|\s)+", re.S)
LAST = re.compile(rf"(?:{COMMENT}|\s)*[,)]", re.S)
# `Part* part = new Part{1};`
NEW = re.compile(
    rf"(?P<skip>{TEXT}|{COMMENT}|^[ \t]*\#(?:\\.|[^\\\n])*)"
    r"|(?<![=!<>])=\s*new\b\s*(?:[\w:]+(?:\s*<[^;(){}]*>)?)?",
    re.S | re.M,
)
BRACKET = re.compile(rf"{TEXT}|{COMMENT}|(?P<bracket>[(){{}}\[\],;])", re.S)


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
        if runner.why_stale(self._with_copies(self.renames.used_by(step))):
            self.renames.forget()  # the interface may have changed
            self._refresh(insertions=False)
        mended: dict[re.Pattern[str], Callable[[str], bool]] = {
            LATE: self._place_templates,
            HIDDEN: self._open_methods,
            ORDER: self._name_orders,
            UNKNOWN_BASE: partial(self._open_namespaces, step),
        }
        while True:
            refused = "(?m)" + "|".join(one.pattern for one in mended) if mended else ""
            tried = self._with_copies(self.renames.used_by(step))
            tried = dataclasses.replace(tried, refused=refused)
            try:
                return runner.run([tried])
            except BuildError as error:
                found = SYNTAX_ERROR.search(str(error))
                if CLASH in str(error):
                    self.renames.add(tried, error)
                elif found:
                    if not self._copy(found[1]):
                        raise BuildError(f"{error}\n{self._hint(found)}") from None
                else:
                    warned = [one for one in mended if one.search(str(error))]
                    if not warned:
                        raise
                    if not mended[warned[0]](str(error)):
                        del mended[warned[0]]  # SWIG's warning says what is missing

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

    def _copy(self, path: str, insertions: Sequence[Insertion] = ()) -> bool:
        """Whether there is a copy of this header now that was not there before."""
        source = self._source(path)
        if not source.is_file() or source.suffix == ".i":
            return False
        made = False
        for name in {self._below(source, dir_) for dir_ in self.include_dirs} - {""}:
            target = self.folder / name
            recorded = _recorded(target)
            before = recorded[1] if recorded else []
            if target.exists() and set(insertions) <= set(before):
                continue
            made |= _make_copy(source, target, [*before, *insertions])
        return made

    def _source(self, path: str) -> Path:
        """The header itself, of one that SWIG has read."""
        target = self.folder / path
        recorded = _recorded(target) if target.is_file() else None
        return Path(recorded[0]) if recorded else self.root / path

    def _refresh(self, insertions: bool = True) -> None:
        """Copies of what has changed meanwhile."""
        for record in self.folder.rglob("*.from"):
            target = record.with_suffix("")
            recorded = _recorded(target)
            kept = recorded[1] if recorded and insertions else []
            source = Path(recorded[0]) if recorded else None
            if not source or not source.is_file():
                made = False
            else:
                made = _make_copy(source, target, kept)
            if not made:
                target.unlink(missing_ok=True)
                record.unlink()

    def _place_templates(self, text: str) -> bool:
        """Puts %template lines before the classes that need them; whether it could."""
        placed = False
        for where, line, name in LATE.findall(text):
            derived = re.search(
                rf"^(.+?):(\d+): Warning 401: Base class '{re.escape(name)}' undefined",
                text,
                re.M,
            )
            directive = self._directive(where, int(line), name)
            if derived and directive:
                placed |= self._copy(derived[1], [(int(derived[2]), directive)])
        return placed

    def _open_methods(self, text: str) -> bool:
        """Makes protected what Python shall override; whether it could."""
        return any(
            [
                self._copy(where, [(int(line), OPEN + name)])
                for where, line, name in HIDDEN.findall(text)
            ]
        )

    def _name_orders(self, text: str) -> bool:
        """Copies the headers with `auto operator<=>(...) {`; whether it could."""
        return any([self._copy(where) for where, _, _ in ORDER.findall(text)])

    def _open_namespaces(self, step: Step, text: str) -> bool:
        """Copies what may have inline namespaces: the headers that SWIG warned of, and
        those that the interface includes; whether it could."""
        found = [where for where, _, _ in UNKNOWN_BASE.findall(text)]
        interface = self.root / step.command[-1]
        if interface.is_file():
            found += INCLUDED.findall(interface.read_text(encoding="utf-8"))
        paths = [
            path
            for name in dict.fromkeys(found)
            for path in (self.root / around / name for around in self.include_dirs)
            if path.is_file()
        ]
        return any([self._copy(str(path)) for path in paths])

    def _directive(self, path: str, line: int, name: str) -> str:
        """The %template that makes this instance, from the line where SWIG saw it."""
        source = self._source(path)
        if not source.is_file():
            return ""
        lines = source.read_text(encoding="utf-8", errors="replace").splitlines()
        found = list(DIRECTIVE.finditer("\n".join(lines[line - 1 : line + 4])))
        # A typedef has another name than the instance.
        named = [one for one in found if _plain(one[1]) == _plain(name)] or found
        return " ".join(named[0][0].split()) if named else ""

    def _below(self, path: Path, around: str) -> str:
        here = path.resolve()
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
    changed = _without_news(text)
    for pattern, spelling in SPELLINGS:
        changed = pattern.sub(spelling, changed)
    changed = _with_braces(_without_lambdas(changed))
    return None if changed == text else changed


def _without_lambdas(text: str) -> str:
    """Of variables; what is the default of a parameter is copied."""
    at = 0
    while found := LAMBDA.search(text, at):
        end = _closed(text, found.end())
        if found["auto"]:  # nothing is left of the variable
            end = text.find(";", end) + 1 or end
        new = "\n" * text.count("\n", found.start(), end)  # lines keep their numbers
        if not found["auto"] and _ends_parameter(text, end):
            new = _written(text, found.start() + 1, end)
        text = text[: found.start()] + new + text[end:]
        at = found.start() + len(new)
    return text


def _without_news(text: str) -> str:
    """Of variables; what is the default of a parameter is copied."""
    at = 0
    while found := NEW.search(text, at):
        at = found.end()
        if found["skip"]:
            continue
        comma, end = _value_ends(text, at)
        if end == len(text) or text[end] not in ";)":
            continue
        past = end if comma is None else comma
        new = "\n" * text.count("\n", found.start(), past)
        if text[end] == ")":
            new = _written(text, found.start() + 1, past)
        text = text[: found.start()] + new + text[past:]
        at = found.start() + len(new)
    return text


def _value_ends(text: str, at: int) -> tuple[int | None, int]:
    """The first comma in no bracket, and the bracket or semicolon that ends all."""
    comma, depth = None, 0
    for found in BRACKET.finditer(text, at):
        sign = found["bracket"]
        if sign in ("(", "[", "{"):
            depth += 1
        elif depth and sign in (")", "]", "}"):
            depth -= 1
        elif sign == "," and not depth and comma is None:
            comma = found.start()
        elif sign and sign != "," and not depth:
            return comma, found.start()
    return comma, len(text)


def _with_braces(text: str) -> str:
    """Defaults of parameters that are a class's name with braces."""
    at = 0
    while found := BRACES.search(text, at):
        end = _closed(text, found.end("open"))
        at = found.end()
        if _ends_parameter(text, end):
            new = _written(text, found.end(), end)
            text = text[: found.start()] + new + text[end:]
            at = found.start() + len(new)
    return text


def _written(text: str, start: int, end: int) -> str:
    """A default as it is written, in one line, as SWIG makes one of it: without
    comments, which would not end there.  The lines after it keep their numbers."""
    plain = SPACE.sub(lambda found: found["text"] or " ", text[start:end]).strip()
    lines = text.count("\n", start, end) - plain.count("\n")  # but those of a raw text
    return WRITTEN.format(plain) + "\n" * lines


def _closed(text: str, end: int) -> int:
    """Where the block that is open here ends."""
    depth = 1
    while depth and (found := TOKEN.search(text, end)):
        end = found.end()
        depth += {"{": 1, "}": -1}.get(found["brace"], 0)
    return end if not depth else len(text)


def _ends_parameter(text: str, end: int) -> bool:
    return bool(LAST.match(text, end))


def _make_copy(source: Path, target: Path, insertions: Sequence[Insertion]) -> bool:
    """Whether it says anything else than the header."""
    original = _read(source)
    if target.exists() and target.stat().st_mtime_ns < source.stat().st_mtime_ns:
        insertions = []  # the lines are others now
        os.utime(target)  # though all that is said may be the same
    text = _inserted(original, insertions)
    text = readable(text) or text
    if text == original:
        return False
    if not target.exists() or _read(target) != text:
        _write(target, text)
        # Project and build folder may move together.
        where = os.path.relpath(source, target.parent)
        record = json.dumps([where, list(insertions)])
        _write(target.with_name(f"{target.name}.from"), record)
    return True


def _recorded(target: Path) -> tuple[str, list[Insertion]] | None:
    """The header that it is a copy of, and what was put into it; None: not known."""
    record = target.with_name(f"{target.name}.from")
    try:
        source, insertions = json.loads(record.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    source = os.path.normpath(target.parent / source)
    return source, [(line, text) for line, text in insertions]


def _inserted(text: str, insertions: Sequence[Insertion]) -> str:
    """With the texts before the classes that begin on the lines, or not far above, and
    the methods after OPEN protected."""
    starts = [0, *(found.end() for found in re.finditer("\n", text))]
    for line, added in sorted(insertions, reverse=True):
        end = starts[line] if line < len(starts) else len(text)
        classes = [found.start() for found in CLASS.finditer(text, 0, end)]
        if classes and added.startswith(OPEN):
            name = added.removeprefix(OPEN)
            method = rf"virtual\b[^;{{}}]*\b{name}\s*\([^;{{}}]*=\s*0\s*;"
            found = re.compile(method).search(text, classes[-1])
            if found:
                opened = f"{OPEN}{found[0]} private:"
                text = text[: found.start()] + opened + text[found.end() :]
        elif classes:
            text = f"{text[: classes[-1]]}{added} {text[classes[-1] :]}"
    return text


def _plain(name: str) -> str:
    """Without namespaces, of which SWIG leaves some out."""
    return re.sub(r"\w+::|\s", "", name)


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="surrogateescape")


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8", errors="surrogateescape")
