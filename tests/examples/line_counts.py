# SPDX-License-Identifier: Apache-2.0
"""Counts what somebody must write to wrap the libraries of docs/examples.

    python tests/examples/line_counts.py [--write]

Prints the table of docs/examples/README.md, or writes it there.
"""

from __future__ import annotations

import sys
from pathlib import Path

from example_modules import BINDINGS, EXAMPLES, EXAMPLES_BY_NAME, Example

PAGE = EXAMPLES / "README.md"
BEGIN, END = "<!-- lines -->\n", "<!-- end of lines -->\n"
WIDTH = 100


def written(source: Path) -> list[str]:
    """Lines that are neither empty nor a comment; none may be wide."""
    lines = [line.strip() for line in source.read_text(encoding="utf-8").splitlines()]
    assert all(len(line) <= WIDTH for line in lines), f"{source}: wide lines"
    return [line for line in lines if line and not line.startswith("//")]


def cell(lines: list[str]) -> str:
    """Lines, and the characters in them that are not blank."""
    return f"{len(lines)} ({sum(len(''.join(line.split())) for line in lines):,})"


def row(example: Example) -> str:
    lines = {binding: written(example.source(binding)) for binding in BINDINGS}
    cells = " | ".join(cell(lines[binding]) for binding in BINDINGS)
    ratio = len(lines["kit"]) / min(len(lines["pybind11"]), len(lines["nanobind"]))
    return f"| {example.library} | {cells} | {ratio:.2f} |\n"


def table() -> str:
    """In Markdown."""
    head = "| library | the kit | pybind11 | nanobind | lines, of the shorter |\n"
    rows = "".join(row(example) for example in EXAMPLES_BY_NAME.values())
    return f"{head}|---|---|---|---|---|\n{rows}"


def page_with_table() -> str:
    """What the page should be."""
    text = PAGE.read_text(encoding="utf-8")
    before, rest = text.split(BEGIN)
    return before + BEGIN + table() + END + rest.split(END)[1]


if __name__ == "__main__":
    if sys.argv[1:] == ["--write"]:
        PAGE.write_text(page_with_table(), encoding="utf-8")
    else:
        print(table(), end="")
