# SPDX-License-Identifier: Apache-2.0
"""A queue of jobs over pkg.scheduler: the articles' TaskQueue and ThreadPool.

It has no thread and no counter of its own: what is pending is told by the events.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from typing import Any, NoReturn

from .. import scheduler
from . import _device


class QueueClosed(RuntimeError):
    """A job was submitted after close()."""


class QueueFull(RuntimeError):
    """The queue holds `limit` jobs, and its policy is 'raise'."""


class _Job:
    """One job: its event once there is one, who submits it till then, and whether it
    has begun."""

    __slots__ = ("event", "submitter", "started")

    def __init__(self) -> None:
        self.event: Any = None  # an Event as soon as there is one
        self.submitter: int | None = threading.get_ident()
        self.started = False

    def done(self) -> bool:
        """Whether nothing of it is left to do."""
        return self.event is not None and bool(self.event.done())

    def settled(self) -> bool:
        """Whether submit() is through with it: it has an event, or was refused."""
        return self.event is not None or self.submitter is None

    def being_submitted_here(self) -> bool:
        """Whether this thread is in submit(), as a job that runs there at once is."""
        return self.event is None and self.submitter == threading.get_ident()

    def begin(self, seconds: float, device: scheduler.ManualEvent) -> None:
        """First step of a job that spends `seconds` on the device."""
        self.started = True
        _device.finish_after(seconds, device)

    def run(self, work: Callable[[], Any]) -> Any:
        """The only step of a job that needs no device."""
        self.started = True
        return work()


class JobQueue:
    """Jobs in order of submission (`ordered`) or as their inputs are ready.

    limit: most jobs pending at a time, by any number of threads; what happens beyond it
    says `policy`: 'block' (submit waits), 'raise' (QueueFull) or 'drop-oldest' (cancels
    one that waits).
    """

    # A job is in the list, and counts, before its event exists: the lock covers the
    # look at the list and the entry, but no work, no wait and no destructor.
    def __init__(
        self, ordered: bool = True, limit: int | None = None, policy: str = "block"
    ) -> None:
        if policy not in ("block", "raise", "drop-oldest"):
            raise ValueError(
                "[JobQueue] expected 'block', 'raise' or 'drop-oldest', got "
                f"{policy!r} (policy)."
            )
        self._stream = scheduler.Stream() if ordered else None
        if limit is not None and limit < 1:
            raise ValueError(f"[JobQueue] expected 1 or more, got {limit} (limit).")
        self._limit = limit
        self._policy = policy
        self._closed = False
        self._changed = threading.Condition()  # a job got its event, or was refused
        self._jobs: list[_Job] = []
        self._purge_at = 64

    def __reduce__(self) -> NoReturn:
        """A queue has an identity: TypeError when it is copied or pickled."""
        raise TypeError("[JobQueue] expected to stay one queue, got a copy or pickle.")

    def submit(
        self, work: Callable[[], Any], deps: Any = (), seconds: float = 0.0
    ) -> scheduler.Event:
        """Runs work() after `deps` and `seconds` on the device; returns its Event.

        QueueClosed after close(). When it raises, the job is in no queue.
        """
        job = _Job()
        while not self._enter(job):
            self._make_room()
        try:
            event = self._schedule(job, work, deps, seconds)
        except BaseException:
            self._leave(job)
            raise
        with self._changed:
            job.event = event
            self._changed.notify_all()
        return event

    def _schedule(
        self, job: _Job, work: Callable[[], Any], deps: Any, seconds: float
    ) -> scheduler.Event:
        if seconds <= 0:
            run = functools.partial(job.run, work)
            return scheduler.submit(run, deps=deps, stream=self._stream)
        # begin() is the only owner of the device's event: if it never runs, because an
        # input failed or was cancelled, the event is dropped and work() with it.
        _device.prepare()
        on_device = scheduler.ManualEvent()
        begin = functools.partial(job.begin, seconds, on_device)
        begun = scheduler.submit(begin, deps=deps, stream=self._stream)
        try:
            return scheduler.submit(work, deps=[begun, on_device], stream=self._stream)
        except BaseException:
            begun.cancel()
            raise

    def _enter(self, job: _Job) -> bool:
        """Takes the job in if there is room; QueueClosed, QueueFull."""
        with self._changed:
            known = self._jobs  # what is finished dies after the lock is given back
            if self._closed:
                raise QueueClosed("[submit] expected an open queue, got a closed one.")
            if self._limit is not None or len(known) >= self._purge_at:
                self._jobs = [j for j in known if not j.done()]
                self._purge_at = max(64, 2 * len(self._jobs))
            pending = len(self._jobs)
            if self._limit is None or pending < self._limit:
                self._jobs.append(job)
                return True
        if self._policy == "raise":
            raise QueueFull(
                f"[submit] expected fewer than {self._limit} pending jobs, got "
                f"{pending} (limit={self._limit})."
            )
        return False

    def _leave(self, job: _Job) -> None:
        with self._changed:
            self._jobs = [j for j in self._jobs if j is not job]
            job.submitter = None
            self._changed.notify_all()

    def _make_room(self) -> None:
        """Drops a job that waits, or waits for the oldest to finish."""
        pending = self._submitted()
        waiting = [job for job in pending if not job.started]
        if self._policy == "drop-oldest" and waiting:
            waiting[0].event.cancel()
            if not waiting[0].started:
                self._leave(waiting[0])
        elif pending:
            pending[0].event.exception()
        elif any(job.being_submitted_here() for job in self._snapshot()):
            raise RuntimeError("[submit] would deadlock: called inside a pending job.")

    def _snapshot(self) -> list[_Job]:
        """The pending jobs; the finished ones are forgotten."""
        with self._changed:
            known = self._jobs  # what is finished dies after the lock is given back
            self._jobs = [job for job in known if not job.done()]
            return list(self._jobs)

    def _submitted(self) -> list[_Job]:
        """The same, once other threads have got the events of what they submit."""
        pending = [job for job in self._snapshot() if not job.being_submitted_here()]
        early = [job for job in pending if job.event is None]
        with self._changed:
            self._changed.wait_for(lambda: all(job.settled() for job in early))
        return [job for job in pending if job.event is not None]

    def stats(self) -> tuple[int, int]:
        """(jobs waiting, jobs running) of one moment."""
        pending = self._snapshot()
        running = sum(job.started for job in pending)
        return len(pending) - running, running

    def queue_size(self) -> int:
        """Jobs that wait; those that run are not counted."""
        return self.stats()[0]

    def pending(self) -> int:
        """Jobs that wait or run."""
        return len(self._snapshot())

    def flush(self, idle: bool = False, raise_errors: bool = False) -> None:
        """Waits for all jobs submitted before the call, by any thread.

        idle: until nothing is pending. raise_errors: raises the first error among them.
        RuntimeError inside a job of this queue: it would wait for itself.
        """
        while True:
            pending = self._submitted()
            for job in reversed(pending):  # the last first: one sleep, not one per job
                job.event.exception()
            for job in pending:
                error = job.event.exception() if raise_errors else None
                if error is not None:
                    raise error
            if not idle or not self._submitted():
                return

    def close(self, policy: str = "drain") -> None:
        """Refuses further jobs; waits for the pending ones, or with 'cancel' drops
        those that have not begun. Without close(), dropping the queue loses no job."""
        if policy not in ("drain", "cancel"):
            raise ValueError(
                f"[close] expected 'drain' or 'cancel', got {policy!r} (policy)."
            )
        with self._changed:
            self._closed = True
        if policy == "cancel":
            for job in reversed(self._submitted()):
                if not job.started:
                    job.event.cancel()
        self.flush()
