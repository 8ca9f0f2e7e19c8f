# SPDX-License-Identifier: Apache-2.0
"""Scalar + operator with fixed thread pool (async + on-demand wait)"""

from __future__ import annotations

import functools

from .._async_scalar import AsyncScalar
from .._delay import Delays
from .._jobs import JobQueue, QueueClosed, QueueFull
from .._protocol import UnsupportedOperandError

_delays = Delays(pair=40, one=20)
set_delay = _delays.set


@functools.cache
def default_queue() -> JobQueue:
    """The pool that Scalars use by default: the workers of pkg.scheduler."""
    return JobQueue(ordered=False)


class Scalar(AsyncScalar):
    """Scalar(x, queue=None): its operators queue a job and return at once."""

    __slots__ = ()
    _delays = _delays
    _default_queue = staticmethod(default_queue)

    @property
    def v(self) -> float:
        """Get the (possibly async) value"""
        return self.result()


def flush(idle: bool = False, raise_errors: bool = False) -> None:
    """Wait until all jobs are finished

    That is, until the jobs submitted before the call are; see JobQueue.flush.
    """
    default_queue().flush(idle, raise_errors)


def queue_size() -> int:
    """Jobs waiting in queue"""
    return default_queue().queue_size()


def pending() -> int:
    """Running + queued jobs"""
    return default_queue().pending()


__all__ = ["JobQueue", "QueueClosed", "QueueFull", "Scalar", "UnsupportedOperandError"]
__all__ += ["default_queue", "flush", "pending", "queue_size", "set_delay"]
