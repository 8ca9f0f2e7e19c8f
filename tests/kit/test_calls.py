# SPDX-License-Identifier: Apache-2.0
"""Overloads, defaults, keywords, docstrings: cases/calls.h by pybind11 and the kit."""

import array
import ast
import gc
import inspect
import pathlib
import sys

import numpy as np
import pytest

THEME = "calls"


def test_overloads_take_what_is_meant_exactly(m):
    """Whatever order they are declared in."""
    for value, kind in [
        (True, "bool"),
        (False, "bool"),
        (1, "int"),
        (-(2**63), "int"),
        (1.0, "double"),
        (float("nan"), "double"),
        ("1", "string"),
        ("", "string"),
        ([1, 2], "vector"),
        ((), "vector"),
        (m.Box(), "Box"),
        (m.Circle(), "Circle"),
    ]:
        assert m.kind(value) == kind, value


def test_overloads_take_scalars_of_numpy(m, kit):
    assert m.kind(np.float64(1)) == "double"
    assert m.kind(np.int64(1)) == "int" and m.kind(np.uint8(1)) == "int"
    assert m.kind(np.bool_(True)) == "bool"
    if kit:  # pybind11 makes an int of it
        assert m.kind(np.float32(1.5)) == "double"
    assert m.kind(np.arange(3.0)) == "vector"
    assert m.kind(array.array("d", [1])) == "vector"


def test_overloads_of_a_number_and_an_array(m, kit):
    for value in (1.5, np.float64(2), *[np.float32(2)] * kit):
        assert m.one_or_many(value) == "one"
    for value in (np.ones(3), np.ones(1), np.array(3.0), array.array("d", [1])):
        assert m.one_or_many(value) == "many"


def test_sizes_and_differences(m, refuses):
    assert m.place(-1, 3) == 2 and m.place(at=np.int64(1), of=3) == 1
    with refuses("[place] expected an int for 'at', got slice"):
        m.place(slice(1), 3)
    with refuses("[place] expected an int for 'of', got str"):
        m.place(1, "3")


def test_overloads_convert_when_nothing_fits_exactly(m, kit):
    """An int is a double where there is no overload for it."""
    assert m.near(1) == "double" and m.near(True) == "double"
    assert m.near("1") == "string"
    assert m.nearer(2) == "int" and m.nearer(1.5) == "float"
    if kit:  # pybind11 takes the first that can convert it
        assert m.nearer(True) == "int"


def test_overloads_take_subclasses(m):
    class Mine(m.Box):
        pass

    class Text(str):
        pass

    assert m.kind(Mine()) == "Box" and m.kind(Text("a")) == "string"


def test_overloads_of_none(m):
    """None goes where the default is nullptr."""
    assert m.empty(None) == "no Box" == m.empty()
    assert m.empty(m.Box()) == "Box" and m.empty("a") == "string"


def test_overloads_of_vectors(m):
    """Items decide; of no items the first overload."""
    assert m.many([1, 2]) == "ints" and m.many(["a"]) == "strings"
    assert m.many([m.Box(), m.Box(1)]) == "boxes" and m.many([]) == "ints"
    with pytest.raises(TypeError):
        m.many([1, "a"])


def test_overloads_by_number_and_keywords(m):
    """Names choose as well as types do."""
    assert m.area(2) == 4 and m.area(2, 3) == 6 and m.area(m.Circle(2)) == 12
    assert m.area(side=3) == 9 and m.area(height=2, width=5) == 10
    assert m.area(2, height=3) == 6 and m.area(circle=m.Circle(1)) == 3
    for keywords in ({"sides": 1}, {"width": 1}, {"side": 1, "height": 1}):
        with pytest.raises(TypeError):
            m.area(**keywords)
    with pytest.raises(TypeError):
        m.area(1, side=1)


