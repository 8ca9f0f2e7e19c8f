# SPDX-License-Identifier: Apache-2.0
"""Which graphs a thread has entered, and whether it makes one of a function."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

__all__ = ["building", "entered_graph", "is_building", "stacks"]


class _Stacks(threading.local):
    """What this thread has entered."""

    def __init__(self) -> None:
        self.graphs: list[Any] = []
        self.building = 0  # how many functions it is making graphs of


stacks = _Stacks()


@contextmanager
def building() -> Iterator[None]:
    """A context in which this thread makes a graph of a function."""
    stacks.building += 1
    try:
        yield
    finally:
        stacks.building -= 1


def is_building() -> bool:
    """Whether this thread makes a graph of a function."""
    return stacks.building > 0


def entered_graph() -> Any:
    """The graph that this thread has entered last, or None."""
    return stacks.graphs[-1] if stacks.graphs else None
