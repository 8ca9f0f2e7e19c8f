# SPDX-License-Identifier: Apache-2.0
"""Events as a table, as a trace for Chrome and Perfetto, and as a page."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass

from ..pages import text_table, time_text
from . import chrome, drawing
from .events import ProfileEvent

__all__ = ["Row", "Timeline"]

_GROUPS: dict[str, Callable[[ProfileEvent], tuple[str, ...]]] = {
    "name": lambda event: (event.kind, event.name),
    "shapes": lambda event: (event.kind, event.name, event.shapes),
    "operation": lambda event: (event.kind, event.name, event.operation),
    "line": lambda event: (event.kind, event.line),
}
_WAITS = ("wait", "collective")  # kinds in which no thread of the program works
_ORDERS = ("self", "total", "calls", "mean", "longest", "name")


@dataclass
class Row:
    """Events of one group together; times in nanoseconds.

    total: an event within another one of its group is not counted again, as it is in
    durations, which are those of all calls added up.
    """

    kind: str
    name: str
    detail: str
    calls: int = 0
    total: int = 0
    self_time: int = 0
    longest: int = 0
    durations: int = 0

    @property
    def mean(self) -> float:
        """Nanoseconds of one call, whether it lies in another one or not."""
        return self.durations / self.calls if self.calls else 0.0


class Timeline:
    """Events in the order of their starts.

    lost: how many had no room.  start, end: when noting began and ended.
    """

    def __init__(
        self, events: list[ProfileEvent], start: int, end: int, lost: int = 0
    ) -> None:
        self.events = events
        self.start = start
        self.end = end
        self.lost = lost

    def rows(self, by: str = "name", sort: str = "self") -> list[Row]:
        """What the events took, by group.

        by: "name", "shapes" (name and shapes), "operation" (of a graph) or "line" (of
        Python); sort: "self", "total", "calls", "mean", "longest" or "name".
        ValueError for others.
        """
        if by not in _GROUPS or sort not in _ORDERS:
            raise ValueError(
                f"[profiler] expected one of {', '.join(_GROUPS)} for by and of "
                f"{', '.join(_ORDERS)} for sort, got {by!r} and {sort!r}."
            )
        group = _GROUPS[by]
        found: dict[tuple[str, ...], Row] = {}
        for event in self.events:
            key = group(event)
            row = found.get(key)
            if row is None:
                row = found[key] = Row(key[0], key[1], key[2] if key[2:] else "")
            row.calls += 1
            row.self_time += event.self_time
            row.durations += event.duration
            row.longest = max(row.longest, event.duration)
            around = event.parent
            while around is not None and group(around) != key:
                around = around.parent
            if around is None:
                row.total += event.duration
        rows = list(found.values())
        if sort == "name":
            return sorted(rows, key=lambda row: (row.name, row.detail, row.kind))
        name = "self_time" if sort == "self" else sort
        return sorted(rows, key=lambda row: -getattr(row, name))

    def table(
        self, by: str = "name", sort: str = "self", limit: int | None = None
    ) -> str:
        """The rows as text, ``limit`` of them; see ``rows``.

        TypeError and ValueError for a limit that is no int of 0 or more, nor None.
        """
        if limit is not None:
            if isinstance(limit, bool) or not isinstance(limit, int):
                raise TypeError(
                    "[profiler] expected an int or None for limit, got "
                    f"{type(limit).__name__}."
                )
            if limit < 0:
                raise ValueError(
                    f"[profiler] expected 0 or more for limit, got {limit}."
                )
        rows = self.rows(by, sort)
        whole = sum(row.self_time for row in rows if row.kind not in _WAITS) or 1
        heads = ("kind", by if by == "line" else "name", "calls", "self", "%", "total",
                 "mean", "longest", by)  # fmt: skip
        detailed = by in ("shapes", "operation")
        cells = []
        for row in rows[:limit]:
            waits = row.kind in _WAITS
            share = "" if waits else f"{100 * row.self_time / whole:.1f}"
            times = (row.total, row.mean, row.longest)
            cells.append(
                [row.kind, row.name or "(unknown)", str(row.calls),
                 time_text(row.self_time), share, *map(time_text, times), row.detail]
            )  # fmt: skip
        n = 9 if detailed else 8
        text = text_table(heads[:n], [c[:n] for c in cells], (2, 3, 4, 5, 6, 7))
        return f"{text}\n{self.summary()}"

    def summary(self) -> str:
        """How many events of how many threads, and how long it took."""
        threads = len({event.thread for event in self.events})
        text = (
            f"{len(self.events)} events of {threads} threads in "
            f"{time_text(self.end - self.start)}"
        )
        return f"{text}; {self.lost} had no room (max_events)" if self.lost else text

    def to_chrome(self) -> str:
        """JSON of Chrome's trace format: threads, streams and Python lines."""
        return chrome.trace_of(self.events, self.start, self.lost)

    def chrome_trace(self, path: str | os.PathLike[str]) -> None:
        """Writes ``to_chrome()``, for chrome://tracing and ui.perfetto.dev."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.to_chrome())

    def to_html(self) -> str:
        """A page that needs nothing from outside: the timeline and the table."""
        return drawing.page_of(self)

    def html(self, path: str | os.PathLike[str]) -> None:
        """Writes ``to_html()``."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.to_html())
