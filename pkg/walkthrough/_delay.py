# SPDX-License-Identifier: Apache-2.0
"""The times for which the samples pretend to work, in seconds."""

from __future__ import annotations


class Delays:
    """Named times, given in milliseconds; set(ms) changes all of them."""

    # One operation, or those of two Scalars and of one; who makes it knows which.
    add: float
    pair: float
    one: float

    def __init__(self, **milliseconds: float) -> None:
        for name, ms in milliseconds.items():
            setattr(self, name, ms / 1000)

    def set(self, ms: float) -> None:
        """Sets how long each operation pretends to work, in milliseconds."""
        if not 0 <= ms < float("inf"):
            raise ValueError(f"[set_delay] expected 0 or more, got {ms} (ms).")
        for name in vars(self):
            setattr(self, name, ms / 1000)
