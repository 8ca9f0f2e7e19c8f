# SPDX-License-Identifier: Apache-2.0
"""Gradients that are registered for ops of libraries: in graphs and outside of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import pkg
import pkg.compat.v1 as tf
import pkg.graph as pg
from library_gradients import pair_grad, sums_grad
from pkg.framework import check_gradient
from pkg.graph import gradient_registry

Compile = Callable[..., Path]
VALUES = np.array([[1.0, -2.0, 3.0], [4.0, 5.0, -6.0]])


@pytest.fixture(scope="module")
def path(compiled: Compile) -> Path:
    """The library of sources/kernels.cc."""
    return compiled("kernels.cc")


@pytest.fixture
def ops(path: Path) -> ModuleType:
    """Its wrappers."""
    return pkg.load_op_library(path)


@pytest.fixture(autouse=True)
def registry(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Each test registers its own."""
    monkeypatch.setattr(gradient_registry, "_registered", {})
    yield


def zero_out_grad(op: Any, grad: Any) -> Any:
    """In pkg's functions, for symbols and tensors."""
    kept = op.get_attr("preserve_index")
    flat = grad.reshape([-1])
    mask = pkg.nn.functional.one_hot(pkg.tensor(kept), 6).to(grad.dtype)
    return (flat * mask).reshape([2, 3])


def zero_out_grad_tf(op: Any, grad: Any) -> list[Any]:
    """In TensorFlow's."""
    kept = op.get_attr("preserve_index")
    mask = tf.one_hot(kept, 6, dtype=grad.dtype)
    return [tf.reshape(tf.reshape(grad, [-1]) * mask, tf.shape(op.inputs[0]))]


def test_outside_of_graphs(ops: ModuleType) -> None:
    """The backward pass asks the registry, with attributes, inputs and outputs."""
    seen = []

    @pkg.RegisterGradient("TestZeroOut")
    def gradient(op: Any, grad: Any) -> Any:
        seen.append((op.type, op.name, len(op.inputs), op.outputs[0].tolist()[0]))
        assert op.get_attr("T") == pkg.float64
        return zero_out_grad(op, grad)

    x = pkg.tensor(VALUES, requires_grad=True)
    y = ops.test_zero_out(x, preserve_index=4)
    assert y.tolist() == [[0, 0, 0], [0, 5, 0]] and y.requires_grad
    (y * 3).sum().backward()
    assert x.grad.tolist() == [[0, 0, 0], [0, 3, 0]]
    assert seen == [("TestZeroOut", "TestZeroOut", 1, [0, 0, 0])]
    with pkg.no_grad():
        assert not ops.test_zero_out(x).requires_grad
    assert not ops.test_zero_out(x.detach()).requires_grad


def test_in_a_graph(ops: ModuleType) -> None:
    """One operation for the call; those of the gradient come with gradients()."""
    pkg.RegisterGradient("TestZeroOut")(zero_out_grad)
    with pg.Graph().as_default() as graph, pg.Session() as session:
        x = pg.placeholder(pkg.float32, [2, 3], "x")
        y = ops.test_zero_out(ops.test_zero_out(x * 2, 4), 4, name="outer")
        assert [op.type for op in graph.get_operations()] == [
            "Placeholder", "mul", "TestZeroOut", "TestZeroOut",
        ]  # fmt: skip
        (slope,) = pg.gradients(y.sum(), [x])
        value, grad = session.run([y, slope], {x: VALUES})
    assert value.tolist() == [[0, 0, 0], [0, 10, 0]]
    assert grad.tolist() == [[0, 0, 0], [0, 2, 0]]


def test_several_outputs_and_lists(ops: ModuleType) -> None:
    """A gradient for each output and each input; what is not used gives zeros."""
    pkg.RegisterGradient("TestPair")(pair_grad)
    pkg.RegisterGradient("TestSums")(sums_grad)
    b = pkg.tensor(VALUES + 1)

    def of_both(a: Any) -> Any:
        pair = ops.test_pair(a, b)
        return pair.product * 2 + pair.total

    assert check_gradient(of_both, VALUES) < 1e-6
    assert check_gradient(lambda a: ops.test_pair(b, a).total, VALUES) < 1e-6
    assert check_gradient(lambda a: ops.test_pair(a, a).product, VALUES) < 1e-6

    def of_list(a: Any) -> Any:
        first, second, third = ops.test_sums([a, a * 2, b])
        return first * 3 + third

    assert check_gradient(of_list, VALUES) < 1e-6
    with pg.Graph().as_default(), pg.Session() as session:
        x = pg.placeholder(pkg.float64, [2, 3])
        (slope,) = pg.gradients(of_list(x), [x])
        assert session.run(slope, {x: VALUES}).tolist() == [[6.0] * 3] * 2


