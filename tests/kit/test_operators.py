# SPDX-License-Identifier: Apache-2.0
"""Operators and other slots: cases/operators.h by pybind11 and by the kit."""

import gc
import operator
import sys

import numpy as np
import pytest

THEME = "operators"


def xy(vec):
    return (vec.x, vec.y)


def test_arithmetic(m):
    """Each gives a new object."""
    a, b = m.Vec(1, 2), m.Vec(10, 20)
    assert xy(a + b) == (11, 22) and xy(b - a) == (9, 18) and xy(-a) == (-1, -2)
    assert xy(b / 4) == (2.5, 5) and xy(a) == (1, 2)
    assert type(a + b) is m.Vec


def test_overloads_of_an_operator(m):
    """The right side decides: a number or a vector."""
    a = m.Vec(1, 2)
    assert xy(a * 2) == (2, 4) == xy(a * 2.0) == xy(a * np.int64(2))
    assert a * m.Vec(3, 4) == 11 and type(a * a) is float


def test_operators_with_a_number_on_the_left(m):
    """Free functions of C++."""
    assert xy(2 * m.Vec(1, 2)) == (2, 4) and xy(0.5 * m.Vec(2, 4)) == (1, 2)
    assert xy(10 - m.Vec(1, 2)) == (9, 8)
    with pytest.raises(TypeError):
        2 + m.Vec(1, 2)
    with pytest.raises(TypeError):
        2 / m.Vec(1, 2)


def test_operators_in_place(m):
    """The object stays the same one; those without operator make a new one."""
    a = same = m.Vec(1, 2)
    a += m.Vec(1, 1)
    a *= 2
    assert a is same and xy(same) == (4, 6)
    a -= m.Vec(1, 1)
    assert a is not same and xy(a) == (3, 5) and xy(same) == (4, 6)
    with pytest.raises(TypeError):
        a += 1
    assert xy(a) == (3, 5)


def test_wrong_operands(m):
    """TypeError, as of Python's own types, and the other side is asked."""
    a = m.Vec(1, 2)
    for function in (operator.add, operator.sub, operator.mul, operator.truediv):
        for value in ("a", None, [1], m.Bits(1)):
            with pytest.raises(TypeError):
                function(a, value)
            with pytest.raises(TypeError):
                function(value, a)
    with pytest.raises(TypeError, match="unsupported operand"):
        a & a

    class Other:
        def __radd__(self, left):
            return ("radd", left)

        def __rmul__(self, left):
            return ("rmul", left)

    assert a + Other() == ("radd", a) and a * Other() == ("rmul", a)


def test_errors_of_operators(m):
    """What C++ throws arrives; it is not taken for an operand that does not fit."""
    with pytest.raises(ValueError, match="division by zero"):
        m.Vec(1, 2) / 0


def test_operators_of_whole_numbers(m):
    a, b = m.Bits(12), m.Bits(10)
    assert (a & b).value() == 8 and (a | b).value() == 14 and (a ^ b).value() == 6
    assert (~a).value() == -13 and (+m.Bits(-3)).value() == 3
    assert (a << 2).value() == 48 and (a >> 2).value() == 3 and (a % 5).value() == 2
    same = a
    a |= b
    a <<= 1
    assert a is same and a.value() == 28
    with pytest.raises(TypeError):
        a << 1.5
    with pytest.raises(TypeError):
        a & 1


def test_equality(m):
    """By value; with others unequal, which is no error."""
    a = m.Vec(1, 2)
    assert a == m.Vec(1, 2) and not a == m.Vec(1, 3)
    assert a != m.Vec(1, 3) and not a != m.Vec(1, 2)
    for other in (None, 1, "a", (1, 2), m.Bits(1), object()):
        assert not a == other and a != other and not other == a

    class Everything:
        def __eq__(self, other):
            return True

    assert a == Everything()


def test_equal_without_hash_has_none(m):
    """Else equal objects would have different hashes."""
    with pytest.raises(TypeError, match="unhashable"):
        hash(m.Vec(1, 2))
    assert isinstance(hash(m.Bits(1)), int)
    a = m.Bits(1)
    assert a == a and a != m.Bits(1) and a in {a}