def test_no_overload_fits(m, kit):
    """The error lists what there is."""
    for call in (
        lambda: m.area("a"),
        lambda: m.kind(),
        lambda: m.kind(1, 2),
        lambda: m.near([1]),
        lambda: m.many(3),
    ):
        with pytest.raises(TypeError):
            call()
    if kit:  # pybind11 makes a bool of what has a truth value
        for value in (None, 1j):
            with pytest.raises(TypeError):
                m.kind(value)
    with pytest.raises(TypeError) as info:
        m.near(None)
    text = str(info.value).lower()
    assert ("double" if kit else "float") in text and "str" in text
    if kit:
        assert "near" in text.splitlines()[0]


def test_overloaded_constructors(m):
    assert m.Box().area() == 0 and m.Box(3).area() == 9 and m.Box(2, 3).area() == 6
    assert m.Box("abcd").area() == 4
    assert m.Box(side=2).area() == 4 and m.Box(height=3, width=2).area() == 6
    assert m.Box(text="ab").area() == 2
    for arguments in ((None,), (1.5,), (1, 2, 3), ([],), (1, "a")):
        with pytest.raises(TypeError):
            m.Box(*arguments)


def test_overloaded_methods(m):
    """Also by keywords, with defaults, through the class."""
    box = m.Box(1)
    box.grow(1)
    assert box.area() == 4
    box.grow(width=0, height=1)
    assert box.area() == 6
    assert box.holds(m.Box(2, 3)) and not box.holds(m.Box(3, 2))
    assert box.holds(m.Box(3, 2), turned=True) and box.holds(m.Box(3, 2), True)
    assert box.holds(2) and not box.holds(width=3)
    m.Box.grow(box, 1)
    assert box.area() == 12
    with pytest.raises(TypeError):
        box.grow()
    with pytest.raises(TypeError):
        m.Box.grow(m.Circle(), 1)


def test_defaults(m):
    """Each argument that is left out has the one of the header."""
    assert m.defaults(1) == "1 -2 1.5 true e 2 6 -1"
    assert m.defaults(1, 2, 3, False, "x", [], m.Box(1), m.Box(3)) == (
        "1 2 3.0 false x 0 1 9"
    )
    assert m.defaults(1, e="y", b=0) == "1 0 1.5 true y 2 6 -1"
    assert m.defaults(h=None, a=1) == m.defaults(1)
    assert m.times(2) == 14 and m.times(2, 2) == 4
    assert m.Circle().radius == 1 and m.Circle(2).radius == 2


def test_a_default_is_not_shared(m):
    """The next call gets it as it is in the header."""
    assert m.defaults(1) == m.defaults(1)
    assert m.join(["a", "b", "c"]) == "a, b, c"
    assert m.join(["a", "b", "c"], last=" and ") == "a, b and c"
    assert m.join(["a", "b", "c"], "-", None) == "a-b-c"


def test_keywords(m):
    """In any order, together with positions."""
    assert m.add(first=1, second=2) == 3 == m.add(second=2, first=1)
    assert m.add(1, second=2) == 3 == m.add(*[1], **{"second": 2})
    keyword = "".join(["sec", "ond"])  # another object than the name in the code
    assert m.add(1, **{keyword: 2}) == 3


def test_wrong_keywords(m, kit):
    """Unknown, twice, missing, too many."""
    cases = [
        (lambda: m.add(1, secnd=2), "secnd"),
        (lambda: m.add(1, 2, third=3), "third"),
        (lambda: m.add(1, 2, first=3), "first"),
        (lambda: m.add(1), "second"),
        (lambda: m.add(second=1), "first"),
        (lambda: m.add(1, 2, 3), "2"),
        (lambda: m.none_at_all(1), "0|no "),
    ]
    for call, text in cases:
        with pytest.raises(TypeError, match=text if kit else None):
            call()


def test_names_that_are_words_of_python(m):
    assert m.span(1, 4) == 3
    assert m.span(**{"from": 1, "to": 4}) == 3


