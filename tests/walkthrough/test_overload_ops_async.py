# SPDX-License-Identifier: Apache-2.0
"""overload_ops: the variants of Scalar that compute later."""

import concurrent.futures
import gc
import sys
import threading
import time
import weakref

import pytest

import pkg
from child import DEADLINE, run_child
from pkg import scheduler
from pkg.walkthrough.overload_ops import queue

core = pkg._binding.core


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


def test_from_future_takes_value_error_and_cancellation(later):
    future = concurrent.futures.Future()
    total = later.Scalar.from_future(future) + 1
    assert not total.done()
    future.set_result(41)
    assert total.v == 42.0
    # The errors' tracebacks show this frame, and two events share each: a cycle that
    # the collector does not see through, so nothing more should hang on it.
    del total
    future = concurrent.futures.Future()
    future.set_exception(KeyError("bad"))
    with pytest.raises(KeyError, match="bad"):
        (later.Scalar.from_future(future) + 1).result()
    future = concurrent.futures.Future()
    future.cancel()
    with pytest.raises(concurrent.futures.CancelledError):
        (later.Scalar.from_future(future) + 1).result()


def failed(later, error):
    """A Scalar whose value is an error."""
    future = concurrent.futures.Future()
    future.set_exception(error)
    return later.Scalar.from_future(future)


def test_an_error_reaches_every_dependant(later):
    bad = failed(later, ZeroDivisionError("at the start"))
    total = (bad + later.Scalar(1)) + later.Scalar(2)
    for _ in range(2):
        with pytest.raises(ZeroDivisionError, match="at the start"):
            total.v  # noqa: B018
    assert (later.Scalar(1) + 2).v == 3.0


def test_w01_a_job_may_own_what_cannot_be_copied(later):
    """std::function copies; our tasks are moved, run once and dropped once."""

    def once():
        yield 3.5

    generator = once()
    alive = weakref.ref(generator)
    jobs = queue.JobQueue(ordered=later is queue)
    event = jobs.submit(lambda g=generator: next(g))
    del generator
    assert event.result(DEADLINE) == 3.5
    assert alive() is None


def test_w27_a_long_sum_needs_no_thread_per_term(later):
    later.set_delay(0)
    try:
        before = threading.active_count()
        total = later.Scalar(0)
        for _ in range(10000):
            total = total + 1
        assert total.result(DEADLINE) == 10000.0
        assert threading.active_count() <= before + 1
        assert scheduler.scheduler_stats()["threads"] <= scheduler.num_threads()
    finally:
        later.set_delay(40)


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
    total = failed(later, ValueError("shared")) + 1
    depths, texts = set(), set()

    def read():
        for _ in range(50):
            try:
                total.v  # noqa: B018
            except ValueError as error:
                texts.add(str(error))
                depth, frame = 0, sys.exc_info()[2]
                while frame is not None and depth < 1000:
                    depth, frame = depth + 1, frame.tb_next
                depths.add(depth)

    readers = [threading.Thread(target=read) for _ in range(8)]
    for thread in readers:
        thread.start()
    for thread in readers:
        thread.join(DEADLINE)
    assert texts == {"shared"}
    assert max(depths) < 20  # 400 reads did not pile up in one traceback


def test_w31_waiting_has_a_limit_and_ctrl_c(later):
    future = concurrent.futures.Future()
    total = later.Scalar.from_future(future) + 1
    with pytest.raises(TimeoutError):
        total.result(timeout=0.02)
    future.set_result(1)
    assert total.result(DEADLINE) == 2.0
    code = f"""
        import concurrent.futures, os, signal, threading, time
        import {later.__name__} as ops
        future = concurrent.futures.Future()
        total = ops.Scalar.from_future(future) + 1
        sent = []
        def interrupt():
            sent.append(time.monotonic())
            os.kill(os.getpid(), signal.SIGINT)
        threading.Timer(0.1, interrupt).start()
        try:
            total.v
        except KeyboardInterrupt:
            print(time.monotonic() - sent[0] < 0.5)
        future.set_result(1)
        print(total.v)
    """
    assert run_child(code)[:3] == (0, "True\n2.0\n", "")


def test_w32_fork_after_use(later):
    code = f"""
        import os
        import {later.__name__} as ops
        from pkg.walkthrough import myops
        pending = ops.Scalar(1) + ops.Scalar(2)
        myops.add(1, 2)
        pid = os.fork()
        good = pending.v == 3.0 and (pending + 1).v == 4.0
        good = good and myops.wait_all() == [3.0]
        if pid == 0:
            os._exit(0 if good else 1)
        print(good, os.waitpid(pid, 0)[1])
    """
    status, out, err, _ = run_child(code)
    assert (status, out) == (0, "True 0\n"), err


def test_w33_a_result_allocates_one_value(later):
    later.set_delay(0)
    try:
        a, b = later.Scalar(1), later.Scalar(2)
        gc.collect()
        before = core.live_tensors()
        results = [a + b for _ in range(100)]
        assert results[-1].v == 3.0
        assert [r.v for r in results] == [3.0] * 100
        assert core.live_tensors() == before + 100
    finally:
        later.set_delay(40)


def test_w54_dropped_work_is_cancelled_with_a_reason(later):
    future = concurrent.futures.Future()
    total = later.Scalar.from_future(future) + 1
    del future
    gc.collect()
    with pytest.raises(pkg.CancelledError, match="was cancelled"):
        total.result(DEADLINE)


def test_w57_pretended_work_can_be_cancelled(later):
    later.set_delay(200)
    try:
        gate = scheduler.ManualEvent()
        a = later.Scalar._of(gate)
        total = a + a
        after = total + 1
        assert total.cancel()
        gate.set(pkg.tensor(1.0))
        for cancelled in (total, after):
            with pytest.raises(pkg.CancelledError):
                cancelled.result(DEADLINE)
    finally:
        later.set_delay(40)