def test_order(m):
    v = [m.Version(1, 2), m.Version(1, 10), m.Version(0, 9)]
    assert [str(one) for one in sorted(v)] == ["0.9", "1.2", "1.10"]
    assert v[0] < v[1] and v[0] <= m.Version(1, 2) and v[1] > v[2] and v[1] >= v[1]
    assert not v[0] > v[1] and not v[0] >= v[1] and max(v) is v[1]
    for other in (1, None, "1.2", m.Vec(1, 2)):
        with pytest.raises(TypeError):
            v[0] < other  # noqa: B015
        with pytest.raises(TypeError):
            other >= v[0]  # noqa: B015


def test_hash(m):
    """By the function that is named: equal objects are one key."""
    assert hash(m.Version(1, 2)) == hash(m.Version(1, 2)) == 1002
    assert {m.Version(1, 2): "a"}[m.Version(1, 2)] == "a"
    assert len({m.Version(1, 2), m.Version(1, 2), m.Version(1, 3)}) == 2


def test_truth(m):
    """By operator bool, by the length, else always."""
    assert m.Vec(0, 1) and not m.Vec(0, 0)
    assert m.Row([1]) and not m.Row([])
    assert m.Bits(0) and m.Linear(0, 0)


def test_calls(m):
    """Overloads and keywords as of every function."""
    line = m.Linear(2, 1)
    assert callable(line) and not callable(m.Vec(1, 2))
    assert line(3) == 7 == line(x=3)
    assert line([1, 2]) == [3, 5] == line(xs=(1, 2))
    assert list(map(line, [0, 1])) == [1, 3]
    for call in (lambda: line(), lambda: line(1, 2), lambda: line("a")):
        with pytest.raises(TypeError):
            call()


def test_indices(m):
    """From both ends, for reading and for writing."""
    row = m.Row([1, 2, 3])
    assert row[0] == 1 and row[-1] == 3 and row[np.int64(1)] == 2
    row[-1] = 9
    assert row[2] == 9
    for index in (3, -4):
        with pytest.raises(IndexError, match=f"index {index}"):
            row[index]
        with pytest.raises(IndexError):
            row[index] = 1
    with pytest.raises(TypeError):
        row["a"]
    with pytest.raises(TypeError):
        row[0] = "a"
    with pytest.raises((TypeError, AttributeError)):
        del row[0]


def test_sequences(m):
    """Length, membership, and loops that end at the IndexError."""
    row = m.Row([1, 2, 3])
    assert len(row) == 3 and len(m.Row([])) == 0
    assert 2 in row and 7 not in row
    assert list(row) == [1, 2, 3] and list(reversed(row)) == [3, 2, 1]
    assert sum(row) == 6 and [*row, 4] == [1, 2, 3, 4]
    first, *rest = row
    assert first == 1 and rest == [2, 3]


def test_keys(m):
    """Strings as well as ints; a class without len has none."""
    table = m.Table()
    table["a"] = 1
    table["b"] = 2.5
    assert table["a"] == 1 and len(table) == 2
    del table["a"]
    assert len(table) == 1
    with pytest.raises(LookupError, match="a"):
        table["a"]
    with pytest.raises(TypeError):
        table[1]
    with pytest.raises(TypeError):
        table["c"] = "d"
    with pytest.raises(TypeError):
        len(m.Vec(1, 2))
    with pytest.raises(TypeError):
        m.Vec(1, 2)[0]


def test_iterators(m):
    """The end of the loop is an exception of C++."""
    assert list(m.Countdown(3)) == [3, 2, 1]
    countdown = m.Countdown(2)
    assert iter(countdown) == countdown and next(countdown) == 2
    assert [one for one in countdown] == [1]
    assert next(countdown, "end") == "end"
    with pytest.raises(StopIteration):
        next(countdown)
    with pytest.raises(TypeError):
        iter(m.Vec(1, 2))


def test_with_blocks(m):
    """Left at errors, too, which go on."""
    door = m.Door()
    with door as same:
        assert door.open and same == door
    assert not door.open
    with pytest.raises(LookupError, match="inside"):
        with m.Door() as door:
            assert door.open
            raise LookupError("inside")
    assert not door.open


def test_texts(m):
    """repr where there is one, also for str; str alone leaves repr."""
    assert repr(m.Row([1])) == "Row of 1" == str(m.Row([1])) == f"{m.Row([1])}"
    version = m.Version(1, 2)
    assert str(version) == "1.2" and "operators.Version" in repr(version)


def test_what_cpp_prints_is_the_text(m):
    label = m.Label()
    assert str(label) == "[a]" == f"{label}" and "Label object" in repr(label)
    assert str(m.Wide()) == "[a]"
    pair = m.IntPair()
    pair.second = 2
    assert str(pair) == "0 and 2"
    label.text = ""
    with pytest.raises(ValueError, match="no text"):
        str(label)


