# SPDX-License-Identifier: Apache-2.0
"""Matrix products around the limits of tiles, strips and blocks, against NumPy."""

from __future__ import annotations

import numpy as np
import pytest

import pkg
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
# Panels have 14, 6 or 4 rows, strips 32 columns or less, blocks 256 terms and up to
# 512 columns.
ROWS = (1, 2, 4, 5, 8, 9, 13, 14, 15, 28, 29, 57)
COLUMNS = (1, 2, 15, 16, 17, 31, 32, 33, 63, 65, 511, 513, 1025)
TERMS = (0, 1, 3, 64, 255, 256, 257, 300, 512, 769)


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


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_random_values(dtype, level):
    """No worse than NumPy's own product, element by element."""
    rng = np.random.default_rng(2)
    for m, n, k in sizes(13):
        a, b = rng.standard_normal((m, k)), rng.standard_normal((k, n))
        x, y = pkg.tensor(a.astype(dtype)), pkg.tensor(b.astype(dtype))
        bound = np.finfo(dtype).eps * (np.abs(a) @ np.abs(b)) * 4 + 1e-30
        exact = wide(x) @ wide(y)
        assert (np.abs(wide(x @ y) - exact) <= bound * max(1, k**0.5 / 4)).all()


def test_special_values_stay_in_their_row_and_column(level):
    """What fills a tile up touches nothing."""
    for m, n, k in ((15, 33, 5), (3, 17, 300), (1, 40, 7), (40, 1, 7)):
        a, b = pkg.ones(m, k), pkg.ones(k, n)
        a[m - 1, k - 1] = float("nan")
        b[0, n - 1] = float("inf")
        got = (a @ b).numpy()
        assert np.isnan(got[m - 1]).all()
        assert np.isinf(got[: m - 1, n - 1]).all()
        assert (got[: m - 1, : n - 1] == k).all()


def test_a_cut_changes_no_bit():
    """A product of rows is those rows of the product, for any number of threads."""
    if core.isa_name() != "v4":
        pytest.skip("OpenBLAS promises less")
    rng = np.random.default_rng(3)
    a = pkg.tensor(rng.standard_normal((301, 520)).astype("float32"))
    b = pkg.tensor(rng.standard_normal((520, 607)).astype("float32"))
    before = pkg.get_num_threads()
    try:
        pkg.set_num_threads(1)
        want = (a @ b).numpy()
        for threads in (2, 3):
            pkg.set_num_threads(threads)
            assert ((a @ b).numpy() == want).all()
            assert ((b.t() @ a.t()).numpy().T == want).all()
    finally:
        pkg.set_num_threads(before)
    assert ((a[17:64] @ b[:, 5:77]).numpy() == want[17:64, 5:77]).all()


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


@pytest.mark.parametrize(
    "batch, size", [(1, 160), (4, 160), (5, 160), (17, 64), (300, 16)]
)
def test_a_batch_is_its_products_for_any_number_of_threads(batch, size):
    """Products are shared out whole or cut, as their number and size have it."""
    rng = np.random.default_rng(5)
    a = pkg.tensor(rng.integers(-4, 5, (batch, size, size)).astype("float32"))
    b = pkg.tensor(rng.integers(-4, 5, (batch, size, size)).astype("float32"))
    want = wide(a) @ wide(b)
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
