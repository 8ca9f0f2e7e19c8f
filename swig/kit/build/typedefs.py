# SPDX-License-Identifier: Apache-2.0
"""The typedefs of SWIG's parse tree, those of imported modules included."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass, field

from .notation import cpp_type, scope as scope_of
from .python_types import Alias
from .xml_tree import attributes

__all__ = ["Typedefs"]

# In which nothing is C++.
TEXT = r"\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'|//[^\n]*"


@dataclass
class Typedefs:
    """C++ types by full names, and the same of typedefs with parameters."""

    types: dict[str, str] = field(default_factory=dict)
    aliases: dict[str, Alias] = field(default_factory=dict)
    classes: set[str] = field(default_factory=set)
    hidden: set[str] = field(default_factory=set)  # private and protected ones
    # Where the names of a namespace are known as well: (in which, of which).
    used: list[tuple[str, str]] = field(default_factory=list)

    def read(self, root: ElementTree.Element) -> None:
        """Those of the tree, and names by `using` and by aliases of namespaces."""
        self.add(root)
        for _ in range(2):  # the second for what is used where it is used in turn
            self._add_used()

    def _add_used(self) -> None:
        spaces = {name.rpartition("::")[0] for name in (*self.classes, *self.types)}
        names = [*self.classes, *self.types]  # not what is added here: no circles
        for inside, space in dict.fromkeys(self.used):
            around = inside
            while around and f"{around}::{space}" not in spaces:
                around = scope_of(around)
            full = f"{around}::{space}" if around else space
            for name in names:
                # An inner namespace that uses an outer one has its own names anyway.
                around_it = f"{inside}::".startswith(f"{full}::")
                own = around_it and name.startswith(f"{inside}::")
                if name.startswith(f"{full}::") and not own:
                    known = _full(name.removeprefix(f"{full}::"), inside)
                    if known not in self.classes:
                        self.types.setdefault(known, name)

    def spelled_out(self, text: str) -> str:
        """C++ without the hidden ones, which nobody else may name."""
        if not self.hidden:
            return text
        known = {re.sub(r"\s", "", name): self.types[name] for name in self.hidden}
        names = "|".join(map(_with_blanks, sorted(self.hidden, key=len, reverse=True)))

        def of(found: re.Match[str]) -> str:
            if found["text"]:
                return found[0]
            kind = self.spelled_out(known[re.sub(r"\s", "", found[0])])
            plain = re.fullmatch(r"[\w:<>, ]+", kind)
            return kind if plain else f"std::type_identity_t< {kind} >"

        return re.sub(rf"(?P<text>{TEXT})|(?<![\w:])(?:{names})\b", of, text)

    def add(
        self, node: ElementTree.Element, scope: str = "", in_class: bool = False
    ) -> None:
        """Those below the node, which is in the scope."""
        for child in node:
            if child.tag == "attributelist":
                continue
            has = attributes(child)
            inside = scope
            if child.tag == "namespace" and "alias" in has:
                self.used.append((_full(has["name"], scope), has["alias"]))
            elif child.tag in ("namespace", "class"):
                name = cpp_type(has.get("name", ""))
                inside = _full(name, scope) if name else scope
                if child.tag == "class":
                    self.classes.add(inside)
            elif child.tag == "using" and "namespace" in has and not in_class:
                self.used.append((scope, has["namespace"]))
            elif child.tag == "using" and "uname" in has and not in_class:
                self.types[_full(has["name"], scope)] = has["uname"].removeprefix("::")
            elif child.tag == "cdecl" and has.get("kind") == "typedef":
                name = _full(has["name"], scope)
                self.types[name] = _declared_type(has)
                if in_class and has.get("access", "public") != "public":
                    self.hidden.add(name)
            elif child.tag == "template" and "aliastemplate" in has:
                self.aliases[_full(has["name"], scope)] = _alias(child, has)
            elif child.tag == "template" and has.get("templatetype") == "class":
                name = _full(has["name"], scope)
                self.classes.add(name)
                full = _alias(child, has, name)
                if any(full.defaults):  # Base<int> is Base<int, int>
                    self.aliases[name] = full
            self.add(child, inside, in_class or child.tag == "class")


def _with_blanks(name: str) -> str:
    """A pattern: SWIG has blanks in the brackets of templates."""
    parts = re.split(r"\s*([<>,\s])\s*", name)
    return r"\s*".join(re.escape(part.strip()) for part in parts)


def _full(name: str, scope: str) -> str:
    """SWIG writes some names with their scope, others without."""
    inside = not scope or name.startswith(f"{scope}::")
    return name if inside else f"{scope}::{name}"


def _declared_type(has: dict[str, str]) -> str:
    return cpp_type(has.get("decl", "") + has["type"])


def _alias(node: ElementTree.Element, has: dict[str, str], template: str = "") -> Alias:
    """Of a typedef with parameters, or the class template of this name itself."""
    names, defaults = [], []
    for parameter in node.iterfind("attributelist/templateparms/parm"):
        of = attributes(parameter)
        names.append(of.get("name") or of["type"].removeprefix("typename ").strip())
        defaults.append(cpp_type(of["value"]) if "value" in of else "")
    text = f"{template}<{', '.join(names)}>" if template else _declared_type(has)
    return Alias(tuple(names), tuple(defaults), text)
