# SPDX-License-Identifier: Apache-2.0
"""Threads and pending work: one pool of workers that everything in pkg shares.

``submit(callable)`` returns an ``Event`` at once; ``deps`` order work, a ``Stream`` is
an order of its own, ``with stream:`` makes it current on this thread. An exception of
the callable comes back where somebody waits, and reaches all work that depends on it.
Waiting gives up the GIL and can be interrupted by Ctrl-C; ``cancel_pending()`` then
drops what is still to be done. ``await event`` waits in a coroutine. With
``PKG_ASYNC=0`` work whose dependencies are done runs on the thread that submits it.
"""

from __future__ import annotations

import functools
import weakref
from typing import TYPE_CHECKING, Any

from ._binding import core

if TYPE_CHECKING:
    from collections.abc import Generator

Event = core.Event
ManualEvent = core.ManualEvent
Stream = core.Stream
submit = core.submit
cancel = core.cancel
cancel_pending = core.cancel_pending
cancel_requested = core.cancel_requested
current_stream = core.current_stream
scheduler_stats = core.scheduler_stats
num_threads = core.num_threads
set_num_threads = core.set_num_threads
synchronize = core.synchronize
pending_tasks = core.pending_tasks
async_enabled = core.async_enabled
set_async = core.set_async


class stream:  # noqa: N801  (PyTorch's name)
    """Context manager: `stream` is current on this thread inside; None changes nothing.

    It can be entered again, also inside itself.
    """

    def __init__(self, stream: Stream | None) -> None:
        if stream is not None and not isinstance(stream, Stream):
            kind = type(stream).__name__
            raise TypeError(
                f"[stream] expected a Stream or None for 'stream', got {kind}"
            )
        self._stream = stream

    def __enter__(self) -> Stream | None:
        if self._stream is not None:
            self._stream.__enter__()
        return self._stream

    def __exit__(self, *exc: object) -> None:
        if self._stream is not None:
            self._stream.__exit__(*exc)


# The futures of those who await an event, with their loops. One set for each event, and
# not a callback for each await: one that was cancelled leaves nothing behind.
_awaiting: weakref.WeakKeyDictionary[Any, set[tuple[Any, Any]]]
_awaiting = weakref.WeakKeyDictionary()


def _await_event(event: Event) -> Generator[Any, None, Any]:
    """What Event.__await__ returns: waits in the running asyncio loop for the work."""
    if not event.wait(timeout=0):
        from asyncio import get_running_loop

        loop = get_running_loop()
        fresh: set[tuple[Any, Any]] = set()
        waiting = _awaiting.setdefault(event, fresh)
        if waiting is fresh:
            event._when_done(functools.partial(_wake, waiting))
        mine = loop, loop.create_future()
        waiting.add(mine)
        try:
            # It may have finished meanwhile, and woken the others.
            if not event.done():
                yield from mine[1]
        finally:
            waiting.discard(mine)
    return event.result()


def _wake(waiting: set[tuple[Any, Any]]) -> None:
    """Called on whichever thread finishes the event."""
    for loop, future in list(waiting):
        try:
            loop.call_soon_threadsafe(_finish, future)
        except RuntimeError:  # the loop is closed: nobody waits any more
            pass


def _finish(future: Any) -> None:
    if not future.done():
        future.set_result(None)
