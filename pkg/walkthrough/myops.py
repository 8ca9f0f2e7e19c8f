# SPDX-License-Identifier: Apache-2.0
"""Async add backend (Python fires sequentially, C++ runs concurrently)"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from typing import Any

from ..scheduler import Event
from . import _delay, pydemo
from ._jobs import JobQueue
from ._numbers import Number, as_double

_delays = _delay.Delays(add=100)
set_delay = _delays.set


class TaskGroup:
    """The tasks that belong together: ids count from 0, results come in that order."""

    # The locks cover the lists of events only.  A push is outside of them: without
    # workers (PKG_ASYNC=0) the task runs in it, and may use its own group.
    def __init__(self) -> None:
        self._queue = JobQueue(ordered=False)
        self._lock = threading.Lock()
        self._events: list[Event] = []

    def _push_add(self, a: Number, b: Number) -> Event:
        a, b = as_double("myops.add", "a", a), as_double("myops.add", "b", b)
        work = functools.partial(pydemo.add, a, b)
        return self._queue.submit(work, seconds=_delays.add)

    def _take(self, event: Event) -> int:
        with self._lock:
            self._events.append(event)
            return len(self._events) - 1

    def submit(self, work: Callable[[], Any]) -> int:
        """Submits work() and returns its id at once."""
        return self._take(self._queue.submit(work))

    def add(self, a: Number, b: Number) -> int:
        """Submit async add task, return task ID"""
        return self._take(self._push_add(a, b))

    def result(self, task: int, timeout: float | None = None) -> Any:
        """Waits for one task; ValueError for an id that this group did not give."""
        with self._lock:
            count = len(self._events)
            if not 0 <= task < count:
                raise ValueError(
                    f"[result] expected an id below {count} of this group, got {task} "
                    "(task)."
                )
            event = self._events[task]
        return event.result(timeout)

    def wait_all(self, return_exceptions: bool = False) -> list[Any]:
        """Wait all tasks and return results

        Of every task, in the order of the ids, as often as asked. If some failed, an
        ExceptionGroup of all errors with the attribute `results`; with
        return_exceptions, errors stand in the list.
        """
        with self._lock:
            events = list(self._events)
        errors: list[BaseException] = []
        results: list[Any] = []
        for event in events:
            error = event.exception()
            if error is not None:
                errors.append(error)
            results.append(event.result() if error is None else error)
        if errors and not return_exceptions:
            raise _group(errors, results)
        return results


def _group(errors: list[BaseException], results: list[Any]) -> BaseException:
    text = f"[wait_all] {len(errors)} of {len(results)} tasks failed"
    error: Any = BaseExceptionGroup(text, errors)
    error.results = results  # which its class does not know
    group: BaseException = error
    return group


_current = TaskGroup()
_lock = threading.Lock()  # an event enters the group that the next wait_all() takes


def _take(event: Event) -> int:
    with _lock:
        return _current._take(event)


def add(a: Number, b: Number) -> int:
    """Submit async add task, return task ID"""
    return _take(_current._push_add(a, b))


def submit(work: Callable[[], Any]) -> int:
    """Submit any callable as a task, return task ID"""
    return _take(_current._queue.submit(work))


def wait_all(return_exceptions: bool = False) -> list[Any]:
    """Wait all tasks and return results

    Those since the last call, which empties the table; see TaskGroup.wait_all. When it
    is interrupted the tasks stay in the table, unless others have been added.
    """
    global _current
    with _lock:
        group, _current = _current, TaskGroup()
    try:
        return group.wait_all(return_exceptions)
    except KeyboardInterrupt:
        with _lock:
            if not _current._events:
                _current = group
        raise
