# SPDX-License-Identifier: Apache-2.0
"""Exceptions, the GIL and threads: cases/errors.h by pybind11 and by the kit."""

import array
import copy
import errno
import functools
import gc
import inspect
import operator
import pickle
import sys
import threading
import time
import traceback
import weakref
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

THEME = "errors"


@pytest.fixture(autouse=True)
def nothing_is_alive(m):
    yield
    gc.collect()
    assert m.Fragile.count() == 0


STANDARD = [
    ("invalid_argument", ValueError),
    ("domain_error", ValueError),
    ("out_of_range", IndexError),
    ("length_error", ValueError),
    ("overflow_error", OverflowError),
    ("runtime_error", RuntimeError),
    ("logic_error", RuntimeError),
]


@pytest.mark.parametrize("kind, error", STANDARD)
def test_exceptions_of_the_standard(m, kind, error):
    """CPython's own of the same meaning, with the text."""
    with pytest.raises(error, match="^näh$") as info:
        m.fail(kind, "näh")
    assert type(info.value) is error


def test_exceptions_with_texts_of_their_own(m):
    with pytest.raises(MemoryError):
        m.fail("bad_alloc", "")
    with pytest.raises((RuntimeError, TypeError)):
        m.fail("bad_cast", "")
    with pytest.raises((RuntimeError, ValueError, OverflowError)):
        m.fail("range_error", "")
    with pytest.raises(IndexError, match="1"):
        m.too_large()


def test_errors_of_the_system(m, kit):
    """With the number and the text that the system has for it."""
    with pytest.raises(OSError if kit else RuntimeError) as info:
        m.fail_noent("no/such/file")
    assert "no/such/file" in str(info.value)
    if kit:
        assert type(info.value) is FileNotFoundError
        assert info.value.errno == errno.ENOENT


def test_values_that_are_not_there(m, kit):
    for call in (m.empty_optional, m.wrong_variant):
        with pytest.raises(ValueError if kit else RuntimeError):
            call()


def test_what_is_no_exception(m):
    """C++ can throw anything; the process lives on."""
    for kind in ("Odd", "int"):
        with pytest.raises((RuntimeError, SystemError)):
            m.fail(kind, "")
    with pytest.raises(ValueError):
        m.fail("invalid_argument", "")


def test_texts_of_errors(m):
    """As they are: long ones, empty ones, percent signs; what is no UTF-8 can be
    read somehow."""
    for text in ("", "100 % {0} %s", "x" * 10_000, "né€😀", "two\nlines"):
        with pytest.raises(RuntimeError) as info:
            m.fail("runtime_error", text)
        assert str(info.value) == text


def test_texts_of_errors_that_c_would_end(m, kit):
    """What has a zero in it, or is no UTF-8."""
    if not kit:
        pytest.skip("there they end, or are another error")

    class Key:
        def __repr__(self):
            return "a\0b"

    with pytest.raises(RuntimeError) as info:
        m.throw_text("a\0b")
    assert str(info.value) == "a\0b"
    with pytest.raises(RuntimeError) as info:
        m.throw_text(b"a\xff")
    assert str(info.value) == "a\ufffd"
    with pytest.raises(FileNotFoundError, match="\ufffd"):
        m.fail_noent(b"no/\xff")
    with pytest.raises(TypeError) as info:
        m.count_of({Key(): "x"})
    assert str(info.value) == (
        r"[count_of] expected an int for 'counts[a\x00b]', got str"
    )
    with pytest.raises(ValueError, match="no NUL"):
        m.length_of("a\0b")
    assert m.held_text(ValueError("a\0b")) == "a\0b"


