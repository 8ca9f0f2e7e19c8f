# SPDX-License-Identifier: Apache-2.0
"""Which Python object is passed, and how long what it refers to lives, by the kit."""

from __future__ import annotations

import gc
import subprocess
import sys
import weakref
from pathlib import Path
from typing import Any

import pytest

THEME = "passing"


@pytest.fixture
def binding() -> str:
    """The kit alone."""
    return "kit"


@pytest.mark.parametrize("call", ["call", "call_const", "call_pointer"])
def test_a_callback_gets_the_object_that_there_is(m: Any, call: str) -> None:
    class Mine(m.Subject):  # type: ignore[name-defined]
        pass

    subject, seen = Mine(), []
    subject.word = "mine"
    getattr(m, call)(subject, lambda one: seen.append((one is subject, one.word)))
    assert seen == [(True, "mine")]


def test_a_callback_with_a_class_that_has_an_operator_for_its_address(m: Any) -> None:
    one, seen = m.Ampersand(), []
    m.call_ampersand(one, seen.append)
    assert seen[0] is one


def test_a_callback_gets_a_copy_of_a_value(m: Any) -> None:
    subject, seen = m.Subject(), []
    m.call_value(subject, seen.append)
    assert seen[0] is not subject


def test_an_override_gets_the_object_that_there_is(m: Any) -> None:
    seen = []

    class Mine(m.Observer):  # type: ignore[name-defined]
        def changed(self, subject: Any) -> None:
            seen.append(subject)

        looked = pointed = changed

    subject = m.Subject()
    m.notify(subject, Mine())
    assert [one is subject for one in seen] == [True, True, True]
    seen.clear()
    for _ in range(2):  # kept by Python, each is a copy, but what came by pointer
        m.notify_of_new(Mine())
    copies = [one for n, one in enumerate(seen) if n % 3 < 2]
    assert [one.v for one in copies] == [5] * 4 and len(set(map(id, seen))) == 6
    assert all(one is not subject for one in seen)


def test_objects_that_may_come_back_end(m: Any) -> None:
    subject = m.Subject()
    m.call(subject, lambda one: None)
    end = weakref.ref(subject)
    del subject
    gc.collect()
    assert end() is None


def test_overrides_that_may_throw_nothing(m: Any) -> None:
    class Mine(m.Plugin):  # type: ignore[name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.subject = m.Subject()
            self.subject.v = 9

        def version(self) -> str:
            return "2.0"

        def pointer(self) -> Any:
            return self.subject

        reference = constant = pointer

        def text(self) -> str:
            return "a text of the override"

    def results(plugin: Any) -> list[Any]:
        calls = (m.version_of, m.pointed_of, m.referred_of, m.constant_of, m.text_of)
        return [call(plugin) for call in calls]

    assert results(m.Plugin()) == ["1.0", 0, 0, 0, "own"]
    assert results(Mine()) == ["2.0", 9, 9, 9, "a text of the override"]


