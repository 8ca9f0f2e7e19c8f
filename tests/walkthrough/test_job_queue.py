# SPDX-License-Identifier: Apache-2.0
"""The queue and the pool of overload_ops: order, flush, counts, exit."""

import copy
import gc
import pickle
import resource
import sys
import threading
import time
import weakref

import numpy as np
import pytest
import stages

import pkg
from child import DEADLINE, run_child
from interrupts import check_interrupted
from pkg import scheduler


def test_queue_size_excludes_what_runs(queue):
    jobs = queue.JobQueue()
    gate, begun = threading.Event(), threading.Event()
    jobs.submit(lambda: (begun.set(), gate.wait(DEADLINE)))
    for _ in range(5):
        jobs.submit(int)
    assert begun.wait(DEADLINE)
    assert (jobs.queue_size(), jobs.pending()) == (5, 6)
    gate.set()
    jobs.flush()
    assert (jobs.queue_size(), jobs.pending()) == (0, 0)


def test_the_queue_is_first_in_first_out(queue):
    order = []
    for i in range(1000):
        queue.default_queue().submit(lambda i=i: order.append(i))
    queue.flush()
    assert order == list(range(1000))
    assert queue.default_queue() is queue.default_queue()


def test_a_dropped_queue_loses_no_job(jobs):
    ran = []
    for i in range(100):
        last = jobs.submit(lambda i=i: ran.append(i))
    del jobs
    gc.collect()
    last.result(DEADLINE)
    pkg.synchronize()
    assert sorted(ran) == list(range(100))


def test_scalars_of_different_queues_need_no_synchronising(queue):
    queue.set_delay(1)
    queues = [queue.JobQueue() for _ in range(3)]
    rng = np.random.default_rng(7)
    scalars = [queue.Scalar(i, queue=queues[i % 3]) for i in range(6)]
    values = [float(i) for i in range(6)]
    for _ in range(200):
        i, j = rng.integers(len(scalars), size=2)
        scalars.append((scalars[i] + scalars[j]) * 0.5)
        values.append((values[i] + values[j]) * 0.5)
    assert [s.v for s in scalars] == values
    x, y = queue.Scalar(1, queue=queues[1]), queue.Scalar(2, queue=queues[2])
    assert (x + y).queue() is queues[1]


@pytest.mark.parametrize("threads", ["1", "2"])
def test_w35_waiting_for_inputs_occupies_no_worker(binding, threads):
    """A chain behind an unfinished input does not keep independent work waiting."""
    code = """
        import overload_ops_pool as ops
        ops.set_delay(0)
        promise = ops.Promise()
        total = promise.scalar()
        for _ in range(10000):
            total = total + 1
        independent = ops.Scalar(1) + 2
        assert independent.result(5) == 3.0
        assert not total.done()
        promise.set(0)
        print(total.result(15))
    """
    environment = stages.path(stages.build("overload_ops_pool", binding))
    result = run_child(code, timeout=40, **environment, PKG_NUM_THREADS=threads)
    assert result[:3] == (0, "10000.0\n", "")


def test_w36_a_job_that_waits_for_its_own_queue_is_told_so(queue):
    jobs = queue.JobQueue()
    first = jobs.submit(lambda: jobs.submit(int).result())
    with pytest.raises(RuntimeError, match="would deadlock"):
        first.result(DEADLINE)
    unordered = queue.JobQueue(ordered=False)
    unordered.submit(lambda: unordered.submit(int).result()).result(DEADLINE)


def test_w37_no_wakeup_of_flush_is_lost(jobs):
    def rounds():
        for _ in range(2000):
            jobs.submit(int)
            jobs.flush()

    thread = threading.Thread(target=rounds, daemon=True)
    thread.start()
    thread.join(DEADLINE)
    assert not thread.is_alive()


def test_w38_after_flush_everything_written_can_be_read(jobs):
    box = [0] * 64
    for round_ in range(200):
        for i in range(64):
            jobs.submit(lambda i=i, r=round_: box.__setitem__(i, r))
        jobs.flush()
        assert box == [round_] * 64


def test_w39_a_job_that_raises_ends_neither_worker_nor_flush(jobs):
    def fail():
        raise ValueError("in a job")

    bad = jobs.submit(fail)
    good = jobs.submit(int)
    jobs.flush()
    assert jobs.pending() == 0
    good.result()
    with pytest.raises(ValueError, match="in a job"):
        bad.result()
    jobs.submit(lambda: time.sleep(0.05) or fail())
    with pytest.raises(ValueError, match="in a job"):
        jobs.flush(raise_errors=True)


def test_w40_flush_inside_a_job_is_an_error(jobs):
    with pytest.raises(RuntimeError, match="would deadlock"):
        jobs.submit(jobs.flush).result(DEADLINE)


def test_w43_exit_runs_the_queue_out_in_bounded_time(binding):
    code = """
        import overload_ops_queue as ops
        a = ops.Scalar(1)
        sums = [a + a for _ in range(10)]
        ops.default_queue().submit(lambda: print("last"))
    """
    environment = stages.path(stages.build("overload_ops_queue", binding))
    status, out, err, seconds = run_child(code, **environment)
    assert (status, out, err) == (0, "last\n", "")
    assert 0.4 < seconds < 5


def test_w44_the_last_reference_may_die_anywhere(queue):
    """No destructor waits, so none can wait for the GIL that it holds itself."""
    for _ in range(200):
        jobs, seen = queue.JobQueue(), []
        job = jobs.submit(lambda jobs=jobs, seen=seen: seen.append(jobs.pending()))
        del jobs
        job.result(DEADLINE)
        assert seen[0] >= 0