def test_exceptions_as_values(m, kit):
    """std::exception_ptr: of Python's the very object, of C++'s as it is raised."""
    if not kit:
        pytest.skip("pybind11 has no conversion for it")
    seen = []
    m.report("", seen.append)
    m.report("out_of_range", seen.append)
    m.report("DeepError", seen.append)
    none, standard, deep = seen
    assert none is None and type(standard) is IndexError and str(standard) == "reported"
    assert type(deep) is m.DeepError
    mine = KeyError("mine")
    m.hold(mine)
    assert m.get_held() is mine
    with pytest.raises(KeyError) as info:
        m.throw_held()
    assert info.value is mine
    for context in (None, OSError("before")):
        mine.__context__ = context
        try:
            raise LookupError("is handled")
        except LookupError:
            m.hold(mine)
        assert m.get_held() is mine and mine.__context__ is context
    m.hold(error=None)
    m.throw_held()
    assert m.get_held() is None
    with pytest.raises(TypeError) as info:
        m.hold(3)
    assert (
        str(info.value) == "[hold] expected an exception or None for 'error', got int"
    )
    m.hold(deep)
    with pytest.raises(m.DeepError):
        m.throw_held()
    count = sys.getrefcount(mine)
    for _ in range(10):
        m.hold(mine)
        m.get_held()
    m.hold(None)
    assert sys.getrefcount(mine) == count


def test_classes_of_ones_own(m):
    """With a base of Python's, in the module, to be derived from."""
    error, deep = m.GeometryError, m.DeepError
    assert error.__mro__[:2] == (error, ValueError) and deep.__bases__ == (error,)
    assert error.__module__ == "errors" and error.__name__ == "GeometryError"
    with pytest.raises(error, match="^geometry: text$") as info:
        m.fail("Error", "text")
    assert type(info.value) is error and info.value.args == ("geometry: text",)
    with pytest.raises(error, match="mine"):
        raise error("mine")


def test_the_nearest_class_is_taken(m):
    """Of those that are registered, in whatever order they came."""
    with pytest.raises(m.DeepError, match="^geometry: deep text$") as info:
        m.fail("DeepError", "text")
    assert type(info.value) is m.DeepError
    with pytest.raises(m.GeometryError, match="unknown text") as info:
        m.fail("UnknownError", "text")
    assert type(info.value) is m.GeometryError


def test_errors_of_constructors(m):
    """Nothing is left of the object; the next one is sound."""
    for kind, error in (("invalid_argument", ValueError), ("DeepError", m.DeepError)):
        with pytest.raises(error, match="constructor"):
            m.Fragile(kind)
    assert m.Fragile.count() == 0
    fragile = m.Fragile()
    assert m.Fragile.count() == 1 and fragile.value == 1


def test_errors_of_constructors_of_subclasses(m):
    class Mine(m.Fragile):
        def __init__(self):
            super().__init__("Error")

    with pytest.raises(m.GeometryError):
        Mine()


def test_errors_of_properties_operators_and_statics(m):
    fragile = m.Fragile()
    with pytest.raises(ValueError, match="^zero$"):
        fragile.value = 0
    assert fragile.value == 1
    fragile.value = -1
    with pytest.raises(m.GeometryError, match="negative"):
        fragile.value  # noqa: B018
    with pytest.raises(m.DeepError, match="sum"):
        fragile + fragile
    with pytest.raises(m.GeometryError, match="stopped"):
        m.Fragile.stop()
    with pytest.raises(m.GeometryError, match="stopped"):
        fragile.stop()


def raise_it(error):
    """Fails in a line that the traceback must show."""
    raise error


def test_exceptions_of_python_pass_through(m):
    """The same object, with the traceback of where it was raised."""
    mine = LookupError("mine", 3)
    with pytest.raises(LookupError) as info:
        m.call(lambda: raise_it(mine))
    assert info.value is mine
    frames = traceback.extract_tb(mine.__traceback__)
    assert frames[-1].name == "raise_it" and frames[-1].line == "raise error"
    info = mine.__traceback__ = None
    for error in (KeyboardInterrupt, SystemExit, StopIteration, MemoryError):
        with pytest.raises(error):
            m.call(lambda error=error: raise_it(error()))


