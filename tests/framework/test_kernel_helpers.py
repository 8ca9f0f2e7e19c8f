# SPDX-License-Identifier: Apache-2.0
"""What kernels use beside contexts and tensors, by sources/helpers.cc."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

import numpy as np
import pytest

import pkg
import pkg.graph as pg
from interrupts import check_interrupted
from pkg.compat import v1 as compat


@pytest.fixture(scope="module")
def library(compiled: Callable[..., Path]) -> str:
    """That of sources/helpers.cc."""
    return str(compiled("helpers.cc", "-Wall", "-Wextra", "-Werror"))


@pytest.fixture
def ops(library: str) -> ModuleType:
    """Its wrappers."""
    return pkg.load_op_library(library)


@pytest.fixture
def graph_ops(library: str) -> ModuleType:
    """Those whose calls are operations of TensorFlow's graphs."""
    made: ModuleType = compat.load_op_library(library)
    return made


def test_kernels_of_resources(ops: ModuleType, graph_ops: ModuleType) -> None:
    """One is shared by name, and by no other kernel without one."""
    named = ops.helper_tally(shared_name="helpers", start=5)
    assert ops.helper_count(named, 2).item() == 7
    assert ops.helper_count(ops.helper_tally(shared_name="helpers", start=5), 1) == 8
    with pytest.raises(ValueError, match="began at 5, not at 6"):
        ops.helper_tally(shared_name="helpers", start=6)
    with pytest.raises(ValueError, match="start is -1"):
        ops.helper_tally(start=-1)
    with pytest.raises(ValueError, match="shared_name cannot start with '_'"):
        ops.helper_tally(shared_name="_x")
    with compat.Graph().as_default():
        tallies = [graph_ops.helper_tally(start=k) for k in (10, 10, 20)]
        counts = [graph_ops.helper_count(tally, 1) for tally in tallies]
        for _ in range(2):
            with compat.Session() as session:
                assert session.run(counts) == [11, 11, 21]
                assert session.run(counts[0]) == 12


def test_a_private_resource_that_is_refused(
    ops: ModuleType, graph_ops: ModuleType
) -> None:
    """Goes at once: nobody else could let it go."""
    before = ops.helper_tallies().item()
    with pytest.raises(ValueError, match="start is 13"):
        ops.helper_tally(start=13)
    with compat.Graph().as_default():
        tally = graph_ops.helper_tally(start=13)
        session = compat.Session()
        for _ in range(2):
            with pytest.raises(compat.errors.InvalidArgumentError, match="start is 13"):
                session.run(tally)
    assert ops.helper_tallies() == before


def test_loops_over_the_pool(ops: ModuleType) -> None:
    """Give every element once; an index that is wrong is found before."""
    x = pkg.arange(1000.0)
    places = pkg.arange(99_999, -1, -1, dtype=pkg.int32) % 1000
    got = ops.helper_take(x, places).numpy()
    assert np.array_equal(got, np.arange(99_999, -1, -1) % 1000)
    for wrong in (-1, 1000):
        with pytest.raises(
            IndexError, match=rf"i\[1\] = {wrong} is not in \[0, 1000\)"
        ):
            ops.helper_take(x, [0, wrong])


def test_out_of_range_in_a_session(graph_ops: ModuleType) -> None:
    """Is OutOfRangeError, and names the line of the caller, not the wrapper's."""
    with compat.Graph().as_default():
        y = graph_ops.helper_take([1.0], [1])
        with (
            compat.Session() as session,
            pytest.raises(
                compat.errors.OutOfRangeError,
                match=r"made by the line \S*test_kernel_helpers",
            ),
        ):
            session.run(y)


def test_out_of_range_in_a_choice(graph_ops: ModuleType) -> None:
    """Is the same class: what leads to the operation stands behind what it says."""
    with compat.Graph().as_default():
        x = compat.placeholder(compat.float32, [1])
        y = compat.cond(x[0] > 0, lambda: graph_ops.helper_take(x, [1]), lambda: x)
        with compat.Session() as session:
            assert session.run(y, {x: [-1.0]}).tolist() == [-1.0]
            with pytest.raises(compat.errors.OutOfRangeError, match="in operation "):
                session.run(y, {x: [1.0]})


