# SPDX-License-Identifier: Apache-2.0
"""Checkpoints: what is computed again in backward."""


import numpy as np
import pytest

import pkg
from functions import f64, leaf


def test_checkpoint_recomputes_with_the_same_random_numbers():
    """Less is kept, gradients are the same, dropout included."""
    weight = pkg.randn(64, 64, dtype=f64, requires_grad=True)

    def part(t):
        return pkg.dropout((t @ weight).tanh(), 0.5, True) * 2

    x = pkg.randn(8, 64, dtype=f64, requires_grad=True)
    grads = []
    for run in (part, lambda t: pkg.autograd.checkpoint(part, t)):
        pkg.manual_seed(3)
        x.grad = weight.grad = None
        y = run(x)
        after = pkg.rand(1).item()
        y.sum().backward()
        grads.append((x.grad.numpy().copy(), weight.grad.numpy().copy(), after))
    for ours, want in zip(*grads):
        np.testing.assert_array_equal(ours, want)


def cube_of(weight, times=1.0):
    """A checkpointed cube of a closed-over weight."""
    zero = leaf(0.0).detach()
    return pkg.autograd.checkpoint(lambda t, k: (t * k + weight) ** 3, zero, k=times)


def test_checkpoint_reaches_closed_over_weights():
    """No argument requires grad; backward and grad, which writes no .grad."""
    weight = leaf(3.0)
    cube_of(weight).sum().backward()
    assert weight.grad.item() == 27.0
    weight.grad = None
    (got,) = pkg.autograd.grad(cube_of(weight).sum(), weight)
    assert got.item() == 27.0 and weight.grad is None
    assert not cube_of(weight.detach()).requires_grad
    with pkg.no_grad():
        assert not cube_of(weight).requires_grad


@pytest.mark.parametrize("closed", [False, True])
def test_checkpoint_can_be_differentiated_twice(closed):
    """d(3x^2 + x)/dx at 3; and through what came before the checkpoint."""
    x = leaf(3.0)
    start = x * 1.0
    if closed:
        y = cube_of(x)
    else:
        y = pkg.autograd.checkpoint(lambda t: t ** 3, start)
    (g,) = pkg.autograd.grad(y.sum(), x, create_graph=True)
    assert g.item() == 27.0
    (g + x).sum().backward()
    assert x.grad.item() == 19.0


def test_checkpoints_in_a_chain_differentiate_once_each():
    """The pass inside one checkpoint does not go on into those before it."""
    calls = []

    def part(t):
        calls.append(1)
        return t.sin()

    x = leaf(0.5)
    y, want = x, x
    for _ in range(6):
        y, want = pkg.autograd.checkpoint(part, y), want.sin()
    (g,) = pkg.autograd.grad(y.sum(), x, create_graph=True)
    assert len(calls) == 12
    (h,) = pkg.autograd.grad(want.sum(), x, create_graph=True)
    (gg,), (hh,) = pkg.autograd.grad(g.sum(), x), pkg.autograd.grad(h.sum(), x)
    assert abs(g.item() - h.item()) < 1e-12 and abs(gg.item() - hh.item()) < 1e-12


def test_checkpoint_refuses_what_it_cannot_reach():
    """A closed-over tensor with a history is named, not silently cut off."""
    x = leaf(2.0)
    made = x * 2.0
    with pytest.raises(RuntimeError, match="made by MulBackward.*as an argument"):
        pkg.autograd.checkpoint(lambda t: t * made, x)


def test_checkpoint_keeps_the_form_of_the_result():
    """Lists, outputs without gradient, and outputs nobody used."""
    x = leaf(1.0, 4.0)
    a, b, n = pkg.autograd.checkpoint(lambda t: [t * 2, t.sqrt(), t.argmax()], x)
    assert n.item() == 1 and not n.requires_grad
    b.sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), [0.5, 0.25])
    assert a.requires_grad
