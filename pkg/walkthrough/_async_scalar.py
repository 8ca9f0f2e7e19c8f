# SPDX-License-Identifier: Apache-2.0
"""The Scalar whose value comes later; overload_ops.{async_,queue,pool} derive from it.

It is the Event of a job whose result is a 0-d float64 tensor. Operands are dependencies
of the job, so no worker ever waits for a value.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from .. import scheduler
from .._binding import core
from ..tensor import Tensor
from ._delay import Delays
from ._jobs import JobQueue
from ._numbers import Number, as_double
from ._protocol import Op, Value

if TYPE_CHECKING:
    from concurrent.futures import Future

_Self = TypeVar("_Self", bound="AsyncScalar")


def _tensor(value: Number) -> Tensor:
    return core.tensor(as_double("Scalar", "x", value), dtype=core.float64)


def _compute(op: Op, operands: list[Any]) -> Any:
    """The job: its operands are finished."""
    return op(*[x if type(x) is float else x.result() for x in operands])


class AsyncScalar(Value):
    """Subclasses give `_delays` (of two Scalars, of one) and `_default_queue`."""

    __slots__ = ("_event", "_queue")
    _delays: Delays
    _default_queue: Callable[[], JobQueue]
    _event: scheduler.Event
    _queue: JobQueue | None

    def __init__(self, x: Number, queue: JobQueue | None = None) -> None:
        event = scheduler.ManualEvent()
        event.set(_tensor(x))
        self._event = event
        self._queue = queue

    @classmethod
    def _of(
        cls: type[_Self], event: scheduler.Event, queue: JobQueue | None = None
    ) -> _Self:
        result = cls.__new__(cls)
        result._event = event
        result._queue = queue
        return result

    @classmethod
    def from_future(cls: type[_Self], future: Future[Any]) -> _Self:
        """The value of a concurrent.futures.Future, with its error or cancellation."""
        # Only the future owns the bridge: if it is dropped, what depends is cancelled.
        bridge = scheduler.ManualEvent()
        box: list[Tensor] = []
        event = scheduler.submit(box.pop, deps=bridge)
        future.add_done_callback(functools.partial(_settle, bridge, box))
        return cls._of(event)

    @property
    def v(self) -> float:
        """Get the (possibly async-computed) value; waits if needed"""
        value: float = self._event.result().item()
        return value

    def result(self, timeout: float | None = None) -> float:
        """The value; TimeoutError when it takes longer than `timeout` seconds."""
        value: float = self._event.result(timeout).item()
        return value

    def done(self) -> bool:
        """Whether the value, or the error, is there."""
        return self._event.done()

    def cancel(self) -> bool:
        """Cancels the computation and what depends on it; False if it has begun."""
        cancelled: bool = self._event.cancel()
        return cancelled

    @property
    def queue(self) -> JobQueue:
        """The queue that this Scalar belongs to: that of its left operand."""
        return self._queue or self._default_queue()

    @classmethod
    def _apply(cls: type[_Self], op: Op, *operands: Any) -> _Self:
        scalars = [x for x in operands if type(x) is not float]
        queue = scalars[0].queue
        delays = cls._delays
        event = queue.submit(
            functools.partial(_compute, op, [_source(x) for x in operands]),
            deps=[x._event for x in scalars],
            seconds=delays.pair if len(scalars) == 2 else delays.one,
        )
        return cls._of(event, scalars[0]._queue)


def _source(operand: Any) -> Any:
    """What the job keeps: not the Scalar, which may be dropped."""
    return operand if type(operand) is float else operand._event


def _settle(
    bridge: scheduler.ManualEvent, box: list[Tensor], future: Future[Any]
) -> None:
    try:
        box.append(_tensor(future.result()))
    except BaseException as error:  # also the future's cancellation
        bridge.set_error(error)
    else:
        bridge.set()
