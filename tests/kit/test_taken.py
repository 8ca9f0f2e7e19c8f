# SPDX-License-Identifier: Apache-2.0
"""What C++ takes in containers, some of it or none, and who keeps what alive
afterwards: by the kit alone, as pybind11 has none of it."""

from __future__ import annotations

import gc
import sys
import weakref
from collections.abc import Callable
from typing import Any

import pytest

THEME = "taken"
TEXT = "p" * 100
GIVEN = r"or what it is a part of, was given to C\+\+"


@pytest.fixture
def binding() -> str:
    """The kit alone."""
    return "kit"


@pytest.mark.parametrize("how", ["drop_last", "drop_last_of", "drop_second"])
def test_what_lay_in_the_one_that_cpp_took_does_not_come_back(m: Any, how: str) -> None:
    """With the other, which it might have lain in, too."""
    a, b = m.Heap(), m.Heap()
    part = m.of_either(a, b)
    getattr(m, how)((a, b) if how == "drop_second" else [a, b])
    assert a.n == 0 and a.own.text == TEXT
    for gone in (lambda: b.n, lambda: part.text):
        with pytest.raises(ValueError, match=GIVEN):
            gone()


def test_what_may_be_of_two_is_there_after_both_were_refused(m: Any) -> None:
    a, b = m.Heap(), m.Heap()
    part = m.of_either(a, b)
    for _ in range(2):
        with pytest.raises(TypeError):
            m.take_two(a, b, "no")
        assert part.text == TEXT
    m.take(b)
    with pytest.raises(ValueError, match=GIVEN):
        part.text  # noqa: B018


REFUSED: dict[str, Callable[[Any, Any, Any], Any]] = {
    "list of pairs": lambda m, a, b: m.take_pairs([(a, 1), (b, "no")]),
    "dict of pairs": lambda m, a, b: m.take_map({"a": (a, 1), "b": (b, "no")}),
    "optional pair": lambda m, a, b: m.take_optional((a, "no")),
    "one of several types": lambda m, a, b: m.take_variant((a, "no")),
    "list of arrays": lambda m, a, b: m.take_arrays([(a, b), (3, 3)]),
    "array that is too short": lambda m, a, b: m.take_arrays([(a,)]),
}


@pytest.mark.parametrize("how", REFUSED)
def test_what_a_refused_container_holds_is_pythons(m: Any, how: str) -> None:
    a, b = m.Heap(), m.Heap()
    part = a.own
    with pytest.raises(TypeError):
        REFUSED[how](m, a, b)
    assert a.n == b.n == 0
    assert part.text == TEXT
    assert m.take_pairs([(a, 1), (b, 2)]) == 2
    with pytest.raises(ValueError, match=GIVEN):
        part.text  # noqa: B018


def test_many_of_a_list_are_given_back_at_once(m: Any) -> None:
    """Each is found without a look at all others."""
    heaps = [m.Heap() for _ in range(20000)]
    with pytest.raises(TypeError):
        m.drop_last([*heaps, 3])
    m.drop_last_of(heaps)
    assert all(heap.n == 0 for heap in heaps[:-1])
    with pytest.raises(ValueError, match=GIVEN):
        heaps[-1].n  # noqa: B018


def guest(m: Any) -> Any:
    class Visitor(m.Guest):  # type: ignore[misc]
        def number(self) -> int:
            return 5

    return Visitor()


LOOKS: dict[str, Callable[[Any], Any]] = {
    "pointer": lambda house: house.last(),
    "list of pointers": lambda house: house.all(),
    "member": lambda house: house.first,
    "list": lambda house: house.guests,
    "dict": lambda house: house.named,
}


@pytest.mark.parametrize("look", LOOKS)
def test_a_given_object_does_not_keep_who_has_it(m: Any, look: str) -> None:
    house = m.House()
    one = guest(m)
    house.guests = [guest(m), guest(m)]
    house.add(guest(m))
    house.first = one
    house.named = {"a": guest(m)}
    assert house.first is one
    LOOKS[look](house)
    seen = weakref.ref(house)
    del house
    gc.collect()
    assert seen() is None
    with pytest.raises(ValueError, match=GIVEN):
        one.part  # noqa: B018


