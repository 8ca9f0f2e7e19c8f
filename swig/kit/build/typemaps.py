# SPDX-License-Identifier: Apache-2.0
"""Which parameters Python does not pass, and which come out beside the result.

Of functions SWIG's parse tree says it at the parameter, of methods nowhere: there the
typemaps themselves are looked at, and what %apply has made of them.
"""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator, Mapping

from .notation import cpp_type
from .xml_tree import attributes

# What these lines write (swigkit/classes.i).
OUTPUT = "swigkit_outputs.add("
Pattern = tuple[str, str]  # the type in SWIG's notation, and a name or ""


class Typemaps:
    """As they are read, in their order."""

    def __init__(self) -> None:
        self.left_out: set[Pattern] = set()  # numinputs=0
        self.outputs: set[Pattern] = set()  # argout
        self.lines: dict[str, str] = {}  # %output's, by parameters' names

    def add(self, node: ElementTree.Element) -> None:
        """A <typemap>."""
        has = attributes(node)
        words = [attributes(item) for item in node.iterfind("attributelist/kwargs")]
        alone = any(
            w.get("name") == "numinputs" and w.get("value") == "0" for w in words
        )
        for pattern in _patterns(node):
            if has.get("method") == "in":
                _put(pattern, self.left_out, alone)
            elif has.get("method") == "argout":
                _put(pattern, self.outputs, _does_something(has.get("code", "")))
                if pattern[1] and OUTPUT in has.get("code", ""):
                    self.lines[pattern[1]] = f"{cpp_type(pattern[0])} {pattern[1]}"

    def apply(self, node: ElementTree.Element) -> None:
        """An <apply>: what was said of one parameter holds for others."""
        source = list(_parameters(node))
        if len(source) != 1:
            return
        for pattern in _patterns(node):
            for known in (self.left_out, self.outputs):
                if source[0] in known:
                    known.add(pattern)

    def is_left_out(self, parameter: Mapping[str, str]) -> bool:
        """Whether Python does not pass the parameter with these attributes."""
        if "tmap_in" in parameter:
            return parameter.get("tmap_in_numinputs") == "0"
        return _fits(parameter, self.left_out)

    def is_output(self, parameter: Mapping[str, str]) -> bool:
        """Whether it comes out beside the result."""
        virtual = "tmap_directorin" in parameter
        if "tmap_argout" in parameter:
            found = _does_something(parameter["tmap_argout"])
        elif "tmap_in" in parameter and not virtual:
            found = False
        else:
            found = _fits(parameter, self.outputs)
        if found:
            self.lines.pop(parameter.get("name", ""), None)
        return found

    def unused(self) -> Iterator[str]:
        """Of lines that no parameter fits, once all functions are read."""
        for parameter in self.lines.values():
            yield (
                f"%output({parameter}), or %in_out, fits no parameter: write the type "
                "with its namespaces, and the name that the header has"
            )


def _does_something(code: str) -> bool:
    return code.strip() not in ("", "{}")


def _fits(parameter: Mapping[str, str], known: set[Pattern]) -> bool:
    kind, name = parameter["type"], parameter.get("name", "")
    return (kind, name) in known or (kind, "") in known


def _put(pattern: Pattern, known: set[Pattern], there: bool) -> None:
    known.discard(pattern)
    if there:
        known.add(pattern)


def _patterns(node: ElementTree.Element) -> Iterator[Pattern]:
    """Those of one parameter each; the first list is the pattern, others are locals."""
    for item in node.iterfind("typemapitem"):
        first = item.find("attributelist/parmlist")
        found = [] if first is None else list(_listed(first))
        if len(found) == 1:
            yield found[0]


def _parameters(node: ElementTree.Element) -> Iterator[Pattern]:
    for parmlist in node.iterfind("attributelist/parmlist"):
        yield from _listed(parmlist)


def _listed(parmlist: ElementTree.Element) -> Iterator[Pattern]:
    for parameter in parmlist.iterfind("parm"):
        has = attributes(parameter)
        yield has.get("type", ""), has.get("name", "")
