# SPDX-License-Identifier: Apache-2.0
"""What C++ allows and one seldom writes, by the kit alone: pybind11 has no headers that
it could read wrongly."""

from __future__ import annotations

import gc
import inspect
import sys
import weakref
from typing import Any

import pytest

THEME = "corners"


@pytest.fixture
def binding() -> str:
    """The kit alone."""
    return "kit"


@pytest.mark.parametrize(
    "name",
    *[
        [
            "ByName",
            "ByDirective",
            "ByAlias",
            "FromRoot",
            "Plainly",
            "ByRound",
            "ByCircle",
        ]
    ],
)
def test_bases_by_any_of_their_names(m: Any, name: str) -> None:
    made = getattr(m, name)()
    assert isinstance(made, m.Base) and made.at == 1 == m.number_of(made)


def test_bases_whose_template_has_defaults(m: Any) -> None:
    assert issubclass(m.IntWider, m.IntPair)
    assert m.sum_of(m.IntWider()) == 2 and m.sum_of(m.IntPair()) == 1
    for made in (m.PairByName(), m.PairByDirective(), m.PairByAlias()):
        assert m.sum_of(made) == 1


def test_what_an_inner_namespace_gives(m: Any) -> None:
    assert m.ByInner().v == 4 and isinstance(m.ByInner(), m.Hidden)


def test_constants_that_are_texts(m: Any) -> None:
    """In wide characters, and with what XML cannot say."""
    assert m.wide == "wide\n" and m.shorter == "café" and m.CORNERS_WIDE == "macro"
    assert m.CORNERS_BELL == "\a\033[0m" and m.high == "\xff"
    assert m.Key.Escape == 27 and m.Key.Tab == 9 and m.first_of() == 27
    assert m.half == "\ud800" == m.other_half
    assert m.Sign.kind == "sign" == m.Sign().kind and m.Sign().text == "\U0001f600"


def test_arrays_of_wide_characters_are_texts(m: Any) -> None:
    sign, before = m.Sign(), m.cvar.letters
    assert sign.name == "abc" and before == "letters"
    sign.name, m.cvar.letters = "xy", "é"
    assert sign.name == "xy" and m.cvar.letters == "é"
    m.cvar.letters = before
    with pytest.raises(ValueError, match="at most 3 characters for 'name', got 4"):
        sign.name = "long"
    assert m.last_of("ab") == ord("b") and m.last_of("") == 0
    assert m.made_text() == "ab" and m.next_letter("a") == "b"


def test_references_to_functions(m: Any) -> None:
    for function in (m.function(), m.pointer(), m.TWICE):
        assert function(2) == 4
        for call in (
            *(m.call_reference, m.call_typedef, m.call_const, m.call_const_reference),
            m.Caller().call,
        ):
            assert call(function, 4) == 8
        assert m.Caller.from_(5, function) == 10
    for wrong in (None, 3, lambda x: x):
        with pytest.raises(TypeError, match="expected a function that C"):
            m.call_reference(wrong, 1)


def test_handles_behind_typedefs(m: Any) -> None:
    item = m.Item()
    assert m.handle_of(item) is not None and m.handle_of(item).v == 3
    opaque = m.open_opaque()
    assert m.read_handle(opaque) == 7 == m.read_opaque(opaque)
    assert m.read_handle(None) == -1
    with pytest.raises(TypeError, match="expected a corners::Opaque\\* that C"):
        m.read_opaque(None)


def test_values_that_are_not_assigned(m: Any) -> None:
    assert m.by_tuple((m.NoDefault(1), 2)) == 3 and m.by_pair((m.Fixed(1), 2)) == 3
    assert m.by_map({"a": m.Fixed(2), "b": m.Fixed(3)}) == 5
    assert m.by_value(m.Fixed(4)) == 4
    assert m.by_number(m.Fixed(1)) == 24 and m.by_number(m.Fixed(1), m.Fixed(2)) == 21
    assert m.by_default(m.Fixed(1)) == 14 and m.by_default(m.Fixed(1), m.Fixed(2)) == 12
    moved = m.MoveOnly(5)
    assert m.by_move(moved) == 5 and moved.v == -1
    assert [one.v for one in m.both(1)] == [1, 2]
    assert m.Keeps().sum(m.Fixed(1), (m.NoDefault(2), m.Fixed(3)), c=4) == 7
    assert m.MadeLong().v == 0 and m.MadeLong(2**62).v == 2**62
    with pytest.raises(TypeError, match="expected a NoDefault for 't"):
        m.by_tuple((1, 2))


