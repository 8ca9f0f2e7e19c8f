# SPDX-License-Identifier: Apache-2.0
"""SWIG's parse tree as a file (``-xml``, ``-xmlout``)."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path

# XML has no place for them.
CONTROL_CHARACTERS = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f]")


class TreeError(Exception):
    """An interface says what the kit does not do."""


def parse(path: Path) -> ElementTree.Element:
    """The root.

    SWIG writes the values of C++'s constants as they are, "\\a" as a bell and "\\xff"
    as a byte that is no UTF-8.  Nobody reads those here: question marks stand for them.
    """
    text = CONTROL_CHARACTERS.sub(b"?", path.read_bytes()).decode("utf-8", "replace")
    return ElementTree.fromstring(text)


def attributes(node: ElementTree.Element) -> dict[str, str]:
    """Of a node of the tree."""
    found = node.findall("attributelist/attribute")
    return {a.get("name", ""): a.get("value", "") for a in found}
