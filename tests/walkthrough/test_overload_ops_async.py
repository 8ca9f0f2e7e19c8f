# SPDX-License-Identifier: Apache-2.0
"""overload_ops: the variants of Scalar that compute later."""

import concurrent.futures
import gc
import os
import sys
import textwrap
import threading
import time
import weakref

import pytest
import stages

import pkg
from child import DEADLINE, run_child
from pkg import scheduler

core = pkg._binding.core


def child(later_or_name, binding, code, **env):
    """Runs code, in which `ops` is the stage."""
    name = getattr(later_or_name, "__name__", later_or_name)
    environment = stages.path(stages.build(name, binding))
    code = textwrap.dedent(code).replace("import ops", f"import {name} as ops")
    return run_child(code, timeout=40, **environment, **env)[:3]


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


def test_operands_may_be_dropped_and_many_may_read(later):
    a, b = later.Scalar(1.5), later.Scalar(2.0)
    c = a + b
    del a, b
    gc.collect()
    values = []
    readers = [threading.Thread(target=lambda: values.append(c.v)) for _ in range(16)]
    for thread in readers:
        thread.start()
    for thread in readers:
        thread.join(DEADLINE)
    assert values == [3.5] * 16


def test_a_future_is_joined_by_a_promise(later):
    """Its value, its error; dropping it cancels."""
    future, promise = concurrent.futures.Future(), later.Promise()
    future.add_done_callback(lambda done: promise.set(done.result()))
    total = promise.scalar() + 1
    assert not total.done()
    future.set_result(41)
    assert total.v == 42.0
    with pytest.raises(RuntimeError, match="open promise"):
        promise.set(1)


def test_an_error_reaches_every_dependant(later):
    promise = later.Promise()
    total = (promise.scalar() + later.Scalar(1)) + later.Scalar(2)
    promise.fail("at the start")
    for _ in range(2):
        with pytest.raises(RuntimeError, match="at the start"):
            total.v  # noqa: B018
    assert (later.Scalar(1) + 2).v == 3.0


def test_w01_a_job_may_own_what_cannot_be_copied(jobs):
    """std::function copies; what a job owns is moved, run once and dropped once."""

    def once():
        yield 3.5

    generator, values = once(), []
    alive = weakref.ref(generator)
    job = jobs.submit(lambda g=generator: values.append(next(g)))
    del generator
    job.result(DEADLINE)
    assert values == [3.5]
    jobs.flush(idle=True)
    assert alive() is None


def test_w27_a_long_sum_needs_no_thread_per_term(later):
    later.set_delay(0)
    total = later.Scalar(0)
    before = len(os.listdir("/proc/self/task"))
    for _ in range(10000):
        total = total + 1
    more = len(os.listdir("/proc/self/task")) - before
    assert more <= scheduler.num_threads() + 1  # the pretend device
    assert total.result(DEADLINE) == 10000.0


@pytest.mark.alone
def test_w28_dropping_a_pending_result_does_not_wait(later):
    a = later.Scalar(1)
    begin = time.perf_counter()
    for _ in range(10):
        a + a
    assert time.perf_counter() - begin < 0.3  # waiting would take 0.4 s


def test_w29_the_text_can_be_asked_for_on_a_worker(later):
    total = later.Scalar(1.5) + 2
    assert scheduler.submit(lambda: repr(total)).result(DEADLINE) == "Scalar(3.5)"


def test_w30_an_error_read_by_many_threads_is_whole(later):
    promise = later.Promise()
    total = promise.scalar() + 1
    promise.fail("shared")
    read_by_many(lambda: total.v)


def test_w30_an_error_of_python_read_by_many_threads_is_whole(jobs, binding):
    if binding == "pybind11":
        pytest.skip("pybind11 ends the process when an error is read twice")

    def fail():
        raise RuntimeError("shared")

    job = jobs.submit(fail)
    read_by_many(job.result)


def read_by_many(read):
    """400 reads do not pile up in one traceback."""
    depths, texts = set(), set()

    def work():
        for _ in range(50):
            try:
                read()
            except RuntimeError as error:
                texts.add(str(error))
                depth, frame = 0, sys.exc_info()[2]
                while frame is not None and depth < 1000:
                    depth, frame = depth + 1, frame.tb_next
                depths.add(depth)

    readers = [threading.Thread(target=work) for _ in range(8)]
    for thread in readers:
        thread.start()
    for thread in readers:
        thread.join(DEADLINE)
    assert texts == {"shared"}
    assert max(depths) < 20


def test_w31_waiting_has_a_limit_and_ctrl_c(later, binding):
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
    code = """
        import os, signal, threading, time
        import ops
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
    assert child(later, binding, code) == (0, "True\n2.0\n", "")


def test_w32_fork_after_use(later, binding):
    code = """
        import os, myops
        import ops
        pending = ops.Scalar(1) + ops.Scalar(2)
        myops.add(1, 2)
        pid = os.fork()
        good = pending.v == 3.0 and (pending + 1).v == 4.0
        good = good and myops.wait_all() == [3.0]
        if pid == 0:
            os._exit(0 if good else 1)
        print(good, os.waitpid(pid, 0)[1])
    """
    stages.build("myops", binding)
    status, out, err = child(later, binding, code)
    assert (status, out) == (0, "True 0\n"), err


def test_w33_a_result_allocates_one_value(later):
    later.set_delay(0)
    a, b = later.Scalar(1), later.Scalar(2)
    gc.collect()
    before = core.live_tensors()
    results = [a + b for _ in range(100)]
    assert [r.v for r in results] == [3.0] * 100
    assert core.live_tensors() == before + 100


def test_w54_dropped_work_is_cancelled_with_a_reason(later):
    promise = later.Promise()
    total = promise.scalar() + 1
    del promise
    gc.collect()
    with pytest.raises(pkg.CancelledError, match="was cancelled"):
        total.result(DEADLINE)


def test_w57_pretended_work_can_be_cancelled(later):
    promise = later.Promise()
    total = promise.scalar() + promise.scalar()
    after = total + 1
    assert total.cancel()
    promise.set(1.0)
    for cancelled in (total, after):
        with pytest.raises(pkg.CancelledError):
            cancelled.result(DEADLINE)
