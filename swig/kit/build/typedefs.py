# SPDX-License-Identifier: Apache-2.0
"""The typedefs of SWIG's parse tree, those of imported modules included."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass, field

from .notation import cpp_type
from .python_types import Alias
from .typemaps import attributes

__all__ = ["Typedefs"]


@dataclass
class Typedefs:
    """C++ types by full names, and the same of typedefs with parameters."""

    types: dict[str, str] = field(default_factory=dict)
    aliases: dict[str, Alias] = field(default_factory=dict)

    def add(self, node: ElementTree.Element, scope: str = "") -> Typedefs:
        """Those below the node, which is in the scope."""
        for child in node:
            if child.tag == "attributelist":
                continue
            has = attributes(child)
            inside = scope
            if child.tag in ("namespace", "class"):
                inside = cpp_type(has.get("name", "")) or scope
            elif child.tag == "cdecl" and has.get("kind") == "typedef":
                self.types[_full(has["name"], scope)] = _declared_type(has)
            elif child.tag == "template" and "aliastemplate" in has:
                self.aliases[_full(has["name"], scope)] = _alias(child, has)
            self.add(child, inside)
        return self


def _full(name: str, scope: str) -> str:
    """SWIG writes some names with their scope, others without."""
    inside = not scope or name.startswith(f"{scope}::")
    return name if inside else f"{scope}::{name}"


def _declared_type(has: dict[str, str]) -> str:
    return cpp_type(has.get("decl", "") + has["type"])


def _alias(node: ElementTree.Element, has: dict[str, str]) -> Alias:
    names, defaults = [], []
    for parameter in node.iterfind("attributelist/templateparms/parm"):
        of = attributes(parameter)
        names.append(of.get("name") or of["type"].removeprefix("typename ").strip())
        defaults.append(cpp_type(of["value"]) if "value" in of else "")
    return Alias(tuple(names), tuple(defaults), _declared_type(has))
