# SPDX-License-Identifier: Apache-2.0
"""What picks or orders the elements of lines, of lines of one, two and three."""

import math

import numpy as np
import pytest

import pkg
from levels import every_level

PICKS = {
    "max": lambda x: pkg.max(x, 1),
    "min": lambda x: pkg.min(x, 1),
    "median": lambda x: pkg.median(x, 1),
    "mode": lambda x: pkg.mode(x, 1),
    "kthvalue": lambda x: pkg.kthvalue(x, 1, 1),
    "cummax": lambda x: [t[:, -1] for t in pkg.cummax(x, 1)],
}
DTYPES = ["bool", "uint8", "int64", "float16", "bfloat16", "float32", "float64"]


def lines(n, dtype):
    rng = np.random.default_rng(n)
    x = rng.integers(0, 3, (200, n)).astype("float64")
    if dtype.startswith(("float", "bfloat")):
        x[rng.random(x.shape) < 0.2] = np.nan
        x[rng.random(x.shape) < 0.2] = -0.0
    elif dtype == "bool":
        x %= 2
    ours = pkg.tensor(x).to(getattr(pkg, dtype))
    yield x, ours
    yield x, ours.t().contiguous().t()
    yield np.broadcast_to(x[:1], x.shape), ours[:1].expand(200, n)


#: Bools have no order but for max and min.
PAIRS = [(n, d) for n in PICKS for d in DTYPES if d != "bool" or n in ("max", "min")]


@pytest.mark.parametrize(("name", "dtype"), PAIRS)
def test_of_lines_of_one_it_is_that_one(name, dtype):
    for x, given in lines(1, dtype):
        values, places = PICKS[name](given)
        np.testing.assert_array_equal(values.double().numpy(), x[:, 0])
        assert places.dtype == pkg.int64 and not places.any().item()
        empty = given[:0]
        assert PICKS[name](empty)[0].shape == (0,)
    assert PICKS["max"](pkg.tensor([[5]]))[0].tolist() == [5]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("descending", [False, True])
def test_short_lines_in_order(dtype, descending):
    """Stable; NaN is the largest."""
    for _ in every_level():
        for n in (1, 2, 3):
            for x, given in lines(n, dtype):
                values, places = pkg.sort(given, 1, descending, stable=True)
                keys = np.where(np.isnan(x), np.inf, x) + 0.0
                order = np.argsort(-keys if descending else keys, 1, kind="stable")
                np.testing.assert_array_equal(places.numpy(), order)
                want = np.take_along_axis(x, order, 1)
                np.testing.assert_array_equal(values.double().numpy(), want)
                for k in range(1, n + 1):
                    if dtype == "bool":
                        break
                    some, at = pkg.topk(given, k, 1, descending)
                    np.testing.assert_array_equal(some.double().numpy(), want[:, :k])
                    taken = np.take_along_axis(x, at.numpy(), 1)
                    np.testing.assert_array_equal(taken, want[:, :k])
                turned, where = pkg.sort(given.t(), 0, descending, stable=True)
                np.testing.assert_array_equal(where.numpy(), order.T)
                np.testing.assert_array_equal(turned.double().numpy(), want.T)


@pytest.mark.parametrize("dtype", ["uint8", "int64", "bfloat16", "float32", "float64"])
def test_places_in_rows_of_any_length(dtype):
    """The first of equal ones, the first NaN."""
    for _ in every_level():
        for n in (
            1,
            2,
            7,
            11,
            12,
            13,
            31,
            47,
            48,
            49,
            63,
            64,
            65,
            127,
            128,
            129,
            3_000,
        ):
            for rows in (1, 5, 130):
                rng = np.random.default_rng(n + rows)
                x = rng.integers(0, 40, (rows, n)).astype("float64")
                if dtype != "uint8" and dtype != "int64":
                    x[rng.random(rows) < 0.3, rng.integers(0, n)] = np.nan
                    x[rng.random(rows) < 0.3, rng.integers(0, n)] = np.inf
                given = pkg.tensor(x).to(getattr(pkg, dtype))
                for name in ("argmax", "argmin"):
                    sign = 1 if name == "argmax" else -1
                    keys = np.where(np.isnan(x), math.inf, x * sign)
                    nan = np.isnan(x)
                    want = np.where(nan.any(1), nan.argmax(1), keys.argmax(1))
                    got = getattr(pkg, name)(given, 1)
                    np.testing.assert_array_equal(got.numpy(), want, (name, n, rows))


def test_norms_of_short_rows():
    rng = np.random.default_rng(5)
    for n in (1, 2, 5, 32, 33, 40):
        for rows in (1, 255, 256, 257, 700):
            x = rng.standard_normal((rows, n)) * 3
            for dtype, within in (
                ("float64", 1e-12),
                ("float32", 1e-6),
                ("bfloat16", 1e-2),
            ):
                given = pkg.tensor(x).to(getattr(pkg, dtype))
                exact = given.double().numpy()
                for p in (0, 1, 2, 3, 2.5, math.inf, -math.inf):
                    want = np.linalg.norm(exact, p, 1)
                    got = pkg.norm(given, p, 1).double().numpy()
                    np.testing.assert_allclose(got, want, rtol=within, atol=within)
