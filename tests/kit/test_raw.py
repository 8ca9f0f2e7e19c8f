# SPDX-License-Identifier: Apache-2.0
"""Pointers as C has them, by the kit alone."""

from __future__ import annotations

import gc
import inspect
from pathlib import Path
from typing import Any

import pytest

THEME = "raw"


@pytest.fixture
def binding() -> str:
    """The kit alone."""
    return "kit"


@pytest.mark.parametrize(("text", "utf8"), [("abc", b"abc"), ("h\xe9", b"h\xc3\xa9")])
def test_what_cpp_writes_to_is_a_copy(m: Any, text: str, utf8: bytes) -> None:
    kept = {text: 1}
    assert m.shout(text) == "!" * len(utf8)
    assert text.encode() == utf8 and kept[utf8.decode()] == 1
    assert m.shout("") == ""
    assert m.letters_of("a\u20acb") == 3
    names = ["one", "two"]
    assert m.count(names, 2) == 6 and names == ["one", "two"]


def test_a_short_text_for_an_array_has_the_array_s_room(m: Any) -> None:
    assert m.fill("ab") == "......." and m.fill("a longer text") == "......."


def test_keys_that_are_texts(m: Any) -> None:
    table = m.Table()
    table["k"], table["key"], table[3] = 5, 6, 7
    assert dict(table.by_name) == {"k": 5, "key": 6} and dict(table.by_index) == {3: 7}
    assert table["key"] == 6 and table[3] == 7
    wide = m.ByWide()
    wide["\u20ac1"] = 4
    assert wide["\u20ac1"] == 4
    with pytest.raises(TypeError, match="no overload takes"):
        table[1.5] = 3


def test_keys_that_are_objects(m: Any) -> None:
    by, one, two = m.ByItem(), m.Item(), m.Item()
    by[one], by[two] = 3, 4
    assert by[one] == 3 and by[two] == 4


def test_arrays_of_pointers_to_const(m: Any) -> None:
    items = [m.Item(2), m.Item(3)]
    assert m.sum(items, 2) == 5 == m.sum_of(items, 2)
    assert m.letters(["one", "two"], 2) == 6 and m.names == ["a", "b"]


def test_outputs_that_point_to_const(m: Any) -> None:
    assert m.parse("abc") == (97, "bc")
    there, item = m.find(True)
    assert there and item.v == 7 and m.find(False) == (False, None)
    assert m.find_by_reference()[1].v == 7


def test_an_object_that_comes_out_of_a_newobject_function_is_python_s(m: Any) -> None:
    before = m.Item.alive
    good, item = m.open(3)
    other = m.open_by_reference(4)
    assert good and item.v == 3 and other.v == 4 and m.Item.alive == before + 2
    assert m.open(0) == (False, None)
    del item, other
    gc.collect()
    assert m.Item.alive == before


def test_a_const_parameter_of_an_output_s_name_is_none(m: Any) -> None:
    assert m.trace() == [1, 2, 3] and m.length([1, 2]) == 2
    stub = Path(m.__file__).with_name("raw.pyi").read_text()
    line = next(line for line in stub.splitlines() if line.startswith("def length("))
    assert line.endswith("-> int: ...") and "path:" in line
    assert str(inspect.signature(m.trace)) in ("()", "() -> list[int]")


def test_addresses_by_a_name_that_has_the_const(m: Any) -> None:
    assert m.is_address(m.address()) and not m.is_address(None)
    assert m.give_address(m.is_address) and m.give_null(lambda one: one is None)


def test_pointers_to_numbers_in_containers(m: Any) -> None:
    assert m.numbers() == []
    with pytest.raises(TypeError, match=r"double\* here: Python has no such pointers"):
        m.variables()
    with pytest.raises(TypeError, match="Python has no such pointers"):
        m.first([1.0])
    stub = Path(m.__file__).with_name("raw.pyi").read_text()
    assert "def variables() -> dict[str, typing.Any]: ..." in stub


def test_functions_with_a_va_list_are_left_out(m: Any) -> None:
    assert not hasattr(m, "printed")
