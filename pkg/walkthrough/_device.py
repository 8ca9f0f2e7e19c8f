# SPDX-License-Identifier: Apache-2.0
"""The device that the samples pretend to have: it finishes events after some time.

The articles simulate work by sleeping in a worker. Work on a real device occupies no
CPU thread, so here one thread serves all that is "running" on the device.
"""

from __future__ import annotations

import heapq
import itertools
import os
import threading
import time

from ..scheduler import ManualEvent, async_enabled


class _Device:
    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._due: list[tuple[float, int, ManualEvent]] = []  # number: of equal times
        self._numbers = itertools.count()
        threading.Thread(target=self._run, name="pkg-device", daemon=True).start()

    def finish_after(self, seconds: float, event: ManualEvent) -> None:
        """Sets `event` when `seconds` have passed, unless it is finished before."""
        entry = (time.monotonic() + seconds, next(self._numbers), event)
        with self._changed:
            heapq.heappush(self._due, entry)
            self._changed.notify()

    def _run(self) -> None:
        while True:
            with self._changed:
                while not self._due or self._due[0][0] > time.monotonic():
                    left = threading.TIMEOUT_MAX
                    if self._due:
                        left = min(left, self._due[0][0] - time.monotonic())
                    self._changed.wait(left)
                event = heapq.heappop(self._due)[2]
            finish(event)
            del event  # or it would live until the next one


_device: _Device | None = None
_making = threading.Lock()


def _get() -> _Device:
    """The device, made on first use."""
    global _device
    with _making:
        if _device is None:
            _device = _Device()
        return _device


def _forget() -> None:
    """In a forked child: threads do not survive, locks may be held by nobody."""
    global _device, _making
    _device, _making = None, threading.Lock()


os.register_at_fork(after_in_child=_forget)


def finish(event: ManualEvent) -> None:
    """Sets a ManualEvent unless it was cancelled."""
    if not event.done():
        try:
            event.set()
        except RuntimeError:  # cancelled just now
            pass


def prepare() -> None:
    """Starts the device before there is work for it: Python 3.12 starts no thread once
    the interpreter is going away, when jobs that were queued still run."""
    if async_enabled():
        _get()


def finish_after(seconds: float, event: ManualEvent) -> None:
    """Finishes a ManualEvent `seconds` from now; with PKG_ASYNC=0 before it returns."""
    if seconds <= 0 or not async_enabled():
        time.sleep(max(seconds, 0))
        finish(event)
    else:
        _get().finish_after(seconds, event)