def test_exceptions_of_ones_own_pass_through(m):
    """Raised in Python, and by C++ below Python below C++."""
    with pytest.raises(m.DeepError, match="^mine$"):
        m.call(lambda: raise_it(m.DeepError("mine")))
    with pytest.raises(m.DeepError, match="deep text"):
        m.call(lambda: m.fail("DeepError", "text"))
    with pytest.raises(IndexError, match="text"):
        m.call(lambda: m.call(lambda: m.fail("out_of_range", "text")))


def test_exceptions_that_cpp_catches(m):
    """Python has no error then, and the object is let go."""
    text = m.call_or_error(lambda: raise_it(LookupError("mine")))
    assert text.startswith("caught ") and "mine" in text
    assert m.call_or_error(lambda: 3) == "3"
    assert sys.exc_info() == (None, None, None)

    class Mine(Exception):
        pass

    mine = Mine()
    alive = weakref.ref(mine)
    m.call_or_error(lambda: raise_it(mine))
    mine = None
    gc.collect()
    assert alive() is None


def test_exceptions_that_cpp_replaces(m):
    with pytest.raises(m.GeometryError, match="replaced"):
        m.call_and_replace(lambda: raise_it(LookupError("mine")))
    assert m.call_and_replace(lambda: 3) == 3


def test_calls_of_python_while_an_exception_passes(m):
    """From destructors: neither disturbs the other."""
    seen = []
    with pytest.raises(LookupError, match="mine"):
        m.call_and_clean(
            lambda: raise_it(LookupError("mine")), lambda: seen.append(int("3"))
        )
    assert seen == [3]
    with pytest.raises(LookupError, match="mine"):
        m.call_and_clean(
            lambda: raise_it(LookupError("mine")), lambda: raise_it(KeyError("other"))
        )
    assert m.call_twice(lambda: raise_it(LookupError()), lambda: 5) == 5
    with pytest.raises(KeyError):
        m.call_twice(lambda: raise_it(LookupError()), lambda: raise_it(KeyError()))


def test_the_context_of_an_exception(m):
    """An error that C++ throws while Python handles another one remembers that."""
    try:
        try:
            raise LookupError("first")
        except LookupError:
            m.fail("Error", "second")
    except m.GeometryError as error:
        assert isinstance(error.__context__, LookupError)


def test_an_iterator_that_ends_by_an_exception(m, kit):
    if not kit:
        pytest.skip("the twin has no such classes")
    assert list(m.Countdown(3)) == [3, 2, 1] and sum(m.Countdown(0)) == 0


def test_an_attribute_that_is_not_there(m, kit):
    """To hasattr() and getattr() as well."""
    if not kit:
        pytest.skip("the twin has no such classes")
    assert not hasattr(m.Countdown(1), "weight")
    assert getattr(m.Countdown(1), "weight", 5) == 5
    with pytest.raises(AttributeError, match="no weight"):
        assert m.Countdown(1).weight


def test_errors_of_what_python_asks(m, kit):
    if not kit:
        pytest.skip("the twin has no such classes")
    faulty = m.Faulty()
    questions = [len, repr, str, hash, bool, float, memoryview, list]
    questions += [lambda x: 3 in x, lambda x: x == m.Faulty(), lambda x: [1][x]]
    questions += [lambda x: x[0], lambda x: f"{x}", lambda x: {x: 1}]
    for ask in questions:
        with pytest.raises(RuntimeError, match="^refused$"):
            ask(faulty)


def test_deep_recursion(m):
    """Python's own limit ends it."""

    def again():
        return m.call(again)

    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(200)
    try:
        with pytest.raises(RecursionError):
            again()
    finally:
        sys.setrecursionlimit(limit)


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
    with pytest.raises(LookupError, match="mine"):
        m.sum_on_threads(lambda i: raise_it(LookupError("mine")), 5)


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


