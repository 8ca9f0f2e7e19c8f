# SPDX-License-Identifier: Apache-2.0
"""The timeline as a page: a lane for each thread, deeper calls below."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING

from ..pages import escaped, html_table, page, time_text
from .chrome import line_spans
from .events import ProfileEvent

if TYPE_CHECKING:
    from .timeline import Timeline

__all__ = ["page_of"]

_MOST = 4000  # boxes: a browser has to draw them
_WIDTH, _LEFT, _HIGH = 1400, 130, 16


def page_of(timeline: Timeline) -> str:
    """The HTML text."""
    rows = timeline.rows()
    cells = [
        [escaped(row.kind), escaped(row.name), str(row.calls), time_text(row.self_time),
         time_text(row.total), time_text(row.mean), time_text(row.longest)]
        for row in rows
    ]  # fmt: skip
    heads = ("kind", "name", "calls", "self", "total", "mean", "longest")
    return page(
        "Profile",
        f"<p>{escaped(timeline.summary())}</p>",
        *_drawing(timeline),
        "<h2>By name</h2>",
        html_table(heads, cells, (2, 3, 4, 5, 6)),
    )


def _drawing(timeline: Timeline) -> list[str]:
    events = timeline.events
    if not events:
        return ["<p>Nothing was noted.</p>"]
    drawn = events
    parts = []
    if len(events) > _MOST:
        drawn = sorted(events, key=lambda event: -event.duration)[:_MOST]
        parts.append(
            f"<p>The {_MOST} longest of {len(events)} events are drawn; the trace for "
            "Chrome has all.</p>"
        )
    start = min(event.start for event in events)
    length = max(event.end for event in events) - start or 1
    scale = _WIDTH / length
    boxes: list[str] = []

    def box(y: float, begin: int, end: int, text: str, more: str, hue: int) -> None:
        x = _LEFT + (begin - start) * scale
        width = max((end - begin) * scale, 0.4)
        label = ""
        if width > 7 * len(text):
            label = f'<text x="{x + 3:.1f}" y="{y + 12:.0f}">{escaped(text)}</text>'
        boxes.append(
            f'<g><rect x="{x:.2f}" y="{y:.0f}" width="{width:.2f}" '
            f'height="{_HIGH - 2}" fill="hsl({hue},55%,75%)"/>{label}<title>'
            f"{escaped(text)}: {time_text(end - begin)}, {escaped(more)}</title></g>"
        )

    y = 24.0
    lines = line_spans(events)
    for thread in sorted({event.thread for event in events}):
        mine = [event for event in drawn if event.thread == thread]
        of_thread = [span for span in lines if span[0] == thread]
        name = next(e.thread_name for e in events if e.thread == thread)
        boxes.append(f'<text x="4" y="{y + 12:.0f}">{escaped(name)}</text>')
        if of_thread:
            for _, line, begin, end in of_thread[:_MOST]:
                box(y, begin, end, line, "Python line", 210)
            y += _HIGH
        for event in mine:
            hue = zlib.crc32(event.name.encode()) % 360
            box(
                y + _HIGH * event.depth, event.start, event.end, event.name,
                _facts(event), hue,
            )  # fmt: skip
        y += _HIGH * (1 + max((event.depth for event in mine), default=0)) + 8
    ticks = []
    for i in range(11):
        x = _LEFT + _WIDTH * i / 10
        ticks.append(
            f'<line x1="{x:.0f}" y1="18" x2="{x:.0f}" y2="{y:.0f}" stroke="#ddd"/>'
            f'<text x="{x:.0f}" y="13" text-anchor="middle">'
            f"{time_text(length * i / 10)}</text>"
        )
    parts.append(
        f'<div style="overflow-x:auto"><svg xmlns="http://www.w3.org/2000/svg" '
        f'width="{_LEFT + _WIDTH + 60}" height="{y:.0f}" role="img" '
        f'aria-label="timeline">{"".join(ticks)}{"".join(boxes)}</svg></div>'
    )
    return parts


def _facts(event: ProfileEvent) -> str:
    facts = [event.kind, event.shapes, event.operation, event.line]
    if event.stream:
        facts.append(f"stream {event.stream}")
    return ", ".join(fact for fact in facts if fact)
