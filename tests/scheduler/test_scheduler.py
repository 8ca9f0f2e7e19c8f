# SPDX-License-Identifier: Apache-2.0
"""pkg.scheduler: Python callables on the workers."""

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
from tasks import fail_here

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
        (lambda: submit(int, stream=3), "a Stream or None for 'stream', got int"),
        (lambda: submit(), "argument"),
        (lambda: submit(int, int), "positional|incompatible"),
        (lambda: Stream().submit(), "callable"),
        (lambda: Stream().submit(int, "x"), r"an Event for 'deps\[0\]', got str"),
        (lambda: Stream().wait_event(None), "an Event for 'event', got NoneType"),
        (lambda: Stream().wait_stream(1), "expected a Stream for 'stream', got int"),
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

    # The stream is in that frame too.
    for give in (submit, lambda work: Stream().submit(work)):
        alive = wait_and_fail(give)
        end = time.monotonic() + DEADLINE  # the worker may be about to let go of it
        while alive() is not None and time.monotonic() < end:
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
