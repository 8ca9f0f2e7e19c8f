# SPDX-License-Identifier: Apache-2.0
"""One type of C++'s by several names, by the kit alone: pybind11 has no headers that it
could read wrongly."""

from __future__ import annotations

from typing import Any

import pytest

THEME = "aliases"


@pytest.fixture
def binding() -> str:
    """The kit alone."""
    return "kit"


def test_operators_of_an_alias_are_those_of_its_class(m: Any) -> None:
    assert (m.Plain(1) + m.Plain(2)).v == 3 and (m.Plain(5) - m.Plain(2)).v == 3
    assert m.Plain(1) == m.Plain(1) and m.Plain(1) != m.Plain(2)
    assert (2.0 * m.Plain(3)).v == 6 and str(m.Plain(4)) == "P4"


def test_operators_of_shares(m: Any) -> None:
    one, two = m.Expression(1), m.Expression(2)
    assert (one + two).v == 3 and (two * 4.0).v == 8 and (-one).v == -1
    with pytest.raises(TypeError, match="unsupported operand"):
        one + 3


def test_operators_of_an_instance_of_a_template(m: Any) -> None:
    one, two = m.Vector3(), m.Vector3()
    one.first, two.first = 1.0, 2.0
    assert (one + two).first == 3 and one == one and one != two


@pytest.mark.parametrize("name", ["Versioned1", "Versioned2", "Versioned3"])
def test_bases_in_an_inline_namespace(m: Any, name: str) -> None:
    made = getattr(m, name)()
    assert isinstance(made, m.Versioned) and made.number() == 1 == m.number_of(made)


@pytest.mark.parametrize(
    ("name", "base", "number"),
    [
        ("Newer1", "Newer", 2),
        ("Newer2", "Newer", 2),
        ("Aliased1", "Aliased", 3),
        ("Aliased2", "Aliased", 3),
    ],
)
def test_bases_that_a_namespace_takes_from_one_within(
    m: Any, name: str, base: str, number: int
) -> None:
    made = getattr(m, name)()
    assert isinstance(made, getattr(m, base)) and made.number() == number
    if base == "Newer":
        assert m.newer_of(made) == 2


def test_private_names_of_types(m: Any) -> None:
    line = m.Line(2.0)
    line.scale(3.0)
    assert line.length() == 6 and line.text() == "line" and line.all() == [6.0]
    assert m.Line.total([4.0]) == 4 and line.call(line.function()) == 3
    assert line.function()(5.0) == 2.5
    assert line.about() == "aliases::Line::real is private" == m.said_of_line()


@pytest.mark.parametrize(("name", "value"), [("IntBox", 3), ("PairBox", (1, 2.0))])
def test_private_names_of_types_in_a_template(m: Any, name: str, value: Any) -> None:
    box = getattr(m, name)(value)
    assert box.get() == value and box.all() == [value] and box.count([value] * 3) == 3
    box.set(value)
    assert box.get() == value


def test_protected_methods_with_private_names_of_types(m: Any) -> None:
    assert m.Line(1.0).hidden_of(3) == 3

    class Mine(m.Line):  # type: ignore[name-defined]
        def hidden(self, list: list[float]) -> float:
            return sum(list) + float(super().hidden(list))

    assert Mine(1.0).hidden_of(3) == 9


def test_pointers_to_functions_by_the_type_of_the_function(m: Any) -> None:
    assert m.run_hook(m.hook(), 7) == 7
    assert m.run_number(m.number(), 4) == 8 and m.number()(5) == 10
    for other in (print, None):
        with pytest.raises(TypeError, match="expected a function that C\\+\\+ gave"):
            m.run_hook(other, 7)


def test_functions_whose_names_the_kit_uses(m: Any) -> None:
    assert [m.self(1), m.matching(1), m.result(1)] == [2, 3, 4]
