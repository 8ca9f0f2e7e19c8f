# SPDX-License-Identifier: Apache-2.0
"""pkg.scheduler: Python callables on the workers, events, streams."""

import gc
import os
import random
import sys
import threading
import time
import traceback
import weakref

import pytest

import pkg
from child import DEADLINE, run_child
from pkg import scheduler
from pkg.scheduler import Event, ManualEvent, Stream, submit


def in_thread(function):
    """Runs function on a thread of its own, with a deadline."""
    results = []
    thread = threading.Thread(target=lambda: results.append(function()), daemon=True)
    thread.start()
    thread.join(DEADLINE)
    assert not thread.is_alive(), "deadlock"
    return results[0]


@pytest.fixture(autouse=True)
def _nothing_left():
    """No test leaves work behind, and none an error that another one would see."""
    yield
    for _ in range(100):
        try:
            pkg.synchronize()
            break
        except Exception:  # noqa: BLE001  (errors that the test did not look at)
            pass
    assert scheduler.pending_tasks() == 0


# Values and errors.


def test_result_is_what_the_callable_returned():
    event = submit(lambda: {"answer": 42})
    assert isinstance(event, Event)
    assert event.result(DEADLINE) == {"answer": 42}
    assert event.result() is event.result()
    assert event.wait() is True
    assert event.done()
    assert event.exception() is None


def test_submit_returns_before_the_work():
    gate = threading.Event()
    event = submit(gate.wait)
    assert not event.done()
    assert event.wait(timeout=0.02) is False
    with pytest.raises(TimeoutError, match="wait.*not finished"):
        event.result(timeout=0)
    with pytest.raises(TimeoutError):
        event.exception(timeout=0)
    gate.set()
    assert event.result(DEADLINE) is True


def fail_here():
    raise KeyError("the key")


def test_the_original_exception_comes_back_with_its_traceback():
    event = submit(fail_here)
    with pytest.raises(KeyError, match="the key") as caught:
        event.wait(DEADLINE)
    names = [frame.name for frame in traceback.extract_tb(caught.value.__traceback__)]
    assert names[-1] == "fail_here"
    assert event.exception() is caught.value
    assert event.name == "fail_here"


def test_waiting_again_raises_again_and_does_not_grow_the_traceback():
    event = submit(fail_here)
    lengths = set()
    for _ in range(5):
        with pytest.raises(KeyError) as caught:
            event.wait(DEADLINE)
        lengths.add(len(traceback.extract_tb(caught.value.__traceback__)))
    assert len(lengths) == 1


def test_the_error_tells_who_submitted_it_once():
    event = submit(fail_here)
    line = sys._getframe().f_lineno - 1
    dependant = submit(int, deps=event)
    for _ in range(3):
        with pytest.raises(KeyError) as caught:
            dependant.wait(DEADLINE)
    note = f"[fail_here] submitted at {__file__}:{line}"
    assert caught.value.__notes__ == [note]


def test_call_site_is_the_line_of_the_caller():
    event = submit(int)
    assert event.call_site == f"{__file__}:{sys._getframe().f_lineno - 1}"


def test_an_error_reaches_all_dependants_and_nobody_else():
    ran = []
    bad = submit(fail_here)
    first = submit(lambda: ran.append(1), deps=[bad])
    second = submit(lambda: ran.append(2), deps=(first, submit(int)))
    other = submit(lambda: ran.append(3))
    assert other.wait(DEADLINE)
    with pytest.raises(KeyError):
        second.wait(DEADLINE)
    assert second.exception() is bad.exception()
    assert second.name == "fail_here"
    assert ran == [3]


def test_system_exit_of_a_callable_reaches_the_waiter_only():
    event = submit(lambda: sys.exit(3))
    with pytest.raises(SystemExit, match="3"):
        event.wait(DEADLINE)
    assert submit(lambda: 1).result(DEADLINE) == 1


def test_a_pkg_error_keeps_its_class():
    event = submit(lambda: pkg.zeros(2).reshape(3))
    with pytest.raises((RuntimeError, ValueError)) as direct:
        pkg.zeros(2).reshape(3)
    with pytest.raises(type(direct.value)) as caught:
        event.wait(DEADLINE)
    assert str(caught.value) == str(direct.value)


