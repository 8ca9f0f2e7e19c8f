# SPDX-License-Identifier: Apache-2.0
"""Headers of modern C++ as they are: cases/modern.h by pybind11 and by the kit."""

import gc
import sys

import pytest

THEME = "modern"


def test_namespaces(m):
    """Inline ones are not seen; two classes of a name get two names."""
    assert m.versioned() == 1
    assert m.Same().side() == -1 and m.RightSame().side() == 1
    assert m.side_of(m.RightSame(), m.Same()) == -9
    with pytest.raises(TypeError):
        m.side_of(m.Same(), m.RightSame())


def test_other_names_for_types(m):
    """using, typedef and alias templates; results behind an arrow."""
    assert m.names({"b": 1, "a": 2}) == ["a", "b"]
    assert m.doubled([1, 2]) == [2, 4] and m.listed(3) == [3]


def test_arguments_that_are_moved(m):
    """Python's object stays what it is."""
    text = "text" * 10
    assert m.moved(text) == text == "text" * 10
    with pytest.raises(TypeError):
        m.moved(3)


def test_defaults_in_braces(m):
    assert m.total() == 2 and m.total([1, 2]) == 5 and m.total(kind=m.Kind.One) == 1
    assert m.area() == 6 and m.area(m.Size(1, 1)) == 1


def test_operators_that_are_friends(m):
    """Defined inside the class, for either side."""
    size = m.Size(1, 2) + m.Size(2, 2)
    assert (size.width(), size.height()) == (3, 4)
    assert m.Size(1, 2) == m.Size(1, 2) and m.Size(1, 2) != m.Size(2, 2)
    assert 2 * m.Size(1, 2) == m.Size(2, 4) and m.Size.unit() == m.Size(1, 1)
    assert m.Size(1, 2) != 3
    with pytest.raises(TypeError):
        m.Size(1, 2) + 1
    with pytest.raises(TypeError):
        m.Size(1, 2) * "a"


def test_classes_without_default_constructor(m, refuses):
    """In containers of every kind, both ways."""
    assert m.sizes() == {"a": m.Size(1, 2)}
    assert m.pair() == (m.Size(1, 2), None)
    assert m.areas([m.Size(1, 2), m.Size(3, 4)]) == 14
    with refuses("[areas] expected a Size for 'both[1]', got int"):
        m.areas([m.Size(1, 2), 3])
    with pytest.raises(TypeError):
        m.Size()


def test_what_a_class_takes_from_its_base(m):
    """Constructors and overloads by using."""
    assert m.Derived(3).value() == 3 and m.Derived(3, 4).value() == 7
    assert m.Derived(a=1, b=1).value() == 2 and m.Base(value=5).value() == 5
    assert m.Derived(1).over(1) == "int" and m.Derived(1).over("a") == "string"
    assert m.Derived(1).who() == "derived" and m.Base(1).who() == "base"


def test_members_that_are_functions(m, refuses):
    """Called by C++ and, as they are read, by Python; None is no function."""
    widget = m.Widget()
    assert widget.on_click is None and widget.click(3) == -1
    widget.on_click = lambda x: 2 * x
    assert widget.click(3) == 6 == widget.on_click(3)
    with refuses():
        widget.on_click = 3
    widget.on_click = None
    assert widget.on_click is None and widget.click(3) == -1


def test_the_end_of_an_object_may_make_and_end_others(m):
    """Of its class, whose memory may be its own; a function ends with its object."""
    ended = []

    class Function:
        def __init__(self, depth):
            self.depth = depth

        def __call__(self, x):
            return x + self.depth

        def __del__(self):
            if self.depth:
                widgets = [m.Widget() for _ in range(3)]
                for widget in widgets:
                    widget.on_click = Function(self.depth - 1)
                assert [widget.click(1) for widget in widgets] == [self.depth] * 3
            ended.append(self.depth)

    widget = m.Widget()
    widget.on_click = Function(4)
    del widget
    assert sorted(ended) == [
        depth for depth in range(5) for _ in range(3 ** (4 - depth))
    ]


def test_a_function_or_none(m):
    """Where the default is nullptr."""
    assert m.call() == -1 == m.call(None) == m.call(function=None)
    assert m.call(lambda x: x + 5) == 6


def test_members_that_may_be_missing(m):
    """optional and shared_ptr: None both ways."""
    widget = m.Widget()
    assert widget.size is None and widget.base is None and widget.title is None
    widget.size, widget.base, widget.title = m.Size(4, 5), m.Derived(4), "t"
    assert widget.size == m.Size(4, 5) and widget.title == "t"
    assert type(widget.base) is m.Derived and widget.base.value() == 4
    widget.size = widget.base = widget.title = None
    assert widget.size is None and widget.base is None and widget.title is None