def test_powers(m):
    """Of two operands."""
    assert (m.Label() ** 2).text == "a^2"
    for call in (lambda: pow(m.Label(), 2, 3), lambda: 2 ** m.Label()):
        with pytest.raises(TypeError):
            call()


def test_one_sign_in_several_namespaces(m):
    assert (m.Sum() + m.Sum()).n == 2 and (m.Difference() - 2).n == 3
    assert (m.Vec(1, 2) + m.Vec(1, 2)).x == 2 and (m.Label() | m.Label()).text == "a|a"
    with pytest.raises(TypeError):
        m.Sum() + m.Vec(1, 2)


def test_subclasses_override_operators(m):
    """In Python, as of every class."""

    class Louder(m.Row):
        def __len__(self):
            return 100 + super().__len__()

        def __getitem__(self, i):
            return -super().__getitem__(i)

        def __repr__(self):
            return "Louder"

    row = Louder([1, 2])
    assert len(row) == 102 and row[1] == -2 and repr(row) == "Louder"
    assert 2 in row and row.__contains__(2)

    class Sum(m.Vec):
        def __add__(self, other):
            return "added"

        __radd__ = __add__

    assert Sum(1, 2) + m.Vec(1, 2) == "added" and m.Vec(1, 2) + Sum(1, 2) == "added"
    assert xy(Sum(1, 2) * 2) == (2, 4)


def test_no_operator_leaks_a_reference(m):
    a, text, row, table = m.Vec(1, 2), "t" * 50, m.Row([1, 2]), m.Table()
    version, line = m.Version(1, 2), m.Linear(1, 2)

    def add():
        b = a
        b += a
        b += text

    calls = [
        add,
        lambda: a + a,
        lambda: a + text,
        lambda: 2 * a,
        lambda: text - a,
        lambda: a == text,
        lambda: a == a,
        lambda: version < version,
        lambda: version < text,
        lambda: hash(version),
        lambda: bool(a),
        lambda: line(text),
        lambda: line([1, 2]),
        lambda: list(row),
        lambda: row[text],
        lambda: row[9],
        lambda: text in table,
        lambda: setattr(table, text, 1),
        lambda: list(m.Countdown(2)),
        lambda: m.Door().__enter__().__exit__(None, text, None),
    ]
    watched = [a, text, row, table, version, line, None, True, NotImplemented, m.Vec]

    def run(n):
        for call in calls:
            for _ in range(n):
                try:
                    call()
                except (TypeError, LookupError, AttributeError):
                    pass
        gc.collect()
        return [sys.getrefcount(x) for x in watched]

    before = run(3)
    grown = [b - a for a, b in zip(before, run(300))]
    assert max(grown) < 100, grown


def test_items_that_cpp_refers_to(m, kit, refuses):
    """`T& operator[](Key)` gives x[key] = value as well, of each overload."""
    shelf = m.Shelf()
    shelf[1] = 5
    shelf["a"] = "b"
    assert (shelf[0], shelf[1], shelf["a"], shelf.count()) == (1, 5, "b", 1)
    for key, value in (((0,), 1), (0, "x"), (1.5, 2), ("a", 3)):
        with pytest.raises(TypeError):
            shelf[key] = value
    for place in (3, 10**6):
        with pytest.raises(IndexError):
            shelf[place] = 1
    with pytest.raises((OverflowError, TypeError)):
        shelf[-1] = 1
    with pytest.raises((TypeError, AttributeError)):
        del shelf[0]
    assert shelf.count() == 1 and shelf[1] == 5


def test_objects_as_items_that_cpp_refers_to(m, refuses):
    path = m.Path()
    point = m.Vec(3, 4)
    path[1] = point
    assert path[1] == m.Vec(3, 4) and path[0] == m.Vec(0, 0)
    path[1].x = 9
    assert path[1].x == 9 and point.x == 3
    with refuses("[Path.__setitem__] expected a Vec for 'item', got int"):
        path[0] = 3
    with refuses("[Path.__setitem__] expected an int for 'value', got str"):
        path["a"] = point


def test_items_that_are_only_read(m):
    fixed = m.Fixed()
    assert fixed[1] == 8
    with pytest.raises(TypeError, match="does not support item assignment"):
        fixed[1] = 3


def test_a_comma_of_their_own(m):
    holder, listed = m.Holder(), m.Listed()
    listed.number = 5
    holder.listed = listed
    assert holder.listed.number == 5
