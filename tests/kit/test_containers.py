# SPDX-License-Identifier: Apache-2.0
"""Containers of everything, and arrays: containers.h by pybind11 and by the kit."""

import array
import collections
import collections.abc
import gc
import sys
import types

import numpy as np
import pytest

THEME = "containers"


def xy(point):
    return (point.x, point.y)


def test_vectors(m, refuses):
    """Sequences of any kind, but no text; a list comes back."""
    for values in ([], [1, 2.5], (1, 2), range(3), collections.deque([1.5])):
        result = m.doubled(values)
        assert type(result) is list and result == [2 * v for v in values]
    assert m.flipped([True, False, True]) == [False, True, False]
    assert m.reversed(("a", "é\0", "")) == ["", "é\0", "a"]
    for value in (3, None, "12", b"12"):
        got = type(value).__name__
        with refuses(f"[doubled] expected a sequence for 'values', got {got}"):
            m.doubled(value)
    with refuses("[doubled] expected a number for 'values[1]', got str"):
        m.doubled([1, "a"])


def test_text_is_no_vector_of_texts(m, refuses):
    """Though a str is a sequence of them."""
    with refuses("[reversed] expected a sequence for 'words', got str"):
        m.reversed("abc")
    with refuses("[reversed] expected a sequence for 'words', got bytes"):
        m.reversed(b"abc")


def test_lists_and_deques(m):
    assert m.sorted([3, -1, 2]) == [-1, 2, 3]
    assert m.rotated([1, 2, 3]) == [2, 3, 1] and m.rotated([]) == []


def test_arrays_of_a_fixed_size(m, refuses):
    """As many items, no fewer and no more."""
    assert m.squares([1, 2, 3]) == [1, 4, 9] == m.squares((1, 2, 3))
    for value in ([1, 2], [1, 2, 3, 4], []):
        with refuses(f"[squares] expected a sequence of 3 for 'v', got {len(value)}"):
            m.squares(value)


def test_sets(m, refuses):
    """set and frozenset go in, a set comes back."""
    result = m.unique(["a", "b", "a"])
    assert type(result) is set and result == {"a", "b"}
    assert m.has({1, 2}, 2) and not m.has(frozenset([1]), 2) and not m.has(set(), 0)
    assert m.odd_ones({1, 2, 3}) == {1, 3} and m.odd_ones(set()) == set()
    for value in (3, None, "ab"):
        with refuses():
            m.odd_ones(value)
    with refuses():
        m.has({"a"}, 1)


def test_maps(m, refuses):
    """dict both ways, and other mappings in."""
    result = m.counts(["b", "a", "b"])
    assert type(result) is dict and result == {"a": 1, "b": 2}
    assert m.by_length({"a", "bb", "c"}) == {1: ["a", "c"], 2: ["bb"]}
    for value in ([("a", 1)], None, "ab"):
        got = type(value).__name__
        with refuses(f"[at] expected a mapping for 'points', got {got}"):
            m.at(value, "a")
    point = m.Point(1, 2)
    for kind in (dict, collections.OrderedDict, types.MappingProxyType):
        assert xy(m.at(kind({"a": point}), "a")) == (1, 2)


def test_pairs_and_tuples(m, refuses):
    """Exactly as many items, each of its type; a tuple comes back."""
    assert m.swapped((1, "a")) == ("a", 1) == m.swapped([1, "a"])
    assert m.turned(("a", True, 2)) == (True, 2.0, "a")
    for value in ((1,), (1, "a", 2), ()):
        got = len(value)
        with refuses(f"[swapped] expected a sequence of 2 for 'pair', got {got}"):
            m.swapped(value)
    with refuses("[swapped] expected a str for 'pair[1]', got int"):
        m.swapped((1, 2))


def test_containers_in_containers(m, refuses):
    """Five levels of them."""
    deep = {(1, 2): [None, (3, "x")], (0, 0): [], (-1, 5): [(0, "")]}
    assert m.same_deep(deep) == deep
    for wrong in ({(1,): []}, {1: []}, {(1, 2): [(3, 4)]}, {(1, 2): [("x", 3)]}):
        with refuses():
            m.same_deep(wrong)


def test_a_vector_of_functions(m, refuses):
    assert m.applied([abs, lambda x: x * x, int.__neg__], -3) == [3, 9, 3]
    with refuses("[applied] expected a callable for 'functions[1]', got int"):
        m.applied([abs, 3], 1)


