# SPDX-License-Identifier: Apache-2.0
"""Calls of wrappers: plain ones go to the op from the binding, all others through the
function, whose rules, texts and lines they keep."""

from __future__ import annotations

import copy
import inspect
import pickle
import threading
import traceback
import weakref
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import pkg
import pkg.graph as pg
from child import run_child

Compile = Callable[..., Path]
VALUES = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]


@pytest.fixture(scope="module")
def ops(compiled: Compile) -> ModuleType:
    """The wrappers of sources/kernels.cc."""
    return pkg.load_op_library(compiled("kernels.cc"))


def kept(index: int) -> list[list[float]]:
    """What TestZeroOut gives: one element, the others zero."""
    return [[v if 3 * r + c == index else 0 for c, v in enumerate(row)]
            for r, row in enumerate(VALUES)]  # fmt: skip


class Name(str):
    """A keyword that is no plain str."""


WAYS: list[tuple[tuple[int, ...], dict[str, Any], int]] = [
    ((), {}, 0),
    ((), {"preserve_index": 4}, 4),
    ((4,), {}, 4),
    ((4,), {"name": None}, 4),
    ((4, None), {}, 4),  # type: ignore[dict-item, list-item]
    ((), {"name": None, "preserve_index": 1}, 1),
    ((), {"name": "mine", "preserve_index": 3}, 3),
    ((), {"".join(["preserve", "_index"]): 4}, 4),
    ((), {"".join(["na", "me"]): None, "preserve_index": 2}, 2),
    ((), {Name("preserve_index"): 5}, 5),
    ((), {"preserve_index": None}, 0),
]


@pytest.mark.parametrize("args,named,index", WAYS, ids=range(len(WAYS)))
def test_every_way_to_write_a_call(
    ops: ModuleType, args: tuple[int, ...], named: dict[str, Any], index: int
) -> None:
    """Of what is given by place and what by name, also by names made at run time."""
    x = pkg.tensor(VALUES)
    assert ops.test_zero_out(x, *args, **named).tolist() == kept(index)
    assert ops.test_zero_out(VALUES, *args, **named).tolist() == kept(index)
    if not args:
        assert ops.test_zero_out(**named, to_zero=x).tolist() == kept(index)


@pytest.mark.parametrize("plain", [True, False])
def test_wrong_calls_have_pythons_words(ops: ModuleType, plain: bool) -> None:
    """As the function has them, whatever the binding could have read."""
    x = pkg.tensor(VALUES) if plain else VALUES
    f = ops.test_zero_out
    for call, text in [
        (lambda: f(), "missing 1 required positional argument: 'to_zero'"),
        (lambda: f(preserve_index=1), "missing 1 required positional .*'to_zero'"),
        (lambda: f(x, 1, None, 2), "takes from 1 to 3 positional arguments but 4"),
        (lambda: f(x, to_zero=x), "got multiple values for argument 'to_zero'"),
        (lambda: f(x, 1, preserve_index=1), "multiple values .*'preserve_index'"),
        (lambda: f(x, 1, None, name=None), "multiple values for argument 'name'"),
        (lambda: f(x, index=1), "unexpected keyword argument 'index'"),
        (lambda: f(x, **{"".join("ab"): 1}), "unexpected keyword argument 'ab'"),
        (lambda: f(x, **{Name("no"): 1}), "unexpected keyword argument 'no'"),
    ]:
        with pytest.raises(TypeError, match=rf"^test_zero_out\(\) .*{text}"):
            call()
    with pytest.raises(TypeError, match="Expected int for argument 'preserve_index'"):
        f(x, preserve_index="1")
    with pytest.raises((ValueError, OverflowError), match="preserve_index"):
        f(x, preserve_index=10**30)


def test_functions_tools_know_wrappers(ops: ModuleType) -> None:
    """As they know the functions that are not of the binding."""
    f = ops.test_zero_out
    assert inspect.getfullargspec(f).args == ["to_zero", "preserve_index", "name"]
    assert f.__defaults__ == (0, None) and f.__kwdefaults__ is None
    assert f.__code__ is inspect.unwrap(f).__code__


def test_wrappers_of_a_library_where_calls_are_traced(compiled: Compile) -> None:
    """What is shown is the function and its op, and it works as without."""
    code = f"""
    import inspect
    import pkg

    ops = pkg.load_op_library({str(compiled("kernels.cc"))!r})
    print(ops.test_zero_out(pkg.tensor({VALUES}), 4).tolist() == {kept(4)})
    print(*inspect.signature(ops.test_zero_out).parameters)
    """
    status, out, err, _ = run_child(code, PKG_TRACE="calls")
    assert status == 0, err
    assert out == "True\nto_zero preserve_index name\n"
    assert ".test_zero_out -> " in err and "OpWrapper -> tf::TestZeroOut\n" in err


def test_errors_of_kernels_show_the_wrapper(ops: ModuleType) -> None:
    """Its own exception, at the line of the source that the module has."""
    with pytest.raises(ValueError, match="preserve_index out of range") as info:
        ops.test_zero_out(pkg.tensor(VALUES), 17)
    rows = traceback.extract_tb(info.value.__traceback__)
    (row,) = [row for row in rows if row.name == "test_zero_out"]
    assert row.filename == ops.__file__ and "_apply(" in (row.line or "")
    assert not info.value.__suppress_context__ and info.value.__context__ is None


