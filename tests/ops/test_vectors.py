# SPDX-License-Identifier: Apache-2.0
"""dot, outer and kron for every dtype, step and length, against NumPy.

Lengths lie around the limits of dot: pieces of 512, lanes of a few vectors, parts of
131,072 that threads take.
"""

import numpy as np
import pytest

import pkg
from levels import at_level, every_level

RNG = np.random.default_rng(11)
FLOATS = ["float64", "float32", "float16", "bfloat16"]
INTEGERS = ["int64", "int32", "int8", "uint8"]
LENGTHS = [1, 7, 63, 64, 65, 127, 129, 511, 512, 513, 1_300, 131_071, 131_073, 300_000]


def vector(dtype, n):
    if dtype in FLOATS:
        return pkg.tensor(RNG.standard_normal(n)).to(getattr(pkg, dtype))
    if dtype == "bool":
        return pkg.tensor(RNG.integers(0, 2, n)).to(pkg.bool)
    return pkg.tensor(RNG.integers(0, 100, n)).to(getattr(pkg, dtype))


def wide(x):
    return x.to(pkg.float64).numpy()


def tolerance(dtype, n):
    digits = {"float64": 1e-14, "float32": 1e-6, "float16": 2e-3, "bfloat16": 2e-2}
    return digits[dtype] * max(1, n) ** 0.5


@pytest.mark.parametrize("dtype", FLOATS)
def test_dots_of_every_length(dtype):
    for n in LENGTHS:
        x, y = vector(dtype, n), vector(dtype, n)
        found = pkg.dot(x, y).to(pkg.float64).item()
        assert found == pytest.approx(wide(x) @ wide(y), abs=tolerance(dtype, n) * 4)


@pytest.mark.parametrize("dtype", INTEGERS)
def test_dots_of_integers(dtype):
    for n in LENGTHS:
        x, y = vector(dtype, n), vector(dtype, n)
        total = int(x.to(pkg.int64).numpy() @ y.to(pkg.int64).numpy())
        assert pkg.dot(x, y).item() == np.array(total).astype(dtype)


@pytest.mark.parametrize("dtype", ["float64", "float32", "bfloat16", "int64"])
def test_steps_change_no_bit(dtype):
    for n in (5, 512, 1_030, 140_000):
        x, y = vector(dtype, 3 * n), vector(dtype, 3 * n)
        for a, b in ((x[::3], y[::3]), (x[::2][:n], y[:n]), (y[:n], x[1::2][:n])):
            dense = pkg.dot(a.contiguous(), b.contiguous()).item()
            for op in (pkg.dot, pkg.vdot, pkg.inner):
                assert op(a, b).item() == dense
        one = pkg.ones(1).to(getattr(pkg, dtype)).expand(n)
        assert pkg.dot(one, one).item() == pytest.approx(n, rel=1e-2)


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "bfloat16"])
def test_rows_have_the_same_bits_alone(dtype):
    with at_level("v4"):
        for n in (3, 100, 600, 131_072, 131_073, 300_001):
            rows, x = vector(dtype, 5 * n).reshape(5, n), vector(dtype, n)
            assert (rows @ x).tolist() == [pkg.dot(row, x).item() for row in rows]


def test_dots_of_columns_and_rows():
    m = pkg.tensor(RNG.standard_normal((70, 90)))
    np.testing.assert_allclose(m[:, 3] @ m[:, 5], wide(m)[:, 3] @ wide(m)[:, 5])
    np.testing.assert_allclose(m[:, 3] @ m, wide(m)[:, 3] @ wide(m))
    np.testing.assert_allclose(m @ m[4, :], wide(m) @ wide(m)[4])
    np.testing.assert_allclose(m.t() @ m[:, 7], wide(m).T @ wide(m)[:, 7])
    column = m[:, 2:3]
    np.testing.assert_allclose(column.t() @ column, wide(column).T @ wide(column))
    np.testing.assert_allclose(column @ column.t(), wide(column) @ wide(column).T)


def test_special_halves():
    tiny = pkg.full((600,), 6e-8, dtype=pkg.float16)
    big = pkg.full((600,), 1024, dtype=pkg.float16)
    for _ in every_level():
        wanted = (wide(tiny) * 1024).sum()
        assert pkg.dot(tiny, big).item() == pytest.approx(wanted, rel=1e-3)
        assert pkg.dot(-tiny, big).item() == pytest.approx(-wanted, rel=1e-3)
        for at in (0, 511, 512, 599):
            for special in (np.inf, -np.inf, np.nan):
                x = pkg.ones(600, dtype=pkg.float16)
                x[at] = special
                found = pkg.dot(x, pkg.ones(600, dtype=pkg.float16)).item()
                np.testing.assert_equal(found, special)


