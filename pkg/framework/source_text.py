# SPDX-License-Identifier: Apache-2.0
"""Pieces of Python text, for generated modules."""

from __future__ import annotations

import re
import textwrap

__all__ = ["WIDTH", "docstring", "filled", "literal", "wrapped"]

WIDTH = 88


def wrapped(prefix: str, items: list[str], suffix: str, indent: str = "") -> str:
    """A call or signature, in lines of the usual width."""
    line = f"{indent}{prefix}{', '.join(items)}{suffix}"
    if len(line) <= WIDTH:
        return line
    inner = indent + "    "
    rows = "".join(f"{inner}{item},\n" for item in items)
    return f"{indent}{prefix}\n{rows}{indent}{suffix}"


def literal(value: object) -> str:
    """The value as text, in ASCII."""
    if isinstance(value, str):
        return '"' + value.encode("unicode_escape").decode().replace('"', '\\"') + '"'
    if isinstance(value, float) and (value != value or abs(value) == float("inf")):
        return f'float("{value}")'
    return repr(value)


def filled(line: str, indent: int = 0) -> list[str]:
    """A line of a docstring, in lines that fit."""
    return textwrap.wrap(
        line, WIDTH - 6, initial_indent=" " * indent,
        subsequent_indent=" " * (indent * 2), break_long_words=True,
        break_on_hyphens=False,
    ) or [""]  # fmt: skip


def docstring(text: str) -> str:
    """The text as it stands between three quotes, whatever is in it.

    Half of a surrogate pair is shown as an escape: Python 3.13 compiles no docstring
    that holds one.
    """
    text = text.encode(errors="backslashreplace").decode()
    text = text.replace("\\", "\\\\").replace('"""', '\\"\\"\\"')
    return re.sub(
        "[\x00-\x09\x0b-\x1f\x7f]",
        lambda found: found[0].encode("unicode_escape").decode(),
        text,
    )
