# SPDX-License-Identifier: Apache-2.0
"""What Python keeps of objects that lie in others, or are there for a call alone, and
views of what overrides and callbacks return: by the kit alone, as pybind11 leaves them
dangling."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
from typing import Any

import pytest
from kit_modules import HERE

THEME = "lent"
TEXT = "p" * 100
GIVEN = r"this lent\.\w+, or what it is a part of, was given to C\+\+"
OVER = r"C\+\+ lent this lent\.\w+ for a call that is over"


@pytest.fixture
def binding() -> str:
    """The kit alone."""
    return "kit"


# How to get a part of a box.
LOOKS = {
    "member": lambda m, box: box.part,
    "of a part": lambda m, box: box.middle.part,
    "reference": lambda m, box: box.ref(),
    "pointer": lambda m, box: box.pointer(),
    "in a list": lambda m, box: box.several[0],
    "of two": lambda m, box: m.either(m.Box(), box),
    "item": lambda m, box: next(iter(box)),
    "of itself": lambda m, box: box.itself().part,
    "key": lambda m, box: next(iter(box.by_part())),
}
TAKERS = {
    "unique_ptr": lambda m, box: m.take(box),
    "DISOWN": lambda m, box: m.take_plain(box),
    "in a list": lambda m, box: m.take_several([m.Box(), box], 1),
    "that throws": lambda m, box: pytest.raises(RuntimeError, m.fail, box),
}


@pytest.mark.parametrize("take", TAKERS)
@pytest.mark.parametrize("look", LOOKS)
def test_parts_go_with_what_cpp_takes(m: Any, look: str, take: str) -> None:
    box = m.Box()
    part = LOOKS[look](m, box)
    assert part.text == TEXT
    TAKERS[take](m, box)
    with pytest.raises(ValueError, match=GIVEN):
        part.x  # noqa: B018
    with pytest.raises(ValueError, match=GIVEN):
        part.x = 1
    with pytest.raises(ValueError, match=GIVEN):
        m.take_part(part, 1)


@pytest.mark.parametrize("look", LOOKS)
def test_parts_stay_when_cpp_does_not_take_it_after_all(m: Any, look: str) -> None:
    box = m.Box()
    part = LOOKS[look](m, box)
    for call in (
        lambda: m.take_more(box, "no number"),
        lambda: m.take_several([box], "no number"),
        lambda: m.take_several([box, box], 1),
    ):
        with pytest.raises((TypeError, ValueError)):
            call()
        part.x += 1
        assert part.text == TEXT
    assert (part.x, LOOKS[look](m, box).x) == (4, 4)
    assert box.itself() is box


def refuse(m: Any, box: Any) -> None:
    with pytest.raises(TypeError):
        m.take_more(box, "no number")


def test_what_has_ended_does_not_come_back(m: Any) -> None:
    """A later call that is refused gives back what it has taken itself."""
    first, second = m.Box(), m.Box()
    first.part.x = 2
    part = m.either(first, second)  # lies in the first one
    pointer = first.pointer()
    m.take(first)
    refuse(m, second)
    first.__init__()
    refuse(m, first)
    for one in (part, pointer):
        with pytest.raises(ValueError, match=GIVEN):
            one.x  # noqa: B018
    assert first.part.text == TEXT


def test_another_object_that_cpp_gave_back_has_parts_of_its_own(m: Any) -> None:
    box = m.Box()
    part = box.part
    assert m.replace(box) == 5
    with pytest.raises(ValueError, match=GIVEN):
        part.x  # noqa: B018
    assert box.part.x == 5


def test_each_base_has_its_own_parts(m: Any) -> None:
    class Both(m.Side, m.Box):
        def __init__(self):
            m.Side.__init__(self)
            m.Box.__init__(self)

    both = Both()
    side, part, items = both.side, both.part, iter(both)
    refuse(m, both)
    next(items)
    assert (side.x, part.x, both.part.x, both.side.x) == (1, 1, 1, 1)
    m.take(both)
    with pytest.raises(ValueError, match=GIVEN):
        part.x  # noqa: B018
    with pytest.raises(ValueError, match="was given to C"):
        next(items)
    assert side.text == both.side.text == TEXT


def test_what_is_referred_to_ends_nobody(m: Any) -> None:
    scene, part = m.Scene(), m.Part()
    scene.part = part
    own = scene.other
    found: list[Any] = []
    m.lend_box(lambda box: found.append(scene.find(box.part)))
    m.take_part(part, 1)
    assert (own.text, found[0].text, scene.other.text) == (TEXT, TEXT, TEXT)


def test_a_reference_to_what_was_taken(m: Any) -> None:
    """Not a copy of it: the argument is no container that was converted."""
    tree, child = m.Tree(), m.Tree()
    added = tree.add(child)
    added.x = 3
    again = added.add(m.Tree())
    again.x = 4
    with pytest.raises(ValueError, match=GIVEN):
        child.x  # noqa: B018
    assert (added.x, again.x, tree.x) == (3, 4, 0)


def test_a_ring_of_lent_objects_ends(m: Any) -> None:
    """What was lent is found again from a part of it."""
    kept: list[Any] = []

    def climb(knot: Any) -> None:
        knot.x = 5
        kept.extend([knot.down().down().top(), knot.down()])

    m.lend_knot(climb)
    assert kept[0].x == 5
    with pytest.raises(ValueError, match=OVER):
        kept[1].x  # noqa: B018


def test_an_iterator_does_not_go_on_in_a_copy(m: Any) -> None:
    kept: list[Any] = []
    m.lend_range(lambda given: kept.extend([iter(given), given]))
    with pytest.raises(ValueError, match="for a call that is over"):
        next(kept[0])
    assert [part.text for part in kept[1]] == [TEXT] * 3


def test_an_iterator_is_not_its_range(m: Any) -> None:
    box = m.Box()
    items = iter(box)
    refuse(m, box)
    assert box.itself() is box
    assert next(items).text == TEXT


def test_of_two_that_are_given_one_is_taken(m: Any) -> None:
    first, second = m.Box(), m.Box()
    first.several = []
    part = m.of_either(first, second)  # nobody knows of which
    m.take_second(first, second)
    with pytest.raises(ValueError, match=GIVEN):
        part.x  # noqa: B018
    assert first.part.text == TEXT


def test_containers_that_fail_give_all_back(m: Any) -> None:
    box = m.Box()
    part = box.part
    for call in (
        lambda: m.take_nested([[m.Box()], [box, 3]]),
        lambda: m.take_pair([box, 3]),
        lambda: m.take_pair([box]),
        lambda: m.take_pair([box, m.Box(), m.Box()]),
    ):
        with pytest.raises(TypeError):
            call()
        assert part.text == TEXT
    assert m.take_nested([[m.Box()], [box]]) == 2


def test_the_collector_ends_what_is_lent_with_its_owner(m: Any) -> None:
    class Both(m.Open, m.Box):
        def __init__(self):
            m.Open.__init__(self)
            m.Box.__init__(self)

    for _ in range(100):
        both = Both()
        itself, ring = both.part, [both.itself()]
        both.ring = ring
        ring.append((itself, both.own, both, ring))
        del both, itself, ring
    gc.collect()


def test_a_reference_that_only_sounds_like_an_item(m: Any) -> None:
    desk = m.Desk()
    desk.by([m.Parting()]).x = 7
    assert desk.part.x == 7


def test_small_ones_stay_together(m: Any) -> None:
    """C++ takes a copy of what lies in the Python object."""
    box = m.Open()
    small, itself = box.small, m.Small()
    other = itself.itself()
    with pytest.raises(TypeError):
        m.take_open(box, "no number")
    small.x = 7
    assert box.small.x == 7
    with pytest.raises(TypeError):
        m.take_small(itself, "no number")
    other.x = 8
    assert itself.x == 8
    assert m.take_small(itself, 1) == 1


def test_what_comes_back_is_the_same_object(m: Any) -> None:
    box = m.Box()
    assert m.pass_on(box).part.text == TEXT


def test_an_iterator_ends_with_its_range(m: Any) -> None:
    box = m.Box()
    items = iter(box)
    assert next(items).text == TEXT
    m.take(box)
    with pytest.raises(ValueError, match="was given to C"):
        next(items)


def test_what_has_a_buffer_of_its_memory_is_not_taken(m: Any) -> None:
    box = m.Box()
    part, view = box.part, memoryview(box)
    second = view[10:]
    with pytest.raises(BufferError, match="got one with 1. Release them"):
        m.take(box)
    assert (part.text, view[5], box.part.x) == (TEXT, 2, 1)
    view.release()
    with pytest.raises(BufferError):
        m.take(box)
    second.release()
    assert m.take(box) == 1


@pytest.mark.parametrize("new", ["None", "another", "itself"])
def test_what_a_member_owned_is_pythons_when_it_was_replaced(m: Any, new: str) -> None:
    box = m.Box()
    part = box.own
    if new == "itself":
        with pytest.raises(ValueError, match="C\\+\\+ has a share in"):
            box.own = part
        assert box.own is part
        return
    box.own = None if new == "None" else m.Part()
    assert (part.x, part.text) == (1, TEXT)
    assert box.own is not part
    box.own = part  # as it is Python's alone
    with pytest.raises(ValueError, match=GIVEN):
        part.x  # noqa: B018
    deleted = box.deleted
    box.deleted = m.Part()
    assert (deleted.text, box.deleted is deleted) == (TEXT, False)
    several = box.several
    box.several = [m.Part(), m.Part()]
    gc.collect()
    assert [one.text for one in several] == [TEXT]


class Keeping:
    """A guest that keeps what it is lent."""

    @staticmethod
    def of(m: Any) -> tuple[Any, list[Any]]:
        kept: list[Any] = []

        class Guest(m.Guest):
            def number(self):
                return 5

            def see(self, middle):
                kept.append(middle)

            def change(self, middle):
                middle.part.x += 1
                kept.append(middle)
                kept.append(middle.part)

            def label(self):
                return "label " * 100

            def title(self):
                return "title " * 100

        return Guest(), kept


def test_an_override_keeps_copies_and_parts_of_them(m: Any) -> None:
    guest, kept = Keeping.of(m)
    assert m.visit(guest) == 2
    gc.collect()
    first, second, part = kept
    assert [(one.part.text, one.part.x) for one in (first, second)] == [
        (TEXT, 1),
        (TEXT, 2),
    ]
    part.x = 9
    part.text = "mine"
    assert (second.part.x, second.part.text, first.part.text) == (9, "mine", TEXT)


def test_a_callback_keeps_copies_and_parts_of_them(m: Any) -> None:
    kept: list[Any] = []
    assert m.lend(kept.append) == 1
    assert m.lend(lambda middle: kept.append(middle.part)) == 1
    kept[1].text += "!"
    assert (kept[0].part.text, kept[1].text) == (TEXT, TEXT + "!")

    def more(middle: Any) -> None:
        middle.part.x = 5

    assert m.lend(more) == 5


def test_parts_of_what_has_no_copies_end_with_the_call(m: Any) -> None:
    kept: list[Any] = []
    m.lend_box(lambda box: kept.extend([box, box.part, box.own, iter(box)]))
    box, part, own, items = kept
    for use in (box.ref, lambda: part.x, lambda: own.x):
        with pytest.raises(ValueError, match=OVER):
            use()
    with pytest.raises(ValueError, match="lent it for a call that is over"):
        next(items)


def test_a_buffer_of_what_has_ended_is_reported(
    m: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It cannot be taken back, and is not read here."""
    said: list[str] = []
    monkeypatch.setattr(
        sys, "unraisablehook", lambda args: said.append(str(args.exc_value))
    )
    views: list[memoryview] = []
    m.lend_box(lambda box: views.append(memoryview(box)))
    assert [text[:35] for text in said] == ["C++ has ended a lent.Box of whose m"]
    views[0].release()
    m.lend_box(lambda box: memoryview(box)[1])
    assert len(said) == 1


