# SPDX-License-Identifier: Apache-2.0
"""Matrix products, softmax and losses against NumPy and central differences."""

import functools

import numpy as np
import pytest

import pkg
from gradients import check_gradients

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


NORMS = ["fro", 1, -1, np.inf, -np.inf]


@pytest.mark.parametrize("order", NORMS)
@pytest.mark.parametrize("dim", [(-2, -1), (0, 1), (2, 0)])
@pytest.mark.parametrize("keepdim", [False, True])
def test_matrix_norms(order, dim, keepdim):
    """Any two dimensions, as NumPy; gradients against differences."""
    a = np.random.default_rng(2).normal(size=(3, 4, 5))
    want = np.linalg.norm(a, order, dim, keepdim)
    got = pkg.linalg.norm(pkg.tensor(a), order, dim, keepdim)
    np.testing.assert_allclose(got.numpy(), want, rtol=1e-12)
    got = pkg.linalg.matrix_norm(pkg.tensor(a), order, dim, keepdim)
    np.testing.assert_allclose(got.numpy(), want, rtol=1e-12)
    check_gradients(lambda x: pkg.linalg.matrix_norm(x, order, dim), [a])


def test_vector_norms():
    """Without ord the root of the sum of all squares; one dimension is a vector."""
    a = np.random.default_rng(3).normal(size=(3, 4))
    x = pkg.tensor(a)
    for args in [(), (3, 0), (np.inf, (1,)), (None, (0, 1)), (None, 1), (2.5, -1)]:
        got = pkg.linalg.norm(x, *args).numpy()
        np.testing.assert_allclose(got, np.linalg.norm(a, *_plain(args)), rtol=1e-12)
    got = pkg.linalg.norm(x[0], 1).item()
    assert got == pytest.approx(np.abs(a[0]).sum(), rel=1e-12)
    got = pkg.linalg.vector_norm(x, 3).item()
    assert got == pytest.approx((np.abs(a) ** 3).sum() ** (1 / 3), rel=1e-12)
    assert pkg.linalg.norm(x.float(), dtype=pkg.float64).dtype is pkg.float64


def _plain(args):
    """NumPy wants a number for a single dimension."""
    return [a[0] if isinstance(a, tuple) and len(a) == 1 else a for a in args]


def test_norm_errors():
    """What is not there, and what is no norm."""
    x = pkg.ones(3, 3)
    for order in ("nuc", 2, -2):
        with pytest.raises(
            NotImplementedError, match="no singular value decomposition"
        ):
            pkg.linalg.norm(x, order)
    with pytest.raises(ValueError, match="got 3"):
        pkg.linalg.matrix_norm(x, 3)
    with pytest.raises(RuntimeError, match="two dimensions"):
        pkg.linalg.matrix_norm(x, 1, (0,))
    with pytest.raises(RuntimeError, match="two different dimensions"):
        pkg.linalg.matrix_norm(x, 1, (1, -1))
    with pytest.raises(RuntimeError, match="expected two dimensions for ord 'fro'"):
        pkg.linalg.norm(x, "fro", 0)
    with pytest.raises(RuntimeError, match="expected a vector or a matrix"):
        pkg.linalg.norm(pkg.ones(2, 2, 2), 1)
    with pytest.raises(IndexError):
        pkg.linalg.matrix_norm(x, 1, (0, 2))


SHAPES_OF_CHAINS = [
    ((2, 3), (3, 4)),
    ((10, 2), (2, 30), (30, 3)),
    ((2, 30), (30, 3), (3, 40), (40, 1)),
    ((3,), (3, 4), (4, 2)),
    ((2, 3), (3, 4), (4,)),
    ((3,), (3, 4), (4,)),
    ((3,), (3,)),
]


@pytest.mark.parametrize("shapes", SHAPES_OF_CHAINS, ids=str)
def test_multi_dot(shapes):
    """Values and shapes of chains, vectors at the ends."""
    rng = np.random.default_rng(4)
    factors = [rng.integers(-3, 4, size=shape).astype("float64") for shape in shapes]
    want = functools.reduce(np.matmul, factors)
    got = pkg.linalg.multi_dot([pkg.tensor(f) for f in factors])
    assert tuple(got.shape) == want.shape
    np.testing.assert_array_equal(got.numpy(), want)


def test_multi_dot_takes_the_cheap_order(monkeypatch):
    """A column, a row and a column: the inner product first."""
    made = []

    def mm(a, b):
        made.append((tuple(a.shape), tuple(b.shape)))
        return pkg.matmul(a, b)

    monkeypatch.setattr(pkg.linalg.ops, "mm", mm)
    pkg.linalg.multi_dot([pkg.ones(50, 1), pkg.ones(1, 50), pkg.ones(50, 1)])
    assert made == [((1, 50), (50, 1)), ((50, 1), (1, 1))]
    with pytest.raises(RuntimeError, match="at least 2 tensors, got 1"):
        pkg.linalg.multi_dot([pkg.ones(2, 2)])
    with pytest.raises(
        RuntimeError, match=r"at the ends only, got shapes \(2, 2\), \(2,\)"
    ):
        pkg.linalg.multi_dot([pkg.ones(2, 2), pkg.ones(2), pkg.ones(2, 2)])