@pytest.mark.parametrize("by", ["the hook", "its repr"])
def test_nothing_of_an_ended_object_is_there_for_who_is_told(
    m: Any, by: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    parts: list[Any] = []
    errors: list[str] = []

    def look(self: Any) -> str:
        try:
            parts.append(self.get())
        except ValueError as error:
            errors.append(str(error))
        return "a visitor"

    class Visitor(m.Guest):  # type: ignore[misc]
        if by == "its repr":
            __repr__ = look

    monkeypatch.setattr(
        sys,
        "unraisablehook",
        (lambda told: look(told.object))
        if by == "the hook"
        else (lambda told: repr(told.object)),
    )
    one = Visitor()
    view = memoryview(one)
    m.keep(one)
    m.drop_kept()
    assert not parts
    assert errors and "was given to C++" in errors[0]
    del view


def test_a_member_of_what_stands_in_a_ring(m: Any) -> None:
    """Where a lent object keeps the one that it was found by."""
    seen: list[Any] = []

    def look(knot: Any) -> None:
        child = knot.down().down()
        assert child.top() is knot
        child.root = m.Knot()
        seen.extend((weakref.ref(knot), weakref.ref(child)))

    for _ in range(10):
        m.lend(look)
    child = m.always().down().down()
    child.top()
    child.root = None
    child.x = 3
    gc.collect()
    assert [one() for one in seen] == [None] * 20


def test_what_many_have_in_turn_keeps_each_once(m: Any) -> None:
    heaps = [m.Heap() for _ in range(100)]
    leaf = m.leaf_of(heaps[0])
    before = sys.getrefcount(heaps[0])
    for _ in range(100):
        for heap in heaps:
            assert m.leaf_of(heap) is leaf
    assert sys.getrefcount(heaps[0]) <= before + 2


def test_one_base_is_taken_and_the_other_stays(m: Any) -> None:
    class Both(m.Side, m.Heap):  # type: ignore[misc]
        def __init__(self) -> None:
            m.Side.__init__(self)
            m.Heap.__init__(self)

    both = Both()
    m.take_side(both, 1)
    assert both.n == 0 and both.own.text == TEXT
    with pytest.raises(ValueError, match=GIVEN):
        both.side  # noqa: B018
    both = Both()
    m.take(both)
    assert both.side.text == TEXT
    with pytest.raises(ValueError, match=GIVEN):
        both.n  # noqa: B018


def test_an_item_of_a_wrapped_template_is_no_copy(m: Any) -> None:
    grid = m.Parts(3)
    m.first_of(grid).x = 9
    assert grid.at(0).x == 9


def test_an_item_of_what_was_made_for_the_call_is_a_copy(m: Any) -> None:
    side = m.first_side(3)
    assert side.side.text == TEXT


def test_a_result_that_stands_in_a_ring_keeps_who_owns_it(m: Any) -> None:
    """Though what it was found by keeps it, and does not keep its owner in turn."""
    first = m.Link()
    m.mark(m.at(first, 5))
    marked = m.get_marked()
    one = marked.next().next()
    assert m.at(first, 7) is one
    assert m.two_back(one) is marked
    seen = weakref.ref(first)
    del first, one
    gc.collect()
    assert marked.number == 5
    del marked
    gc.collect()
    assert seen() is None


def test_all_of_a_call_is_given_back_whatever_it_was_refused_for(m: Any) -> None:
    a, b, c = m.Heap(), m.Heap(), m.Heap()
    for one, other in ((a, c), (c, a), (b, c)):
        part = m.of_either(one, other)
        with pytest.raises(TypeError):
            m.take_all(c, [(a, 1), (b, "no")], 1)
        with pytest.raises(TypeError):
            m.take_all(c, [(a, 1), (b, 2)], "no")
        assert part.text == TEXT
    assert a.n == b.n == c.n == 0


def test_the_collector_may_run_while_a_list_of_what_is_kept_grows(m: Any) -> None:
    """And let a finalizer change that list."""
    heaps = [m.Heap() for _ in range(9)]
    leaf = m.leaf_of(heaps[0])
    ended: list[int] = []
    new: list[list[int]] = []

    class Again:
        def __init__(self) -> None:
            self.me = self

        def __del__(self) -> None:
            ended.append(1)
            for _ in range(5):
                for heap in heaps:
                    m.leaf_of(heap)

    thresholds = gc.get_threshold()
    gc.disable()
    gc.set_threshold(1, 1, 1)
    try:
        for k in range(200):
            new.extend([] for _ in range(3))  # which the collector counts
            Again()
            gc.enable()
            m.leaf_of(heaps[k % 9])
            gc.disable()
    finally:
        gc.set_threshold(*thresholds)
        gc.enable()
    gc.collect()
    assert ended
    assert m.leaf_of(heaps[0]) is leaf
    assert m.take_pairs([(heap, 1) for heap in heaps]) == 9


def test_the_collector_asks_who_has_the_object(m: Any) -> None:
    """Not each Python object that stands for a part of it."""
    shelf, kept = m.Shelf(), [1, 2, 3]
    slot = shelf.slot
    slot.set(kept)
    kept += [shelf, slot]
    del shelf, slot
    gc.collect()
    assert len(kept) == 5
    case, values = m.Case(), [1, 2]
    slot = case.slot
    values.append(slot)
    slot.set(values)
    del slot, values
    gc.collect()
    assert len(case.slot.get()) == 3
    case.slot.set(None)


def test_the_collector_leaves_what_cpp_has_a_share_in(m: Any) -> None:
    one, values = m.Shared(), [1, 2]
    one.slot.set(values)
    values.append(one)
    m.share(one)
    del one, values
    gc.collect()
    assert m.get_shared().slot.get()[:2] == [1, 2]
    seen = weakref.ref(m.get_shared())
    m.share(None)
    gc.collect()
    assert seen() is None


def test_a_ring_of_pythons_own_ends(m: Any) -> None:
    shelf = m.Shelf()
    values = [shelf]
    shelf.slot.set(values)
    seen = weakref.ref(shelf)
    del shelf, values
    gc.collect()
    assert seen() is None
