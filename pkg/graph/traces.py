# SPDX-License-Identifier: Apache-2.0
"""What one run of a graph did, operation by operation."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from ..profiler import Timeline, profile
from .memory_plan import MemoryPlan, plan_from

__all__ = ["OperationTime", "RunTrace", "Tracing"]


@dataclass
class OperationTime:
    """What a run spent on one operation.

    runs: how many kernels were run for it; nanoseconds: what they took together.
    """

    runs: int = 0
    nanoseconds: int = 0


class RunTrace(Timeline):
    """The steps of one run, as a ``pkg.profiler.Timeline``: its ``table("operation")``,
    ``chrome_trace(path)`` and ``html(path)`` show them.

    plan: the ``MemoryPlan`` of the run; None where the operations were called one by
    one, each of which was waited for then.  epoch: what is to be added to the times of
    its events to get nanoseconds since 1970.
    """

    def __init__(self, timeline: Timeline, plan: MemoryPlan | None) -> None:
        steps = [event for event in timeline.events if event.kind == "step"]
        super().__init__(steps, timeline.start, timeline.end, timeline.lost)
        self.plan = plan
        self.epoch = time.time_ns() - time.monotonic_ns()
        self._times: dict[tuple[int, str], OperationTime] = {}
        for event in steps:
            key = event.number, event.operation
            seen = self._times.setdefault(key, OperationTime())
            seen.runs += 1
            seen.nanoseconds += event.duration

    def of(self, operation: Any) -> OperationTime | None:
        """What the run spent on an operation; None if it had nothing to run for it.

        Pointwise operations that run as one step, whose name is like "mul+add", have
        one time: it is that of the last of them, and the others have None.
        """
        return self._times.get((operation._handle.id(), operation.name))

    @property
    def operations(self) -> dict[str, OperationTime]:
        """The same by name; of a loop's body those of its own graph, too."""
        found: dict[str, OperationTime] = {}
        for (_, name), seen in self._times.items():
            total = found.setdefault(name, OperationTime())
            total.runs += seen.runs
            total.nanoseconds += seen.nanoseconds
        return found


class _Traced:
    trace: RunTrace


class Tracing:
    """What a session that traces its runs has beside."""

    last_trace: RunTrace | None = None

    @contextmanager
    def _traced(self, prepared: Any, graph: Any) -> Iterator[_Traced]:
        found = _Traced()
        noted = profile(["steps"], this_thread=True)
        with noted:
            yield found
        plan = plan_from(prepared.handle.plan())
        found.trace = RunTrace(noted.timeline, plan)
        self.last_trace = graph.last_trace = found.trace

    # What subclasses may have more to say of.
    def _tell(self, run_metadata: Any, trace: RunTrace) -> None:
        run_metadata.trace = trace
