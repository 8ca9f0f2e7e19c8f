# SPDX-License-Identifier: Apache-2.0
"""Spans of time, read from what the core noted, and how they lie in each other."""

from __future__ import annotations

import json
from dataclasses import dataclass, field

__all__ = ["ProfileEvent", "events_from", "nest"]

_KINDS = ("op", "task", "wait", "step", "collective")
_THREADS = ("thread", "main thread", "worker")
_LANES = 1_000_000  # numbers of lanes that are no threads begin here


@dataclass
class ProfileEvent:
    """Something that took time.

    kind: "op" (a call through the dispatcher), "task" (of the scheduler), "wait" (for a
    task), "step" (a kernel or an operation in the run of a graph) or "collective" (what
    a rank does for a tensor, whose lane stands for the thread).  start, end:
    nanoseconds of the steady clock (``time.monotonic_ns``).  thread: counts threads;
    thread_name says which sort it is.  stream: number of the stream, or 0.  shapes: of
    the tensors that an op takes, where that was asked for.  operation: of a step, its
    name in the graph, of a collective the tensor.  line: "file:line" of Python, or "".
    parent: the event of the same thread in which it lies.  children_time: what the
    events in it took.
    """

    kind: str
    name: str
    start: int
    end: int
    thread: int
    thread_name: str
    stream: int
    shapes: str
    operation: str
    line: str
    number: int  # of the operation
    parent: ProfileEvent | None = field(default=None, repr=False)
    children_time: int = 0
    depth: int = 0

    @property
    def duration(self) -> int:
        """Nanoseconds."""
        return self.end - self.start

    @property
    def self_time(self) -> int:
        """Nanoseconds without the events in it."""
        return self.duration - self.children_time


def nest(events: list[ProfileEvent]) -> None:
    """Finds the parent of each event; brings them into the order of their starts."""
    events.sort(key=lambda event: (event.start, -event.end))
    open_: dict[int, list[ProfileEvent]] = {}
    for event in events:
        stack = open_.setdefault(event.thread, [])
        while stack and stack[-1].end < event.end:
            stack.pop()
        if stack and stack[-1].end >= event.end and stack[-1].start <= event.start:
            event.parent = stack[-1]
            event.parent.children_time += event.duration
            event.depth = event.parent.depth + 1
        stack.append(event)


def events_from(text: str) -> tuple[list[ProfileEvent], int]:
    """The events that core._trace_end() tells, and how many had no room."""
    found = json.loads(text)
    texts = found["texts"]
    events = []
    for kind, thread, sort, start, end, stream, owner, *places in found["spans"]:
        name, detail, line = (texts[place] for place in places)
        of_step = _KINDS[kind] in ("step", "collective")
        text = f"{_THREADS[sort]} {thread}"
        if _KINDS[kind] == "collective":
            # Several are under way at a time, in no order: each tensor has a lane.
            thread, text = _LANES + places[1], f"tensor {detail}"
        events.append(
            ProfileEvent(
                kind=_KINDS[kind],
                name=name,
                start=start,
                end=end,
                thread=thread,
                thread_name=text,
                stream=stream,
                shapes="" if of_step else detail,
                operation=detail if of_step else "",
                line=line,
                number=owner % 2**64,
            )
        )
    nest(events)
    return events, found["lost"]
