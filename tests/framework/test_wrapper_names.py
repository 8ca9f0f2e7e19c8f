# SPDX-License-Identifier: Apache-2.0
"""Wrappers of ops whose names clash: with Python's, with the wrapper's, with others."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

import pkg
import pkg.graph as pg
from libraries import output_of
from pkg.framework import module_text
from pkg.framework.naming import fields, free, parameters

Compile = Callable[..., Path]


@pytest.fixture(scope="module")
def path(compiled: Compile) -> Path:
    """The library of sources/kernels.cc."""
    return compiled("kernels.cc")


@pytest.fixture(scope="module")
def ops(path: Path) -> ModuleType:
    """Its wrappers."""
    return pkg.load_op_library(path)


def test_parameters_that_hide_nothing(ops: ModuleType) -> None:
    """Each value arrives at its own input, in all ways to call."""
    digits = [pkg.tensor([float(i)]) for i in range(1, 7)]
    for call in (digits, [[float(i)] for i in range(1, 7)]):
        number, total = ops.test_names(*call)
        assert number.tolist() == [123456] and total.tolist() == [21]
    made = ops.test_names(*digits, print=2)
    assert made._fields == ("class__", "class_") and made.class_.tolist() == [42]
    named = ops.test_names(
        type=digits[5], class__=digits[4], class_=digits[3], name__=digits[2],
        name_=digits[1], Exception_=digits[0],
    )  # fmt: skip
    assert named[0].tolist() == [654321]
    with pg.Graph().as_default(), pg.Session() as session:
        x = pg.placeholder(pkg.float32, [1])
        y = ops.test_names(x, *digits[1:], name="mine")
        assert y[0].op.name == "mine"
        assert session.run(y[0], {x: [9.0]}).tolist() == [923456]


def test_none_is_the_default_for_every_input(ops: ModuleType) -> None:
    """For tensors as for lists."""
    digits = [pkg.tensor([float(i)]) for i in range(1, 7)]
    for call in (digits, [[float(i)] for i in range(1, 7)]):
        assert ops.test_names(*call, print=None)[1].tolist() == [21]
    with pytest.raises(TypeError, match="print"):
        ops.test_names(*digits, print="2")


def test_ops_with_the_same_name_in_small_letters(ops: ModuleType) -> None:
    """Each has a function and a class of its own, in the order of the ops."""
    names = [n for n in ops.__all__ if n.startswith(("test_two", "testsame"))]
    assert names == [
        "test_two_v2", "test_two_v2_2", "testsame", "testsame_2", "testsame_3",
    ]  # fmt: skip
    assert ops.TestTwoV2Output._fields == ("c", "d")
    assert ops.TestTwoV2Output_2._fields == ("a", "b")
    doc = [getattr(ops, name).__doc__.split(".")[0] for name in names[2:]]
    assert doc == ["Calls TESTSAME", "Calls Testsame", "Calls testsame"]


def test_names_are_made_unlike() -> None:
    """Those that may stay do, whatever comes before them."""
    assert parameters(["class", "class_", "l", "l_"], []) == {
        "class": "class__", "class_": "class_", "l": "l__", "l_": "l_",
    }  # fmt: skip
    assert parameters(["_Op", "_apply", "x"], ["_Op"]) == {
        "_Op": "_Op_", "_apply": "_apply_", "x": "x",
    }  # fmt: skip
    assert fields(["_a", "a_", "_", "_1", "count"]) == {
        "_a": "a__", "a_": "a_", "_": "output_", "_1": "output_1_", "count": "count_",
    }  # fmt: skip
    taken = {"f"}
    assert [free("f", taken), free("f", taken), free("g", taken)] == ["f_2", "f_3", "g"]


@pytest.mark.parametrize(
    "title", ["lib\\N.so", 'a"""b', "line\nbreak\r\0", "\udcff", 'end"', "\\"]
)
def test_any_title(ops: ModuleType, title: str) -> None:
    """The text is Python, and shows it."""
    text = module_text(title, ["tf::TestSink"])
    module = ModuleType("made")
    exec(text.encode().decode(), module.__dict__)
    shown = title.encode(errors="backslashreplace").decode()
    assert module.__doc__ == f"Wrappers of the ops of {shown}, a function for each."


def test_a_file_with_such_a_name(compiled: Compile, tmp_path: Path) -> None:
    """A library is loaded whatever it is called."""
    path = tmp_path / "lib\\N {x}\u00e9.so"
    shutil.copy(compiled("plain.cc"), path)
    code = f"""
import pkg
x = pkg.ones(1)
assert pkg.load_op_library({str(path)!r}).same(x) is x
"""
    assert output_of(code, tmp_path) == ""
