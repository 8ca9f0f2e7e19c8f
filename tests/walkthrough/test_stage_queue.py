# SPDX-License-Identifier: Apache-2.0
"""The C++ stages that compute later: myops, overload_ops_async, _queue and _pool."""

import copy
import gc
import pickle
import sys
import threading
import time

import pytest
import stages

import pkg
from child import DEADLINE, run_child

LATER = ["overload_ops_async", "overload_ops_queue", "overload_ops_pool"]
both = pytest.mark.parametrize("binding", stages.BINDINGS)


@pytest.fixture(params=stages.BINDINGS)
def binding(request):
    return request.param


@pytest.fixture(params=LATER)
def later(request, binding):
    module = stages.load(request.param, binding)
    module.set_delay(40)
    return module


@pytest.fixture(params=[True, False], ids=["queue", "pool"])
def jobs(request, binding):
    return stages.load("overload_ops_queue", binding).JobQueue(ordered=request.param)


@pytest.fixture
def queue(binding):
    return stages.load("overload_ops_queue", binding)


def child(name, binding, code, **env):
    folder = str(stages.build(name, binding))
    return run_child(code, timeout=40, **stages.path(folder), **env)


@pytest.mark.alone
def test_operators_return_at_once(later):
    a, b = later.Scalar(1.5), later.Scalar(2.0)
    begin = time.perf_counter()
    c = a + b
    d = c + c
    e = d + d
    assert time.perf_counter() - begin < 0.1  # each takes 0.04 s, one after another
    assert not e.done()
    assert e.v == 14.0
    assert 0.1 < time.perf_counter() - begin < DEADLINE
    assert (a + b).result(DEADLINE) == 3.5


def test_w27_a_long_sum_needs_no_thread_per_term(later):
    later.set_delay(0)
    total = later.Scalar(0)
    for _ in range(10000):
        total = total + 1
    assert total.result(DEADLINE) == 10000.0
    stats = pkg.scheduler.scheduler_stats()
    assert stats["threads"] <= pkg.scheduler.num_threads()


def test_w28_dropping_a_pending_result_does_not_wait(later):
    total = later.Scalar(1) + later.Scalar(2)
    begin = time.perf_counter()
    del total
    assert time.perf_counter() - begin < 0.03


def test_an_error_reaches_every_dependant(later):
    promise = later.Promise()
    total = (promise.scalar() + later.Scalar(1)) + later.Scalar(2)
    promise.fail("at the start")
    for _ in range(2):
        with pytest.raises(RuntimeError, match="at the start"):
            total.v  # noqa: B018
    assert (later.Scalar(1) + 2).v == 3.0


def test_w31_waiting_has_a_limit(later):
    promise = later.Promise()
    total = promise.scalar() + 1
    with pytest.raises(TimeoutError):
        total.result(timeout=0.02)
    seen = []
    reader = threading.Thread(target=lambda: seen.append(total.v))
    reader.start()
    time.sleep(0.05)
    promise.set(1)  # the reader has given up the GIL
    reader.join(DEADLINE)
    assert seen == [2.0]


@both
def test_w31_ctrl_c_ends_a_wait(binding):
    code = """
        import os, signal, threading, time
        import overload_ops_queue as ops
        promise = ops.Promise()
        total = promise.scalar() + 1
        sent = []
        def interrupt():
            sent.append(time.monotonic())
            os.kill(os.getpid(), signal.SIGINT)
        threading.Timer(0.1, interrupt).start()
        try:
            total.v
        except KeyboardInterrupt:
            print(time.monotonic() - sent[0] < 0.5)
        promise.set(1)
        print(total.v)
    """
    result = child("overload_ops_queue", binding, code)
    assert result[:3] == (0, "True\n2.0\n", "")


@both
def test_w32_fork_after_use(binding):
    code = """
        import os
        import overload_ops_queue as ops
        pending = ops.Scalar(1) + ops.Scalar(2)
        pid = os.fork()
        good = pending.v == 3.0 and (pending + 1).v == 4.0
        if pid == 0:
            os._exit(0 if good else 1)
        print(good, os.waitpid(pid, 0)[1])
    """
    status, out, err, _ = child("overload_ops_queue", binding, code)
    assert (status, out) == (0, "True 0\n"), err


@both
@pytest.mark.parametrize("threads", ["1", "2"])
def test_w35_waiting_for_inputs_occupies_no_worker(binding, threads):
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
    result = child("overload_ops_pool", binding, code, PKG_NUM_THREADS=threads)
    assert result[:3] == (0, "10000.0\n", "")


def test_w36_a_job_that_waits_for_its_own_queue_is_told_so(queue):
    jobs = queue.JobQueue()
    first = jobs.submit(lambda: jobs.submit(lambda: None).result())
    with pytest.raises(RuntimeError, match="would deadlock"):
        first.result(DEADLINE)
    unordered = queue.JobQueue(ordered=False)
    unordered.submit(lambda: unordered.submit(lambda: None).result()).result(DEADLINE)