def test_what_an_override_that_may_throw_nothing_raises_is_shown(
    m: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = []
    monkeypatch.setattr(sys, "unraisablehook", lambda said: seen.append(said.exc_type))

    class Bad(m.Plugin):  # type: ignore[name-defined]
        def version(self) -> str:
            raise LookupError

        def pointer(self) -> Any:
            raise KeyError

        reference = constant = text = pointer

    assert m.version_of(Bad()) == "none" and m.pointed_of(Bad()) == -1
    assert m.referred_of(Bad()) == 0 == m.constant_of(Bad()) and m.text_of(Bad()) == ""
    assert seen == [LookupError, *[KeyError] * 4]


def test_the_last_eight_texts_of_overrides_are_there(m: Any) -> None:
    class Mine(m.Plugin):  # type: ignore[name-defined]
        calls = 0

        def text(self) -> str:
            self.calls += 1
            return f"the text of call {self.calls}, "

    mine = Mine()
    assert m.texts_of(mine, 8) == "".join(
        f"the text of call {n + 1}, " for n in range(8)
    )
    assert m.texts_on_threads(mine, 4).count("the text of call") == 32
    assert mine.calls == 40


def test_overrides_of_conversions(m: Any) -> None:
    class Mine(m.Converting):  # type: ignore[name-defined]
        def __bool__(self) -> bool:
            return False

        def __int__(self) -> int:
            return 7

        def __float__(self) -> float:
            return 9.0

    class Bad(m.Converting):  # type: ignore[name-defined]
        def __int__(self) -> int:
            raise KeyError("bad")

    assert (
        m.converted(m.Converting()) == 1031 == m.converted_on_a_thread(m.Converting())
    )
    assert m.converted(Mine()) == 79 == m.converted_on_a_thread(Mine())
    assert m.converted_on_a_thread(Bad()) == -1
    with pytest.raises(KeyError, match="bad"):
        m.converted(Bad())


def test_conversions_to_numbers_of_any_width(m: Any) -> None:
    assert int(m.Small()) == 7 and int(m.Large()) == 1 << 63


LONG = "a text that is longer than sixteen characters"


def test_a_view_of_an_argument_that_was_converted(m: Any) -> None:
    assert m.shown(LONG) == LONG == m.shown_value(LONG)
    assert m.both(LONG, "b" * 40) == LONG + "b" * 40
    assert m.sum([1, 2, 3]) == 6
    text = m.Text("".join(["d" * 20, "e" * 20]))
    other = m.Text("".join(["f" * 20, "g" * 20]))
    assert text.str() == "d" * 20 + "e" * 20 and other.str() == "f" * 20 + "g" * 20


def test_iterators_that_are_moved_only(m: Any) -> None:
    some = m.UntilZero([1, 2, 0, 3])
    assert list(some) == [1, 2] == list(some)
    walk = iter(some)
    assert next(walk) == 1
    del some
    assert next(walk) == 2 and next(walk, None) is None and next(walk, None) is None


def test_iterators_that_know_unequal_alone(m: Any) -> None:
    assert list(m.UpToThree()) == [0, 1, 2]


@pytest.mark.parametrize("part_first", [True, False])
@pytest.mark.parametrize("deep", [True, False])
def test_a_share_of_a_part_lets_the_whole_end(
    m: Any, part_first: bool, deep: bool
) -> None:
    share = m.block_engine_of if deep else m.engine_of
    for _ in range(3):
        car = m.Car()
        if part_first:
            one = car.block.engine if deep else car.engine
            two = share(car)
        else:
            two = share(car)
            one = car.block.engine if deep else car.engine
        assert one is two and one.power == 7
        del car
        gc.collect()
        assert m.Car.alive == 1 and one.power == 7
        del one, two
        gc.collect()
        assert m.Car.alive == 0


def test_an_object_that_counts_itself_with_a_protected_destructor(m: Any) -> None:
    for mesh in (m.Mesh("a"), m.Mesh.make("a")):
        assert mesh.ref_count() == 1 and m.name_of(mesh) == "a"
        assert mesh.ref_count() == 1 and m.name_of(mesh) == "a"
    del mesh
    gc.collect()
    assert m.Counted.alive == 0 and m.name_of(None) == "null"


def test_such_an_object_that_python_overrides(m: Any) -> None:
    class Mine(m.Shape):  # type: ignore[name-defined]
        def grow(self, by: int) -> int:
            return 10 * by

    shape = Mine()
    m.keep_shape(shape)
    assert shape.ref_count() == 2 and m.grow_kept(3) == 30
    m.keep_shape(None)
    assert shape.ref_count() == 1 and m.Shape.grow(shape, 3) == 4
    m.keep_shape(shape)
    del shape
    gc.collect()
    assert m.grow_kept(4) == 40 and type(m.kept_shape()) is Mine
    m.keep_shape(None)
    gc.collect()
    m.keep_shape(m.Shape())  # what C++ has no share in any more ends at a later call
    m.keep_shape(None)
    gc.collect()
    assert m.Counted.alive == 0


def test_a_callback_after_python_has_ended_does_nothing(m: Any) -> None:
    folder = Path(m.__file__).parent
    program = "import passing; passing.at_exit(lambda: print('called'))"
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=folder, capture_output=True, text=True
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