def test_parts_of_an_overridden_object_last_as_long_as_cpp_has_it(m: Any) -> None:
    guest, _ = Keeping.of(m)
    part = guest.get()
    m.keep_guest(guest)
    assert (guest.number(), part.text) == (5, TEXT)
    m.end_guest()
    with pytest.raises(ValueError, match=GIVEN):
        part.x  # noqa: B018
    other, _ = Keeping.of(m)
    part = other.part
    assert m.take_guest(other) == 5
    with pytest.raises(ValueError, match=GIVEN):
        part.x  # noqa: B018


def test_views_of_what_python_returns_are_there_after_the_call(m: Any) -> None:
    guest, _ = Keeping.of(m)
    assert m.all_of(guest) == "label " * 100 + "/" + "title " * 100
    assert m.all_of(m.Guest()) == "plain/none"
    for i in range(1000):
        text = f"text {i} " * 50
        assert m.view(lambda text=text: f"{text}") == text
    assert m.text_of(lambda: m.Part()) == TEXT
    assert m.spelled(lambda: "abc" * 100) == "abc" * 100


def test_an_operator_that_takes_a_shared_ptr(m: Any) -> None:
    assert (m.Money(5) - m.Money(3)).cents == 2
    with pytest.raises(TypeError, match="unsupported operand"):
        m.Money(5) - None


def test_random_programs() -> None:
    """In a process of its own: what is wrong here is a crash."""
    command = [sys.executable, "-X", "dev", str(HERE / "lent_program.py")]
    for seed in ("1", "2"):
        done = subprocess.run(
            [*command, seed, "8000"],
            env={**os.environ, "MALLOC_PERTURB_": "165"},  # of freed memory
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=120,
        )
        assert done.returncode == 0, done.stdout[-3000:]
        for word in ("take: done", "take: ValueError", "use: ValueError"):
            assert f"'{word}'" in done.stdout