def test_vectors_of_classes(m, refuses):
    """Objects go in by value and come out as new ones."""
    points = [m.Point(1, 2), m.Point(3, 4)]
    assert xy(m.sum(points)) == (4, 6) == xy(m.sum(tuple(points)))
    assert xy(m.sum([])) == (0, 0)
    first, second = m.diagonal(2), m.diagonal(2)
    assert [xy(p) for p in first] == [(0, 0), (1, 1)]
    first[0].x = 7
    assert xy(second[0]) == (0, 0)
    with refuses("[sum] expected a Point for 'points[1]', got int"):
        m.sum([points[0], 3])
    with refuses("[sum] expected a Point for 'points[0]', got NoneType"):
        m.sum([None])
    with refuses("[sum] expected a Point for 'points[0]', got containers.Node"):
        m.sum([m.Node("a")])


def test_maps_of_classes(m):
    points = m.named([("a", m.Point(1, 2)), ("b", m.Point(3, 4))])
    assert {name: xy(p) for name, p in points.items()} == {"a": (1, 2), "b": (3, 4)}
    assert xy(m.at(points, "b")) == (3, 4)


def test_optional_classes(m, refuses):
    """None is no object, both ways."""
    assert m.at({}, "a") is None
    assert m.x_or(None, 5) == 5 and m.x_or(m.Point(2, 3), 5) == 2
    with refuses("[x_or] expected a Point or None for 'point', got str"):
        m.x_or("a", 1)


def test_variants_with_classes(m, refuses):
    """Each alternative is recognised."""
    assert m.held(3) == "int" and m.held(m.Point()) == "Point"
    assert m.held(m.Node("a")) == "Node"
    one, point = m.mixed()
    assert one == 1 and xy(point) == (2, 3) and type(point) is m.Point
    with refuses():
        m.held("a")


def test_tuples_with_classes(m):
    point, length = m.with_length(m.Point(3, 4))
    assert xy(point) == (3, 4) and length == 25


def test_vectors_of_shared_objects(m, refuses):
    """The objects themselves, not copies; None is an empty pointer."""
    a, b = m.Node("a"), m.Node("b")
    first, second = m.backwards([a, b])
    first.name = "changed"
    assert b.name == "changed" and second.name == "a"
    assert first == b and second == a and hash(first) == hash(b)
    assert m.names([a, None]) == ["a", "nobody"]
    assert m.backwards([None]) == [None]
    with refuses("[names] expected a Node for 'nodes[0]', got str"):
        m.names(["a"])


def test_vectors_of_pointers(m):
    """Of objects that Python owns meanwhile, subclasses too."""

    class Mine(m.Point):
        pass

    assert m.total_x([m.Point(1, 0), Mine(2, 0)]) == 3 and m.total_x([]) == 0


def test_containers_as_members(m, refuses):
    """They are set as a whole and read as copies."""
    path = m.Path()
    assert path.points == [] and path.weights == {}
    path.points = [m.Point(1, 2), m.Point(3, 4)]
    path.weights = {"a": 1}
    assert path.size() == 2 and path.weights == {"a": 1.0}
    assert [xy(p) for p in path.points] == [(1, 2), (3, 4)]
    path.points.append(m.Point())
    assert path.size() == 2
    with refuses():
        path.points = [1]
    with refuses():
        path.weights = {"a": "b"}
    assert path.size() == 2 and path.weights == {"a": 1.0}


def test_a_list_that_changes_while_it_is_read(m):
    """Python code of an item runs during the conversion."""
    values = [1.0] * 100

    class Shrinks:
        def __float__(self):
            del values[2:]
            return 5.0

    values[1] = Shrinks()
    try:
        assert m.doubled(values)[:2] == [2, 10]
    except (TypeError, IndexError):
        pass  # it may also be refused; it must not crash


def test_a_sequence_that_lies_about_its_length(m):
    class Liar(collections.abc.Sequence):
        def __len__(self):
            return 5

        def __getitem__(self, i):
            if i > 1:
                raise KeyError(i)
            return 1.0

    with pytest.raises((KeyError, TypeError, RuntimeError)):
        m.doubled(Liar())


