# SPDX-License-Identifier: Apache-2.0
"""Threads and pending work: one pool of workers that everything in pkg shares.

``submit(callable)`` returns an ``Event`` at once; ``deps`` order work, a ``Stream`` is
an order of its own, ``with stream:`` makes it current on this thread. An exception of
the callable comes back where somebody waits, and reaches all work that depends on it.
Waiting gives up the GIL and can be interrupted by Ctrl-C. With ``PKG_ASYNC=0`` work
whose dependencies are done runs on the thread that submits it.
"""

from __future__ import annotations

from ._binding import core

Event = core.Event
ManualEvent = core.ManualEvent
Stream = core.Stream
submit = core.submit
cancel = core.cancel
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