def test_owners_beside_values_that_are_not_assigned(m: Any) -> None:
    """Python's again when the call is refused, C++'s when it is not."""
    item = m.Item()
    for refused in (
        lambda: m.with_owned((m.Fixed(3), item), "text"),
        lambda: m.with_owned((3, item), 1),
        lambda: m.with_both((item, 3)),
        lambda: m.with_maybe((m.Fixed(3), item), "text"),
    ):
        with pytest.raises(TypeError):
            refused()
        assert item.v == 3
    assert (
        m.with_owned((m.Fixed(3), item), 1) == 7
        and m.with_both((m.Item(), m.Fixed(1))) == 4
    )
    with pytest.raises(ValueError, match="was given to C"):
        _ = item.v
    assert m.with_all((m.Fixed(1), (m.Item() for _ in range(3)))) == 10


def test_arrays_of_rows_and_of_flags(m: Any) -> None:
    assert m.count([True, False, True], 3) == 2
    assert m.corner_of([[1, 2], [3, 4]], 2) == 4
    assert m.table == [[1, 2, 3], [4, 5, 6]]


def test_instances_whose_names_differ_in_signs(m: Any) -> None:
    assert m.BoxReference().which() == 1 and m.BoxPointer().which() == 0


def test_bit_fields_of_an_enum_declared_with_them(m: Any) -> None:
    bits = m.Bits()
    bits.kind, bits.few = m.Bits.All, -4
    assert bits.kind == m.Bits.All and bits.few == -4


def test_an_ordering_with_a_body(m: Any) -> None:
    low, high = m.Ordered(1), m.Ordered(2)
    assert high < low and low > high and low >= m.Ordered(1) and low != high


def test_classes_named_by_words_of_python(m: Any) -> None:
    assert m.except_.lambda_().v == 2 and m.except_.pass_.None_.value == 1
    with pytest.raises(TypeError, match=r"\[except_\] expected an int for 'made'"):
        m.except_.made = "text"


def test_operators_in_place_by_extend(m: Any) -> None:
    """@= and **= change the object."""
    matrix = kept = m.Matrix()
    matrix @= m.Matrix()
    assert matrix is kept and kept.v == 11
    matrix **= 2
    assert matrix is kept and kept.v == 211
    assert (m.Matrix() @ kept).v == -1 == (m.Matrix() ** 2).v
    assert (m.Matrix() * kept).v == 211
    assert getattr(m.Matrix, "__hidden")() == 5


def test_arrows_that_give_what_has_an_arrow(m: Any) -> None:
    """C++ follows them all."""
    item = m.Item()
    chain = m.Chain(item)
    assert chain.v == 3
    chain.v = 9
    assert item.v == 9 and not hasattr(chain, "to") and not hasattr(chain, "w")
    assert not hasattr(m.Optional(), "v")  # there is nothing behind it
    assert not hasattr(m.Proxied(), "v") and not hasattr(m.Itself(), "v")
    assert m.Shared().v == 3 == m.Part().v


def test_arguments_that_are_kept_by_overloads(m: Any) -> None:
    """Each as far as it has them, several of one function."""
    keeper, both = m.Keeper(), m.Keeper(m.Item(), m.Item())
    keeper.add(m.Item())
    keeper.add(2, m.Item())
    assert keeper.out(m.Item()) == (1, 4)
    gc.collect()
    rest = [m.Item() for _ in range(10)]
    for item in rest:
        item.v = 1000
    assert keeper.sum() == 12 and both.sum() == 6


def test_shares_in_what_was_converted(m: Any) -> None:
    lazy = m.Lazy(3)
    assert m.share(lazy) == 3 == m.share(3) and m.watch(lazy)
    with pytest.raises(TypeError, match="expected a Lazy for 'lazy', got int"):
        m.watch(3)  # nobody would keep it
    with pytest.raises(TypeError, match="expected a Lazy for 'lazy', got str"):
        m.share("text")


def test_a_buffer_of_less_than_nothing(m: Any) -> None:
    short = m.Short()
    with pytest.raises(BufferError, match="a corners.Short has -3 items"):
        memoryview(short)
    short.length = 2
    assert memoryview(short).tolist() == [1, 2]