@pytest.mark.parametrize("register", [pkg.RegisterGradient, tf.RegisterGradient])
def test_an_output_of_integers(ops: ModuleType, path: Path, register: Any) -> None:
    """Its gradient is zeros of its dtype and shape, in graphs and outside of them."""
    came = []

    @register("TestTop")
    def gradient(op: Any, grad: Any, of_place: Any) -> Any:
        alike = of_place.shape == op.outputs[1].shape
        came.append((of_place.dtype == pkg.int32, alike))
        return op.inputs[0] * 0.0 + grad  # as if it were the sum

    x = pkg.tensor([1.0, 5.0, 2.0], requires_grad=True)
    made = ops.test_top(x)
    assert made.place.tolist() == [1] and not made.place.requires_grad
    (made.value * 3).sum().backward()
    assert x.grad.tolist() == [3, 3, 3]
    if register is pkg.RegisterGradient:
        with pg.Graph().as_default(), pg.Session() as session:
            y: Any = pg.placeholder(pkg.float32, [3])
            (slope,) = pg.gradients(ops.test_top(y).value, [y])
            got = session.run(slope, {y: [1.0, 5.0, 2.0]})
    else:
        with tf.Graph().as_default(), tf.Session() as session:
            y = tf.placeholder(tf.float32, [3])
            (slope,) = tf.gradients(tf.load_op_library(path).test_top(y).value, y)
            got = session.run(slope, {y: [1.0, 5.0, 2.0]})
    assert got.tolist() == [1, 1, 1]
    assert [dtype for dtype, _ in came] == [True, True] and came[0][1]


def test_a_weight_among_the_inputs(ops: ModuleType) -> None:
    """A tensor with values is read at each run, and is an input for the gradient."""
    pkg.RegisterGradient("TestPair")(pair_grad)
    weight = pkg.ones(2)
    with pg.Graph().as_default(), pg.Session() as session:
        x = pg.placeholder(pkg.float32, [2])
        y = ops.test_pair(x, weight).product
        (slope,) = pg.gradients(y, [x])
        assert session.run(slope, {x: [1.0, 2.0]}).tolist() == [1, 1]
        weight.mul_(3)
        assert session.run(slope, {x: [1.0, 2.0]}).tolist() == [3, 3]


def test_in_tensorflows_words(path: Path) -> None:
    """The same function serves graphs and the backward pass outside of them."""
    tf.RegisterGradient("TestZeroOut")(zero_out_grad_tf)
    module = tf.load_op_library(path)
    with tf.Graph().as_default(), tf.Session():
        for shape in ([6], [2, 3]):
            x = tf.placeholder(tf.float32, shape)
            y = module.test_zero_out(x, 4)
            error = tf.test.compute_gradient_error(x, shape, y, shape)
            assert error < 1e-4, error.report
        assert module.test_zero_out([5, 4, 3, 2, 1]).eval().tolist() == [5, 0, 0, 0, 0]
    x = pkg.tensor(VALUES, requires_grad=True)
    pkg.load_op_library(path).test_zero_out(x, 4).sum().backward()
    assert x.grad.tolist() == [[0, 0, 0], [0, 1, 0]]


def test_a_wrong_gradient_is_found(path: Path) -> None:
    """The error is large, and its report says where."""
    tf.RegisterGradient("TestZeroOut")(lambda op, grad: grad * 2)
    module = tf.load_op_library(path)
    with tf.Graph().as_default(), tf.Session():
        x = tf.placeholder(tf.float64, [2, 3])
        y = module.test_zero_out(x, 4)
        error = tf.test.compute_gradient_error(
            x, [2, 3], y, [2, 3], x_init_value=VALUES, delta=1e-2
        )
    assert abs(error - 2) < 1e-9 and error.x_index == error.y_index == (0, 0)
    assert "element (0, 0) of the input it says 2, differences say 0" in error.report
    wrong = check_gradient(lambda x: pkg.load_op_library(path).test_zero_out(x), VALUES)
    assert wrong > 0.1 and wrong.x_index == (0, 1)