def test_arguments_without_a_name(m):
    assert m.unnamed(1, 2) == 2
    with pytest.raises(TypeError):
        m.unnamed(1)


def test_errors_name_the_argument(m, refuses):
    """As passed: by position or by name."""
    with refuses("[add] expected an int for 'second', got str"):
        m.add(1, "a")
    with refuses("[add] expected an int for 'first', got NoneType"):
        m.add(second=1, first=None)
    with refuses("[join] expected a str for 'words[0]', got int"):
        m.join([1])


def test_functions_know_what_they_are(m):
    for name in ("add", "kind", "join"):
        function = getattr(m, name)
        assert callable(function) and function.__name__ == name
        assert function.__module__ == "calls"
    assert m.Box.__name__ == "Box" == m.Box.__qualname__
    assert m.Box.__module__ == "calls" and m.__name__ == "calls"


def test_docstrings(m):
    """Of functions, classes and methods, as the comments have them."""
    assert "The sum of both." in m.add.__doc__
    assert "Joins words." in m.join.__doc__
    assert "another text before it" in m.join.__doc__
    assert "A box with a width and a height." in m.Box.__doc__
    assert "Width times height." in m.Box.area.__doc__
    assert "Makes it larger" in m.Box.grow.__doc__
    for text in (m.add.__doc__, m.join.__doc__, m.Box.__doc__):
        assert "///" not in text and "*/" not in text and "/**" not in text


def test_types_are_shown(m, kit):
    """By Python's names, in the stub or, by pybind11, in the docstring."""
    text = stub(m) if kit else m.defaults.__doc__
    text = text[text.index("defaults(") :].split("->")[0]
    for word in ("int", "float", "bool", "str", "box", "none"):
        assert word in text.lower()


def stub(m):
    return pathlib.Path(m.__file__).with_name("calls.pyi").read_text(encoding="utf-8")


def test_signatures(m, kit):
    """inspect shows the arguments and what they are without."""
    if not kit:
        pytest.skip("pybind11 shows its signatures in docstrings only")
    assert list(inspect.signature(m.add).parameters) == ["first", "second"]
    assert list(inspect.signature(m.none_at_all).parameters) == []
    parameters = inspect.signature(m.join).parameters
    assert list(parameters) == ["words", "between", "last"]
    assert parameters["words"].default is inspect.Parameter.empty
    assert parameters["between"].default == ", "
    assert parameters["last"].default is None
    parameters = inspect.signature(m.defaults).parameters
    assert [parameters[name].default for name in "bcde"] == [-2, 1.5, True, "e"]
    assert list(inspect.signature(m.Box().area).parameters) == []
    assert inspect.signature(m.Circle).parameters["radius"].default == 1


def test_the_stub(m, kit):
    """Stands beside the module, is Python and names everything that is in it."""
    if not kit:
        pytest.skip("pybind11 writes none")
    tree = ast.parse(stub(m))
    named = {
        node.name
        for node in ast.walk(tree)
        if isinstance(node, (ast.FunctionDef, ast.ClassDef))
    }
    public = {name for name, x in vars(m).items() if callable(x) and name[0] != "_"}
    assert {"add", "kind", "join", "Box", "Circle", "area"} <= public & named
    assert public <= named


def test_no_call_leaks_a_reference(m):
    """Of keywords, defaults and failed matches."""
    word, box, name = "w" * 50, m.Box(1), "sec" + "ond" * len([1])
    calls = [
        lambda: m.kind(word),
        lambda: m.kind(box),
        lambda: m.kind(None),
        lambda: m.many([box]),
        lambda: m.join([word], last=word),
        lambda: m.join([word], word, 3),
        lambda: m.add(1, **{name: 2}),
        lambda: m.add(1, **{word: 2}),
        lambda: m.defaults(1, g=box, h=box),
        lambda: m.Box(word),
        lambda: m.Box(None),
        lambda: box.holds(box, True),
    ]
    watched = [word, box, name, None, m.Box, m.Circle]

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
