# SPDX-License-Identifier: Apache-2.0
"""Graphs for the eye: as a table, for Graphviz, and as a page."""

from __future__ import annotations

import math
import os
import sys
from typing import Any

from ..pages import byte_text, escaped, html_table, page, text_table, time_text
from .memory_plan import MemoryPlan

__all__ = ["Pictures"]

_HEADS = (
    "#",
    "operation",
    "type",
    "outputs",
    "bytes",
    "time",
    "runs",
    "inputs",
    "line",
)
_NUMBERS = (0, 4, 5, 6)


class Pictures:
    """What a graph can show of itself.

    trace: of a run (``Session.run(..., trace=True)``); without one, that of the last
    run of this graph that was traced, if there is one.  It gives times, and sizes that
    only a run knows.  plan: a ``MemoryPlan``; without one, the trace's.
    """

    last_trace: Any = None  # of the last run that was traced

    def to_text(self, trace: Any = None, plan: MemoryPlan | None = None) -> str:
        """A table with a row for each operation."""
        trace, plan = self._seen_in(trace, plan)
        rows = [
            [str(row["number"]), row["name"], row["type"], row["outputs"], row["bytes"],
             row["time"], row["runs"], _inputs_text(row), row["line"]]
            for row in self._rows(trace, plan)
        ]  # fmt: skip
        rows = [[_one_line(cell) for cell in row] for row in rows]
        return text_table(*_without_empty(_HEADS, rows, _NUMBERS)) + "\n"

    def to_dot(self, trace: Any = None, plan: MemoryPlan | None = None) -> str:
        """Text for Graphviz; arrows go from what is made to who takes it."""
        trace, plan = self._seen_in(trace, plan)
        lines = ["digraph operations {", '  node [shape=box, fontname="monospace"];']
        rows = self._rows(trace, plan)
        for row in rows:
            facts = [row["name"], row["type"], row["outputs"]]
            facts += [f"{row['bytes']} bytes"] if row["bytes"] else []
            facts += [row["time"]] if row["time"] else []
            label = "\\n".join(_dot_text(fact) for fact in facts if fact)
            lines.append(f'  n{row["number"]} [label="{label}"];')
        for row in rows:
            for source, _, control in row["inputs"]:
                style = " [style=dashed]" if control else ""
                lines.append(f"  n{source} -> n{row['number']}{style};")
        return "\n".join([*lines, "}", ""])

    def to_html(self, trace: Any = None, plan: MemoryPlan | None = None) -> str:
        """A page that needs nothing from outside: operations with links to their
        inputs, times of a run as bars, and the memory plan as a chart."""
        trace, plan = self._seen_in(trace, plan)
        rows = self._rows(trace, plan)
        longest = max((row["nanoseconds"] for row in rows), default=0) or 1
        cells = []
        for row in rows:
            links = [
                f'<a href="#n{source}">{escaped(taken)}</a>'
                for source, taken, _ in row["inputs"]
            ]
            time = escaped(row["time"])
            if row["nanoseconds"]:
                share = f"{100 * row['nanoseconds'] / longest:.1f}%"
                bar = f"linear-gradient(to right,#fc9 {share},transparent {share})"
                time = f'<div style="background:{bar}">{time}</div>'
            cells.append(
                [str(row["number"]), escaped(row["name"]), escaped(row["type"]),
                 escaped(row["outputs"]), escaped(row["bytes"]), time,
                 escaped(row["runs"]), " ".join(links),
                 f"<code>{escaped(row['line'])}</code>"]
            )  # fmt: skip
        parts = []
        if trace is not None:
            parts.append(f"<p>{escaped(trace.summary())}</p>")
        ids = [f"n{row['number']}" for row in rows]
        parts.append(html_table(_HEADS, cells, _NUMBERS, ids))
        if plan is not None:
            parts += ["<h2>Memory plan</h2>", plan.chart()]
        return page(f"Graph of {len(rows)} operations", *parts)

    def show(
        self,
        format: str = "text",  # noqa: A002  (the issue's name, and Graphviz's)
        path: str | os.PathLike[str] | None = None,
        *,
        trace: Any = None,
        plan: MemoryPlan | None = None,
    ) -> None:
        """Prints the graph as "text", "dot" or "html", or writes it to a file.

        TypeError where the format is no str; ValueError for another format; OSError
        where the file cannot be written.
        """
        writers = {"text": self.to_text, "dot": self.to_dot, "html": self.to_html}
        if not isinstance(format, str):
            raise TypeError(
                f"[show] expected a str for format, got {type(format).__name__}."
            )
        if format not in writers:
            raise ValueError(
                f"[show] expected one of {', '.join(map(repr, writers))} for format, "
                f"got {format!r}."
            )
        text = writers[format](trace, plan)
        if path is None:
            sys.stdout.write(text)
            return
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)

    def _seen_in(self, trace: Any, plan: MemoryPlan | None) -> Any:
        trace = self.last_trace if trace is None else trace
        if plan is None and trace is not None:
            plan = trace.plan
        return trace, plan

    def _rows(self, trace: Any, plan: MemoryPlan | None) -> list[dict[str, Any]]:
        operations: list[Any] = self.get_operations()  # type: ignore[attr-defined]
        numbers = {op: number for number, op in enumerate(operations)}
        rows = []
        for op, number in numbers.items():
            outputs = op.outputs
            seen = None if trace is None else trace.of(op)
            nanoseconds = seen.nanoseconds if seen else 0
            rows.append(
                {
                    "number": number,
                    "name": op.name,
                    "type": op.type,
                    "outputs": ", ".join(map(_shape_text, outputs)),
                    "bytes": _bytes_text(op, outputs, plan),
                    "time": time_text(nanoseconds) if seen else "",
                    "nanoseconds": nanoseconds,
                    "runs": str(seen.runs) if seen else "",
                    # number of the operation, text, whether it is only waited for
                    "inputs": [(numbers[x.op], x.name, False) for x in op.inputs]
                    + [(numbers[c], f"^{c.name}", True) for c in op.control_inputs],
                    "line": op.call_site,
                }
            )
        return rows


