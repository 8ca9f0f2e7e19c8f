# SPDX-License-Identifier: Apache-2.0
"""C++ in PyTorch's style: the examples' values, shapes, errors and gradients."""

from __future__ import annotations

import numpy as np
import pytest

import pkg
from pkg.library import OpCheckError, opcheck


def pair(shape=(4, 3), dtype=pkg.float64, requires_grad=False):
    """Two random tensors."""
    return tuple(
        pkg.randn(shape, dtype=dtype, requires_grad=requires_grad) for _ in range(2)
    )


@pytest.fixture(params=["muladd", "plain"])
def op(request, muladd):
    """a * b + c with a gradient written in C++, and with one written in Python."""
    return getattr(pkg.ops.muladd, request.param)


@pytest.mark.parametrize("dtype", [pkg.float32, pkg.float64])
@pytest.mark.parametrize("c", [1, 2.5])
def test_values(op, dtype, c):
    a, b = pair(dtype=dtype)
    expected = a.numpy() * b.numpy() + np.asarray(c, a.numpy().dtype)
    np.testing.assert_allclose(op(a, b, c).numpy(), expected, rtol=1e-6)
    transposed = op(a.t(), b.t(), c)
    np.testing.assert_allclose(transposed.numpy(), expected.T, rtol=1e-6)


def test_large_tensors_are_computed_when_they_are_wanted(op):
    a, b = pair((1200, 1000), pkg.float32)
    chain = op(op(a, b, 1.0), b, -1.0) * 2
    expected = ((a.numpy() * b.numpy() + 1) * b.numpy() - 1) * 2
    np.testing.assert_allclose(chain.numpy(), expected, rtol=1e-5, atol=1e-5)


def test_shapes_are_known_without_data(op):
    a, b = (t.to("meta") for t in pair())
    assert op(a, b, 1).shape == (4, 3) and op(a, b, 1).device.type == "meta"
    with pytest.raises(RuntimeError, match="one shape|expected .* twice"):
        op(a, pkg.empty(2, dtype=pkg.float64, device="meta"), 1)


def test_gradients(op):
    a, b = pair(requires_grad=True)
    assert pkg.autograd.gradcheck(lambda a, b: op(a, b, 2.0), (a, b))
    assert pkg.autograd.gradcheck(lambda a: op(a, b.detach(), 2.0), (a,))
    op(a, b, 1).sum().backward()
    pkg.testing.assert_close(a.grad, b.detach())
    with pkg.no_grad():
        assert op(a, b, 1).grad_fn is None


def test_saved_tensors_are_watched(op):
    a, b = pair(requires_grad=True)
    left = a * 1
    loss = op(left, b, 1).sum()
    left.detach().add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.backward()


def test_compiled_and_in_a_graph(op):
    a, b = pair(dtype=pkg.float32)
    run = pkg.compile(lambda a, b: op(a * 2, b, 1.0).exp())
    pkg.testing.assert_close(run(a, b), op(a * 2, b, 1.0).exp())
    graph = pkg.graph.Graph()
    with graph.as_default():
        x = pkg.graph.placeholder(pkg.float32, (None, 3), name="x")
        y = op(x, x, 1.0)
        (dx,) = pkg.graph.gradients(y.sum(), [x])
        with pkg.graph.Session(graph=graph) as session:
            value, grad = session.run([y, dx], {x: a})
    assert y.shape.as_list() == [None, 3]
    types = [operation.type for operation in graph.get_operations()]
    assert types.count(f"muladd::{op.__name__}") == 1, "one call is one node"
    pkg.testing.assert_close(value, a * a + 1)
    pkg.testing.assert_close(grad, 2 * a)


def test_opcheck_passes(op):
    for grad in (True, False):
        outcome = opcheck(op.default, (*pair(requires_grad=grad), 1.5))
        assert set(outcome.values()) == {"SUCCESS"} and len(outcome) == 5


def test_errors_name_condition_and_place(op):
    a, b = pair()
    with pytest.raises(
        RuntimeError, match=r"a.scalar_type.* b.scalar_type.*muladd.cc:\d"
    ):
        op(a, b.float(), 1)
    with pytest.raises(RuntimeError, match=r"one shape, got \[4, 3\] and \[2\]"):
        op(a, pkg.ones(2, dtype=pkg.float64), 1)
    with pytest.raises(TypeError, match="must be|expected"):
        op(a, b, "c")
    with pytest.raises(RuntimeError, match="is_floating_point"):
        op(pkg.arange(3), pkg.arange(3), 1)


def test_written_arguments(muladd):
    out_op = pkg.ops.muladd.out
    a, b = pair()
    out = pkg.zeros(4, 3, dtype=pkg.float64)
    version = out._version
    assert out_op(a, b, 1, out) is None
    pkg.testing.assert_close(out, a * b + 1)
    assert out._version > version
    assert set(opcheck(out_op, (a, b, 1.0, out)).values()) == {"SUCCESS"}
    with pytest.raises(
        OpCheckError, match="argument 'a' is not defined as mutable"
    ):
        opcheck(out_op, (a, b, 1.0, a))
    with pytest.raises(NotImplementedError, match="register_autograd"):
        out_op(a.requires_grad_(), b, 1, out)
    with pytest.raises(RuntimeError, match="more than one element"):
        out_op(a.detach(), b, 1, pkg.zeros(1, dtype=pkg.float64).expand(4, 3))


def test_gated_cell(cell):
    made = {"dtype": pkg.float64, "requires_grad": True}
    x, h = pkg.randn(3, 5, **made), pkg.randn(3, 4, **made)
    weights = [pkg.randn(4, 9, **made), pkg.randn(1, 4, **made)] * 2

    def reference(x, h, gate_weight, gate_bias, new_weight, new_bias):
        gate = pkg.sigmoid(pkg.cat([h, x], 1) @ gate_weight.t() + gate_bias)
        fresh = pkg.tanh(pkg.cat([gate * h, x], 1) @ new_weight.t() + new_bias)
        return (1 - gate) * h + gate * fresh

    class Cell(pkg.autograd.Function):
        @staticmethod
        def forward(ctx, x, h, gate_weight, gate_bias, new_weight, new_bias):
            result, *rest = cell.forward.default(
                x, h, gate_weight, gate_bias, new_weight, new_bias
            )
            ctx.save_for_backward(h, *rest, gate_weight, new_weight)
            return result

        @staticmethod
        def backward(ctx, grad):
            return tuple(cell.backward(grad, *ctx.saved_tensors))

    expected = reference(x, h, *weights)
    pkg.testing.assert_close(Cell.apply(x, h, *weights), expected)
    inputs = (x, h, *(w.detach().clone().requires_grad_() for w in weights))
    assert pkg.autograd.gradcheck(Cell.apply, inputs, atol=1e-4)


@pytest.mark.parametrize("threads", [4])
def test_calls_of_several_threads(op, threads):
    from concurrent.futures import ThreadPoolExecutor

    def work(seed):
        a, b = pair(requires_grad=True)
        op(a, b, seed).sum().backward()
        return (a.grad - b.detach()).abs().max().item()

    with ThreadPoolExecutor(threads) as pool:
        assert set(pool.map(work, range(100))) == {0.0}
