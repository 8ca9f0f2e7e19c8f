# SPDX-License-Identifier: Apache-2.0
"""Events in Chrome's trace format, which Perfetto reads as well."""

from __future__ import annotations

import json
import os
from typing import Any

from .events import ProfileEvent

__all__ = ["line_spans", "trace_of"]

# Lanes stand in three groups, which the format calls processes.
_THREADS, _STREAMS, _LINES = 0, 1, 2


def line_spans(events: list[ProfileEvent]) -> list[tuple[int, str, int, int]]:
    """(thread, "file:line", start, end) of what a Python line did at a stretch."""
    spans: list[tuple[int, str, int, int]] = []
    last: dict[int, int] = {}  # place of the thread's last span
    for event in events:
        if event.parent is not None or not event.line or event.kind == "task":
            continue
        place = last.get(event.thread)
        if place is not None and spans[place][1] == event.line:
            thread, line, start, end = spans[place]
            spans[place] = thread, line, start, max(end, event.end)
        else:
            last[event.thread] = len(spans)
            spans.append((event.thread, event.line, event.start, event.end))
    return spans


def trace_of(events: list[ProfileEvent], start: int, lost: int) -> str:
    """The JSON text; times are microseconds since `start`."""
    first = os.getpid() * 10
    made: list[dict[str, Any]] = []

    def name(group: int, lane: int | None, text: str) -> None:
        what = "process_name" if lane is None else "thread_name"
        made.append(
            {"name": what, "ph": "M", "pid": first + group, "tid": lane or 0,
             "args": {"name": text}}
        )  # fmt: skip

    def span(group: int, lane: int, text: str, kind: str, begin: int, end: int,
             args: dict[str, Any]) -> None:  # fmt: skip
        made.append(
            {"name": text, "cat": kind, "ph": "X", "pid": first + group, "tid": lane,
             "ts": (begin - start) / 1000, "dur": (end - begin) / 1000, "args": args}
        )  # fmt: skip

    name(_THREADS, None, "threads")
    for thread, text in {e.thread: e.thread_name for e in events}.items():
        name(_THREADS, thread, text)
    for event in events:
        facts = {
            "shapes": event.shapes,
            "operation": event.operation,
            "stream": event.stream,
            "line": event.line,
        }
        args = {key: value for key, value in facts.items() if value}
        text = f"wait for {event.name}" if event.kind == "wait" else event.name
        span(_THREADS, event.thread, text, event.kind, event.start, event.end, args)
        if event.kind == "task" and event.stream:
            span(_STREAMS, event.stream, text, "stream", event.start, event.end, args)
    streams = {e.stream for e in events if e.kind == "task" and e.stream}
    if streams:
        name(_STREAMS, None, "streams")
    for stream in sorted(streams):
        name(_STREAMS, stream, f"stream {stream}")
    lines = line_spans(events)
    if lines:
        name(_LINES, None, "Python lines")
    for thread, line, begin, end in lines:
        span(_LINES, thread, line, "line", begin, end, {})
    return json.dumps(
        {"traceEvents": made, "displayTimeUnit": "ns", "otherData": {"lost": lost}}
    )