def test_synchronize_raises_the_first_error_nobody_has_seen():
    event = submit(fail_here)
    with pytest.raises(KeyError):
        pkg.synchronize()
    pkg.synchronize()
    assert isinstance(event.exception(), KeyError)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: submit(3), "expected a callable for 'callable', got int"),
        (
            lambda: submit(int, deps=3),
            "expected an Event or a sequence of them for 'deps', got int",
        ),
        (lambda: submit(int, deps=[None, 3]), r"an Event for 'deps\[1\]', got int"),
        (lambda: submit(int, stream=3), "expected a Stream for 'stream', got int"),
        (lambda: submit(), "argument"),
        (lambda: submit(int, int), "positional|incompatible"),
        (lambda: Stream().submit(), "callable"),
        (lambda: Stream().submit(int, "x"), r"an Event for 'deps\[0\]', got str"),
        (lambda: Stream().wait_event(None), "an Event for 'event', got NoneType"),
        (lambda: Stream().wait_stream(1), "expected a Stream for 'other', got int"),
        (lambda: scheduler.stream(1), "a Stream or None for 'stream', got int"),
        (lambda: scheduler.cancel(1), "expected an Event for 'event', got int"),
        (lambda: Event(), "expected no direct call"),
        (lambda: ManualEvent().set_error("x"), "an exception for 'error', got str"),
        (
            lambda: submit(int).wait("soon"),
            "a number or None for 'timeout', got str|incompatible",
        ),
    ],
)
def test_wrong_arguments_are_type_errors(call, text):
    with pytest.raises(TypeError, match=text):
        call()


def test_wrong_values():
    with pytest.raises(ValueError, match="nan"):
        submit(int).wait(float("nan"))
    with pytest.raises(RuntimeError, match="cuda"):
        Stream("cuda")
    with pytest.raises(NotImplementedError, match="expected 'cpu', got 'meta'"):
        Stream(pkg.device("meta"))
    assert Stream(device=pkg.device("cpu")).query()


# Lifetime of Python objects.


class Callable:
    """A callable with a weak reference, to see when it dies."""

    def __call__(self):
        return None


def test_the_callable_is_dropped_before_the_work_counts_as_done():
    work = Callable()
    alive = weakref.ref(work)
    event = submit(work)
    del work
    assert event.wait(DEADLINE)
    assert alive() is None


def test_the_callable_of_cancelled_work_is_dropped():
    work = Callable()
    alive = weakref.ref(work)
    gate = ManualEvent()
    event = submit(work, deps=gate)
    del work
    assert event.cancel()
    gate.set()
    assert isinstance(event.exception(DEADLINE), pkg.CancelledError)
    assert alive() is None


collects_cycles = pytest.mark.skipif(
    os.environ.get("PKG_BINDING") == "pybind11",
    reason="the cycle collector cannot look into a class of pybind11",
)


@collects_cycles
def test_a_cycle_through_the_result_is_collected():
    class Box:
        pass

    box = Box()
    alive = weakref.ref(box)
    event = submit(lambda: box)
    box.event = event
    event.wait(DEADLINE)
    event = box = None
    gc.collect()
    assert alive() is None


@collects_cycles
def test_a_cycle_through_the_error_is_collected():
    """Its traceback holds the frame that waited, which holds the event."""

    class Witness:
        pass

    def wait_and_fail(submit):
        witness = Witness()
        event = submit(fail_here)
        with pytest.raises(KeyError):
            event.wait(DEADLINE)
        return weakref.ref(witness)

    alive = wait_and_fail(submit)
    gc.collect()
    assert alive() is None
    # The stream is in that frame too.
    alive = wait_and_fail(lambda work: Stream().submit(work))
    gc.collect()
    assert alive() is None


def test_errors_dropped_on_workers_do_not_deadlock_with_the_gil():
    """A stream forgets its last error on a worker, while we ask the stream under the
    GIL.

    The error owns Python objects, so it must not die under the stream's lock.
    """
    code = """
        from pkg.scheduler import Stream
        def fail():
            raise KeyError
        stream = Stream()
        for _ in range(100):
            event = stream.submit(fail)
            event.exception()
            event = stream.submit(fail)
            while not stream.query():
                pass
            event.exception()
            del event
        print("fine")
    """
    assert run_child(code)[:3] == (0, "fine\n", "")


def test_reference_counts_are_flat():
    token = object()
    before = sys.getrefcount(token)
    for _ in range(1000):
        submit(lambda: token).result(DEADLINE)
        submit(lambda: token, deps=submit(int))
    pkg.synchronize()
    gc.collect()
    assert sys.getrefcount(token) <= before + 1