def test_products_of_vectors_and_diagonals():
    """vecdot, cross, matmul, diagonal; gradients against differences."""
    rng = np.random.default_rng(5)
    a, b = rng.normal(size=(4, 3)), rng.normal(size=(3,))
    x, y = pkg.tensor(a), pkg.tensor(b)
    np.testing.assert_allclose(pkg.linalg.vecdot(x, y).numpy(), a @ b, rtol=1e-12)
    np.testing.assert_allclose(
        pkg.linalg.cross(x, y).numpy(), np.cross(a, b), rtol=1e-12
    )
    got = pkg.linalg.cross(x.t(), y[:, None], dim=0).numpy()
    np.testing.assert_allclose(got, np.cross(a, b).T, rtol=1e-12)
    check_gradients(pkg.linalg.cross, [a, b])
    with pytest.raises(RuntimeError, match="expected the size 3 along dim -1"):
        pkg.linalg.cross(x, x[:, :2])
    assert pkg.linalg.matmul(x, y).tolist() == (x @ y).tolist()
    c = rng.normal(size=(2, 3, 4))
    got = pkg.linalg.diagonal(pkg.tensor(c), offset=1).numpy()
    np.testing.assert_array_equal(got, np.diagonal(c, 1, -2, -1))


@pytest.mark.parametrize("name", ["addmm", "addmv", "baddbmm", "addbmm"])
def test_factors_of_integer_products_lose_their_fraction(name):
    shapes = {
        "addmm": [(2, 2), (2, 2), (2, 2)],
        "addmv": [(2,), (2, 2), (2,)],
        "baddbmm": [(1, 2, 2)] * 3,
        "addbmm": [(2, 2), (1, 2, 2), (1, 2, 2)],
    }[name]
    xs = [pkg.ones(s, dtype=pkg.int64) for s in shapes]
    got = getattr(pkg, name)(*xs, beta=2.7, alpha=1.9)
    assert got.dtype is pkg.int64 and set(got.flatten().tolist()) == {2 * 1 + 1 * 2}
    floats = [x.double() for x in xs]
    exact = getattr(pkg, name)(*floats, beta=2.5, alpha=0.5)
    assert set(exact.flatten().tolist()) == {3.5}


def test_factors_of_an_integer_outer_product_have_none():
    x, v = pkg.ones(2, 2, dtype=pkg.int64), pkg.ones(2, dtype=pkg.int64)
    with pytest.raises(RuntimeError, match="must not be floating point"):
        pkg.addr(x, v, v, beta=2.5)


def test_einsum_sums_integers_in_int64_and_promotes_products():
    small = pkg.full((2, 2), 100, dtype=pkg.int8)
    for equation, want in [("ij->", 400), ("ij->i", [200, 200]), ("ii", 200)]:
        got = pkg.einsum(equation, small)
        assert got.dtype is pkg.int64 and got.tolist() == want
    assert pkg.einsum("ij->ji", small).dtype is pkg.int8
    ints = pkg.ones(3, dtype=pkg.int32)
    assert pkg.einsum("i,i->", ints, ints).dtype is pkg.int32
    assert pkg.einsum("i,j->", ints, ints).dtype is pkg.int64
    for other in (pkg.float32, pkg.float64, pkg.int64):
        got = pkg.einsum("i,j->ij", ints, pkg.ones(2, dtype=other))
        assert got.dtype is other and got.tolist() == [[1, 1]] * 3


@pytest.mark.parametrize("x", [(4, 3), (2, 4, 3), (0, 3), (3,)])
@pytest.mark.parametrize("out", [0, 2])
def test_gradients_of_a_linear_map_with_no_results_are_zero(x, out):
    x = pkg.ones(x, requires_grad=True)
    w = pkg.ones(out, 3, requires_grad=True)
    b = pkg.ones(out, requires_grad=True)
    pkg.linear(x, w, b).sum().backward()
    rows = x.numel() // 3
    assert x.grad.tolist() == (pkg.ones_like(x) * out).tolist()
    assert w.grad.tolist() == [[rows] * 3] * out and b.grad.tolist() == [rows] * out


def test_gradients_of_a_linear_map_of_no_inputs():
    x, w = pkg.ones(4, 0, requires_grad=True), pkg.ones(2, 0, requires_grad=True)
    pkg.linear(x, w).sum().backward()
    assert x.grad.shape == (4, 0) and w.grad.shape == (2, 0)
