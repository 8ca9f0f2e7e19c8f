# SPDX-License-Identifier: Apache-2.0
"""Lines of an interface that say something of a class that is not there: SWIG passes
over them without a word."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from .notation import scope
from .records import Module

__all__ = ["unknown_names"]

# The words whose first argument is a class or an enum, as the kit defines them.
INCLUDED = Path(__file__).resolve().parent.parent / "include" / "swigkit"
WORD = re.compile(r"^%define %(\w+)\((?:Class|Enum)_", re.MULTILINE)
LINE = r"^[ \t]*%({words})[ \t]*\(((?:[^()<>,]|<[^()]*>)+)"
# Comments, C++, macros, whose lines have other names, and what may not be read.
PASSED_OVER = re.compile(
    r"//[^\n]*|/\*.*?\*/|%\{.*?%\}|^[ \t]*%define\b.*?^[ \t]*%enddef"
    r"|^[ \t]*#[ \t]*if.*?^[ \t]*#[ \t]*endif",
    re.S | re.M,
)
MACRO = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)", re.M)


def unknown_names(interface: str, module: Module) -> Iterator[str]:
    """What to say of each such line in the interface's text."""
    enums = [*module.enums, *(enum for cls in module.classes for enum in cls.enums)]
    names = [cls.cpp for cls in module.classes] + [enum.cpp for enum in enums]
    names += [*module.typedefs.classes, *module.typedefs.types]
    known = {_plain(name) for name in (*names, *MACRO.findall(interface))}
    files = (INCLUDED / name for name in ("classes.i", "directors.i"))
    words = [w for file in files for w in WORD.findall(file.read_text("utf-8"))]
    line = re.compile(LINE.format(words="|".join(words)), re.MULTILINE)
    for found in line.finditer(PASSED_OVER.sub("", interface)):
        name = _plain(found[2])
        if name in known:
            continue
        alike = sorted(one for one in known if _last(one) == _last(name))
        hint = f": is it {' or '.join(alike)}?" if alike else ""
        yield f"%{found[1]}({name}) says it of nothing that is there{hint}"


def _plain(name: str) -> str:
    """Without the arguments of a template."""
    return re.sub(r"<.*|\s", "", name).removeprefix("::")


def _last(name: str) -> str:
    return name.removeprefix(scope(name)).removeprefix("::")
