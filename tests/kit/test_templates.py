# SPDX-License-Identifier: Apache-2.0
"""Templates and what SWIG does not read: cases/templates.h by pybind11 and the kit."""

import gc
import sys

import pytest

THEME = "templates"


def test_an_instance_is_a_base(m):
    """Though its %template stands behind the header."""
    square = m.Square(3)
    assert square.area() == 9 and square.twice() == 18 and m.area_of(square) == 9
    assert isinstance(square, m.DoubleShape) and m.Square.__doc__.startswith(
        "A square."
    )
    unit = m.Unit()
    assert unit.twice() == 2 and isinstance(unit, m.IntShape)
    with pytest.raises(TypeError):
        m.area_of(unit)


def test_overrides_of_an_instance(m, kit):
    """The virtual methods of a template are those of what is derived from it."""

    class Third(m.Half):
        def area(self):
            return 3.0

        def factor(self):
            return super().factor() / 2

    third = Third()
    assert m.area_of(third) == 3 and third.twice() == 6 and third.factor() == 0.25
    if kit:
        with pytest.raises(TypeError, match="is derived from it and has: area"):
            m.Half()


def test_private_methods_that_are_overridden(m, kit):
    """Which C++ leaves to what is derived, and nobody else calls."""

    class Soup(m.Recipe):
        def ingredients(self, portions):
            return f"{portions} onions"

        def heat(self, of):
            return of[0] * of[1]

    assert Soup().cook(3) == "with 3 onions on 6"

    class Burnt(Soup):
        def heat(self, of):
            raise LookupError("no oven")

    with pytest.raises(LookupError, match="no oven"):  # it is noexcept(false)
        Burnt().cook(1)
    with pytest.raises(RuntimeError):
        type("Unknown", (m.Recipe,), {})().cook(1)
    if kit:
        with pytest.raises(TypeError, match="has: heat, ingredients"):
            m.Recipe()


def test_bases_that_know_what_is_derived(m):
    """The curiously recurring template pattern: static members are each class's own."""
    gc.collect()
    before = m.Thing.alive, m.Other.alive
    thing, other = m.Thing(), m.Other()
    assert thing.number() == 4 and other.number() == 5
    assert (m.Thing.alive, m.Other.alive) == (before[0] + 1, before[1] + 1)
    named = m.NamedThing()
    named.name = "x"
    assert named.name == "x" and named.number() == named.no == 4
    assert issubclass(m.NamedThing, m.Thing) and issubclass(m.Thing, m.CountedThing)
    del thing, other, named
    gc.collect()
    assert (m.Thing.alive, m.Other.alive) == before


def test_instances(m):
    holder = m.Holder()
    holder.add(3)
    assert holder.items == [3]
    assert [m.IntTrait.id(), m.FloatTrait.id(), m.PointerTrait.id()] == [1, 0, 2]
    assert m.IntTrait().zero() == 100
    assert m.Pack.count() == 2 and m.Pack().values == (0, 0.0)
    pack = m.Pack()
    pack.values = (1, 2.5)
    assert pack.values == (1, 2.5)
    inner = m.Outer().make(3)
    assert inner.x == 3 and type(inner) is m.Outer.Inner
    assert type(m.FloatOuter().make(2.5)) is m.FloatOuter.Inner is not m.Outer.Inner


def test_functions(m):
    assert m.count_of(1, 2.0) == 2
    assert m.doubled(2) == 4 and type(m.doubled(2)) is int and m.doubled(1.5) == 3.0
    assert m.negated(4) == -4 and m.total([1, 2]) == 3 == m.total((1, 2))


def test_what_swig_does_not_read(m, kit):
    assert m.kMillion == 1000000 and m.Strict(4).value == 4
    assert m.sum(1, 2.5) == 3.5 and m.first(6) == 6
    assert m.ruled(3, lambda x: 2 * x) == 6
    if kit:
        assert m.cvar.started == 3 and m.cvar.rule(0) == 7 and m.cvar.rule(4) == 4
        assert m.ruled(3) == 4  # a default that is a lambda


def test_methods_that_say_they_throw_nothing(m):
    class Adds(m.Thrower):
        def plain(self, x):
            return x + 1

    assert m.plain_of(m.Thrower(), 1) == 1 and m.plain_of(Adds(), 1) == 2


def test_errors_where_nothing_may_be_thrown(m, kit, monkeypatch):
    """They are shown, and C++ gets nothing."""
    if not kit:
        pytest.skip("an override that raises ends the process")

    class Raises(m.Thrower):
        def plain(self, x):
            raise KeyError("plain")

        def quiet(self, x):
            raise KeyError("quiet")

    seen = []
    monkeypatch.setattr(sys, "unraisablehook", lambda it: seen.append(it.exc_value))
    assert m.plain_of(Raises(), 1) == 0 == m.quiet_of(Raises(), 1)
    assert [str(error) for error in seen] == ["'plain'", "'quiet'"]
    assert m.quiet_of(m.Thrower(), 3) == 3


def test_objects_that_are_not_on_the_heap(m, kit):
    if not kit:
        pytest.skip("pybind11 asks for operator new of each class")
    m.Singleton.instance().uses = 5
    assert m.Singleton.instance().uses == 5
    with pytest.raises(TypeError):
        m.Singleton()


def test_lists_of_initial_values(m):
    assert m.Bag().items == [] and m.Bag(1, 2).items == [1, 2]
    assert m.Bag([1, 2, 3]).items == [1, 2, 3] == m.Bag((1, 2, 3)).items
    assert m.Bag([]).items == [] and m.joined([]) == "" and m.joined(("a", "b")) == "ab"
    assert m.numbers_of([m.Thing(), m.NamedThing()]) == 8
    for wrong in (["a"], [1, None], 3, None, [2**40]):
        with pytest.raises((TypeError, OverflowError)):
            m.Bag(wrong)
