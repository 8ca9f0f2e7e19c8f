# SPDX-License-Identifier: Apache-2.0
"""A queue of jobs over pkg.scheduler: the articles' TaskQueue and ThreadPool.

It has no thread and no counter of its own: what is pending is told by the events.
"""

import functools
import threading

from .. import scheduler
from . import _device


class QueueClosed(RuntimeError):
    """A job was submitted after close()."""


class QueueFull(RuntimeError):
    """The queue holds `limit` jobs, and its policy is 'raise'."""


class _Job:
    """One job: its event, and whether it has begun."""

    __slots__ = ("event", "started")

    def __init__(self):
        self.event = None
        self.started = False

    def begin(self, seconds, device):
        """First step of a job that spends `seconds` on the device."""
        self.started = True
        _device.finish_after(seconds, device)

    def run(self, work):
        """The only step of a job that needs no device."""
        self.started = True
        return work()


class JobQueue:
    """Jobs in order of submission (`ordered`) or as their inputs are ready.

    limit: most jobs pending at a time; what happens beyond it says `policy`: 'block'
    (submit waits), 'raise' (QueueFull) or 'drop-oldest' (cancels one that waits).
    """

    def __init__(self, ordered=True, limit=None, policy="block"):
        if policy not in ("block", "raise", "drop-oldest"):
            raise ValueError(
                "[JobQueue] expected 'block', 'raise' or 'drop-oldest', got "
                f"{policy!r} (policy)."
            )
        self._stream = scheduler.Stream() if ordered else None
        self._limit = limit
        self._policy = policy
        self._closed = False
        self._lock = threading.Lock()
        self._jobs = []
        self._purge_at = 64

    def __reduce__(self):
        """A queue has an identity: TypeError when it is copied or pickled."""
        raise TypeError("[JobQueue] expected to stay one queue, got a copy or pickle.")

    def submit(self, work, deps=(), seconds=0.0):
        """Runs work() after `deps` and `seconds` on the device; returns its Event.

        QueueClosed after close().
        """
        if self._closed:
            raise QueueClosed("[submit] expected an open queue, got a closed one.")
        if self._limit is not None:
            self._make_room()
        job = _Job()
        if seconds > 0:
            # begin() is the only owner of the device's event: if it never runs, because
            # an input failed or was cancelled, the event is dropped and work() with it.
            on_device = scheduler.ManualEvent()
            begin = functools.partial(job.begin, seconds, on_device)
            begun = scheduler.submit(begin, deps=deps, stream=self._stream)
            deps = [begun, on_device]
            job.event = scheduler.submit(work, deps=deps, stream=self._stream)
        else:
            run = functools.partial(job.run, work)
            job.event = scheduler.submit(run, deps=deps, stream=self._stream)
        self._remember(job)
        return job.event

    def _remember(self, job):
        with self._lock:
            self._jobs.append(job)
            many = len(self._jobs) >= self._purge_at
        if many:
            self._purge_at = max(64, 2 * len(self._snapshot()))

    def _make_room(self):
        while True:
            pending = self._snapshot()
            if len(pending) < self._limit:
                return
            if self._policy == "raise":
                raise QueueFull(
                    f"[submit] expected fewer than {self._limit} pending jobs, got "
                    f"{len(pending)} (limit={self._limit})."
                )
            waiting = [job for job in pending if not job.started]
            if self._policy == "drop-oldest" and waiting:
                waiting[0].event.cancel()
                with self._lock:
                    self._jobs = [job for job in self._jobs if job is not waiting[0]]
            else:
                pending[0].event.exception()

    def _snapshot(self):
        """The pending jobs; the finished ones are forgotten."""
        with self._lock:
            known = self._jobs  # what is finished dies after the lock is given back
            self._jobs = [job for job in known if not job.event.done()]
            return list(self._jobs)

    def stats(self):
        """(jobs waiting, jobs running) of one moment."""
        pending = self._snapshot()
        running = sum(job.started for job in pending)
        return len(pending) - running, running

    def queue_size(self):
        """Jobs that wait; those that run are not counted."""
        return self.stats()[0]

    def pending(self):
        """Jobs that wait or run."""
        return len(self._snapshot())

    def flush(self, idle=False, raise_errors=False):
        """Waits for all jobs submitted before the call, by any thread.

        idle: until nothing is pending. raise_errors: raises the first error among them.
        RuntimeError inside a job of this queue: it would wait for itself.
        """
        while True:
            pending = self._snapshot()
            for job in reversed(pending):  # the last first: one sleep, not one per job
                job.event.exception()
            for job in pending:
                error = job.event.exception() if raise_errors else None
                if error is not None:
                    raise error
            if not self._snapshot() or not idle:
                return

    def close(self, policy="drain"):
        """Refuses further jobs; waits for the pending ones, or with 'cancel' drops those
        that have not begun. Without close(), dropping the queue loses no job."""
        if policy not in ("drain", "cancel"):
            raise ValueError(
                f"[close] expected 'drain' or 'cancel', got {policy!r} (policy)."
            )
        self._closed = True
        if policy == "cancel":
            for job in reversed(self._snapshot()):
                if not job.started:
                    job.event.cancel()
        self.flush()