def test_members_with_values_in_braces(m):
    widget = m.Widget()
    assert widget.names == ["a", "b"] == widget.all() and widget.pair == (1, "x")
    widget.pair, widget.names, widget.kind = (2, "y"), ("c",), m.Kind.Two
    assert widget.pair == (2, "y") and widget.all() == ["c"]
    assert widget.kind is m.Kind.Two


def test_methods_for_const_and_other_objects(m):
    """One method of Python; a text is a value."""
    assert m.Widget().text() == "text" and m.Widget().constness() == 0


def test_method_templates(m):
    assert m.Widget().as_double() == 1.0 and not hasattr(m.Widget, "count")


def test_templates_with_numbers(m):
    fixed = m.Fixed3()
    assert fixed.items == [0, 0, 0] and m.Fixed3.size() == 3 == fixed.size()
    fixed.items = [1.5, 2, 3]
    assert m.first(fixed) == 1.5
    with pytest.raises(TypeError):
        fixed.items = [1, 2]


def test_nested_classes_that_are_defined_outside(m):
    assert m.make_inner().y == 2 == m.Outer.Inner().y and m.Outer().x == 1
    assert type(m.make_inner()) is m.Outer.Inner and not hasattr(m, "Inner")


def test_no_call_leaks_a_reference(m):
    size, widget, text, base = m.Size(1, 2), m.Widget(), "t" * 50, m.Base(1)

    def function(x):
        return x

    def click():
        widget.on_click = function
        widget.click(1)
        widget.on_click(1)
        widget.on_click = None

    calls = [
        click,
        lambda: size + size,
        lambda: size == size,
        lambda: 2 * size,
        lambda: m.areas([size, size]),
        lambda: m.areas([size, text]),
        lambda: setattr(widget, "base", base),
        lambda: setattr(widget, "base", None),
        lambda: setattr(widget, "size", size),
        lambda: setattr(widget, "title", text),
        lambda: setattr(widget, "title", None),
        lambda: widget.size,
        lambda: m.call(function),
        lambda: m.call(None),
        lambda: m.moved(text),
        lambda: m.sizes(),
    ]
    watched = [size, widget, text, base, function, None, m.Size, m.Base]

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
    grown = [b - a for a, b in zip(before, run(300))]
    assert max(grown) < 100, grown


def test_plain_values_by_reference(m, refuses):
    """As templates take them; overloads, too."""
    assert m.half(3) == 1.5 and m.same(7) == 7
    assert [m.kind(x) for x in (1, "a", [1])] == ["int", "text", "list"]
    with refuses("[half] expected a number for 'value', got str"):
        m.half("3")


def test_keys_that_are_there_twice(m):
    """std::multimap is a list of pairs, std::multiset a sorted list."""
    assert m.twice([("b", 1), ("a", 2), ("a", 3)]) == [
        *(("a", 2), ("a", 3), ("a", 2), ("a", 3)),
        *(("b", 1), ("b", 1)),
    ]
    assert m.twice({"a": 1}) == [("a", 1), ("a", 1)] and m.twice({}) == []
    assert m.sorted([3, 1, 3, 2]) == [1, 2, 3, 3]
    for wrong in (3, "ab", [1], [("a", "b")], {"a": "b"}):
        with pytest.raises(TypeError):
            m.twice(wrong)


def test_results_are_made_and_never_assigned(m):
    cell = m.Cell(3)
    assert cell.next().value() == 4 and cell[2].value() == 5
    assert cell.reset() == 0 and cell.reset(m.Cell(8)) == 8


def test_items_end_where_the_length_says(m):
    """C++ need not know where they end."""
    cell = m.Cell(3)
    assert [item.value() for item in cell] == [3, 4, 5]
    assert len(list(cell)) == 3


def test_a_pointer_in_an_object_keeps_what_it_points_to(m):
    """And may be None."""
    first, second = m.Link(), m.Link()
    assert first.next is None
    second.value = 7
    first.next = second
    del second
    gc.collect()
    assert first.next.value == 7
    first.next = None
    assert first.next is None
    with pytest.raises(TypeError):
        first.next = 3


def test_friends_that_are_declared_outside_too(m):
    assert m.reveal(m.hide(5)) == 5 and m.reveal(m.Secret()) == 0
