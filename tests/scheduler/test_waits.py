# SPDX-License-Identifier: Apache-2.0
"""Work that submits work and waits for it."""

import threading
import time

import pytest

import pkg
from child import DEADLINE, run_child
from pkg.scheduler import ManualEvent, Stream, submit


def test_work_that_submits_and_waits_does_not_starve_the_pool():
    """Deeper than the pool is wide."""

    def nested(depth):
        return 1 if depth == 0 else 1 + submit(lambda: nested(depth - 1)).result()

    assert submit(lambda: nested(20)).result(DEADLINE) == 21


def test_waiting_for_oneself_is_an_error():
    box = []
    ready = threading.Event()

    def work():
        ready.wait(DEADLINE)
        box[0].wait()

    box.append(submit(work))
    ready.set()
    with pytest.raises(RuntimeError, match="would deadlock"):
        box[0].wait(DEADLINE)


@pytest.mark.parametrize("steps", [1, 50])
def test_waiting_for_what_waits_for_oneself_is_an_error(steps):
    """Work that submits to its own stream and waits: behind it in the queue."""
    stream = Stream()

    def work():
        last = stream.submit(int)
        for _ in range(steps):
            last = submit(int, deps=[last, submit(int)])
        last.wait()

    first = stream.submit(work)
    with pytest.raises(RuntimeError, match="would deadlock.*waits for it") as caught:
        first.wait(DEADLINE)
    assert str(caught.value).count(f"{__file__}:") == 2
    stream.synchronize()


def test_tasks_that_wait_for_each_other_are_an_error():
    """Whoever comes second gets it; the other one the error of what it waits for."""
    started, tasks = threading.Barrier(2), {}

    def work(other):
        started.wait(DEADLINE)
        tasks[other].wait()

    for name, other in (("a", "b"), ("b", "a")):
        tasks[name] = submit(lambda other=other: work(other))
    for event in tasks.values():
        with pytest.raises(RuntimeError, match="would deadlock.*waits for it"):
            event.wait(DEADLINE)


def test_a_wait_with_a_limit_may_be_part_of_a_cycle():
    """It ends by itself, and the other one gets its result."""
    started, tasks = threading.Event(), {}

    def impatient():
        started.wait(DEADLINE)
        return tasks["other"].wait(timeout=0.3)

    def patient():
        started.set()
        time.sleep(0.05)
        return tasks["impatient"].result()

    tasks["impatient"] = submit(impatient)
    tasks["other"] = submit(patient)
    started.set()
    assert tasks["other"].result(DEADLINE) is False


def test_nested_work_of_any_depth_runs_on_the_thread_that_waits():
    """More of it than there could be threads."""

    def fib(n):
        if n < 2:
            return n
        a, b = submit(lambda: fib(n - 1)), submit(lambda: fib(n - 2))
        return a.result() + b.result()

    assert submit(lambda: fib(14)).result(DEADLINE) == 377


def test_what_a_thread_keeps_dies_with_its_worker():
    """Also when its end wants the GIL: an event, a tensor, new work."""
    code = """
        import threading, time
        import pkg
        from pkg.scheduler import Stream, submit
        local = threading.local()
        class Late:
            def __del__(self):
                with Stream():
                    submit(int)
                pkg.ones(3) + 1
        def work():
            local.event, local.late = submit(lambda: [1]), Late()
            local.event.wait()
            with Stream():
                pass
            time.sleep(0.001)
        for _ in range(5):
            pkg.set_num_threads(4)
            for event in [submit(work) for _ in range(20)]:
                event.wait()
            pkg.set_num_threads(1)
            time.sleep(0.02)
    """
    status, _, err, _ = run_child(code)
    assert (status, err) == (0, "")


def test_waiting_for_what_depends_on_a_waiting_task_is_an_error():
    """a waits for c, which depends on b, which waits for a."""
    ready, tasks = threading.Event(), {}

    def wait_for(name):
        ready.wait(DEADLINE)
        tasks[name].wait()

    tasks["a"] = submit(lambda: wait_for("c"))
    tasks["b"] = submit(lambda: wait_for("a"))
    tasks["c"] = submit(int, deps=tasks["b"])
    ready.set()
    for event in tasks.values():
        with pytest.raises(RuntimeError, match="would deadlock"):
            event.wait(DEADLINE)


def test_a_poll_inside_of_work_does_not_run_other_work():
    """It may take longer than the poll may."""
    gate = threading.Event()

    def poll():
        slow = submit(lambda: gate.wait(DEADLINE))
        done = slow.wait(timeout=0), slow.wait(timeout=0.01)
        gate.set()
        return done, slow.result()

    assert submit(poll).result(DEADLINE) == ((False, False), True)


def test_work_has_the_grad_mode_of_who_submits_it():
    """And leaves none behind on its worker."""
    assert submit(lambda: pkg.set_grad_enabled(False) and None).result(DEADLINE) is None
    modes = [submit(pkg.is_grad_enabled) for _ in range(50)]
    assert all(mode.result(DEADLINE) for mode in modes)
    with pkg.no_grad():
        event = submit(lambda: (time.sleep(0.01), pkg.is_grad_enabled())[1])
    assert event.result(DEADLINE) is False and pkg.is_grad_enabled()


def test_synchronize_inside_work_is_an_error():
    with pytest.raises(RuntimeError, match="would deadlock"):
        submit(pkg.synchronize).wait(DEADLINE)


def test_the_gil_is_free_while_waiting():
    gate = ManualEvent()
    count = 0
    stop = threading.Event()

    def counting():
        nonlocal count
        while not stop.is_set():
            count += 1
            time.sleep(0.001)

    thread = threading.Thread(target=counting)
    thread.start()
    threading.Timer(0.1, gate.set).start()
    gate.wait(DEADLINE)
    stop.set()
    thread.join()
    assert count >= 10
