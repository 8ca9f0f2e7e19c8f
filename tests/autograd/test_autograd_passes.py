# SPDX-License-Identifier: Apache-2.0
"""Backward passes: nested, on threads, to chosen inputs; the graph as an export."""

import copy
import json
import threading

import numpy as np
import pytest

import pkg
from functions import Cube, Exp, f64, leaf
from pkg.autograd import Function


def test_functional_derivatives_against_closed_forms():
    """vjp, jvp, jacobian, hessian, hvp of functions whose derivatives are known."""
    ag = pkg.autograd
    x = pkg.tensor([1.0, 2.0, 3.0], dtype=f64)
    v = pkg.tensor([1.0, 0.5, -1.0], dtype=f64)
    value, product = ag.vjp(lambda t: t * t, x, v)
    assert value.tolist() == [1.0, 4.0, 9.0] and product.tolist() == [2.0, 2.0, -6.0]
    assert not product.requires_grad
    _, product = ag.jvp(lambda t: t * t, x, v)
    assert product.tolist() == [2.0, 2.0, -6.0]
    jac = ag.jacobian(lambda t: t.exp(), x).numpy()
    np.testing.assert_allclose(jac, np.diag(np.exp([1.0, 2.0, 3.0])))
    a, b = pkg.tensor([2.0], dtype=f64), pkg.tensor([3.0], dtype=f64)
    (da, db) = ag.jacobian(lambda p, q: p * q, (a, b))
    assert da.item() == 3.0 and db.item() == 2.0
    hess = ag.hessian(lambda t: (t * t * t).sum(), x).numpy()
    np.testing.assert_allclose(hess, np.diag([6.0, 12.0, 18.0]))
    (haa, hab), (hba, hbb) = ag.hessian(lambda p, q: (p * p * q).sum(), (a, b))
    assert [t.item() for t in (haa, hab, hba, hbb)] == [6.0, 4.0, 4.0, 0.0]
    _, product = ag.hvp(lambda t: (t * t * t).sum(), x, v)
    np.testing.assert_allclose(product.numpy(), [6.0, 6.0, -18.0])
    with pytest.raises(RuntimeError, match="independent"):
        ag.vjp(lambda t: pkg.ones(1), x, pkg.ones(1), strict=True)
    with pytest.raises(RuntimeError, match="expected v of shapes"):
        ag.vjp(lambda t: t * t, x, v[:2])


def test_gradcheck_finds_wrong_gradients():
    """A factor of two in backward, and inputs it cannot judge."""

    class Bad(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, grad):
            return grad * 2

    with pytest.raises(pkg.autograd.GradcheckError, match="Jacobian mismatch"):
        pkg.autograd.gradcheck(Bad.apply, leaf(1.0))
    assert not pkg.autograd.gradcheck(Bad.apply, leaf(1.0), raise_exception=False)
    with pytest.raises(ValueError, match="float64"):
        pkg.autograd.gradcheck(Bad.apply, pkg.ones(1, requires_grad=True))
    with pytest.raises(ValueError, match="require gradient"):
        pkg.autograd.gradcheck(Bad.apply, pkg.ones(1, dtype=f64))


def test_backward_inside_backward_and_from_threads():
    """Reentrant and concurrent passes are exact."""

    class Inner(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, grad):
            with pkg.enable_grad():
                t = ctx.saved_tensors[0].detach().requires_grad_()
                (t * t).sum().backward()
            return grad * t.grad

    x = leaf(3.0)
    Inner.apply(x).backward()
    assert x.grad.item() == 6.0
    shared = leaf(*[1.0] * 100)
    trunk = shared * 2
    errors = []

    def work():
        try:
            for _ in range(50):
                (trunk * 3).sum().backward(retain_graph=True)
        except BaseException as error:  # noqa: BLE001
            errors.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not errors and shared.grad.tolist() == [6.0 * 200] * 100


def test_an_exception_leaves_other_leaves_alone():
    """The node that fails runs before the leaf would be reached."""
    x, w = leaf(1.0), leaf(1.0)
    y = x * 2

    def fail(grad):
        raise ValueError("stop")

    handle = y.register_hook(fail)
    with pytest.raises(ValueError, match="stop"):
        (y * w).backward(retain_graph=True)
    assert x.grad is None
    handle.remove()
    (x * w).backward()
    assert x.grad.item() == 1.0


