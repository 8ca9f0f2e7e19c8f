# SPDX-License-Identifier: Apache-2.0
"""The queue and the pool of overload_ops: closed, full, and pushes that fail."""

import contextlib
import subprocess
import threading
import time
from pathlib import Path

import pytest
import stages

import pkg
import pkg.sysconfig
from child import DEADLINE, run_child, run_command


def test_w41_a_closed_queue_refuses_jobs(jobs, queue):
    ran = []
    for i in range(20):
        jobs.submit(lambda i=i: ran.append(i))
    jobs.close()
    assert len(ran) == 20
    with pytest.raises(queue.QueueClosed, match="closed"):
        jobs.submit(int)
    assert jobs.pending() == 0


def close_while_others_submit(queue, ordered, delay):
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
    assert all(job.done() for job in taken)
    for job in taken:
        job.result()


def test_w41_closing_while_others_submit(queue):
    for attempt in range(30):
        close_while_others_submit(queue, attempt % 2 == 0, 0.001 * (attempt % 3))


def test_closing_may_cancel_what_waits(queue):
    jobs = queue.JobQueue()
    gate, begun = threading.Event(), threading.Event()
    running = jobs.submit(lambda: (begun.set(), gate.wait(DEADLINE)))
    waiting = [jobs.submit(int) for _ in range(10)]
    assert begun.wait(DEADLINE)
    threading.Timer(0.05, gate.set).start()
    jobs.close("cancel")
    running.result()
    for job in waiting:
        with pytest.raises(pkg.CancelledError):
            job.result()


def test_w42_a_refused_submit_leaves_nothing_pending(jobs):
    for _ in range(10):
        with pytest.raises(TypeError):
            jobs.submit("not a callable")
    assert jobs.pending() == 0
    jobs.flush()


def test_w42_a_push_that_fails_leaves_nothing_pending(tmp_path):
    """The job has been counted by then: no memory for what comes after."""
    program = str(tmp_path / "no_memory")
    shared = [str(stages.SHARED / f"{each}.cc") for each in ("device", "job_queue")]
    source = str(Path(__file__).with_name("no_memory.cc"))
    flags = [*pkg.sysconfig.get_compile_flags(), "-O1", "-pthread"]
    flags += ["-Wno-mismatched-new-delete", f"-I{stages.STAGES}"]
    command = ["g++", *flags, source, *shared, "-o", program]
    subprocess.run([*command, *pkg.sysconfig.get_link_flags()], check=True)
    status, out, err, _ = run_command([program])
    assert status == 0, (out, err)


def test_w46_a_bounded_queue_has_a_policy(queue):
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
    oldest = dropping.submit(int)
    newest = dropping.submit(int)
    gate.set()
    with pytest.raises(pkg.CancelledError):
        oldest.result(DEADLINE)
    newest.result(DEADLINE)
    blocking = queue.JobQueue(limit=2)
    most = 0
    for _ in range(50):
        blocking.submit(lambda: time.sleep(0.001))
        most = max(most, blocking.pending())
    assert most <= 2
    with pytest.raises(ValueError, match="drop-oldest"):
        queue.JobQueue(policy="hope")


def submit_to_a_bounded_queue(queue, policy):
    """Eight threads at once find room for two, never for three."""
    jobs = queue.JobQueue(ordered=False, limit=2, policy=policy)
    gate, ready = queue.Promise(), threading.Barrier(9)
    one, two = queue.Scalar(1, queue=jobs), gate.scalar()
    taken, refused, done = [], [], []

    def submit():
        ready.wait(DEADLINE)
        try:
            taken.append(one + two)
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
        gate.set(2)
    for thread in threads:
        thread.join()
    most = max(most, jobs.pending())
    if policy != "block":
        gate.set(2)
    jobs.flush(idle=True)
    assert most <= 2 and len(taken) + len(refused) == 8
    for total in taken:
        with contextlib.suppress(pkg.CancelledError):
            done.append(total.result(DEADLINE))
    assert done == [3.0] * (8 if policy == "block" else 2)
    assert len(refused) == (6 if policy == "raise" else 0)


@pytest.mark.parametrize("policy", ["block", "raise", "drop-oldest"])
def test_w46_the_bound_holds_for_many_threads(queue, policy):
    queue.set_delay(0)
    for _ in range(20):
        submit_to_a_bounded_queue(queue, policy)


def test_a_bounded_queue_without_threads(binding):
    """With PKG_ASYNC=0 jobs run in submit(): one of them cannot wait for itself."""
    code = """
        import overload_ops_queue as queue
        jobs, ran = queue.JobQueue(limit=1), []
        def nested():
            jobs.flush()
            assert jobs.pending() == 1
            jobs.submit(int)
        jobs.submit(lambda: ran.append(3)).result()
        assert ran == [3]
        try:
            jobs.submit(nested).result()
        except RuntimeError as error:
            assert "would deadlock" in str(error), error
        else:
            raise AssertionError("it waited for itself")
        assert jobs.pending() == 0
        jobs.close()
        print("fine")
    """
    environment = stages.path(stages.build("overload_ops_queue", binding))
    status, out, err, _ = run_child(code, **environment, PKG_ASYNC="0")
    assert (status, out) == (0, "fine\n"), err


@pytest.mark.parametrize("limit", [0, -1])
def test_a_queue_without_room_is_refused(queue, limit):
    """Each submit would wait for ever."""
    with pytest.raises(ValueError, match="expected 1 or more"):
        queue.JobQueue(limit=limit)


@pytest.mark.parametrize("ms", [float("inf"), float("nan"), -1])
def test_delays_that_no_device_has_are_refused(queue, ms):
    """And the times stay as they were."""
    with pytest.raises(ValueError, match="set_delay. expected 0 or more"):
        queue.set_delay(ms)