def test_lists_and_other_values_for_compute_gradient(path: Path) -> None:
    """A pair of matrices for each tensor; what else is fed; a default session."""
    tf.RegisterGradient("TestPair")(pair_grad)
    module = tf.load_op_library(path)
    with tf.Graph().as_default():
        x, y = tf.placeholder(tf.float64, [2]), tf.placeholder(tf.float64, [2])
        z = tf.placeholder(tf.float64, [])
        out = module.test_pair(x, y).product * z
        arguments = ([x, y], [[2], [2]], out, [2], [[1.0, 2.0], [3.0, 4.0]])
        with pytest.raises(ValueError, match="expected a default session"):
            tf.test.compute_gradient(*arguments)
        with tf.Session():
            (of_x, _), (of_y, numeric) = tf.test.compute_gradient(
                *arguments, extra_feed_dict={z: 2.0}
            )
            error = tf.test.compute_gradient_error(*arguments, extra_feed_dict={z: 2.0})
    assert of_x.tolist() == [[6, 0], [0, 8]] and of_y.tolist() == [[2, 0], [0, 4]]
    assert np.allclose(numeric, of_y) and error < 1e-8


def test_overrides(path: Path) -> None:
    """The graph's map says which gradient; one that is not there is named."""
    tf.RegisterGradient("TestZeroOut")(zero_out_grad_tf)
    tf.RegisterGradient("Tripled")(lambda op, grad: grad * 3)
    module = tf.load_op_library(path)
    with tf.Graph().as_default() as graph, tf.Session() as session:
        x = tf.placeholder(tf.float32, [6])
        plain = module.test_zero_out(x)
        with graph.gradient_override_map({"TestZeroOut": "Tripled"}):
            tripled = module.test_zero_out(x)
        with graph.gradient_override_map({"TestZeroOut": "Nowhere"}):
            missing = module.test_zero_out(x, name="z")
        slopes = tf.gradients(plain, x) + tf.gradients(tripled, x)
        got = session.run(slopes, {x: np.ones(6)})
        text = (
            r"No gradient defined for operation 'z' \(op type: TestZeroOut\): gradient "
            "registry has no entry for: Nowhere"
        )
        with pytest.raises(LookupError, match=text):
            tf.gradients(missing, x)
    assert got[0].tolist() == [1, 0, 0, 0, 0, 0] and got[1].tolist() == [3] * 6


def test_a_name_that_is_taken() -> None:
    """Both places are named; the first counts."""
    pkg.RegisterGradient("TestTaken")(zero_out_grad)
    line = zero_out_grad.__code__.co_firstlineno
    for register in (pkg.RegisterGradient, tf.RegisterGradient):
        with pytest.raises(KeyError, match=f"two gradient.*gradients.py:{line}.*this"):
            register("TestTaken")(pair_grad)
    with pytest.raises(KeyError, match="NotDifferentiable"):
        pkg.NotDifferentiable("TestTaken")
    with pytest.raises(TypeError, match="must be a string"):
        pkg.RegisterGradient(3)
    assert gradient_registry.is_registered("TestTaken")


def test_missing_gradients(ops: ModuleType) -> None:
    """A LookupError where one is wanted, and only there."""
    x = pkg.tensor(VALUES, requires_grad=True)
    y = ops.test_zero_out(x)
    with pytest.raises(LookupError, match=r"'TestZeroOut' \(op type: TestZeroOut\)"):
        y.sum().backward()
    with pg.Graph().as_default():
        a = pg.placeholder(pkg.float32, [2, 3])
        z = ops.test_zero_out(a, name="z")
        with pytest.raises(LookupError, match=r"'z' \(op type: TestZeroOut\)"):
            pg.gradients(z, [a])
        b = pg.placeholder(pkg.float32, [2, 3])
        slopes = pg.gradients([z + b], [b])  # no way to b leads through it
        assert slopes[0] is not None


@pytest.mark.parametrize("declare", [pkg.NotDifferentiable, pkg.NoGradient])
def test_not_differentiable(ops: ModuleType, declare: Callable[[str], None]) -> None:
    """Nothing flows, in graphs and outside."""
    declare("TestZeroOut")
    x = pkg.tensor(VALUES, requires_grad=True)
    (ops.test_zero_out(x).sum() + x.sum()).backward()
    assert x.grad.tolist() == [[1] * 3] * 2
    with pg.Graph().as_default():
        a = pg.placeholder(pkg.float32, [2, 3])
        assert pg.gradients(ops.test_zero_out(a), [a]) == [None]


