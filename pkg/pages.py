# SPDX-License-Identifier: Apache-2.0
"""Pieces of text tables and of pages that need nothing from outside."""

from __future__ import annotations

import html
from collections.abc import Sequence

__all__ = ["byte_text", "escaped", "html_table", "page", "text_table", "time_text"]

_STYLE = (
    "body{font:14px sans-serif;margin:2em;color:#222}"
    "td,th{padding:2px 8px;text-align:left;border-bottom:1px solid #ddd;"
    "vertical-align:top}td.right,th.right{text-align:right}"
    "tr:target{background:#ffc}svg{background:#fafafa;border:1px solid #ddd}"
    "svg text{font:11px sans-serif}code{font-size:12px}"
)


def escaped(text: object) -> str:
    """Text as it stands between tags and in attributes."""
    return html.escape(str(text), quote=True)


def page(title: str, *parts: str) -> str:
    """A page with a title and parts, which are HTML already."""
    name = escaped(title)
    return (
        f"<!doctype html><html><head><meta charset='utf-8'><title>{name}</title>"
        f"<style>{_STYLE}</style></head><body><h1>{name}</h1>\n"
        + "\n".join(parts)
        + "\n</body></html>\n"
    )


def html_table(
    heads: Sequence[str],
    rows: Sequence[Sequence[str]],
    right: Sequence[int] = (),
    ids: Sequence[str] = (),
) -> str:
    """A table of cells that are HTML already.

    right: columns of numbers.  ids: of the rows.
    """
    side = [' class="right"' if i in right else "" for i in range(len(heads))]
    head = "".join(f"<th{c}>{escaped(h)}</th>" for c, h in zip(side, heads))
    lines = [f"<table><tr>{head}</tr>"]
    for i, row in enumerate(rows):
        own = f' id="{escaped(ids[i])}"' if ids else ""
        cells = "".join(f"<td{c}>{cell}</td>" for c, cell in zip(side, row))
        lines.append(f"<tr{own}>{cells}</tr>")
    return "\n".join([*lines, "</table>"])


def text_table(
    heads: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[int] = ()
) -> str:
    """Columns of text, as wide as they need."""
    lines = [heads, *rows]
    widths = [max(len(line[i]) for line in lines) for i in range(len(heads))]

    def aligned(line: Sequence[str]) -> str:
        cells = (
            cell.rjust(width) if i in right else cell.ljust(width)
            for i, (cell, width) in enumerate(zip(line, widths))
        )
        return "  ".join(cells).rstrip()

    rule = "  ".join("-" * width for width in widths)
    return "\n".join([aligned(heads), rule, *map(aligned, rows)])


def time_text(nanoseconds: float) -> str:
    """With a unit: "12.3 us"."""
    for unit, size in (("s", 1e9), ("ms", 1e6), ("us", 1e3)):
        if nanoseconds >= size:
            return f"{nanoseconds / size:.4g} {unit}"
    return f"{nanoseconds:.0f} ns"


def byte_text(nbytes: int) -> str:
    """With separators: "1,024"."""
    return f"{nbytes:,}"
