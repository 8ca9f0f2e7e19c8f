# SPDX-License-Identifier: Apache-2.0
"""The GIL and threads: cases/errors.h by pybind11 and by the kit."""

import gc
import sys
import threading
import time
import weakref

import pytest

THEME = "errors"


@pytest.fixture(autouse=True)
def nothing_is_alive(m):
    yield
    gc.collect()
    assert m.Fragile.count() == 0


def on_threads(function, n):
    """What function(i) gives on n threads at once; the first error is raised."""
    results = [None] * n

    def run(i):
        try:
            results[i] = function(i)
        except BaseException as error:
            results[i] = error

    threads = [threading.Thread(target=run, args=(i,)) for i in range(n)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for result in results:
        if isinstance(result, BaseException):
            raise result
    return results


def test_the_gil_is_released_where_it_is_said(m):
    """Two threads are in C++ at once."""
    assert on_threads(lambda i: m.meet(20_000), 2) == [True, True]
    worker = m.Worker()
    assert on_threads(lambda i: worker.meet(20_000), 2) == [True, True]
    assert m.meet(1) is False


def test_python_runs_while_cpp_waits(m):
    ticks = []
    done = threading.Event()

    def tick():
        while not done.is_set():
            ticks.append(time.monotonic())
            time.sleep(0.002)

    thread = threading.Thread(target=tick)
    thread.start()
    begin = time.monotonic()
    m.wait(200)
    end = time.monotonic()
    done.set()
    thread.join()
    assert len([t for t in ticks if begin < t < end]) >= 2


def test_errors_without_the_gil(m):
    """It is taken again to raise them."""
    for kind, error in (("out_of_range", IndexError), ("DeepError", m.DeepError)):
        with pytest.raises(error, match="on a thread"):
            m.fail_on_thread(kind)
    with pytest.raises(TypeError):
        m.wait("long")
    assert m.fail_on_thread("") == 0


def test_callbacks_on_foreign_threads(m):
    names = set()

    def note(i):
        names.add(threading.get_ident())
        return i * i

    assert m.sum_on_threads(note, 5) == 30
    assert threading.get_ident() not in names

    def fails(i):
        raise LookupError("mine")

    with pytest.raises(LookupError, match="mine"):
        m.sum_on_threads(fails, 5)


def test_callbacks_after_the_call(m):
    """A thread of C++ calls while Python does something else; the function is let go
    on that thread."""

    class Noting:
        def __init__(self, seen):
            self.seen = seen

        def __call__(self, i):
            self.seen.append((i, threading.get_ident()))

    seen = []
    noting = Noting(seen)
    alive = weakref.ref(noting)
    m.start(noting, 3)
    noting = None
    for _ in range(2000):
        if len(seen) == 3:
            break
        time.sleep(0.005)
    m.join()
    gc.collect()
    assert [i for i, _ in seen] == [0, 1, 2]
    assert seen[0][1] != threading.get_ident() and alive() is None


def test_calls_from_many_threads(m):
    """Conversions, constructors and errors have no state that threads share."""

    def work(i):
        for k in range(300):
            fragile = m.Fragile()
            fragile.value = i + 1
            assert fragile.value == i + 1
            with pytest.raises(m.DeepError, match=f"deep {i} {k}$"):
                m.fail("DeepError", f"{i} {k}")
            assert m.call(lambda: i * k) == i * k  # noqa: B023
        return i

    assert on_threads(work, 4) == [0, 1, 2, 3]


def test_no_call_leaks_a_reference(m):
    text, mine = "t" * 50, LookupError("mine")
    fragile, function = m.Fragile(), lambda: 1

    def raise_mine(*_):
        mine.__traceback__ = mine.__context__ = None
        raise mine

    calls = [
        lambda: m.fail("Error", text),
        lambda: m.fail("DeepError", text),
        lambda: m.fail(text, mine),
        lambda: m.fail_noent(text),
        lambda: m.fail("Odd", text),
        lambda: m.Fragile("Error"),
        lambda: fragile + fragile,
        lambda: setattr(fragile, "value", 0),
        lambda: m.call(function),
        lambda: m.call(raise_mine),
        lambda: m.call_or_error(raise_mine),
        lambda: m.call_and_replace(raise_mine),
        lambda: m.call_and_clean(function, raise_mine),
        lambda: m.call_twice(raise_mine, function),
        lambda: m.sum_on_threads(raise_mine, 1),
        lambda: m.fail_on_thread("Error"),
    ]
    watched = [text, mine, fragile, function, raise_mine, None]
    watched += [m.GeometryError, m.DeepError, m.Fragile]

    def run(n):
        for call in calls:
            for _ in range(n):
                try:
                    call()
                except Exception:
                    pass
        mine.__traceback__ = mine.__context__ = None
        gc.collect()
        return [sys.getrefcount(x) for x in watched]

    before = run(3)
    grown = [b - a for a, b in zip(before, run(200))]
    assert max(grown) < 100, grown