def test_a_kernel_that_fails_has_run_once(compiled: Compile) -> None:
    """The function is told of the error, and does not call the op again."""
    calls: list[int] = []

    @pkg.library.custom_op("wrapper_calls::fails", mutates_args=())
    def fails(x: pkg.Tensor) -> pkg.Tensor:
        calls.append(1)
        raise KeyError("mine")

    given: list[Any] = []

    def function(x: Any, name: Any = None) -> Any:
        given.append(name)
        return "told"

    core = pkg._binding.core
    wrapper = core.OpWrapper(function, "wrapper_calls::fails", {"x": "x"})
    assert wrapper(pkg.ones(1)) == "told" and calls == [1]
    error = given.pop()  # its traceback leads back to the wrapper
    assert isinstance(error, KeyError) and error.args == ("mine",) and not given


def test_what_ends_the_program_is_no_error_of_the_call() -> None:
    """It is not handed to the function."""

    @pkg.library.custom_op("wrapper_calls::stops", mutates_args=())
    def stops(x: pkg.Tensor) -> pkg.Tensor:
        raise KeyboardInterrupt

    core = pkg._binding.core
    wrapper = core.OpWrapper(lambda x, name=None: 0, "wrapper_calls::stops", {"x": "x"})
    with pytest.raises(KeyboardInterrupt):
        wrapper(pkg.ones(1))


def test_several_results_have_their_names(ops: ModuleType) -> None:
    """The module's class of them, by the direct call as by the other."""
    digits = [pkg.tensor([float(i)]) for i in range(1, 7)]
    for made in (ops.test_names(*digits), ops.test_names(*digits, name="a")):
        assert type(made) is ops.TestNamesOutput and made.class__ is made[0]


def test_symbols_and_subclasses_go_through_the_function(ops: ModuleType) -> None:
    """A node of the graph with the op's name."""
    with pg.Graph().as_default() as graph, pg.Session() as session:
        x = pg.placeholder(pkg.float32, [2, 3])
        y = ops.test_zero_out(x, preserve_index=1)
        assert y.op.name == "TestZeroOut" and y.op.type == "TestZeroOut"
        assert graph.get_operations()[-1] is y.op
        assert session.run(y, {x: VALUES}).tolist() == kept(1)


def test_it_looks_like_its_function(ops: ModuleType) -> None:
    """To those who ask for signature, source, documentation and name."""
    f = ops.test_zero_out
    assert list(inspect.signature(f).parameters) == [
        "to_zero", "preserve_index", "name"
    ]  # fmt: skip
    assert inspect.getsource(f) in ops.__source__ and inspect.isroutine(f)
    assert f.__name__ == f.__qualname__ == "test_zero_out"
    assert f.__module__ == ops.__name__ and f.__doc__.startswith("Calls TestZeroOut.")
    assert "test_zero_out" in repr(f) and weakref.ref(f)() is f
    assert pickle.loads(pickle.dumps(f)) is copy.deepcopy(f) is copy.copy(f) is f

    class Holder:
        method = f

    with pytest.raises(TypeError, match="Tried to convert 'to_zero'"):
        Holder().method()
    assert Holder.method is f


def test_threads_with_keywords_of_their_own(ops: ModuleType) -> None:
    """Each gets what it asked for, of the wrapper and of the op itself."""
    raw = pkg.framework.raw_op("tf::TestZeroOut")
    x, wrong = pkg.tensor(VALUES), []
    start = threading.Barrier(4)

    def work(index: int) -> None:
        start.wait()
        for i in range(500):
            if i % 2:
                made = raw(to_zero=x, preserve_index=index)
            else:
                made = ops.test_zero_out(preserve_index=index, to_zero=x)
            if made.tolist() != kept(index):
                wrong.append(index)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


@pytest.mark.parametrize("rows", [1, 4, 5, 9])
def test_inputs_outlive_the_call(ops: ModuleType, rows: int) -> None:
    """Few and many, as they lie and turned round: the same tensors afterwards."""
    tensors = [pkg.tensor(VALUES).T if i % 2 else pkg.ones(3, 2) for i in range(rows)]
    watched = [weakref.ref(t) for t in tensors]
    values = [t.tolist() for t in tensors]
    for t in tensors:
        assert ops.test_zero_out(t, preserve_index=0).tolist()[0][0] == t.tolist()[0][0]
    assert [t.tolist() for t in tensors] == values
    del tensors, t
    assert [w() for w in watched] == [None] * rows


def test_the_declaration_has_to_fit() -> None:
    """A parameter for each argument of the op, once."""
    make = pkg._binding.core.OpWrapper
    for names in ({}, {"x": "y"}, {"x": "self", "y": "self"}):
        with pytest.raises(ValueError, match=r"\[OpWrapper\] expected"):
            make(int, "pkg::neg", names)
    with pytest.raises(LookupError):
        make(int, "pkg::no_such_op", {"x": "self"})
