# SPDX-License-Identifier: Apache-2.0
"""What is written in the C API beside what SWIG wraps: cases/errors.h."""

import array
import copy
import functools
import gc
import inspect
import operator
import pickle
import sys
import weakref
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

THEME = "errors"


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


def test_functions_that_cpp_makes(m, kit):
    """Objects with a record of C++'s: called, methods, with attributes, collected."""
    if not kit:
        pytest.skip("the kit's swigkit/function_type.h")
    scale = m.Scale(2.5)
    assert scale(2) == 5 and scale(*[0, 4]) == 10 and scale.text() == "2.5"
    assert repr(scale) == "<times 2.5>" and scale.__doc__ == "2.5"
    for call, args, error in (
        (scale, [], ValueError),
        (scale, ["a"], TypeError),
        (m.Scale, [], TypeError),
    ):
        with pytest.raises(error):
            call(*args)
    with pytest.raises(ValueError, match="without a name"):
        scale(x=1)

    class Holder:
        scaled = scale

    assert Holder().scaled(3) == Holder().scaled.__call__(3) == 7.5
    assert Holder.scaled is scale
    kept = [Holder]
    other = m.Scale(1, kept)
    kept.append(other)
    scale.note = other.note = scale
    watched = [weakref.ref(one) for one in (scale, other, Holder)]
    assert scale.__dict__ == {"note": scale} and m.Scale(1)(1) == 1
    del scale, other, Holder, kept, call
    gc.collect()
    assert [one() for one in watched] == [None] * 3


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


def test_what_objects_say_of_themselves_as_arrays(m, kit):
    if not kit:
        pytest.skip("the kit's swigkit/arrays.h")
    numpy = pytest.importorskip("numpy")
    row = numpy.ones(3, numpy.float32)

    class Shown:
        """An array by a protocol alone, which does not tell its dimensions."""

        __array_interface__ = row.__array_interface__

    class Told(Shown):
        ndim = 0

    none = (False, False, True, "", "")
    for given, facts in (
        (row, (True, False, False, "f", "")),
        (numpy.ma.masked_array(row), (True, True, False, "f", "")),
        (numpy.int16(3), (True, False, True, "i", "")),
        (numpy.bool_(True), (True, False, True, "b", "")),
        (numpy.float32, (False, False, True, "", "float32")),
        (numpy.bool_, (False, False, True, "", "bool")),
        (row.dtype, (False, False, True, "", "float32")),
        (b"ab", (True, False, False, "", "")),
        (Shown(), (True, False, False, "", "")),
        (Told(), (True, False, True, "", "")),
        ([1.0], (False, False, False, "", "")),
        ("abc", (False, False, False, "", "")),
        *((one, none) for one in (3, 1.5, None, Shown)),
    ):
        found = m.array_facts(given)
        if given is numpy.float32 or given is numpy.bool_ or given is row.dtype:
            found, facts = found[0::4], facts[0::4]
        assert found == facts, given


def test_capsules_that_others_may_take_over(m, kit):
    if not kit:
        pytest.skip("the kit's swigkit/arrays.h")
    before = m.numbers_given_back()
    capsule = m.capsule_of(5)
    assert m.take_capsule(capsule) == 5
    with pytest.raises(ValueError, match="PyCapsule_GetPointer called with incorrect"):
        m.take_capsule(capsule)
    del capsule
    assert m.numbers_given_back() == before
    m.capsule_of(6)
    assert m.numbers_given_back() == before + 1
    with pytest.raises(ValueError):
        m.take_capsule(3)


def test_folder_and_list_of_the_module(m, kit):
    if not kit:
        pytest.skip("the kit's swigkit/sites.h and listed.h")
    assert m.folder() == str(Path(m.__file__).parent) + "/"
    rows = {name: (cpp, remark) for name, cpp, remark in m.listing()}
    assert rows["mark"] == ("uint64_t mark()", "by number")
    assert rows["site"] == ("std::string site(uint64_t)", "")
    assert rows["Fragile"] == ("class errors::Fragile", "")
    made = {name for name, value in vars(m).items() if callable(value)}
    by_hand = {"GeometryError", "DeepError", "Scale"}  # and exceptions
    assert set(rows) == made - by_hand


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
