# SPDX-License-Identifier: Apache-2.0
"""What type stubs need of SWIG's parse tree besides the records of tree.py.

Exceptions, and which class an operator that is no member belongs to.
"""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from .tree import EXCEPTION, Function, Module
from .xml_tree import parse

__all__ = ["Declared", "declared", "operators"]


@dataclass
class Declared:
    """`exceptions` are C++ class, Python's name, and base in C++'s notation."""

    exceptions: list[tuple[str, str, str]] = field(default_factory=list)
    new: set[str] = field(default_factory=set)  # wrappers of %newobject's functions


def declared(path: Path) -> Declared:
    """Of the tree in this file."""
    found = Declared()
    _walk(parse(path), found)
    return found


def _walk(node: ElementTree.Element, into: Declared) -> None:
    for child in node:
        if child.tag == "attributelist":
            continue
        if child.tag == "import":
            continue
        has = {a.get("name", ""): a.get("value", "") for a in _attributes(child)}
        if child.tag == "cdecl" and "feature_new" in has:
            into.new.add(has.get("wrap_name", ""))
        elif child.tag == "insert":
            into.exceptions += EXCEPTION.findall(has.get("code", ""))
        _walk(child, into)


def _attributes(node: ElementTree.Element) -> Iterator[ElementTree.Element]:
    return node.iterfind("attributelist/attribute")


def operators(module: Module) -> tuple[list[Function], dict[str, list[Function]]]:
    """The free functions, and operators by the C++ name of the class they belong to."""
    free: list[Function] = []
    owned: dict[str, list[Function]] = {}
    for function in module.functions:
        found = module.operator_of(function)
        if found:
            cls, name, function.operand = found
            method = replace(function, name=name, parameters=function.given, operand=0)
            owned.setdefault(cls.cpp, []).append(method)
        elif not function.is_operator:
            free.append(function)
    return free, owned
