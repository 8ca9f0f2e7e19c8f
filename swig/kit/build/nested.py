# SPDX-License-Identifier: Apache-2.0
"""Classes of one name in several classes, and free operators of one sign in several
namespaces: SWIG's names are flat, and would clash.

They get others for SWIG alone, by %rename in a file that swigkit.i includes.
"""

from __future__ import annotations

import dataclasses
import os
import re
import shutil
import subprocess
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from pathlib import Path

from .incremental import BuildError, Step
from .notation import cpp_type, scope
from .xml_tree import attributes, parse

__all__ = ["CLASH", "PREFIX", "Renames", "operator_name"]

CLASH = "is multiply defined in the generated target language module"
CLASHES = re.compile(rf"Error: (?:'.*' {CLASH}|Previous declaration of '.*')")
PREFIX = "swigkit_nested__"
HINT = """\
Two names of C++'s are one in Python.  Give one of them another before its declaration:
  %rename(OtherName) its_namespace::Name;"""


class Renames:
    """The file, which is there when it was needed once."""

    def __init__(self, folder: Path, root: Path) -> None:
        self.folder = folder / "renames"
        self.root = root

    def used_by(self, step: Step) -> Step:
        """SWIG's step, which reads the file if there is one."""
        if not self.folder.exists():
            return step
        words = [f"-I{self.folder}", "-DSWIGKIT_NESTED"]
        command = [*step.command[:-1], *words, step.command[-1]]
        return dataclasses.replace(step, command=command)

    def forget(self) -> None:
        """Removes the file."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def add(self, step: Step, error: BuildError) -> None:
        """Writes the file; raises the error with a hint when that is no help."""
        lines = [f"%rename({flat}) {name};\n" for flat, name in self._clashing(step)]
        others = [one for one in str(error).splitlines() if not CLASHES.search(one)]
        if not lines and any("Error:" in one for one in others):
            # Which is why the names were not found: they may be no error at all.
            raise BuildError("\n".join(others)) from None
        if not lines or self.folder.exists():
            raise BuildError(f"{error}\n{HINT}") from None
        self.folder.mkdir(parents=True)
        (self.folder / "swigkit_nested.i").write_text("".join(lines), encoding="utf-8")

    def _clashing(self, step: Step) -> Iterator[tuple[str, str]]:
        """What they are called instead, and their names in C++."""
        parsed = self.folder.with_suffix(".xml")
        parsed.parent.mkdir(parents=True, exist_ok=True)
        keep = [w for w in step.command if w.startswith(("-I", "-D"))]
        command = [step.command[0], "-xml", "-c++", *keep, "-o", str(parsed)]
        done = subprocess.run(
            [*command, step.command[-1]],
            cwd=step.folder or self.root,
            env={**os.environ, **step.environment},
            capture_output=True,
        )
        if done.returncode or not parsed.exists():
            return
        tree = parse(parsed)
        yield from _operators(tree)
        found = [attributes(node) for node in tree.iter("class")]
        wrapped = [has for has in found if "sym_name" in has and "name" in has]
        full = {cpp_type(has["name"]) for has in wrapped}
        names = [has["sym_name"] for has in wrapped]
        for has in wrapped:
            cpp = cpp_type(has["name"])
            if names.count(has["sym_name"]) > 1 and scope(cpp) in full:
                yield _flat(cpp), cpp


def _flat(name: str) -> str:
    return PREFIX + re.sub(r"\W", "_", name)


def _operators(tree: ElementTree.Element) -> Iterator[tuple[str, str]]:
    """All that any namespace has, of each namespace: SWIG does not say where a friend's
    is."""
    spaces = set(_namespaces(tree, ""))
    found = [attributes(node) for node in tree.iter("cdecl")]
    signs = {}
    for has in found:
        # Without the arguments of a template's instance.
        name = re.sub(r"<\(.*\)>$", "", has.get("name", "")).rpartition("::")[2]
        if name.startswith("operator ") and operator_name(has.get("sym_name", "")):
            signs[name] = has["sym_name"]
    for space in sorted(spaces):
        if re.match(r"(std|swigkit|)(::|$)", space):
            continue
        for name, symbol in sorted(signs.items()):
            yield f"{_flat(space)}_x{symbol}", f"{space}::{name}"


def _namespaces(node: ElementTree.Element, around: str) -> Iterator[str]:
    """All below the node, which is in `around`, by their full names."""
    for child in node:
        inside = around
        if child.tag == "namespace":
            name = attributes(child).get("name", "")
            inside = f"{around}::{name}" if around and name else name or around
            yield inside
        yield from _namespaces(child, inside)


def operator_name(symbol: str) -> str:
    """What Python calls an operator: the end of what SWIG does; "" of what is none."""
    found = re.search(r"(?:^|(?<=[a-z0-9]))__[a-z]+__$", symbol)
    return found[0] if found else ""