def _without_empty(
    heads: tuple[str, ...], rows: list[list[str]], right: tuple[int, ...]
) -> tuple[list[str], list[list[str]], list[int]]:
    kept = [i for i in range(len(heads)) if i < 4 or any(row[i] for row in rows)]
    places = {i: place for place, i in enumerate(kept)}
    return (
        [heads[i] for i in kept],
        [[row[i] for i in kept] for row in rows],
        [places[i] for i in right if i in places],
    )


def _inputs_text(row: dict[str, Any]) -> str:
    return " ".join(text for _, text, _ in row["inputs"])


def _one_line(text: str) -> str:
    # Names may have what ends a line; str.splitlines() knows more than one such.
    return "".join(_escape(c) if c.splitlines() == [""] else c for c in text)


def _escape(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")


def _shape_of(symbol: Any) -> list[int | None] | None:
    sizes = symbol.op._handle.shape(symbol.value_index)
    return None if sizes is None else [None if s < 0 else s for s in sizes]


def _shape_text(symbol: Any) -> str:
    name = symbol.dtype.name
    sizes = _shape_of(symbol)
    if sizes is None:
        return f"{name} ?"
    return f"{name} [{', '.join('?' if s is None else str(s) for s in sizes)}]"


def _bytes_text(op: Any, outputs: list[Any], plan: MemoryPlan | None) -> str:
    total = 0
    for symbol in outputs:
        sizes = _shape_of(symbol)
        if sizes is None or None in sizes:
            planned = plan.bytes_of(op._handle.id()) if plan is not None else 0
            return byte_text(planned) if planned else ""
        known: list[int] = sizes  # type: ignore[assignment]
        total += math.prod(known) * symbol.element_size()
    return byte_text(total) if outputs else ""


def _dot_text(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