def test_who_called_cpp(m, kit):
    """As a number: the innermost line that is not the library's."""
    if not kit:
        pytest.skip("the kit's swigkit/sites.h")
    here = m.mark()
    assert (
        m.site(here) == f"{__file__}:{test_who_called_cpp.__code__.co_firstlineno + 4}"
    )
    inside = {"m": m}
    exec(compile("def mark():\n return m.mark()", "/a/inside.py", "exec"), inside)
    line = sys._getframe().f_lineno + 1
    place = inside["mark"]()
    assert m.site(place) == f"{__file__}:{line}"
    outside = {"m": m}
    exec(compile("\n\nplace = m.mark()", "/a/other.py", "exec"), outside)
    assert m.site(outside["place"]) == "/a/other.py:3" and m.site(0) == ""
    with ThreadPoolExecutor(1) as pool:
        assert m.site(pool.submit(m.mark).result()).rpartition(":")[0].endswith(".py")


def test_errors_that_come_later(m, kit):
    """They are raised in the function that ran, and nothing in between is hit."""
    if not kit:
        pytest.skip("the kit's swigkit/later.h")
    steps = []

    def between():
        for i in range(1000):
            steps.append(i)
        return "done"

    def caller():
        hooks = [functools.partial(m.raise_later, TimeoutError("late")), between]
        steps.extend(map(operator.call, hooks))  # as C calls hooks
        steps.append("not reached")

    with pytest.raises(TimeoutError, match="^late$") as info:
        caller()
    assert steps == [True, *range(1000), "done"]
    assert info.traceback[-1].name == "caller"


def test_tuples_with_names(m, kit):
    if not kit:
        pytest.skip("the kit's swigkit/by_hand.h")
    extent = m.extent(1, 2.5)
    assert extent == (1.0, 2.5) and (extent.low, extent.high) == (1.0, 2.5)
    assert isinstance(extent, tuple) and type(extent).__name__ == "Extent"
    assert repr(extent) == "errors.Extent(low=1.0, high=2.5)"
    for same in (pickle.loads(pickle.dumps(extent)), copy.copy(extent)):
        assert same == extent and type(same) is tuple


def test_tables_of_a_type_that_is_written_by_hand(m, kit):
    if not kit:
        pytest.skip("the kit's swigkit/by_hand.h")
    gauge = m.gauge(1.5)
    assert gauge.value == 1.5
    gauge.value = 2
    assert gauge.value == 2.0
    with pytest.raises(
        TypeError, match=r"^\[Gauge\] expected a number for 'value', got"
    ):
        gauge.value = "3"
    with pytest.raises(StopIteration):
        del gauge.value
    with pytest.raises(IndexError, match="no history"):
        gauge.history()
    assert gauge.scaled(3) == 6.0 and gauge.scaled(3, 1) == 7.0
    assert gauge.scaled(plus=None, by=2) == 4.0
    assert gauge.scaled(2, plus=1, unit="m") == "5 m"
    assert gauge.history() == [6.0, 7.0, 4.0, 5.0]
    for args, keywords, text in (
        ((), {}, r"scaled\(\) missing required argument 'by'|takes at least 1"),
        ((1, 2, "m"), {}, r"scaled\(\) takes at most 2 positional arguments"),
        ((1,), {"by": 2}, "multiple values for argument 'by'"),
        ((1,), {"other": 2}, "unexpected keyword argument 'other'"),
        (("1",), {}, r"^\[scaled\] expected a number for 'by', got str"),
        ((1, "2"), {}, r"^\[scaled\] expected a number or None for 'plus', got str"),
        ((1,), {"unit": 2}, r"^\[scaled\] expected a str or None for 'unit', got int"),
    ):
        with pytest.raises(TypeError, match=text):
            gauge.scaled(*args, **keywords)
    assert len(gauge.history()) == 4
    assert gauge.filled(50) == 1.0 and gauge.filled(25, more=75) == 2.0
    for args in ((101,), (1, 101)):  # a conversion throws
        with pytest.raises(IndexError, match="^more than all$"):
            gauge.filled(*args)


