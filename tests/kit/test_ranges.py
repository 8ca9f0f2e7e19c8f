# SPDX-License-Identifier: Apache-2.0
"""Iteration, comparison, lent objects, virtual methods with results in their arguments,
and C++ that SWIG does not read: cases/ranges.h by pybind11 and by the kit."""

import array
import copy
import datetime
import gc
import inspect
import itertools
import operator
import time

import numpy as np
import pytest

THEME = "ranges"
COMPARISONS = [getattr(operator, n) for n in ("lt", "le", "eq", "ne", "gt", "ge")]


def test_iteration(m, kit):
    assert [child.value for child in m.Family()] == [1, 2, 3]
    assert list(m.Numbers()) == list(m.MoreNumbers()) == [4, 5, 6]
    assert dict(iter(m.Prices())) == {"tea": 3, "milk": 2}
    if kit:  # pybind11 does not know the class of a bit
        assert list(m.Bits()) == [True, False, True]
        assert list(m.Count()) == [0, 1, 2, 3]
        assert not {"begin", "end"} & set(dir(m.Family))


def test_items_are_those_of_the_object(m):
    family = m.Family()
    next(iter(family)).value = 10
    assert [child.value for child in family] == [10, 2, 3]


def test_items_keep_the_object(m):
    items = iter(m.Family())
    first = next(items)
    gc.collect()
    second = next(items)
    del items
    gc.collect()
    assert (first.value, second.value) == (1, 2)


def test_iterators_end_once(m):
    items = iter(m.Numbers())
    assert (
        list(items) == [4, 5, 6] and list(items) == [] and next(items, "end") == "end"
    )
    assert iter(items) is items


def test_ends_that_are_no_iterators(m, kit):
    if kit:
        interval = m.Interval()
        assert (interval.begin(), interval.end()) == (3, 5)
        with pytest.raises(TypeError, match="not iterable"):
            iter(interval)


def test_containers_from_iter(m, kit):
    if kit:
        assert list(m.Words()) == ["a", "b"] and next(iter(m.Words())) == "a"


def test_attributes_by_name(m, kit):
    if kit:
        words = m.Words()
        assert words.other == "no other" and words.words == ["a", "b"]
        assert not hasattr(words, "missing")


@pytest.mark.parametrize("compare", COMPARISONS)
def test_ordered_by_the_spaceship(m, compare):
    pairs = [(1, 2), (1, 3), (2, 0)]
    for a, b in itertools.product(pairs, pairs):
        assert compare(m.Version(*a), m.Version(*b)) == compare(a, b)
    levels = [-1.0, 0.0, 2.5, float("nan")]
    for a, b in itertools.product(levels, levels):
        assert compare(m.Level(a), m.Level(b)) == compare(a, b)


def test_ordered_with_another_type(m, kit):
    if not kit:
        pytest.skip("pybind11's users write each comparison")
    size = m.Size(3)
    assert size < 4 and size <= 3 and 4 > size and not size > 3
    assert size == size and size != m.Size(3)  # C++ says nothing of ==
    with pytest.raises(TypeError, match="not supported"):
        assert size < "4"


def test_wrong_comparisons(m):
    version = m.Version(1, 2)
    assert version != "1.2" and version is not None and version != 3
    with pytest.raises(TypeError, match="not supported"):
        assert version < None


def test_lent_objects_that_are_kept(m, kit):
    """A copy where there is one; no memory that is free."""
    if not kit:
        pytest.skip("pybind11's class is not bound")
    kept = []
    m.lend(kept.append)
    gc.collect()
    assert kept[0].text.startswith("a text")
    for lend in (m.lend_alone, m.lend_const):
        seen = []
        lend(seen.append)
        one = seen[0]
        with pytest.raises(ValueError, match="lent this .* for a call that is over"):
            print(one.text)


@pytest.fixture
def plain(m):
    class Plain(m.Reader):
        pass

    return Plain()


def test_what_python_does_not_override_is_called_as_in_cpp(m, kit, plain):
    """With the arguments themselves, and what can only be moved."""
    assert m.grow(plain) == [5, 1] and m.add(plain) == 6 and m.parse(plain) == 3.0
    assert m.take(plain) == 8 and m.call_def(plain) == 14 and m.over(plain) == 21
    with pytest.raises(RuntimeError) as info:
        m.call_pure(plain)
    if kit:
        assert str(info.value) == (
            "[Reader.pure] expected this method in the class Plain: "
            "C++ has none of its own"
        )


def test_methods_of_the_object_itself(m, kit, plain):
    if kit:
        plain.pure = lambda a: a + 1
        plain.over = lambda a: 4
        assert m.call_pure(plain) == 4 and m.over(plain) == 44


def test_overrides_of_methods_named_like_words(m):
    class Own(m.Reader):
        def def_(self, a, b):
            return 1000

        def over(self, a):
            return 5

    assert m.call_def(Own()) == 1000 and m.over(Own()) == 55


def test_abstract_classes(m, kit):
    if kit:
        with pytest.raises(TypeError) as info:
            m.Reader()
        assert str(info.value) == (
            "[Reader] expected a class of Python's that is derived from it and has: "
            "pure: C++ has no objects of the class itself"
        )


def test_nested_errors(m):
    with pytest.raises(RuntimeError, match="outside") as info:
        m.fail_nested()
    middle = info.value.__cause__
    assert isinstance(middle, ValueError) and str(middle) == "middle"
    assert isinstance(middle.__cause__, IndexError)
    assert str(middle.__cause__) == "inside"


