# SPDX-License-Identifier: Apache-2.0
"""Gradients in one pass are those of the formulas that can be differentiated again."""

import numpy as np
import pytest

import pkg
from pkg.nn import functional as F

RNG = np.random.default_rng(5)
FUNCTIONS = {
    "tanh": pkg.tanh,
    "sigmoid": pkg.sigmoid,
    "silu": F.silu,
    "mish": F.mish,
    "gelu": F.gelu,
    "gelu by tanh": lambda x: F.gelu(x, approximate="tanh"),
    "softplus": F.softplus,
    "softplus of numbers": lambda x: F.softplus(x, beta=2.5, threshold=3),
    "logsigmoid": F.logsigmoid,
    "elu": lambda x: F.elu(x, 0.7),
    "selu": F.selu,
    "celu": lambda x: F.celu(x, 1.5),
    "relu": F.relu,
    "relu6": F.relu6,
    "hardtanh": lambda x: F.hardtanh(x, -0.5, 1.25),
    "hardsigmoid": F.hardsigmoid,
    "hardswish": F.hardswish,
    "leaky_relu": lambda x: F.leaky_relu(x, 0.2),
    "threshold": lambda x: F.threshold(x, 0.3, 7.0),
    "prelu": lambda x: F.prelu(x, pkg.tensor([0.2], dtype=x.dtype)),
}
LAYOUTS = {
    "dense": lambda x: x,
    "transposed": lambda x: x.t(),
    "sliced": lambda x: x[:, ::2],
    "repeated": lambda x: x[:1].expand(x.shape),
}
TOLERANCE = {"float16": 2e-3, "bfloat16": 1.6e-2, "float32": 2e-6, "float64": 1e-14}


def numbers(sizes, dtype):
    values = RNG.standard_normal(sizes) * 4
    values.flat[::7] = RNG.choice([0, -0.0, 0.3, -0.5, 1.25, 3, -3, 6, 30, -30])
    return pkg.tensor(values).to(getattr(pkg, dtype))


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_both_gradients_agree(name, dtype):
    for sizes in ((1, 1), (3, 5), (16, 16), (17, 61), (40, 70)):
        for layout in LAYOUTS.values():
            x = layout(numbers(sizes, dtype)).detach().requires_grad_()
            y = FUNCTIONS[name](x)
            g = layout(numbers(sizes, dtype))
            (once,) = pkg.autograd.grad(y, x, g, retain_graph=True)
            (again,) = pkg.autograd.grad(y, x, g, create_graph=True)
            assert once.dtype is x.dtype and once.shape == x.shape
            got, want = (t.detach().double().numpy() for t in (once, again))
            scale = np.abs(g.double().numpy()) + 1
            assert (np.abs(got - want) <= 4 * TOLERANCE[dtype] * scale).all()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_weight_of_prelu(dtype):
    x, g = numbers((6, 3, 5), dtype), numbers((6, 3, 5), dtype)
    w = pkg.tensor([0.2, -1.0, 3.0], dtype=x.dtype, requires_grad=True)
    y = F.prelu(x, w)
    (got,) = pkg.autograd.grad(y, w, g)
    want = np.where(x.numpy() > 0, 0, g.numpy() * x.numpy()).sum((0, 2))
    np.testing.assert_allclose(got.numpy(), want, rtol=1e-5)


def test_of_no_elements():
    for function in FUNCTIONS.values():
        x = pkg.zeros(0, 3, requires_grad=True)
        (got,) = pkg.autograd.grad(function(x), x, pkg.zeros(0, 3))
        assert got.shape == (0, 3)


KINKS = {  # where; the second derivative there, as PyTorch has it
    "elu": (lambda x: F.elu(x, 0.7), 0.0),
    "selu": (F.selu, 0.0),
    "celu": (lambda x: F.celu(x, 1.5), 0.0),
    "softplus": (lambda x: F.softplus(x, beta=2, threshold=3), 1.5),
    "prelu": (lambda x: F.prelu(x, pkg.full((1,), 0.2, dtype=x.dtype)), 0.0),
    "leaky_relu": (lambda x: F.leaky_relu(x, 0.2), 0.0),
}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", KINKS)
def test_at_a_kink_nothing_curves(name, dtype):
    function, place = KINKS[name]
    x = pkg.tensor([place, -place], dtype=getattr(pkg, dtype), requires_grad=True)
    (first,) = pkg.autograd.grad(function(x).sum(), x, create_graph=True)
    (second,) = pkg.autograd.grad(first.sum() + 0 * x.sum(), x)
    assert second[0].item() == 0 and second.isfinite().all().item()


def test_at_zero_no_gradient_of_prelu_changes_with_the_other_argument():
    x = pkg.tensor([0.0, -1.0, 2.0], requires_grad=True)
    w = pkg.tensor([0.3], requires_grad=True)
    of_x, of_w = pkg.autograd.grad(F.prelu(x, w).sum(), (x, w), create_graph=True)
    np.testing.assert_allclose(of_x.tolist(), [0.3, 0.3, 1])
    assert pkg.autograd.grad(of_w.sum(), x, retain_graph=True)[0].tolist() == [0, 1, 0]
    mixed = [pkg.autograd.grad(one, w, retain_graph=True)[0].item() for one in of_x]
    assert mixed == [0, 1, 0]