def test_w45_no_thread_to_be_had_is_no_crash(binding):
    """The system gives no memory for a thread's stack: the caller does the work."""
    code = """
        import resource, threading
        from pkg import scheduler
        import overload_ops_queue as queue
        used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + (6 << 20),) * 2)
        try:
            threading.Thread(target=int).start()
        except RuntimeError as error:
            print(error)
        jobs, ran = queue.JobQueue(), []
        for i in range(3):
            jobs.submit(lambda i=i: ran.append(i)).result()
        jobs.flush()
        print(ran, jobs.pending(), scheduler.scheduler_stats()["threads"])
        print(queue.Scalar(1) + 2)  # nor one for the device
    """
    environment = stages.path(stages.build("overload_ops_queue", binding))
    status, out, err, _ = run_child(code, **environment, PKG_NUM_THREADS="2")
    assert (status, err) == (0, "")
    assert out == "can't start new thread\n[0, 1, 2] 0 0\nScalar(3.0)\n"


@pytest.mark.alone
def test_w47_flush_does_not_wait_for_later_jobs(queue):
    jobs = queue.JobQueue(ordered=False)
    stop = threading.Event()

    def feed():
        while not stop.is_set():
            jobs.submit(lambda: time.sleep(0.002))
            time.sleep(0.001)

    feeder = threading.Thread(target=feed)
    feeder.start()
    try:
        for _ in range(5):
            begin = time.perf_counter()
            jobs.flush()
            assert time.perf_counter() - begin < 2
    finally:
        stop.set()
        feeder.join()
    jobs.flush(idle=True)
    assert jobs.pending() == 0


def test_w48_queue_size_never_contradicts_pending(jobs):
    stop = threading.Event()

    def feed():
        while not stop.is_set():
            jobs.submit(int)
            jobs.flush()

    feeders = [threading.Thread(target=feed) for _ in range(3)]
    for thread in feeders:
        thread.start()
    for _ in range(2000):
        waiting, running = jobs.stats()
        assert waiting >= 0 and running >= 0
        assert jobs.queue_size() >= 0 and jobs.pending() >= 0
    stop.set()
    for thread in feeders:
        thread.join(DEADLINE)


def test_w49_after_flush_the_jobs_have_let_go_of_their_memory(jobs):
    for _ in range(200):
        block = pkg.zeros(1000)
        alive = weakref.ref(block)
        jobs.submit(lambda b=block: None)
        del block
        jobs.flush()
        assert alive() is None


def test_w50_the_pool_respects_the_affinity():
    code = """
        import os
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
        from pkg import scheduler
        print(scheduler.num_threads())
    """
    assert run_child(code, PKG_NUM_THREADS="")[:2] == (0, "1\n")


def test_w51_a_flusher_wakes_for_what_it_waits_for(queue):
    """Not after every job: how often its thread slept is counted by the kernel."""
    jobs = queue.JobQueue()
    gate = threading.Event()
    jobs.submit(lambda: gate.wait(DEADLINE))
    for _ in range(2000):
        jobs.submit(lambda: time.sleep(0.0002))
    threading.Timer(0.1, gate.set).start()
    before = resource.getrusage(resource.RUSAGE_THREAD).ru_nvcsw
    jobs.flush()
    assert resource.getrusage(resource.RUSAGE_THREAD).ru_nvcsw - before < 200


def test_w53_independent_queues_do_not_wait_for_each_other(queue):
    gate = threading.Event()
    slow, fast = queue.JobQueue(), queue.JobQueue()
    blocked = slow.submit(lambda: gate.wait(DEADLINE))
    fast.submit(int).result(DEADLINE)
    assert not blocked.done()
    gate.set()
    slow.flush()


def test_w55_an_error_tells_where_its_work_was_submitted(queue):
    def fail():
        raise ValueError

    job = queue.JobQueue().submit(fail)
    line = sys._getframe().f_lineno - 1
    with pytest.raises(ValueError):
        job.result(DEADLINE)
    assert job.call_site() == f"{__file__}:{line}"


def test_w56_what_has_an_identity_is_not_copied(jobs):
    for thing in (jobs, scheduler.Stream(), scheduler.submit(int)):
        for make in (copy.copy, copy.deepcopy, pickle.dumps):
            with pytest.raises(TypeError, match=f"{type(thing).__name__}"):
                make(thing)


def test_ctrl_c_ends_each_wait_of_a_queue(binding):
    """And of the tasks of `myops`; the jobs go on, and the queue can be used."""
    code = """
    from myops import TaskGroup
    from overload_ops_queue import JobQueue
    gate, group = ManualEvent(), TaskGroup()
    group.submit(gate.wait)
    queue = JobQueue(limit=2)
    jobs = [queue.submit(gate.wait) for _ in range(2)]
    check("wait_all", group.wait_all)
    check("flush", queue.flush)
    check("idle", lambda: queue.flush(idle=True))
    check("submit", lambda: queue.submit(int))
    check("close", queue.close)
    gate.set()
    queue.close()
    assert [job.result() for job in jobs] == [None, None] and queue.pending() == 0
    assert group.wait_all() == [1]
    print("fine")
    """
    stages.build("overload_ops_queue", binding)
    check_interrupted(code, **stages.path(stages.build("myops", binding)))