def test_graph_export(tmp_path):
    """Nodes, shapes, memory and lines, as DOT, JSON and HTML."""
    x = pkg.ones(100, 100, requires_grad=True)
    y = (x * x).tanh().sum()
    found = pkg.autograd.graph(y)
    names = [n.name for n in found.nodes]
    assert names == ["SumBackward", "TanhBackward", "MulBackward", "AccumulateGrad"]
    mul = found.nodes[2]
    assert mul.op == "pkg::mul" and mul.shapes == [(100, 100), (100, 100)]
    assert mul.inputs == [3, 3] and "test_autograd_passes.py" in mul.call_site
    assert found.saved_bytes == 2 * 40000  # x once, the result of tanh
    assert [n.name for n in found.holders()] == ["TanhBackward", "MulBackward"]
    for suffix, sign in ((".dot", "digraph"), (".json", "["), (".html", "<!doctype")):
        path = tmp_path / f"graph{suffix}"
        found.save(path)
        assert path.read_text().startswith(sign)
    assert len(json.loads(found.to_json())) == 4
    with pytest.raises(ValueError, match=".dot, .json or .html"):
        found.save(tmp_path / "graph.png")
    with pytest.raises(RuntimeError, match="grad_fn"):
        pkg.autograd.graph(pkg.ones(1))


def test_the_export_shows_what_functions_save():
    """Inputs and outputs, once each, until the graph is freed."""
    x = leaf(1.0, 2.0)
    for made in (Cube.apply(x), Exp.apply(x)):
        (node,) = [n for n in pkg.autograd.graph(made).nodes if n.saved]
        assert node.saved[0][0] == "saved_tensors[0]" and node.saved_bytes == 16
        made.sum().backward()
        assert made.grad_fn.saved == []


def test_backward_to_chosen_inputs_and_zeros_for_unused_ones():
    """backward(inputs=), materialize_grads, vhp."""
    a, b = leaf(2.0), leaf(3.0)
    for want in (3.0, 6.0):
        pkg.autograd.backward((a * b).sum(), inputs=a)
        assert a.grad.item() == want and b.grad is None
    with pytest.raises(RuntimeError, match="cannot be empty"):
        pkg.autograd.backward(a * b, inputs=())
    got = pkg.autograd.grad(a * 2, (a, b), materialize_grads=True)
    assert [g.item() for g in got] == [2.0, 0.0]
    with pytest.raises(ValueError, match="allow_unused"):
        pkg.autograd.grad(a * 2, (a, b), allow_unused=False, materialize_grads=True)
    _, product = pkg.autograd.vhp(lambda t: (t ** 3).sum(), leaf(1.0, 2.0),
                                  leaf(1.0, 1.0).detach())  # fmt: skip
    assert product.tolist() == [6.0, 12.0]


def test_leaves_are_guarded():
    """requires_grad of a non-leaf, .grad that is wrong, copies."""
    x = leaf(1.0, 2.0)
    y = x * 2
    with pytest.raises(RuntimeError, match="flags of leaf variables"):
        y.requires_grad = False
    with pytest.raises(RuntimeError, match="as its own grad"):
        x.grad = x
    for wrong in (pkg.ones(3, dtype=f64), pkg.ones(2, dtype=pkg.float32)):
        with pytest.raises(RuntimeError, match="different size or type"):
            x.grad = wrong
    with pytest.raises(RuntimeError, match="graph leaves"):
        copy.deepcopy(y)
    y.sum().backward()
    twin = copy.deepcopy(x)
    assert twin.requires_grad and twin.grad.tolist() == [2.0, 2.0]
    assert twin.grad is not x.grad


def test_nodes_are_named_in_camel_case():
    """As PyTorch names them."""
    x = leaf(1.0, 2.0)
    assert (x.reshape(1, 2).log_softmax(-1)).grad_fn.name() == "LogSoftmaxBackward"