# Cancelling, manual events.


def test_cancel_before_it_runs_reaches_dependants_only():
    gate = ManualEvent()
    event = submit(lambda: 1, deps=gate)
    dependant = submit(lambda: 2, deps=event)
    other = submit(lambda: 3, deps=gate)
    assert event.cancel() is True
    gate.set()
    for cancelled in (event, dependant):
        with pytest.raises(pkg.CancelledError):
            cancelled.result(DEADLINE)
    assert other.result(DEADLINE) == 3
    assert other.cancel() is False


def test_running_work_sees_that_it_shall_stop():
    started = threading.Event()

    def work():
        started.set()
        end = time.monotonic() + DEADLINE
        while not scheduler.cancel_requested() and time.monotonic() < end:
            time.sleep(0.001)
        return scheduler.cancel_requested()

    event = submit(work)
    assert started.wait(DEADLINE)
    assert scheduler.cancel(event) is False
    assert event.result(DEADLINE) is True
    assert scheduler.cancel_requested() is False


def test_manual_event_bridges_work_done_elsewhere():
    event = ManualEvent()
    dependant = submit(lambda: event.result() + 1, deps=event)
    threading.Timer(0.02, event.set, [41]).start()
    assert dependant.result(DEADLINE) == 42
    with pytest.raises(RuntimeError, match="done already"):
        event.set(1)
    assert event.result() == 41


def test_manual_event_carries_an_error():
    event = ManualEvent()
    dependant = submit(int, deps=event)
    event.set_error(ZeroDivisionError("elsewhere"))
    with pytest.raises(ZeroDivisionError, match="elsewhere"):
        dependant.wait(DEADLINE)


def test_a_wrong_number_of_threads_in_the_environment_is_an_error():
    """At the first loop that would be split, and not the end of the process."""
    code = """
        import pkg
        try:
            pkg.rand(1_000_000).exp().sum().item()
        except ValueError as error:
            print(error)
    """
    _, out, _, _ = run_child(code, PKG_NUM_THREADS="zero")
    assert "expected PKG_NUM_THREADS to be an integer" in out and "'zero'" in out


def test_an_error_set_by_hand_is_not_lost():
    """synchronize() raises it, as that of a task, unless somebody has seen it."""
    event = ManualEvent()
    event.set_error(ZeroDivisionError("elsewhere"))
    with pytest.raises(ZeroDivisionError, match="elsewhere"):
        pkg.synchronize()
    seen = ManualEvent()
    seen.set_error(ZeroDivisionError())
    assert isinstance(seen.exception(), ZeroDivisionError)
    pkg.synchronize()


def test_an_event_that_is_called_a_manual_one_is_none():
    event = submit(int)
    event.wait(DEADLINE)
    try:
        event.__class__ = ManualEvent
    except TypeError:
        return
    with pytest.raises((TypeError, RuntimeError)):
        event.set()


def test_a_wrong_timeout_is_not_the_error_of_the_work():
    """Which stays unseen."""
    event = submit(fail_here)
    while not event.done():
        time.sleep(0.001)
    for call in (event.result, event.wait, event.exception):
        with pytest.raises(TypeError) as caught:
            call(timeout="1")
        assert not getattr(caught.value, "__notes__", None)
    with pytest.raises(KeyError):
        pkg.synchronize()


def test_dropping_a_manual_event_cancels_what_depends_on_it():
    event = ManualEvent()
    dependant = submit(int, deps=event)
    del event
    assert isinstance(dependant.exception(DEADLINE), pkg.CancelledError)


# Waiting inside work.


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


def test_thousands_of_tasks_use_a_bounded_number_of_threads():
    before = threading.active_count()
    events = [submit(lambda i=i: i) for i in range(10000)]
    assert [e.result(DEADLINE) for e in events] == list(range(10000))
    stats = scheduler.scheduler_stats()
    assert stats["threads"] <= scheduler.num_threads()
    assert threading.active_count() == before


def test_random_graphs_give_the_sequential_result():
    seed = random.randrange(2**32)
    print("seed", seed)
    rng = random.Random(seed)
    for _ in range(20):
        streams = [None, Stream(), Stream()]
        values, events = [], []
        for i in range(100):
            parents = rng.sample(range(i), min(i, rng.randrange(4)))
            values.append((1 + sum(values[p] for p in parents)) % 10007)

            def work(parents=tuple(parents), events=events):
                return (1 + sum(events[p].result() for p in parents)) % 10007

            deps = [events[p] for p in parents]
            events.append(submit(work, deps=deps, stream=rng.choice(streams)))
        assert [e.result(DEADLINE) for e in events] == values