def test_w37_no_wakeup_of_flush_is_lost(jobs):
    def rounds():
        for _ in range(1000):
            jobs.submit(lambda: None)
            jobs.flush()

    thread = threading.Thread(target=rounds, daemon=True)
    thread.start()
    thread.join(DEADLINE)
    assert not thread.is_alive()


def test_w39_a_job_that_raises_ends_neither_worker_nor_flush(jobs):
    def fail():
        raise ValueError("in a job")

    bad = jobs.submit(fail)
    good = jobs.submit(lambda: None)
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


def test_w41_a_closed_queue_refuses_jobs(jobs, queue):
    ran = []
    for i in range(20):
        jobs.submit(lambda i=i: ran.append(i))
    jobs.close()
    assert len(ran) == 20
    with pytest.raises(queue.QueueClosed, match="closed"):
        jobs.submit(lambda: None)
    assert jobs.pending() == 0


@both
def test_w43_exit_runs_the_queue_out_in_bounded_time(binding):
    code = """
        import overload_ops_queue as ops
        a = ops.Scalar(1)
        sums = [a + a for _ in range(10)]
        ops.default_queue().submit(lambda: print("last"))
    """
    status, out, err, seconds = child("overload_ops_queue", binding, code)
    assert (status, out, err) == (0, "last\n", "")
    assert 0.4 < seconds < 10


def test_w46_a_bounded_queue_has_a_policy(queue):
    gate = threading.Event()
    jobs = queue.JobQueue(limit=2, policy="raise")
    jobs.submit(lambda: gate.wait(DEADLINE))
    jobs.submit(lambda: None)
    with pytest.raises(queue.QueueFull, match="limit=2"):
        jobs.submit(lambda: None)
    dropping = queue.JobQueue(limit=2, policy="drop-oldest")
    begun = threading.Event()
    dropping.submit(lambda: (begun.set(), gate.wait(DEADLINE)))
    assert begun.wait(DEADLINE)
    oldest = dropping.submit(lambda: None)
    newest = dropping.submit(lambda: None)
    gate.set()
    with pytest.raises(pkg.CancelledError):
        oldest.result(DEADLINE)
    newest.result(DEADLINE)
    blocking = queue.JobQueue(limit=2)
    most = 0
    for _ in range(20):
        blocking.submit(lambda: time.sleep(0.001))
        most = max(most, blocking.pending())
    assert most <= 2
    with pytest.raises(ValueError, match="drop-oldest"):
        queue.JobQueue(policy="hope")


def test_w54_dropped_work_is_cancelled_with_a_reason(later):
    promise = later.Promise()
    total = promise.scalar() + 1
    del promise
    gc.collect()
    with pytest.raises(pkg.CancelledError, match="was cancelled"):
        total.result(DEADLINE)


def test_w55_an_error_tells_where_its_work_was_submitted(queue):
    job = queue.JobQueue().submit(lambda: None)
    line = sys._getframe().f_lineno - 1
    assert job.call_site() == f"{__file__}:{line}"


def test_w56_a_queue_is_not_copied(jobs):
    for make in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError):
            make(jobs)


def test_w57_pretended_work_can_be_cancelled(later):
    promise = later.Promise()
    total = promise.scalar() + promise.scalar()
    after = total + 1
    assert total.cancel()
    promise.set(1.0)
    for cancelled in (total, after):
        with pytest.raises(pkg.CancelledError):
            cancelled.result(DEADLINE)


# myops


@both
def test_myops_gives_ids_and_results(binding):
    myops = stages.load("myops", binding)
    begin = time.perf_counter()
    assert [myops.add(i, i * 10) for i in range(4)] == [0, 1, 2, 3]
    assert time.perf_counter() - begin < 0.08
    assert myops.wait_all() == [0.0, 11.0, 22.0, 33.0]
    assert myops.wait_all() == []
    with pytest.raises(TypeError):
        myops.add("1", 2)


@both
def test_w03_w07_a_group_keeps_ids_and_other_results(binding):
    group = stages.load("myops", binding).TaskGroup()
    assert [group.submit(lambda: 1), group.submit(lambda: 1 / 0)] == [0, 1]
    assert group.submit(lambda: 3) == 2
    with pytest.raises(ZeroDivisionError):
        group.wait_all()
    assert (group.result(0), group.result(2)) == (1.0, 3.0)
    with pytest.raises(ValueError, match="expected an id below 3"):
        group.result(3)


@both
def test_w09_exit_with_tasks_nobody_waits_for(binding):
    code = "import myops; [myops.add(i, i) for i in range(100)]"
    assert child("myops", binding, code)[:3] == (0, "", "")