def test_what_a_gradient_function_may_not_give(ops: ModuleType) -> None:
    """Another number, other shapes and dtypes, and no tensor."""
    made: list[Any] = []
    pkg.RegisterGradient("TestPair")(lambda op, *grads: made[0](*grads))
    x = pkg.tensor(VALUES, requires_grad=True)
    for wrong, kind, text in [
        (lambda p, t: p, ValueError, "expected 2 gradients.*got 1"),
        (lambda p, t: (p, t, t), ValueError, "expected 2 gradients.*got 3"),
        (lambda p, t: (p.sum(), t), ValueError, r"shape \(2, 3\) for input 0"),
        (lambda p, t: (p.to(pkg.float32), t), ValueError, "float64 .* got float32"),
        (lambda p, t: (1.0, t), TypeError, "expected a tensor .* input 0, got float"),
    ]:
        made[:] = [wrong]
        with pytest.raises(kind, match=text):
            ops.test_pair(x, x).total.sum().backward()
    made[:] = [lambda p, t: p]
    with pg.Graph().as_default():
        a = pg.placeholder(pkg.float32, [2])
        with pytest.raises(ValueError, match="expected 2 gradients"):
            pg.gradients(ops.test_pair(a, a).total, [a])


def test_second_derivatives(ops: ModuleType) -> None:
    """The function's own calls are recorded."""
    pkg.RegisterGradient("TestPair")(pair_grad)
    x = pkg.tensor([2.0], requires_grad=True)
    y = ops.test_pair(x, x).product
    (slope,) = pkg.autograd.grad(y.sum(), [x], create_graph=True)
    (again,) = pkg.autograd.grad((slope * slope).sum(), [x])
    assert slope.tolist() == [4] and again.tolist() == [16]


def test_exported_graphs_keep_their_gradients(ops: ModuleType, tmp_path: Path) -> None:
    """The registry is asked by the type, which the file has."""
    pkg.RegisterGradient("TestZeroOut")(zero_out_grad)
    with pg.Graph().as_default() as graph:
        x = pg.placeholder(pkg.float32, [2, 3], "x")
        ops.test_zero_out(x, 4, name="y")
        pg.export_graph(graph, tmp_path)
    with pg.Graph().as_default() as graph, pg.Session() as session:
        pg.import_graph(tmp_path)
        y, x = (graph.get_tensor_by_name(f"{name}:0") for name in "yx")
        assert y.op.type == "TestZeroOut" and y.op.get_attr("preserve_index") == 4
        (slope,) = pg.gradients(y, [x])
        assert session.run(slope, {x: VALUES}).tolist() == [[0, 0, 0], [0, 1, 0]]


def test_errors_of_kernels(ops: ModuleType, path: Path) -> None:
    """Those of the attributes and of the values, in all three ways to call."""
    x = pkg.tensor(VALUES)
    with pytest.raises(ValueError, match="Need preserve_index >= 0, got -1"):
        ops.test_zero_out(x, preserve_index=-1)
    with pytest.raises(ValueError, match="preserve_index out of range"):
        ops.test_zero_out(x, preserve_index=6)
    module = tf.load_op_library(path)
    with tf.Graph().as_default(), tf.Session() as session:
        y = module.test_zero_out([1.0, 2.0], 2)
        with pytest.raises(tf.errors.InvalidArgumentError, match="out of range"):
            session.run(y)
        assert session.run(module.test_zero_out([1.0, 2.0])).tolist() == [1, 0]


def test_no_outputs(ops: ModuleType) -> None:
    """None outside of graphs; an operation that can be run in one."""
    assert ops.test_sink(1.0) is None
    with pg.Graph().as_default(), pg.Session() as session:
        op = ops.test_sink(pg.placeholder(pkg.float32, [], default=1.0))
        assert op.type == "TestSink" and session.run(op) is None


def test_a_wrapper_costs_little_more_than_its_op(ops: ModuleType) -> None:
    """The direct call: no function of Python's is entered, not even the wrapper's."""
    import sys

    x, entered = pkg.tensor(VALUES), []
    sys.setprofile(lambda frame, event, _: entered.append(frame.f_code.co_name)
                   if event == "call" else None)  # fmt: skip
    try:
        ops.test_zero_out(x)
        ops.test_zero_out(x, preserve_index=1)
        ops.test_zero_out(to_zero=x, name=None)
    finally:
        sys.setprofile(None)
    assert entered == []