@pytest.mark.parametrize(
    "dtype", "uint8 int8 int32 int64 float16 bfloat16 float32 float64".split()
)
def test_arithmetic_on_maps(ops: ModuleType, dtype: str) -> None:
    """Element by element, assignment included, and sums in the kernel's own type."""
    a, b = ([6, 8, 12], [1, 2, 3])
    x, y = (pkg.tensor(v).to(getattr(pkg, dtype)) for v in (a, b))
    got, total = ops.helper_arithmetic(x, y)
    assert got.dtype == total.dtype == x.dtype
    u, v = np.array(a), np.array(b)
    assert got.to(pkg.float64).tolist() == [
        list(map(float, row)) for row in (u, u + v, u - v, u * v, u // v)
    ]
    assert total.item() == 14
    with pytest.raises(
        ValueError, match=r"expected a map of the sizes of this one, \[3\]"
    ):
        ops.helper_arithmetic(x, y[:2])


@pytest.mark.parametrize("dtype", "uint8 int8 int32 int64".split())
def test_quotients_that_no_integer_is(ops: ModuleType, dtype: str) -> None:
    """By zero: an error; the most negative number over -1 wraps, as of the ops."""
    kind = getattr(pkg, dtype)
    x = pkg.tensor([4, 3]).to(kind)
    with pytest.raises(RuntimeError, match="ZeroDivisionError.* division by zero"):
        ops.helper_arithmetic(x, pkg.tensor([2, 0]).to(kind))
    if dtype != "uint8":
        least = int(np.iinfo(dtype).min)
        x = pkg.tensor([least, 5], dtype=kind)
        got, _ = ops.helper_arithmetic(x, pkg.tensor([-1, -1], dtype=kind))
        assert got[4].tolist() == [least, -5]


def test_interrupts_of_what_a_kernel_calls(library: str) -> None:
    """Come out as they are, and not as an error of the kernel."""
    code = f"""
    import pkg

    class Stop(Exception):
        pass

    def stop(*_):
        raise Stop

    ops = pkg.load_op_library({library!r})
    x = pkg.ones(1 << 23)
    for wanted in (KeyboardInterrupt, Stop):
        try:
            ops.helper_interrupted(x)
        except BaseException as error:
            assert type(error) is wanted, repr(error)
            print("stopped")
        else:
            print("went on")
        signal.signal(signal.SIGINT, stop)
    """
    check_interrupted(code, "stopped\nstopped\n")


def test_interrupts_of_a_loop(library: str) -> None:
    """Are KeyboardInterrupt, as they are elsewhere, and the next run is well."""
    code = f"""
    from pkg.compat import v1 as tf

    ops = tf.load_op_library({library!r})
    x = tf.placeholder(tf.float32, [None])
    y = ops.helper_slow(x)
    session = tf.Session()
    check("session", lambda: session.run(y, {{x: [-1.0]}}))
    assert session.run(y, {{x: [2.0]}}) == 2
    print("fine")
    """
    check_interrupted(code)


def test_an_op_of_namespaces(
    ops: ModuleType, graph_ops: ModuleType, tmp_path: Path
) -> None:
    """Has its whole name in graphs, files and gradients; words of it in Python."""
    name = "Helper>Inner>Twice"

    @pkg.RegisterGradient(name)
    def gradient(op, grad):
        assert op.type == name
        return grad * 2

    x = pkg.tensor([1.0, -3.0], requires_grad=True)
    ops.helper_inner_twice(x).sum().backward()
    assert x.grad is not None and x.grad.tolist() == [2, 2]
    with compat.Graph().as_default() as graph:
        given = compat.placeholder(compat.float32, [2], name="x")
        y = graph_ops.helper_inner_twice(given)
        assert y.op.type == y.op.name == name and y.shape.as_list() == [2]
        slope = compat.gradients(y, given)[0]
    pg.export_graph(graph, tmp_path)
    copy = pg.Graph()
    pg.import_graph(tmp_path, copy)
    with pg.Session(graph=copy) as session:
        got = session.run([y.name, slope.name], {"x:0": [1.0, 2.0]})
    assert [value.tolist() for value in got] == [[2, 4], [2, 2]]


@pytest.mark.parametrize("how", [0, 1])
def test_an_output_that_is_bound_to_another_tensor(
    ops: ModuleType, graph_ops: ModuleType, how: int
) -> None:
    """By CopyFrom() or assignment: its values are the result, wherever that lies."""
    small, large = pkg.tensor([1.0, 2.0, 3.0]), pkg.ones(2_000_000) * 2
    for x in (small, large):  # at once, and in the background
        y = ops.helper_rebound(x, how=how)
        assert pkg.equal(y, x)
        y.add_(1)
        assert x.max().item() in (2, 3)  # the input is what it was
    compiled = pkg.compile(lambda a: ops.helper_rebound(a * 2, how=how) + 1)
    assert compiled(small).tolist() == [3, 5, 7]
    with compat.Graph().as_default(), compat.Session() as session:
        x = compat.placeholder(compat.float32, [3])
        y = graph_ops.helper_rebound(x, how=how)
        assert session.run(y, {x: small}).tolist() == [1, 2, 3]


@pytest.mark.parametrize("how,text", [(2, "of type"), (3, "shape")])
def test_an_output_that_is_bound_to_what_it_cannot_be(
    ops: ModuleType, graph_ops: ModuleType, how: int, text: str
) -> None:
    """Another dtype is an error anywhere, another shape where results are planned."""
    with compat.Graph().as_default(), compat.Session() as session:
        x = compat.placeholder(compat.float32, [3])
        with pytest.raises(Exception, match=text):
            session.run(graph_ops.helper_rebound(x, how=how), {x: [1.0, 2.0, 3.0]})
    if how == 2:
        with pytest.raises(RuntimeError, match=text):
            ops.helper_rebound(pkg.ones(3), how=how)


def test_functions_that_were_written_for_another_version(ops: ModuleType) -> None:
    """Arguments go by name; where names, defaults or results differ by the function."""

    class Made(NamedTuple):
        y: object
        total: object

    def other_order(b: object, first: object, name: object = None) -> object:
        return "the function"

    direct = pkg.framework.direct
    wrapper = direct("tf::HelperArithmetic", Made, first="a")(other_order)
    a, b = pkg.tensor([5.0]), pkg.tensor([2.0])
    assert wrapper(b, a).y[2].tolist() == wrapper(first=a, b=b).y[2].tolist() == [3.0]
    assert wrapper(b, [5.0]) == "the function"

    def one_more(a: object, b: object, c: int = 1, name: object = None) -> None:
        """Another attribute."""

    def of_one(x: object, how: int = 0, name: object = None) -> None:
        """As it is."""

    def other_default(x: object, how: int = 1, name: object = None) -> None:
        """Another default."""

    assert direct("tf::HelperArithmetic", Made)(one_more) is one_more
    assert direct("tf::HelperArithmetic")(other_order) is other_order
    assert direct("tf::HelperRebound")(other_default) is other_default
    assert direct("tf::HelperRebound", Made)(of_one) is of_one
    assert direct("tf::HelperRebound")(of_one) is not of_one
    with pytest.raises(LookupError, match="tf::HelperNoSuch"):
        direct("tf::HelperNoSuch")(of_one)