def test_arrays_are_vectors(m):
    """Of one dimension or more, whatever their elements' type is."""
    for dtype in ("f8", "f4", "i8", "u1"):
        assert m.doubled(np.arange(3, dtype=dtype)) == [0, 2, 4]
    assert m.doubled(np.arange(6.0)[::2]) == [0, 4, 8]
    assert m.doubled(array.array("d", [2])) == [4]
    assert m.row_sums(np.ones((2, 3))) == [3, 3] and m.row_sums(np.ones((0, 3))) == []
    assert m.row_sums([np.ones(2), [1, 2]]) == [2, 3]
    with pytest.raises((TypeError, ValueError)):
        m.doubled(np.ones((2, 2)))


def test_views_of_arrays(m):
    """Elements are read where they are; their type must be the one."""
    assert m.total(np.arange(5.0)) == 10 and m.total(np.empty(0)) == 0
    assert m.total(np.arange(6.0)[2:4]) == 5
    assert m.total_ints(np.arange(4, dtype="i4")) == 6
    frozen = np.arange(3.0)
    frozen.flags.writeable = False
    assert m.total(frozen) == 3
    for wrong in (np.arange(4, dtype="i8"), np.arange(4.0), np.arange(4, dtype="u4")):
        with pytest.raises(TypeError):
            m.total_ints(wrong)
    for wrong in (3, None, "ab"):
        with pytest.raises(TypeError):
            m.total(wrong)


def test_views_of_buffers_without_numpy(m, kit):
    """bytes, bytearray, memoryview and array.array."""
    for data in (b"abca", bytearray(b"abca"), memoryview(b"abca")):
        assert m.offsets(data, ord("a")) == [0, 3]
    assert m.offsets(b"", 0) == []
    assert m.text_of(b"ab\0c") == "ab\0c" and m.text_of(bytearray(b"a")) == "a"
    if kit:  # the twin takes NumPy's arrays only
        assert m.text_of(array.array("b", [97])) == "a"
        assert m.total(array.array("d", [1, 2])) == 3
        assert m.total(memoryview(array.array("d", [1, 2]))) == 3
    with pytest.raises(TypeError):
        m.total(array.array("f", [1, 2]))


def test_views_with_gaps_are_refused(m):
    with pytest.raises((TypeError, ValueError, BufferError)):
        m.total(np.arange(6.0)[::2])
    with pytest.raises((TypeError, ValueError, BufferError)):
        m.scale(np.arange(6.0)[::2], 2)


def test_writing_to_arrays(m):
    """What C++ writes is in the array; a read-only one is refused."""
    values = np.arange(3.0)
    m.scale(values, by=2)
    assert values.tolist() == [0, 2, 4]
    m.scale(values[1:], 10)
    assert values.tolist() == [0, 20, 40]
    values.flags.writeable = False
    with pytest.raises((TypeError, ValueError, BufferError)):
        m.scale(values, 2)
    assert values.tolist() == [0, 20, 40]
    with pytest.raises((TypeError, ValueError, BufferError)):
        m.scale(np.arange(3, dtype="f4"), 2)


def test_a_view_is_given_back(m):
    """The buffer may change its size after the call, and after a failing one."""
    data = bytearray(b"abc")
    m.offsets(data, 0)
    data.append(1)
    with pytest.raises(TypeError):
        m.offsets(data, "x")
    data.append(1)
    assert len(data) == 5


def test_no_call_leaks_a_reference(m):
    """Of items, keys and containers, in good calls and failing ones."""
    word, values, point = "w" * 50, [1.0, 2.0], m.Point(1, 2)
    node, data = m.Node("a"), np.arange(3.0)
    calls = [
        lambda: m.reversed([word, word]),
        lambda: m.reversed([word, 1]),
        lambda: m.doubled(values),
        lambda: m.counts([word]),
        lambda: m.unique([word]),
        lambda: m.swapped((1, word)),
        lambda: m.swapped((word, word)),
        lambda: m.sum([point, point]),
        lambda: m.sum([point, word]),
        lambda: m.named([(word, point)]),
        lambda: m.at({word: point}, word),
        lambda: m.backwards([node, None]),
        lambda: m.applied([abs], 1),
        lambda: m.total(data),
        lambda: m.scale(data, 1),
    ]
    watched = [word, values, point, node, data, None, abs, m.Point]

    def run(n):
        for call in calls:
            for _ in range(n):
                try:
                    call()
                except TypeError:
                    pass
        gc.collect()
        return [sys.getrefcount(x) for x in watched]

    before = run(3)
    grown = [b - a for a, b in zip(before, run(500))]
    assert max(grown) < 100, grown
