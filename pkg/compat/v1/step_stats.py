# SPDX-License-Identifier: Apache-2.0
"""What a traced run tells of itself, by TensorFlow's names."""

from __future__ import annotations

from dataclasses import dataclass, field

from ...graph.traces import RunTrace

__all__ = ["DeviceStepStats", "NodeExecStats", "RunMetadata", "StepStats"]


@dataclass
class NodeExecStats:
    """A kernel that ran for an operation.

    all_start_micros: since 1970; the others count from there.  timeline_label: what
    ran, "y = mm".
    """

    node_name: str
    timeline_label: str
    all_start_micros: int
    op_start_rel_micros: int
    op_end_rel_micros: int
    all_end_rel_micros: int
    all_start_nanos: int
    op_start_rel_nanos: int
    op_end_rel_nanos: int
    all_end_rel_nanos: int
    thread_id: int


@dataclass
class DeviceStepStats:
    """What ran on a device, in order."""

    device: str
    node_stats: list[NodeExecStats] = field(default_factory=list)
    thread_names: dict[int, str] = field(default_factory=dict)


@dataclass
class StepStats:
    """What a traced run has done: ``dev_stats`` has a row for each device."""

    dev_stats: list[DeviceStepStats] = field(default_factory=list)


class RunMetadata:
    """What a run with ``trace_level=RunOptions.FULL_TRACE`` tells of itself.

    Each run replaces what was there.  trace: the same as a ``pkg.graph`` trace, with a
    table, a memory plan, and files for Chrome.
    """

    def __init__(self) -> None:
        self.step_stats = StepStats()
        self.trace: RunTrace | None = None


def step_stats_of(trace: RunTrace, device: str) -> StepStats:
    """The steps of a trace as those of one device."""
    made = DeviceStepStats(device)
    for event in trace.events:
        start, took = event.start + trace.epoch, event.duration
        made.thread_names[event.thread] = event.thread_name
        made.node_stats.append(
            NodeExecStats(
                node_name=event.operation,
                timeline_label=f"{event.operation} = {event.name}",
                all_start_micros=start // 1000,
                op_start_rel_micros=0,
                op_end_rel_micros=took // 1000,
                all_end_rel_micros=took // 1000,
                all_start_nanos=start,
                op_start_rel_nanos=0,
                op_end_rel_nanos=took,
                all_end_rel_nanos=took,
                thread_id=event.thread,
            )
        )
    return StepStats([made])