@pytest.mark.parametrize(
    ("function", "text"),
    [
        ("throw_silent", ""),
        ("throw_null", "a null pointer"),
        ("throw_null_text", "a null pointer"),
    ],
)
def test_errors_without_a_text(m: Any, function: str, text: str) -> None:
    with pytest.raises(RuntimeError) as info:
        getattr(m, function)()
    assert str(info.value) == text


def test_an_error_whose_text_is_a_string(m: Any) -> None:
    with pytest.raises(m.Texted, match="^texted$"):
        m.throw_texted()


@pytest.mark.parametrize("name", ["Hooked", "Derived", "Deeper", "IntTemplate"])
def test_protected_methods_are_there_for_classes_of_python(m: Any, name: str) -> None:
    """Whatever class they derive: by super(), by self, and by C++."""
    base = getattr(m, name)
    times = 1 if name == "Hooked" else 100

    class Over(base):  # type: ignore[misc]
        def hook(self, *numbers: int) -> int:
            if len(numbers) == 2:  # which Derived's hides
                return sum(numbers) + 1
            return super().hook(*numbers) + 1

    class Plain(base):  # type: ignore[misc]
        def call(self) -> int:
            return self.hook(3) + self.fixed(1)

    over, plain = Over(), Plain()
    assert over.run(2) == (2 * times + 1) + (3 + 1) and over.hook(2) == 2 * times + 1
    assert plain.call() == 3 * times and plain.run(2) == 2 * times + 3
    assert base().run(2) == 2 * times + 3
    with pytest.raises(TypeError, match="the method is protected in C"):
        base().hook(1)


def test_what_overrides_give_in_containers_lives_as_long_as_they(m: Any) -> None:
    class Own(m.Giver):  # type: ignore[misc]
        def all(self) -> list[Any]:
            return [m.Item(), m.Item()]

        def one(self) -> tuple[Any, int]:
            return m.Item(), 4

        def named(self) -> dict[str, Any]:
            return {"a": m.Item()}

        def own(self) -> list[Any]:
            return [m.Item(), m.Item()]

        def first(self, numbers: list[int]) -> int:
            return sum(numbers)

        def corner(self, rows: list[list[float]]) -> float:
            return sum(map(sum, rows))

        def name(self) -> str:
            return str(id(self))

        def some(self, n: int = 1) -> list[Any]:
            return [m.Item() for _ in range(n)]

        def length(self, text: str | None) -> int:
            return -2 if text is None else 10 * len(text)

    class Generates(m.Giver):  # type: ignore[misc]
        def all(self) -> Any:
            return dict.fromkeys("abc", 0).values() and (m.Item() for _ in range(3))

        def first(self, numbers: Any) -> int:
            return 5 if numbers is None else 6

    giver = Own()
    assert m.total(Generates()) == 9 and m.no_numbers(Generates()) == 5
    other = Own()
    assert (
        m.names(giver, other) == f"{id(giver)}{id(other)}" and m.overloaded(giver) == 9
    )
    assert m.lengths(giver) == [30, -2] and m.lengths(m.Giver()) == [3, -1]
    assert m.total(giver) == 18 and m.total_by(lambda: [m.Item(), m.Item()]) == 6
    assert m.arrays(giver) == 16 and m.arrays(m.Giver()) == 5
    assert m.total(m.Giver()) == 0


def test_what_an_override_gave_before_ends(m: Any) -> None:
    """Else an object would keep all that its methods ever gave."""
    alive: weakref.WeakSet[Any] = weakref.WeakSet()

    class Own(m.Giver):  # type: ignore[misc]
        def all(self) -> list[Any]:
            alive.update(found := [m.Item() for _ in range(100)])
            return found

    giver, others = Own(), [Own() for _ in range(3)]
    for _ in range(50):
        assert m.total(giver) == 300
    for other in others:
        m.total(other)
    assert len(alive) == 400
    del giver, others, other
    gc.collect()
    assert not alive


def test_what_the_constructor_of_an_overridable_class_keeps(m: Any) -> None:
    class Own(m.Giver):  # type: ignore[misc]
        pass

    for make in (m.Giver, Own):
        item = m.Item()
        kept = sys.getrefcount(item)
        made = make(item)
        assert sys.getrefcount(item) == kept + 1
        del made
        assert sys.getrefcount(item) == kept


def test_overloads_say_what_they_take(m: Any) -> None:
    text = inspect.getdoc(m.Keeper.add)
    assert text is not None and text.splitlines() == [
        "add(const corners::Item * item)",
        "add(int times, const corners::Item * item)",
    ]
