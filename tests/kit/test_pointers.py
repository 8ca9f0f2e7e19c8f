# SPDX-License-Identifier: Apache-2.0
"""Pointers of a library's own, references in containers, new objects of overrides."""

from __future__ import annotations

import gc
import weakref

import pytest

THEME = "pointers"


def test_plain_objects_that_count_their_shares(m):
    """However small they are, C++ may have them when Python has not."""
    gc.collect()
    before = m.Counted.alive
    own = m.Counted(3)
    m.put_on_shelf(own)
    assert own.shares() == 2 and m.on_shelf() is own
    del own
    gc.collect()
    others = [m.Counted(i) for i in range(100)]
    assert m.on_shelf().value == 3
    m.put_on_shelf(None)
    del others
    gc.collect()
    assert m.Counted.alive == before and m.on_shelf() is None


def test_what_is_derived_counts_as_well(m):
    gc.collect()
    before = m.Counted.alive
    own = m.CountedMore(5)
    m.put_on_shelf(own)
    assert own.shares() == 2
    del own
    gc.collect()
    others = [m.CountedMore(i) for i in range(100)]
    assert m.on_shelf().value == 5
    m.put_on_shelf(others[7])
    m.put_on_shelf(None)
    assert (others[7].value, others[7].more, others[7].shares()) == (7, 4, 1)
    del others
    gc.collect()
    assert m.Counted.alive == before


def test_what_counted_objects_refer_to_lives_as_long(m, kit):
    """C++ may have them when Python has not; the next Python object has it again."""
    if not kit:
        pytest.skip("pybind11 keeps it with the Python object")
    gc.collect()
    before = m.Counted.alive
    for kind in (m.Counted, m.CountedMore):
        source, counted = m.Source(), kind(3)
        watched = weakref.ref(source)
        counted.lit_by(source)
        m.put_on_shelf(counted)
        del counted, source
        gc.collect()
        assert watched() is not None and m.light_on_shelf() == 1
        again = m.on_shelf()
        assert again.shares() == 2 and again.light() == 1
        m.put_on_shelf(None)
        assert watched() is not None and again.light() == 1
        m.put_on_shelf(again)
        del again
        assert watched() is not None and m.light_on_shelf() == 1
        m.put_on_shelf(None)
        m.put_on_shelf(None)  # a call for one looks for what is over
        assert watched() is None and m.Counted.alive == before


def test_a_smart_pointer_hands_on(m, kit):
    lamp = m.Lamp()
    handle = m.LampHandle(lamp)
    assert handle.is_set() and handle.light == 1 and handle.kind() == "lamp"
    assert handle.brighter() == 2 and handle.brighter(by=5) == 7 == lamp.light
    if kit:
        handle.light = 3
        assert lamp.light == 3
    assert m.LampHandle(m.Lamp()).brighter() == 2  # which it keeps
    room = m.Room()
    assert room.size == 20 and room.brighter() == 2 and room.light == 2
    brighter = m.Room().brighter
    gc.collect()
    assert brighter() == 2


def test_what_a_smart_pointer_points_to_keeps_its_own(m):
    """SWIG would give its methods to the pointer's class alone."""
    lamp = m.Lamp()
    lamp.light = 5
    assert lamp.light == 5 and lamp.brighter() == 6 and m.Lamp.kind() == "lamp"


def test_nothing_to_hand_on(m, kit):
    with pytest.raises(AttributeError) as info:
        _ = m.LampHandle(m.Lamp()).colour
    text = "'pointers.{}' object has no attribute '{}'"
    assert not kit or str(info.value) == text.format("Lamp", "colour")
    with pytest.raises(AttributeError) as info:
        _ = m.LampHandle().light
    if kit:
        assert str(info.value) == text.format("LampHandle", "light")
        with pytest.raises(AttributeError):
            m.LampHandle().light = 3
        with pytest.raises(AttributeError):
            m.LampHandle(m.Lamp()).colour = 3
    with pytest.raises(RuntimeError, match="no lamp here"):
        _ = m.Dark().light


def test_owners_through_functions(m, kit):
    if not kit:
        pytest.skip("pybind11 copies the arguments of a function")
    got = []
    assert m.give_lamp(lambda lamp: got.append(lamp) or lamp.brighter(4)) == 5
    assert got[0].light == 5
    taken = m.Lamp()
    assert m.breaker()(taken) == 1 and m.breaker()(None) == -1
    with pytest.raises(ValueError, match="given to C"):
        taken.brighter()
    assert m.take_lamp(m.Lamp) == 1 and m.take_lamp(lambda: None) == -1
    assert m.give_lamp(m.breaker()) == 1


def test_references_as_arguments(m, refuses):
    lamp, other = m.Lamp(), m.Lamp()
    assert m.same(lamp) is lamp and m.light_of(lamp) == 1 and m.doubled(4) == 8
    assert m.switch_on([lamp, other]) == 2 and (lamp.light, other.light) == (100, 100)
    assert m.switch_on([]) == 0
    with refuses("[same] expected a Lamp for 'lamp', got int", TypeError):
        m.same(3)
    with refuses("[switch_on] expected a Lamp for 'lamps[1]', got NoneType", TypeError):
        m.switch_on([lamp, None])


def test_items_that_nobody_else_has(kit, m):
    if kit:
        assert m.switch_on(m.Lamp() for _ in range(50)) == 50


def test_new_objects_of_overrides(m):
    """Which C++ deletes."""

    class Tree(m.Plant):
        def __init__(self, title="tree"):
            super().__init__()
            self.title = title

        def name(self):
            return self.title

        def offshoot(self):
            return None if self.title == "dead" else Tree("young " + self.title)

    gc.collect()
    before = m.Plant.alive
    for _ in range(3):
        assert m.name_of_offshoot(Tree()) == "young tree"
        assert m.name_of_offshoot(m.Plant()) == "plant"
    assert m.name_of_offshoot(Tree("dead")) == "none"
    assert Tree().offshoot().name() == "young tree"
    assert m.Plant().offshoot().name() == "plant"
    gc.collect()
    assert m.Plant.alive == before


def test_an_override_that_gives_what_is_not_its_own(m, refuses, kit):
    class Same(m.Plant):
        def offshoot(self):
            return 3

    if kit:
        text = "[Plant.offshoot] expected a Plant or None for 'result', got int"
        with refuses(text, TypeError):
            m.name_of_offshoot(Same())


def test_one_object_or_several(m, refuses):
    """In a sequence None is left out."""
    one, two = m.Counted(1), m.CountedMore(2)
    assert m.values_of(one) == [1] and m.values_of(None) == []
    assert m.values_of([two, None, one]) == [2, 1] and m.values_of(()) == []
    with refuses("[values_of] expected a Counted for 'given[1]', got int"):
        m.values_of([one, 3])
    with refuses(
        "[values_of] expected a Counted or a sequence of them for 'given', got int"
    ):
        m.values_of(3)
    del one, two
    gc.collect()
    assert m.Counted.alive == 0


def test_several_from_what_makes_them(m, kit):
    """They are there during the call."""
    if not kit:
        pytest.skip("pybind11 takes sequences alone")
    assert m.values_of(m.Counted(i) for i in range(3)) == [0, 1, 2]
