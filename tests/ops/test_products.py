# SPDX-License-Identifier: Apache-2.0
"""Matrix products around the limits of tiles, strips and blocks, against NumPy."""

from __future__ import annotations

import numpy as np
import pytest

import pkg
from gradients import check_gradients
from pkg._binding import core

DTYPES = (
    "float32",
    "float64",
    "float16",
    "bfloat16",
    "int64",
    "int32",
    "int8",
    "uint8",
)
# Panels have 14, 6 or 4 rows, strips 32 columns or less, blocks 256 terms (512 of
# bfloat16 where the processor takes pairs of them) and up to 512 columns.
ROWS = (1, 2, 4, 5, 8, 9, 13, 14, 15, 28, 29, 57)
COLUMNS = (1, 2, 15, 16, 17, 31, 32, 33, 63, 65, 511, 513, 1025)
TERMS = (0, 1, 3, 64, 255, 256, 257, 300, 512, 769, 1027)


def sizes(count):
    """Some of all combinations, every size among them."""
    rng = np.random.default_rng(0)
    for i in range(count):
        yield tuple(int(rng.permutation(s)[i % len(s)]) for s in (ROWS, COLUMNS, TERMS))


def numbers(rng, shape, dtype):
    """Values that 16-bit floats hold, and their sums nearly too."""
    return (
        pkg.tensor(rng.integers(-4, 5, shape).astype("float64") / 4).to(
            getattr(pkg, dtype)
        )
        if "int" not in dtype
        else pkg.tensor(
            rng.integers(0 if dtype == "uint8" else -4, 5, shape).astype(dtype)
        )
    )


def wide(t):
    return t.to(pkg.int64 if "int" in str(t.dtype) else pkg.float64).numpy()


def agrees(got, want, dtype):
    if "int" in dtype:
        np.testing.assert_array_equal(got.numpy(), want.astype(dtype))
    else:
        # All terms are multiples of 1/16 below 2^11: sums in float32 are exact.
        kind = {"float16": 2**-11, "bfloat16": 2**-8}.get(dtype, 0)
        np.testing.assert_allclose(wide(got), want, rtol=kind, atol=0)


