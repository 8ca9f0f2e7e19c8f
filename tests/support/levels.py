# SPDX-License-Identifier: Apache-2.0
"""The instruction-set levels, lowest first, and a test that runs on one of them."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from pkg._binding import core

LEVELS = ("baseline", "v3", "v4")


def has(level: str) -> bool:
    """Whether this CPU can run it."""
    before = core.isa_name()
    try:
        core.set_isa(level)
    except ValueError:
        return False
    core.set_isa(before)
    return True


@contextmanager
def at_level(level: str) -> Iterator[str]:
    """All loops run on this level; the test is skipped where the CPU has it not."""
    if not has(level):
        pytest.skip(f"this CPU has no {level}")
    before = core.isa_name()
    core.set_isa(level)
    try:
        yield level
    finally:
        core.set_isa(before)


def every_level() -> Iterator[str]:
    """The levels of this CPU; each is in use while the loop is at it."""
    for level in filter(has, LEVELS):
        with at_level(level):
            yield level
