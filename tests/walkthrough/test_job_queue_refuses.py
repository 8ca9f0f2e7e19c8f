# SPDX-License-Identifier: Apache-2.0
"""The queue and the pool of overload_ops: closed, full, and pushes that fail."""

import threading
import time

import pytest

import pkg
from child import DEADLINE, run_child
from pkg import scheduler
from pkg.walkthrough._jobs import JobQueue
from pkg.walkthrough.overload_ops import queue


def test_w41_a_closed_queue_refuses_jobs(jobs):
    ran = []
    for i in range(20):
        jobs.submit(lambda i=i: ran.append(i))
    jobs.close()
    assert len(ran) == 20
    with pytest.raises(queue.QueueClosed, match="closed"):
        jobs.submit(int)
    assert jobs.pending() == 0


def close_while_others_submit(ordered, delay):
    """What was taken is done when close() returns; nothing is taken after it."""
    jobs = queue.JobQueue(ordered=ordered)
    ready, taken, late = threading.Barrier(5), [], []

    def submit():
        ready.wait(DEADLINE)
        try:
            while True:
                began_late = closed.is_set()  # a submit that overlaps close() may pass
                taken.append(jobs.submit(int))
                if began_late:
                    late.append(taken[-1])
        except queue.QueueClosed:
            pass

    closed = threading.Event()
    threads = [threading.Thread(target=submit) for _ in range(4)]
    for thread in threads:
        thread.start()
    ready.wait(DEADLINE)
    time.sleep(delay)
    jobs.close()
    pending = jobs.pending()
    closed.set()
    for thread in threads:
        thread.join()
    assert pending == 0 == len(late)
    assert all(event.done() and event.result() == 0 for event in taken)


def test_w41_closing_while_others_submit():
    for attempt in range(30):
        close_while_others_submit(attempt % 2 == 0, 0.001 * (attempt % 3))


def test_closing_may_cancel_what_waits():
    jobs = queue.JobQueue()
    gate, begun = threading.Event(), threading.Event()
    running = jobs.submit(lambda: (begun.set(), gate.wait(DEADLINE)))
    waiting = [jobs.submit(int) for _ in range(10)]
    assert begun.wait(DEADLINE)
    threading.Timer(0.05, gate.set).start()
    jobs.close("cancel")
    assert running.result()[1] is True
    assert all(isinstance(e.exception(), pkg.CancelledError) for e in waiting)


def test_w42_a_refused_submit_leaves_nothing_pending(jobs):
    for _ in range(10):
        with pytest.raises(TypeError):
            jobs.submit(int, deps=["not an event"])
    assert jobs.pending() == 0
    jobs.flush()


@pytest.mark.parametrize("fails_at", [1, 2])
def test_w42_a_push_that_fails_leaves_nothing_pending(jobs, monkeypatch, fails_at):
    """The job has been counted by then: as when memory ends inside the push."""
    push, pushes, ran = scheduler.submit, [], []

    def failing(*arguments, **options):
        pushes.append(arguments)
        if len(pushes) == fails_at:
            raise MemoryError("in the push")
        return push(*arguments, **options)

    gate = scheduler.ManualEvent()
    monkeypatch.setattr(scheduler, "submit", failing)
    with pytest.raises(MemoryError, match="in the push"):
        # Two pushes: for the time on the device, and for the rest.
        jobs.submit(lambda: ran.append(1), deps=[gate], seconds=0.001)
    monkeypatch.undo()
    assert len(pushes) == fails_at and jobs.pending() == 0
    jobs.flush()
    gate.set()
    assert jobs.submit(lambda: 5).result(DEADLINE) == 5
    jobs.flush(idle=True)
    assert ran == []


def test_w46_a_bounded_queue_has_a_policy():
    gate = threading.Event()
    jobs = queue.JobQueue(limit=2, policy="raise")
    jobs.submit(lambda: gate.wait(DEADLINE))
    jobs.submit(int)
    with pytest.raises(queue.QueueFull, match="limit=2"):
        jobs.submit(int)
    dropping = queue.JobQueue(limit=2, policy="drop-oldest")
    begun = threading.Event()
    dropping.submit(lambda: (begun.set(), gate.wait(DEADLINE)))
    assert begun.wait(DEADLINE)
    oldest = dropping.submit(lambda: 1)
    newest = dropping.submit(lambda: 2)
    gate.set()
    assert isinstance(oldest.exception(DEADLINE), pkg.CancelledError)
    assert newest.result(DEADLINE) == 2
    blocking = queue.JobQueue(limit=2)
    most = 0
    for _ in range(50):
        blocking.submit(lambda: time.sleep(0.001))
        most = max(most, blocking.pending())
    assert most <= 2
    with pytest.raises(ValueError, match="drop-oldest"):
        queue.JobQueue(policy="hope")


def submit_to_a_bounded_queue(policy):
    """Eight threads at once find room for two, never for three."""
    jobs = queue.JobQueue(ordered=False, limit=2, policy=policy)
    gate, ready = scheduler.ManualEvent(), threading.Barrier(9)
    taken, refused = [], []

    def submit():
        ready.wait(DEADLINE)
        try:
            taken.append(jobs.submit(int, deps=[gate]))
        except queue.QueueFull:
            refused.append(1)

    threads = [threading.Thread(target=submit) for _ in range(8)]
    for thread in threads:
        thread.start()
    ready.wait(DEADLINE)
    most = 0
    for _ in range(20):
        most = max(most, jobs.pending())
    if policy == "block":
        gate.set()
    for thread in threads:
        thread.join()
    most = max(most, jobs.pending())
    if policy != "block":
        gate.set()
    jobs.flush(idle=True)
    assert most <= 2 and len(taken) + len(refused) == 8
    done = [event for event in taken if event.exception(DEADLINE) is None]
    assert len(done) == 8 if policy == "block" else len(done) == 2
    assert len(refused) == (6 if policy == "raise" else 0)


@pytest.mark.parametrize("policy", ["block", "raise", "drop-oldest"])
def test_w46_the_bound_holds_for_many_threads(policy):
    for _ in range(20):
        submit_to_a_bounded_queue(policy)


def test_a_bounded_queue_without_threads():
    """With PKG_ASYNC=0 jobs run in submit(): one of them cannot wait for itself."""
    code = """
        import pkg
        from pkg.walkthrough.overload_ops import queue
        jobs = queue.JobQueue(limit=1)
        def nested():
            jobs.flush()
            assert jobs.pending() == 1
            jobs.submit(int)
        assert jobs.submit(lambda: 3).result() == 3
        error = jobs.submit(nested).exception()
        assert "would deadlock" in str(error), error
        assert jobs.pending() == 0
        jobs.close()
        print("fine")
    """
    status, out, err, _ = run_child(code, PKG_ASYNC="0")
    assert (status, out) == (0, "fine\n"), err


@pytest.mark.parametrize("limit", [0, -1])
def test_a_queue_without_room_is_refused(limit):
    """Each submit would wait for ever."""
    with pytest.raises(ValueError, match="expected 1 or more"):
        JobQueue(limit=limit)


@pytest.mark.parametrize("ms", [float("inf"), float("nan"), -1])
def test_delays_that_no_device_has_are_refused(ms):
    """And the times stay as they were."""
    with pytest.raises(ValueError, match="set_delay. expected 0 or more"):
        queue.set_delay(ms)