@pytest.mark.parametrize("dtype", [*FLOATS, *INTEGERS, "bool"])
def test_outer(dtype):
    for m, n in ((1, 1), (3, 70), (40, 33), (0, 4), (4, 0), (300, 700)):
        x, y = vector(dtype, 2 * m)[::2], vector(dtype, n)
        for op in (pkg.outer, pkg.ger):
            found = op(x, y)
            assert found.dtype is x.dtype and found.shape == (m, n)
            wanted = (x.unsqueeze(1) * y).tolist()
            assert found.tolist() == wanted
    mixed = pkg.outer(vector("float16", 5), vector("int64", 6))
    assert mixed.dtype is pkg.float16
    with pytest.raises(RuntimeError, match="dimension"):
        pkg.outer(pkg.ones(2, 2), pkg.ones(2))


def test_gradients_of_outer():
    x = pkg.tensor([1.0, 2.0], requires_grad=True)
    y = pkg.tensor([3.0, 4.0, 5.0], dtype=pkg.float64, requires_grad=True)
    g = pkg.tensor(RNG.standard_normal((2, 3)))
    pkg.outer(x, y).backward(g)
    np.testing.assert_allclose(x.grad, wide(g) @ wide(y.detach()), rtol=1e-6)
    np.testing.assert_allclose(y.grad, wide(g).T @ wide(x.detach()))
    assert x.grad.dtype is pkg.float32


@pytest.mark.parametrize("dtype", ["float32", "float16", "int64", "uint8", "bool"])
def test_kron(dtype):
    shapes = [
        ((2, 3), (4, 5)), ((3,), (2, 2)), ((2, 2), (3,)), ((), (2, 3)), ((2,), ()),
        ((), ()), ((2, 0), (3, 2)), ((1, 4), (1, 1)), ((2, 1, 3), (3, 2)),
    ]  # fmt: skip
    for a, b in shapes:
        x = vector(dtype, int(np.prod(a))).reshape(a) if a else vector(dtype, 1)[0]
        y = vector(dtype, int(np.prod(b))).reshape(b) if b else vector(dtype, 1)[0]
        found = pkg.kron(x, y)
        wanted = np.kron(wide(x), wide(y))
        assert found.shape == wanted.shape and found.dtype is x.dtype
        kind = "float32" if dtype.startswith("f") else dtype
        cast = pkg.tensor(wanted).to(pkg.int64).numpy() if kind != "float32" else wanted
        np.testing.assert_allclose(
            found.to(pkg.float64).numpy(), cast.astype(kind), rtol=2e-3
        )


def test_gradients_of_kron():
    x = pkg.tensor(RNG.standard_normal((2, 3)), requires_grad=True)
    y = pkg.tensor(RNG.standard_normal((4, 2)), requires_grad=True)
    g = pkg.tensor(RNG.standard_normal((8, 6)))
    pkg.kron(x, y).backward(g)
    blocks = wide(g).reshape(2, 4, 3, 2)
    np.testing.assert_allclose(
        x.grad, np.einsum("ipjq,pq->ij", blocks, wide(y.detach()))
    )
    np.testing.assert_allclose(
        y.grad, np.einsum("ipjq,ij->pq", blocks, wide(x.detach()))
    )


@pytest.mark.parametrize("dtype", [*FLOATS, *INTEGERS])
def test_products_of_one_term(dtype):
    """A column times a row, with gaps and without, and added to."""
    for m in (1, 2, 17, 300):
        for n in (1, 2, 33, 40_000):
            x, y = (RNG.integers(0, 9, (size, 2)) for size in (m, n))
            a, b = (pkg.tensor(v).to(getattr(pkg, dtype)) for v in (x, y))
            wanted = x[:, :1] * y[:, 0]
            for row in (b[:, :1].t(), b[:, :1].t().contiguous()):
                found = a[:, :1] @ row
                assert np.array_equal(found.to(pkg.int64).numpy(), wanted)
                one = pkg.ones(1, n).to(getattr(pkg, dtype))
                found = pkg.addmm(one, a[:, :1], row)
                assert np.array_equal(found.to(pkg.int64).numpy(), wanted + 1)
