# SPDX-License-Identifier: Apache-2.0
"""Scalar with async + operator (minimal lazy/async demo)"""

from __future__ import annotations

import functools

from .._async_scalar import AsyncScalar
from .._delay import Delays
from .._jobs import JobQueue
from .._protocol import UnsupportedOperandError

__all__ = ["Scalar", "UnsupportedOperandError", "set_delay"]

_delays = Delays(pair=50, one=30)
set_delay = _delays.set


@functools.cache
def _queue() -> JobQueue:
    return JobQueue(ordered=False)


class Scalar(AsyncScalar):
    """Scalar(x): its operators return at once, its value waits."""

    __slots__ = ()
    _delays = _delays
    _default_queue = staticmethod(_queue)
