# SPDX-License-Identifier: Apache-2.0
"""The Scalar whose value comes later; overload_ops.{async_,queue,pool} derive from it.

It is the Event of a job whose result is a 0-d float64 tensor. Operands are dependencies
of the job, so no worker ever waits for a value.
"""

import functools

from .. import scheduler
from .._binding import core
from ._numbers import as_double
from ._protocol import Value


def _tensor(value):
    return core.tensor(as_double("Scalar", "x", value), dtype=core.float64)


def _compute(op, operands):
    """The job: its operands are finished."""
    return op(*[x if type(x) is float else x.result() for x in operands])


class AsyncScalar(Value):
    """Subclasses give `_delays` (of two Scalars, of one) and `_default_queue`."""

    __slots__ = ("_event", "_queue")

    def __init__(self, x, queue=None):
        self._event = scheduler.ManualEvent()
        self._event.set(_tensor(x))
        self._queue = queue

    @classmethod
    def _of(cls, event, queue=None):
        result = cls.__new__(cls)
        result._event = event
        result._queue = queue
        return result

    @classmethod
    def from_future(cls, future):
        """The value of a concurrent.futures.Future, with its error or cancellation."""
        # Only the future owns the bridge: if it is dropped, what depends is cancelled.
        bridge, box = scheduler.ManualEvent(), []
        event = scheduler.submit(box.pop, deps=bridge)
        future.add_done_callback(functools.partial(_settle, bridge, box))
        return cls._of(event)

    @property
    def v(self):
        """Get the (possibly async-computed) value; waits if needed"""
        return self._event.result().item()

    def result(self, timeout=None):
        """The value; TimeoutError when it takes longer than `timeout` seconds."""
        return self._event.result(timeout).item()

    def done(self):
        """Whether the value, or the error, is there."""
        return self._event.done()

    def cancel(self):
        """Cancels the computation and what depends on it; False if it has begun."""
        return self._event.cancel()

    @property
    def queue(self):
        """The queue that this Scalar belongs to: that of its left operand."""
        return self._queue or self._default_queue()

    @classmethod
    def _apply(cls, op, *operands):
        scalars = [x for x in operands if type(x) is not float]
        queue = scalars[0].queue
        delays = cls._delays
        event = queue.submit(
            functools.partial(_compute, op, [_source(x) for x in operands]),
            deps=[x._event for x in scalars],
            seconds=delays.pair if len(scalars) == 2 else delays.one,
        )
        return cls._of(event, scalars[0]._queue)


def _source(operand):
    """What the job keeps: not the Scalar, which may be dropped."""
    return operand if type(operand) is float else operand._event


def _settle(bridge, box, future):
    try:
        box.append(_tensor(future.result()))
    except BaseException as error:  # also the future's cancellation
        bridge.set_error(error)
    else:
        bridge.set()