@pytest.mark.parametrize("dtype", DTYPES)
def test_layouts_and_sizes(dtype, level):
    """Both operands as they are, transposed, sliced, with steps in both dimensions."""
    rng = np.random.default_rng(1)
    layouts = (
        lambda r, c: numbers(rng, (r, c), dtype),
        lambda r, c: numbers(rng, (c, r), dtype).t(),
        lambda r, c: numbers(rng, (r + 2, c + 3), dtype)[1 : r + 1, 2 : c + 2],
        lambda r, c: numbers(rng, (2 * r, 2 * c), dtype)[::2, ::2],
    )
    for i, (m, n, k) in enumerate(sizes(26)):
        a, b = layouts[i % 4](m, k), layouts[i // 4 % 4](k, n)
        agrees(a @ b, wide(a) @ wide(b), dtype)
        agrees(a @ b[:, 0], wide(a) @ wide(b)[:, 0], dtype)
        agrees(a[0] @ b, wide(a)[0] @ wide(b), dtype)
        batch = pkg.stack([a, a + a])
        agrees(batch @ b, wide(batch) @ wide(b), dtype)
        bias = numbers(rng, (n,), dtype)
        want = wide(a) @ wide(b) + wide(bias)
        agrees(pkg.linear(a, b.t(), bias), want, dtype)
        agrees(
            pkg.linear(a, b.t(), bias[:1][0]), want - wide(bias) + wide(bias)[0], dtype
        )


@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16", "float16"])
def test_random_values(dtype, level):
    """No worse than NumPy's own product in each element; 16 bits are rounded once."""
    small = {"bfloat16": 2**-8, "float16": 2**-11}.get(dtype, 0)
    rng = np.random.default_rng(2)
    for m, n, k in sizes(13):
        a, b = rng.standard_normal((m, k)), rng.standard_normal((k, n))
        x, y = (pkg.tensor(t).to(getattr(pkg, dtype)) for t in (a, b))
        eps = np.finfo("float32" if small else dtype).eps
        bound = eps * (np.abs(wide(x)) @ np.abs(wide(y))) * 4 + 1e-30
        exact = wide(x) @ wide(y)
        limit = bound * max(1, k**0.5 / 4) + small * np.abs(exact) + (small and 1e-7)
        assert (np.abs(wide(x @ y) - exact) <= limit).all()


@pytest.mark.parametrize("dtype", [pkg.float32, pkg.bfloat16])
def test_special_values_stay_in_their_row_and_column(dtype, level):
    """What fills a tile up touches nothing."""
    for m, n, k in ((15, 33, 5), (3, 17, 256), (1, 40, 7), (40, 1, 7), (9, 20, 6)):
        a, b = pkg.ones(m, k, dtype=dtype), pkg.ones(k, n, dtype=dtype)
        a[m - 1, k - 1] = float("nan")
        b[0, n - 1] = float("inf")
        got = wide(a @ b)
        assert np.isnan(got[m - 1]).all()
        assert np.isinf(got[: m - 1, n - 1]).all()
        assert (got[: m - 1, : n - 1] == k).all()


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_a_cut_changes_no_bit(dtype):
    """A product of rows is those rows of the product, for any number of threads."""
    if core.isa_name() != "v4" and dtype == "float32":
        pytest.skip("OpenBLAS promises less")
    rng = np.random.default_rng(3)
    a = pkg.tensor(rng.standard_normal((301, 1040))).to(getattr(pkg, dtype))
    b = pkg.tensor(rng.standard_normal((1040, 607))).to(getattr(pkg, dtype))
    before = pkg.get_num_threads()
    try:
        pkg.set_num_threads(1)
        want = wide(a @ b)
        for threads in (2, 3):
            pkg.set_num_threads(threads)
            assert (wide(a @ b) == want).all()
            assert (wide(b.t() @ a.t()).T == want).all()
    finally:
        pkg.set_num_threads(before)
    assert (wide(a[17:64] @ b[:, 5:77]) == want[17:64, 5:77]).all()


@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16"])
def test_rows_times_a_vector_are_the_same_bits_alone(dtype, level):
    """However many rows are taken together, and whatever lies between them."""
    if level != "v4" and dtype != "bfloat16":
        pytest.skip("OpenBLAS's, which takes one row by another kernel")
    rng = np.random.default_rng(4)
    for k in (1, 7, 16, 63, 64, 65, 200):
        a = pkg.tensor(rng.standard_normal((11, k + 3))).to(getattr(pkg, dtype))[
            :, 1:-2
        ]
        v = pkg.tensor(rng.standard_normal(k)).to(getattr(pkg, dtype))
        want = (a @ v).tolist()
        assert want == [(a[i : i + 1] @ v).item() for i in range(11)]
        assert want[3:9] == (a[3:9] @ v).tolist()


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_vector_times_rows_that_lie_anyhow(dtype, level):
    """Repeated, with gaps, backwards or turned: nothing is copied for it."""
    rng = np.random.default_rng(6)
    for m, k in [(2, 3), (3, 16), (5, 63), (7, 64), (9, 200), (65, 17), (33, 301)]:
        row, gaps = numbers(rng, (1, k), dtype), numbers(rng, (m, 3 * k), dtype)
        column, turned = numbers(rng, (m, 1), dtype), numbers(rng, (2 * k, m), dtype)
        v = numbers(rng, (k,), dtype)
        for a in (
            row.expand(m, k),
            gaps[:, ::3],
            gaps.flip(1)[:, ::3],
            column.expand(m, k),
            turned.t()[:, ::2],
            turned[: 2 * k : 2].t(),
        ):
            want = wide(a) @ wide(v)
            agrees(a @ v, want, dtype)
            agrees(v @ a.t(), want, dtype)
            agrees(a.reshape(1, m, k).bmm(v.reshape(1, k, 1))[0, :, 0], want, dtype)


@pytest.mark.parametrize("dtype", [pkg.float32, pkg.bfloat16, pkg.int8])
@pytest.mark.parametrize(
    "batch, size", [(1, 160), (4, 160), (5, 160), (17, 64), (300, 16)]
)
def test_a_batch_is_its_products_for_any_number_of_threads(batch, size, dtype):
    """Products are shared out whole or cut, as their number and size have it."""
    rng = np.random.default_rng(5)
    x, y = rng.integers(-4, 5, (2, batch, size, size))
    a, b = pkg.tensor(x).to(dtype), pkg.tensor(y).to(dtype)
    want = wide(pkg.tensor(x @ y).to(dtype))
    before = pkg.get_num_threads()
    try:
        for threads in (1, 2, 3):
            pkg.set_num_threads(threads)
            np.testing.assert_array_equal(wide(a @ b), want)
    finally:
        pkg.set_num_threads(before)


def test_integers_wrap(level):
    x = pkg.full((2, 3), 100, dtype=pkg.int8)
    assert (x @ x.t()).numpy().tolist() == [[48, 48], [48, 48]]
    y = pkg.full((2, 2), 2**62, dtype=pkg.int64)
    assert (y @ y).numpy().tolist() == [[0, 0], [0, 0]]


@pytest.mark.parametrize("beta", [0, 0.5, 1])
@pytest.mark.parametrize(
    "types",
    [
        ("float32", "int8"),
        ("float64", "float32"),
        ("int32", "uint8"),
        ("float16", "float16"),
    ],
)
def test_addr_is_computed_in_the_common_dtype(types, beta):
    """Whatever has a graph."""
    if "int32" in types and beta == 0.5:
        pytest.skip("of integers beta is whole")
    z, a, b = np.array([[3.0, 5]]), np.array([100.0]), np.array([100.0, 2])
    alpha = 0.5 if "float" in types[0] else 2
    own, others = (getattr(pkg, t) for t in types)
    args = [pkg.tensor(z).to(own), pkg.tensor(a).to(others), pkg.tensor(b).to(others)]
    got = pkg.addr(*args, beta=beta, alpha=alpha)
    assert got.dtype is own
    want = beta * z + alpha * np.outer(a, b)
    np.testing.assert_allclose(got.double().numpy(), want, rtol=1e-3)
    for k in range(1, 3):
        if others in (pkg.float32, pkg.float16):
            recorded = [t.clone() for t in args]
            recorded[k].requires_grad_()
            same = pkg.addr(*recorded, beta=beta, alpha=alpha)
            np.testing.assert_array_equal(same.detach(), got)


def test_addr_scales_a_vector_before_the_product():
    a = pkg.tensor([1e30])
    for t in (a, a.clone().requires_grad_()):
        got = pkg.addr(pkg.zeros(1, 1), t, a, alpha=1e-30)
        np.testing.assert_allclose(got.detach().numpy(), [[1e30]], rtol=1e-6)


@pytest.mark.parametrize("dtype", ["float64", "float16", "int64"])
def test_addbmm_of_any_layout_is_the_sum_of_the_products(dtype):
    rng = np.random.default_rng(5)
    a, b = rng.integers(-4, 5, (3, 4, 6)), rng.integers(-4, 5, (3, 6, 5))
    z, kind = rng.integers(-4, 5, (4, 5)), getattr(pkg, dtype)
    want = 2 * z + 3 * (a @ b).sum(0)
    x, y = pkg.tensor(a).to(kind), pkg.tensor(b).to(kind)
    turned = y.transpose(1, 2).contiguous().transpose(1, 2)
    for second in (y, turned, pkg.stack([y, y], 3)[..., 0]):
        got = pkg.addbmm(pkg.tensor(z).to(kind), x, second, beta=2, alpha=3)
        assert got.dtype is kind and got.to(pkg.int64).tolist() == want.tolist()
    with pytest.raises(RuntimeError, match="addbmm"):
        pkg.addbmm(pkg.tensor(z).to(kind), x, y[:2])


@pytest.mark.parametrize("dtype", ["uint8", "float16", "float32", "float64"])
def test_copies_of_short_rows(dtype):
    for n in (7, 16, 33, 60):
        x = pkg.arange(5 * 6 * 80).reshape(5, 6, 80).to(getattr(pkg, dtype))
        got = x.permute(1, 0, 2)[..., 3 : 3 + n].contiguous()
        want = x.to(pkg.float64).numpy().transpose(1, 0, 2)[..., 3 : 3 + n]
        np.testing.assert_array_equal(got.to(pkg.float64).numpy(), want)


def test_a_column_times_a_row_has_the_gradients_of_the_product():
    rng = np.random.default_rng(2)
    z, x, y = (rng.normal(size=n) for n in ((4, 3), 4, 3))
    check_gradients(lambda *t: pkg.addr(*t, beta=0.5, alpha=-2.0), [z, x, y])
    column, row = x[:, None], y[None]
    for a, b in ((column, row), (row, column), (column, z), (z, row)):
        check_gradients(lambda *t: pkg.addcmul(*t, value=3.0), [z, a, b])
    leaves = [pkg.tensor(a, requires_grad=True) for a in (z, x, y)]
    grads = pkg.autograd.grad(
        pkg.addr(*leaves).square().sum(), leaves, create_graph=True
    )
    (second,) = pkg.autograd.grad(grads[1].sum(), leaves[2:])
    total = z + np.outer(x, y)  # d/dy of the sum of 2 * total @ y
    want = 2 * (total.sum(0) + x.sum() * y)
    np.testing.assert_allclose(second.numpy(), want, rtol=1e-12)


@pytest.mark.parametrize(
    "grad, factor, value, n", [(1, 100, 1e-3, 1000), (1e-3, 1, 0.5, 3)]
)
def test_a_16_bit_sum_of_the_gradients_of_addcmul_stays_in_range(
    grad, factor, value, n
):
    # as value is of each term
    z, column = pkg.zeros(2, n).half(), pkg.ones(2, 1).half().requires_grad_()
    result = pkg.addcmul(z, column, pkg.full((1, n), factor).half(), value=value)
    result.backward(pkg.full((2, n), grad).half())
    np.testing.assert_allclose(
        column.grad.float(), grad * factor * value * n, rtol=5e-3
    )


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "int64", "bool"])
def test_addr_of_every_layout_and_dtype(dtype):
    z = pkg.arange(12).reshape(3, 4).to(getattr(pkg, dtype))
    x, y = z[:, 1], z[0]
    a, b, c = (t.double().numpy() for t in (z, x, y))
    for beta, alpha in ((1, 1), (2, 3), (0, 2)):
        for given in (z, z.t().contiguous().t(), z[:, 1:2]):
            if dtype == "bool":
                want = (bool(beta) & given.numpy()) | (np.outer(b, c) != 0)
                got = pkg.addr(given, x, y, beta=bool(beta), alpha=bool(alpha))
                assert got.tolist() == want.tolist()
                continue
            got = pkg.addr(given, x, y, beta=beta, alpha=alpha)
            want = beta * given.double().numpy() + alpha * np.outer(b, c)
            assert got.dtype == z.dtype
            np.testing.assert_allclose(got.double().numpy(), want, rtol=1e-3)
    assert pkg.addr(pkg.ones(2, 2).int(), pkg.ones(2), pkg.ones(2)).dtype is pkg.float32
