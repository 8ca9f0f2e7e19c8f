# SPDX-License-Identifier: Apache-2.0
"""Matrix products, softmax and losses against NumPy and central differences."""

import numpy as np
import pytest

import pkg
from test_autograd import check_gradients

SHAPES = [
    ((5, 7), (7, 3)), ((7,), (7,)), ((5, 7), (7,)), ((7,), (7, 3)),
    ((4, 5, 7), (4, 7, 3)), ((4, 5, 7), (7, 3)), ((2, 1, 5, 7), (4, 7, 3)),
    ((0, 7), (7, 3)), ((5, 0), (0, 3)), ((1, 1), (1, 1)),
]  # fmt: skip


@pytest.mark.parametrize("shapes", SHAPES, ids=str)
@pytest.mark.parametrize("dtype", ["float32", "float64", "int64"])
def test_matmul_values(shapes, dtype):
    """All ranks, broadcasting, empty operands; transposed operands are not copied."""
    rng = np.random.default_rng(0)
    a, b = (rng.integers(-4, 5, size=s).astype(dtype) for s in shapes)
    np.testing.assert_array_equal((pkg.tensor(a) @ pkg.tensor(b)).numpy(), a @ b)
    if a.ndim == b.ndim == 2:
        got = pkg.tensor(b).t() @ pkg.tensor(a).t()
        np.testing.assert_array_equal(got.numpy(), b.T @ a.T)
        got = pkg.tensor(a.T.copy()).t() @ pkg.tensor(b)
        np.testing.assert_array_equal(got.numpy(), a @ b)


def test_large_product_is_cut_into_tiles():
    """Both directions of the cut, against float64."""
    rng = np.random.default_rng(1)
    for m, k, n in [(700, 200, 90), (90, 200, 700)]:
        a, b = rng.normal(size=(m, k)), rng.normal(size=(k, n))
        got = (pkg.tensor(a) @ pkg.tensor(b)).numpy()
        np.testing.assert_allclose(got, a @ b, rtol=1e-10, atol=1e-10)


def test_matmul_errors():
    """Shapes and dtypes that do not fit."""
    with pytest.raises(RuntimeError, match=r"cannot be multiplied \(2x3 and 2x3\)"):
        pkg.ones(2, 3) @ pkg.ones(2, 3)
    with pytest.raises(RuntimeError, match="same dtype"):
        pkg.ones(2, 2) @ pkg.ones(2, 2, dtype=pkg.float64)
    with pytest.raises(RuntimeError, match="at least 1D"):
        pkg.tensor(1.0) @ pkg.ones(2)


@pytest.mark.parametrize("shapes", SHAPES[:7], ids=str)
def test_matmul_gradients(shapes):
    """To both operands, summed over broadcast dimensions."""
    rng = np.random.default_rng(2)
    check_gradients(pkg.matmul, [rng.normal(size=s) for s in shapes])


def test_linear_softmax_and_loss_gradients():
    """The parts of a classifier."""
    rng = np.random.default_rng(3)
    arrays = [rng.normal(size=s) for s in [(4, 3), (5, 3), (5,)]]
    check_gradients(pkg.linear, arrays)
    check_gradients(lambda x: pkg.softmax(x, 1), arrays[:1])
    check_gradients(lambda x: pkg.log_softmax(x, dim=-1), arrays[:1])
    target = pkg.tensor([0, 2, 1, 1])
    check_gradients(lambda x: pkg.cross_entropy(x, target), arrays[:1])
    check_gradients(lambda x: pkg.mse_loss(x, x.detach() * 0), arrays[:1])


def test_softmax_is_stable():
    """Large scores neither overflow nor lose the sum."""
    x = pkg.tensor([[1000.0, 1001.0, -1000.0]])
    assert abs(x.softmax(1).sum().item() - 1) < 1e-6
    assert abs(x.log_softmax(1)[0, 1].item() + 0.3132617) < 1e-6


def test_a_small_network_learns():
    """Two layers separate two rings, by plain gradient descent."""
    rng = np.random.default_rng(4)
    angle, label = rng.uniform(0, 6.3, 200), rng.integers(0, 2, 200)
    radius = 1 + label + rng.normal(scale=0.1, size=200)
    points = np.stack([radius * np.cos(angle), radius * np.sin(angle)], 1)
    x, y = pkg.tensor(points.astype("float32")), pkg.tensor(label)
    params = [rng.normal(size=s) * 0.7 for s in [(16, 2), (16,), (2, 16), (2,)]]
    params = [pkg.tensor(p.astype("float32"), requires_grad=True) for p in params]
    w1, b1, w2, b2 = params
    for _ in range(300):
        loss = pkg.cross_entropy(pkg.linear(pkg.linear(x, w1, b1).tanh(), w2, b2), y)
        loss.backward()
        with pkg.no_grad():
            for p in params:
                p -= 0.5 * p.grad
                p.grad = None
    guess = pkg.linear(pkg.linear(x, w1, b1).tanh(), w2, b2).argmax(1)
    assert (guess == y).to(pkg.float32).mean().item() > 0.98