def test_eight_threads_hammer_submit_and_wait():
    totals = [0] * 8

    def hammer(slot):
        stream = Stream()
        for i in range(500):
            a = submit(lambda i=i: i)
            b = stream.submit(lambda a=a: a.result() + 1, a)
            totals[slot] += b.result(DEADLINE)

    threads = [threading.Thread(target=hammer, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(DEADLINE)
        assert not thread.is_alive()
    assert totals == [sum(range(1, 501))] * 8


# Streams.


def test_a_stream_runs_in_order():
    stream = Stream()
    order = []
    for i in range(1000):
        stream.submit(lambda i=i: order.append(i))
    stream.synchronize()
    assert order == list(range(1000))
    assert stream.query()


def test_streams_run_beside_each_other():
    gate = threading.Event()
    slow, fast = Stream(), Stream()
    blocked = slow.submit(lambda: gate.wait(DEADLINE))
    assert fast.submit(lambda: 1).result(5) == 1
    assert not slow.query()
    gate.set()
    assert blocked.result(DEADLINE) is True


def test_record_and_wait_event_order_two_streams():
    one, two = Stream(), Stream()
    gate = threading.Event()
    order = []
    one.submit(lambda: (gate.wait(DEADLINE), order.append("one")))
    event = one.record_event()
    two.wait_event(event)
    last = two.submit(lambda: order.append("two"))
    assert not event.done()
    gate.set()
    last.wait(DEADLINE)
    assert order == ["one", "two"]
    two.submit(fail_here)
    three = Stream()
    three.wait_stream(two)
    assert three.submit(lambda: 1).result(DEADLINE) == 1  # order only, no error
    with pytest.raises(KeyError):
        two.synchronize()
    two.synchronize()


def test_a_failure_does_not_stop_a_stream():
    stream = Stream()
    bad = stream.submit(fail_here)
    good = stream.submit(lambda: 1)
    poisoned = stream.submit(lambda: 2, bad)
    assert good.result(DEADLINE) == 1
    with pytest.raises(KeyError):
        poisoned.result(DEADLINE)


def test_current_stream_belongs_to_the_thread_and_nests():
    one, two = Stream(), Stream()
    assert scheduler.current_stream() is None
    with one as entered:
        assert entered is one
        assert scheduler.current_stream() == one
        with scheduler.stream(two), scheduler.stream(None):
            assert scheduler.current_stream() == two
            assert in_thread(scheduler.current_stream) is None
        assert scheduler.current_stream() == one
        assert submit(scheduler.current_stream).result(DEADLINE) is None
    assert scheduler.current_stream() is None
    assert one != two
    assert len({one, two, one}) == 2


def test_submit_uses_the_current_stream():
    order = []
    gate = threading.Event()
    with Stream() as stream:
        submit(lambda: (gate.wait(DEADLINE), order.append(1)))
        last = submit(lambda: order.append(2))
        assert not stream.query()
    gate.set()
    last.wait(DEADLINE)
    assert order == [1, 2]


def test_leaving_without_entering_is_an_error():
    with pytest.raises(RuntimeError, match="did not enter"):
        Stream().__exit__(None, None, None)


def test_pkg_async_0_runs_on_the_caller():
    code = """
        import threading
        from pkg import scheduler
        assert not scheduler.async_enabled()
        event = scheduler.submit(threading.get_ident)
        assert event.done() and event.result() == threading.get_ident()
        bad = scheduler.submit(lambda: 1 / 0)
        assert isinstance(bad.exception(), ZeroDivisionError)
        assert scheduler.scheduler_stats()["inline_runs"] == 2
        print("fine")
    """
    status, out, err, _ = run_child(code, PKG_ASYNC="0")
    assert (status, out, err) == (0, "fine\n", "")


def test_a_stream_left_open_in_a_task_ends_with_it():
    stream = scheduler.Stream()
    before = scheduler.current_stream()
    for enabled in (False, True):
        scheduler.set_async(enabled)
        scheduler.submit(lambda: scheduler.stream(stream).__enter__()).wait()
        assert scheduler.current_stream() == before
        seen = scheduler.submit(scheduler.current_stream).result()
        assert seen is None or seen == before
