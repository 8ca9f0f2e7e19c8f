# SPDX-License-Identifier: Apache-2.0
"""Where the tensors of a planned run lie in memory, as data, text and a chart."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ..pages import byte_text, escaped, text_table

__all__ = ["MemoryPlan", "PlannedBuffer", "PlannedStep", "plan_from"]


@dataclass(frozen=True)
class PlannedBuffer:
    """A piece of memory.

    kind: "feed" (of the caller), "capture" (of a tensor that the graph refers to),
    "variable", "temporary" (a place in the slab), "made" (by a collective, in memory of
    its own) or "result" (given away after the run).  first, last: the steps that use
    it first and last; None where none does.  offset: of a temporary one, where it lies
    in the slab; None for others.
    """

    kind: str
    nbytes: int
    first: int | None
    last: int | None
    offset: int | None


@dataclass(frozen=True)
class PlannedStep:
    """A kernel that runs: its op, the operation that it is for, and the numbers of the
    buffers that it reads and writes."""

    op: str
    operation: str
    number: int  # of the operation
    reads: tuple[int, ...]
    writes: tuple[int, ...]


@dataclass(frozen=True)
class MemoryPlan:
    """What a session has planned for feeds of certain shapes.

    slab_bytes: memory of one run for all that is temporary, which ``temporary_bytes``
    would be if nothing lay where something else was before.
    """

    slab_bytes: int
    estimated_nanoseconds: float
    buffers: tuple[PlannedBuffer, ...]
    steps: tuple[PlannedStep, ...]

    def _placed(self) -> list[tuple[int, PlannedBuffer]]:
        return [(i, b) for i, b in enumerate(self.buffers) if b.offset is not None]

    @property
    def temporary_bytes(self) -> int:
        """The sum of all that has a place in the slab."""
        return sum(buffer.nbytes for _, buffer in self._placed())

    def in_use(self) -> list[int]:
        """Bytes of the slab that hold something needed, at each step.

        What a step writes in the place of what it reads last counts once.
        """
        changes = [0] * (len(self.steps) + 1)
        for _, buffer in self._placed():
            if buffer.first is not None and buffer.last is not None:
                changes[buffer.first] += buffer.nbytes
                changes[buffer.last + 1] -= buffer.nbytes
        used = list(itertools.accumulate(changes))[:-1]
        for number, step in enumerate(self.steps):
            read = {b for b in step.reads if self._ends(b, number)}
            for b in set(step.writes):
                if self.buffers[b].first == number:
                    used[number] -= sum(self._shared(a, b) for a in read)
        return used

    def _ends(self, buffer: int, step: int) -> bool:
        found = self.buffers[buffer]
        return found.last == step and found.first != step

    def _shared(self, one: int, other: int) -> int:
        a, b = self.buffers[one], self.buffers[other]
        if a.offset is None or b.offset is None:
            return 0
        end = min(a.offset + a.nbytes, b.offset + b.nbytes)
        return max(0, end - max(a.offset, b.offset))

    @cached_property
    def _bytes(self) -> dict[int, int]:
        written: dict[int, set[int]] = {}
        for step in self.steps:
            written.setdefault(step.number, set()).update(step.writes)
        return {
            number: sum(self.buffers[b].nbytes for b in buffers)
            for number, buffers in written.items()
        }

    def bytes_of(self, number: int) -> int:
        """What the steps of an operation write, each buffer once."""
        return self._bytes.get(number, 0)

    def __str__(self) -> str:
        """A table with a row for each step."""
        rows = []
        in_use = self.in_use()
        for i, step in enumerate(self.steps):
            places = ", ".join(_place(self.buffers[b]) for b in step.writes)
            used = byte_text(in_use[i])
            rows.append([str(i), step.op, step.operation, used, places])
        table = text_table(
            ("step", "op", "operation", "bytes in use", "writes"), rows, (0, 3)
        )
        return f"{self._summary()}\n{table}"

    def _summary(self) -> str:
        return (
            f"{len(self.steps)} steps, slab of {byte_text(self.slab_bytes)} bytes for "
            f"{byte_text(self.temporary_bytes)} bytes of temporary tensors"
        )

    def chart(self) -> str:
        """SVG: each temporary tensor a box, from the step that writes it first to the
        one that uses it last, at its place in the slab."""
        placed = self._placed()
        n, slab = len(self.steps), self.slab_bytes
        if not n or not slab:
            return "<p>Nothing is temporary: there is no slab.</p>"
        left, top, height = 90, 10, 320
        unit = max(6.0, min(40.0, 900 / n))
        width = unit * n
        writer = {b: step for step in reversed(self.steps) for b in step.writes}
        parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + width + 20:.0f}" '
            f'height="{top + height + 40}" role="img" '
            f'aria-label="memory plan: offset against step">'
        ]
        for tick in range(5):
            y = top + height - height * tick / 4
            parts.append(
                f'<line x1="{left}" y1="{y:.1f}" x2="{left + width:.1f}" y2="{y:.1f}" '
                'stroke="#ddd"/>'
                f'<text x="{left - 6}" y="{y + 4:.1f}" text-anchor="end">'
                f"{byte_text(slab * tick // 4)}</text>"
            )
        for number, buffer in placed:
            if buffer.first is None or buffer.last is None or buffer.offset is None:
                continue
            step = writer.get(number)
            label = f"{step.op} of {step.operation}" if step else "temporary"
            x = left + unit * buffer.first
            size = height * buffer.nbytes / slab
            y = top + height - height * buffer.offset / slab - size
            hue = number * 47 % 360
            parts.append(
                f'<rect class="buffer" x="{x:.1f}" y="{y:.2f}" '
                f'width="{unit * (buffer.last - buffer.first + 1):.1f}" '
                f'height="{max(size, 0.5):.2f}" fill="hsl({hue},60%,75%)" '
                f'stroke="hsl({hue},60%,45%)"><title>{escaped(label)}: '
                f"{byte_text(buffer.nbytes)} bytes at {byte_text(buffer.offset)}, "
                f"steps {buffer.first} to {buffer.last}</title></rect>"
            )
        every = max(1, round(40 / unit))
        for step_number in range(0, n, every):
            x = left + unit * (step_number + 0.5)
            parts.append(
                f'<text x="{x:.1f}" y="{top + height + 15}" text-anchor="middle">'
                f"{step_number}</text>"
            )
        parts.append(
            f'<text x="{left + width / 2:.1f}" y="{top + height + 32}" '
            'text-anchor="middle">step</text></svg>'
        )
        return f"<p>{escaped(self._summary())}</p>\n" + "".join(parts)


def _place(buffer: PlannedBuffer) -> str:
    if buffer.offset is None:
        return f"{byte_text(buffer.nbytes)} ({buffer.kind})"
    return f"{byte_text(buffer.nbytes)} at {byte_text(buffer.offset)}"


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(map(int, text.split()))


def plan_from(rows: list[Any]) -> MemoryPlan | None:
    """The plan of the rows that CallableHandle.plan() gives; None of no rows."""
    if not rows:
        return None
    n_steps = sum(row[0] == "step" for row in rows)
    slab, nanoseconds = rows[0][1:]
    buffers, steps = [], []
    for what, *row in rows[1:]:
        if what == "buffer":
            kind, (nbytes, first, last, offset) = row[0], map(int, row[1:])
            used = first < n_steps
            buffers.append(
                PlannedBuffer(
                    kind,
                    nbytes,
                    first if used else None,
                    last if used else None,
                    offset if kind == "temporary" and used else None,
                )
            )
        else:
            op, operation, number, reads, writes = row
            steps.append(
                PlannedStep(
                    op, operation, int(number), _numbers(reads), _numbers(writes)
                )
            )
    return MemoryPlan(int(slab), float(nanoseconds), tuple(buffers), tuple(steps))
