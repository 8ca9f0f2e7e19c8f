# SPDX-License-Identifier: Apache-2.0
"""Streams: an order of work, and the current one of a thread."""

import threading

import pytest

from child import DEADLINE, run_child
from pkg import scheduler
from pkg.scheduler import Stream, submit
from tasks import fail_here


def in_thread(function):
    """Runs function on a thread of its own, with a deadline."""
    results = []
    thread = threading.Thread(target=lambda: results.append(function()), daemon=True)
    thread.start()
    thread.join(DEADLINE)
    assert not thread.is_alive(), "deadlock"
    return results[0]


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


def test_a_stream_left_open_in_a_task_ends_with_it():
    stream = scheduler.Stream()
    before = scheduler.current_stream()
    for enabled in (False, True):
        scheduler.set_async(enabled)
        scheduler.submit(lambda: scheduler.stream(stream).__enter__()).wait()
        assert scheduler.current_stream() == before
        seen = scheduler.submit(scheduler.current_stream).result()
        assert seen is None or seen == before


def test_a_stream_goes_on_when_memory_ends():
    """What could not be submitted for want of memory is not waited for."""
    status, out, err, _ = run_child("""
        import resource
        import time
        from pathlib import Path
        from pkg.scheduler import ManualEvent, Stream, pending_tasks, submit

        def address_space():
            return int(Path("/proc/self/statm").read_text().split()[0]) * 4096

        stream, gate, begun = Stream(), ManualEvent(), ManualEvent()
        stream.submit(lambda: (begun.set(), gate.wait()))
        # A thread that begins needs memory, and the C library aborts without.
        begun.wait()
        for task in [submit(lambda: time.sleep(0.05)) for _ in range(8)]:
            task.wait()
        needed = [gate] * 200_000
        outcomes = set()
        for more in range(0, 40 << 20, 1 << 20):
            resource.setrlimit(resource.RLIMIT_AS, (address_space() + more, -1))
            try:
                stream.submit(lambda: None, *needed)
            except (MemoryError, RuntimeError) as error:
                wrapped = error.__cause__ or error  # by pybind11 in one of its own
                assert isinstance(wrapped, MemoryError)
                outcomes.add("no memory")
            else:
                outcomes.add("memory")
            resource.setrlimit(resource.RLIMIT_AS, (-1, -1))
        last = stream.submit(lambda: 7)
        gate.set()
        print(sorted(outcomes), last.result(20))
        end = time.monotonic() + 20
        while pending_tasks() and time.monotonic() < end:
            time.sleep(0.01)
        print(pending_tasks())
    """)
    assert (status, out) == (0, "['memory', 'no memory'] 7\n0\n"), err