def test_what_cpp_reads_of_an_error(m):
    def fail():
        raise KeyError("k")

    assert m.caught(fail).startswith("KeyError: 'k'")
    assert m.caught(lambda: None) == ""


def test_copies(m):
    child = m.Child(3)
    both = [copy.copy(child), *copy.deepcopy([child])]
    child.value = 4
    assert [other.value for other in both] == [3, 3]


def test_copies_of_subclasses(m, kit):
    if not kit:
        pytest.skip("pybind11's copy is of the base class")

    class Named(m.Child):
        def __init__(self, value):
            super().__init__(value)
            self.names = ["x"]

    one = Named(3)
    shallow, deep = copy.copy(one), copy.deepcopy(one)
    assert type(shallow) is type(deep) is Named and shallow.value == deep.value == 3
    assert shallow.names is one.names
    assert deep.names == ["x"] and deep.names is not one.names


def test_other_types(m, kit):
    assert m.doubled([1, 2.5]) == [2.0, 5.0] and m.doubled([]) == []
    assert m.later(datetime.timedelta(seconds=2)) == datetime.timedelta(seconds=3)
    assert m.call_or_not(print) and not m.call_or_not(None)
    assert m.text_or(None) == "none" and m.text_or("hello") == "hello"
    if kit:
        assert m.rest([1, 2, 3]) == [2, 3]
        assert m.count_null([m.Child(1), None]) == 1


def test_views_of_a_fixed_length(m, kit):
    if kit:
        assert m.sum(array.array("d", [1, 2, 3])) == 6
        with pytest.raises(ValueError, match="expected 3 items for 'values', got 2"):
            m.sum(array.array("d", [1, 2]))


def test_handles(m, kit):
    if not kit:
        pytest.skip("pybind11 needs a definition")
    handle = m.open_handle(4)
    assert m.value_of(handle) == 4 and m.value_of(None) == -1
    assert m.no_handle() is None
    with pytest.raises(TypeError, match=r"expected a ranges::Handle\* that C\+\+ gave"):
        m.value_of(4)
    m.close_handle(handle)


def test_what_swig_does_not_read(m, kit):
    if kit:
        odd = m.Odd()
        assert (odd.value, odd.one, odd.two, odd.big, odd.bits) == (
            5,
            1,
            2,
            1_000_000,
            3,
        )
        assert m.read_three() == 3 and not hasattr(m, "log")
        assert not hasattr(m, "formatted")
        with pytest.raises(TypeError, match="no constructor for Python"):
            m.NoDefault()
    both = m.Both()
    assert (both.left, both.right) == (1, 2) and isinstance(both, m.Right)


def test_destructors_that_wait_for_python(m):
    done = []
    pool = m.Pool()
    pool.submit(lambda: (time.sleep(0.02), done.append(1)))
    del pool
    assert done == [1]


def test_defaults_that_swig_does_not_read(m, kit):
    if not kit:
        pytest.skip("the twin would have to say them again")
    assert m.braced() == [1, 20, 3] and m.braced([5], change=lambda x: -x) == [-5, 3]
    assert m.braced(named={}) == [1, 20]
    assert m.commented() == 5 and m.commented(by=1, values=[]) == 2
    assert m.commented(lambda x: 10 * x) == 22
    held = m.Held()
    assert held.first == 3 and m.Holder.of() == 6 and m.Holder.of(m.Holder.Item(2)) == 2
    assert held.get() == 72 and held.get(values=[]) == 70 and held.changed() == 10
    assert held.get(m.Holder.Item()) == 52 and held.many() == 9 and held.many(1) == 1
    assert m.Holder.Inner().get() == 8 and m.Last().get() == 7
    assert m.texts() == "texts\n\\'\"b"
    between = inspect.signature(m.texts).parameters["between"]
    assert between.default == "\n\\'\""


def test_variants_that_cannot_be_made_of_nothing(m, kit):
    if not kit:
        pytest.skip("pybind11 asks for a default constructor")
    assert m.either(m.Sealed(3)).value == 3 and m.either("a") == "a"
    text, sealed = m.eithers(["b", m.Sealed(4)])
    assert text == "b" and sealed.value == 4
    with pytest.raises(
        TypeError, match="expected a Sealed or a str for 'one', got int"
    ):
        m.either(3)


def test_complex_numbers_in_place(m, kit):
    if kit:
        values = np.array([1, 2j])
        m.turn(values)
        assert values.tolist() == [1j, -2]
        with pytest.raises(TypeError, match="buffer of complex128 for 'values', got"):
            m.turn(np.zeros(2))


def test_two_orderings_and_an_operator(m, kit):
    if not kit:
        pytest.skip("the twin has none")
    one, other = m.Weight(1, 2), m.Weight(1, 3)
    assert one < other and other > one and one <= other and not other < one
    assert one < 1.5 and not one < 1 and one != other and one == m.Weight(1, 2)
    assert one < m.Level(2) and one >= m.Level(1) and one != m.Level(1)
    with pytest.raises(TypeError):
        _ = one < "a"


def test_a_number_is_compared_by_the_operator_for_numbers(m, kit):
    """And made an object of the class only where there is none."""
    if not kit:
        pytest.skip("the twin has none")
    price = m.Price(1)
    assert price < 0.5 and price < -98.0 and not price < -100.0
    assert price == 42 and not price == 1 and price != 1 and not price != 42
    assert price < m.Price(2) and not price < m.Price(0.5) and price >= m.Price(1)
    # No operator takes these: they become objects.
    assert price > 0.5 and price <= 1 and price >= 1