def test_rows_of_tables_say_what_they_take(m, kit):
    if not kit:
        pytest.skip("the kit's swigkit/by_hand.h")
    gauge = m.gauge(2)
    said = {"filled": "(by, more=None)", "again": "(by, *, plus=None, unit=None)"}
    for name, signature in {**said, "get": "()"}.items():
        assert str(inspect.signature(getattr(gauge, name))) == signature
    assert gauge.filled.__doc__ == "So full." and gauge.get() == gauge.shown == 2
    assert gauge.again(3, plus=1) == 7.0
    assert type(gauge).shown.__doc__ == "Only read."
    with pytest.raises(AttributeError):
        gauge.shown = 3


def test_callables_with_values_of_cpp(m, kit, monkeypatch):
    if not kit:
        pytest.skip("the kit's call_as() and call_alone()")
    assert m.ask(lambda value, unit: value + len(unit), 1.5, "km") == 3.5
    assert m.ask(lambda value, unit: None, 1, "") is None
    with pytest.raises(TypeError) as info:
        m.ask(lambda value, unit: unit, 1, "km")
    said = "[ask] expected a number or None for 'callable()', got str"
    assert str(info.value) == said
    mine = KeyError("mine")

    def fails(*args):
        raise mine

    with pytest.raises(KeyError) as info:
        m.ask(fails, 1, "")
    assert info.value is mine
    seen = []
    monkeypatch.setattr(sys, "unraisablehook", lambda what: seen.append(what.exc_value))
    m.call_alone(lambda: seen.append("called"))
    m.call_alone(fails)
    assert seen == ["called", mine]


def test_what_a_callable_returns_outlives_views_of_it(m, kit):
    if not kit:
        pytest.skip("the kit's call_as()")

    class Text(str):
        """Of which there are weak references."""

    made = []

    def give(value):
        made.append(weakref.ref(value))
        return value

    assert m.ask_text(lambda: give(Text("abc"))) == 3 and made[0]() == "abc"
    numbers = [1.0, 2.0]
    assert m.ask_numbers(lambda: give(array.array("d", numbers))) == 2
    assert made[0]() is None and list(made[1]()) == numbers
    m.ask_text(str)
    assert made[1]() is None


def test_nested_lists_and_attributes_by_hand(m, kit):
    if not kit:
        pytest.skip("the kit's swigkit/by_hand.h")
    numbers = [float(i) for i in range(12)]
    assert m.every_second(numbers, 2, 3) == [[0.0, 2.0, 4.0], [6.0, 8.0, 10.0]]
    assert m.every_second([], 0, 3) == [] and m.every_second([], 2, 0) == [[], []]
    assert m.text_of(m.Fragile, "__qualname__") == "Fragile"
    assert m.text_of(3, "real") is None and m.text_of(3, "missing") is None


def test_folder_and_list_of_the_module(m, kit):
    if not kit:
        pytest.skip("the kit's swigkit/sites.h and listed.h")
    assert m.folder() == str(Path(m.__file__).parent) + "/"
    rows = {name: (cpp, remark) for name, cpp, remark in m.listing()}
    assert rows["mark"] == ("uint64_t mark()", "by number")
    assert rows["site"] == ("std::string site(uint64_t)", "")
    assert rows["Fragile"] == ("class errors::Fragile", "")
    made = {name for name, value in vars(m).items() if callable(value)}
    exceptions = {"GeometryError", "DeepError"}
    assert set(rows) == made - exceptions


def test_arguments_of_methods_that_are_written_by_hand(m, kit):
    if not kit:
        pytest.skip("the kit's swigkit/by_hand.h")
    assert m.parse((3,), {}) == "3 no" and m.parse((3,), {"truth": [0]}) == "3 yes"

    class Undecided:
        def __bool__(self):
            raise LookupError("not yet")

    with pytest.raises(LookupError, match="not yet"):
        m.parse((3,), {"truth": Undecided()})
    for args, keywords in (((), {}), ((1, 2), {}), (("1",), {}), ((1,), {"other": 1})):
        with pytest.raises(TypeError):
            m.parse(args, keywords)
