# SPDX-License-Identifier: Apache-2.0
"""The times for which the samples pretend to work, in seconds."""


class Delays:
    """Named times, given in milliseconds; set(ms) changes all of them."""

    def __init__(self, **milliseconds):
        for name, ms in milliseconds.items():
            setattr(self, name, ms / 1000)

    def set(self, ms):
        """Sets how long each operation pretends to work, in milliseconds."""
        if not ms >= 0:
            raise ValueError(f"[set_delay] expected at least 0, got {ms} (ms).")
        for name in vars(self):
            setattr(self, name, ms / 1000)
