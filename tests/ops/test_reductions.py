# SPDX-License-Identifier: Apache-2.0
"""Reductions of every layout around the limits of their blocks, against NumPy."""

import itertools

import numpy as np
import pytest

import pkg
from levels import every_level
from pkg import Tensor

DTYPES = [
    "float32",
    "float64",
    "float16",
    "bfloat16",
    "int64",
    "int32",
    "uint8",
    "int8",
    "bool",
]
FLOATS = DTYPES[:4]
# Rows and columns: short rows, lanes, blocks, tiles, parts, each with a neighbour.
LENGTHS = [1, 2, 11, 12, 15, 16, 17, 63, 64, 65, 127, 128, 129, 1023, 1025, 2049, 4097]
RELATIVE = {"float32": 2e-6, "float64": 1e-13, "float16": 2e-3, "bfloat16": 1.6e-2}


def values(dtype: str, shape: tuple[int, ...], seed: int = 0) -> Tensor:
    rng = np.random.default_rng(seed)
    if dtype in FLOATS:
        # Of one sign, so that a relative bound holds; exact in 16 bits.
        x = pkg.tensor(rng.integers(1, 9, shape) / 8.0)
    else:
        x = pkg.tensor(rng.integers(0, 2 if dtype == "bool" else 7, shape))
    return x.to(getattr(pkg, dtype))


def layouts(x: Tensor):
    """The same values as they may lie in memory."""
    n = x.ndim
    turned = tuple(reversed(range(n)))
    yield "dense", x
    yield "transposed", x.permute(*turned).contiguous().permute(*turned)
    yield "sliced", pkg.cat([x, x], n - 1)[..., : x.shape[-1]]
    yield "stepped", pkg.stack([x, x], n).select(n, 1)
    if n > 2:
        yield (
            "permuted",
            x.permute(*range(1, n), 0).contiguous().permute(n - 1, *range(n - 1)),
        )
        yield "expanded", x[:1].expand(*x.shape)


def check(name, result, expected, dtype="float64"):
    result = (
        result.to(pkg.float64).numpy() if result.dtype != pkg.bool else result.numpy()
    )
    assert result.shape == np.shape(expected), name
    bound = RELATIVE.get(dtype, 0)
    np.testing.assert_allclose(result, expected, rtol=bound, err_msg=name)


def wide(x: Tensor) -> np.ndarray:
    return x.to(pkg.float64).numpy()


def counted(x: Tensor) -> np.ndarray:
    return x.to(pkg.int64).numpy() if str(x.dtype)[4:] not in FLOATS else wide(x)


SUMS = ["sum", "amax", "amin", "any", "all", "count_nonzero"]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", SUMS)
def test_lengths(name, dtype):
    for n in LENGTHS:
        for shape in [(3, n), (n, 3), (n, 17), (2, n, 2)]:
            for layout, x in layouts(values(dtype, shape, n)):
                a = counted(x)
                for dim in range(len(shape)):
                    expected = getattr(np, name)(a, axis=dim)
                    where = f"{name} {dtype} {shape} {layout} dim={dim}"
                    check(where, getattr(x, name)(dim), expected, dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", ["sum", "amax", "count_nonzero"])
def test_several_dimensions(name, dtype):
    shape = (5, 6, 7, 9)
    for layout, x in layouts(values(dtype, shape)):
        a = counted(x)
        for count in (2, 3, 4):
            for dims in itertools.combinations(range(4), count):
                where = f"{name} {dtype} {layout} {dims}"
                expected = getattr(np, name)(a, axis=dims)
                check(where, getattr(x, name)(dims), expected, dtype)
        check(
            f"{name} {dtype} {layout}", getattr(x, name)(), getattr(np, name)(a), dtype
        )


@pytest.mark.parametrize("dtype", ["float32", "float16", "int64", "uint8"])
@pytest.mark.parametrize("shape", [(300001,), (3, 100003), (100003, 3), (70001, 2, 2)])
def test_long_reductions_are_cut(dtype, shape):
    for layout, x in layouts(values(dtype, shape)):
        a = counted(x)
        for dim in [None, *range(len(shape))]:
            axis = () if dim is None else (dim,)
            where = f"{dtype} {shape} {layout} {dim}"
            total = a.sum(dim)
            if dtype != "float16" or np.max(total) < 60000:
                check(where, x.sum(*axis), total, dtype)
            check(where, x.amin(*axis), a.min(dim), dtype)
            check(where, x.argmax(*axis), a.argmax(dim))


@pytest.mark.parametrize("dtype", DTYPES)
def test_places_are_the_first(dtype):
    for n in LENGTHS:
        for shape in [(3, n), (n, 3), (n, 20), (2, n, 2)]:
            for layout, x in layouts(values(dtype, shape, n)):
                a = counted(x)
                for dim in range(len(shape)):
                    where = f"{dtype} {shape} {layout} dim={dim}"
                    check(where, x.argmax(dim), a.argmax(dim))
                    check(where, x.argmin(dim), a.argmin(dim))
                check(where, x.argmax(), a.argmax())


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
def test_nan_wins_wherever_it_is(dtype):
    for n in [1, 5, 16, 40, 129, 2100]:
        for at in {0, n // 2, n - 1}:
            for shape, dim in [((2, n), 1), ((n, 2), 0), ((n, 70), 0)]:
                a = np.ones(shape)
                index = [0, 0]
                index[dim] = at
                a[tuple(index)] = np.nan
                x = pkg.tensor(a).to(getattr(pkg, dtype))
                where = f"{shape} {at}"
                check(where, x.amax(dim), a.max(dim))
                check(where, x.amin(dim), a.min(dim))
                check(where, x.argmax(dim), np.argmax(np.isnan(a), dim))
                assert bool(x.sum(dim)[0].isnan()) and not bool(x.sum(dim)[1].isnan())


@pytest.mark.parametrize("dtype", DTYPES)
def test_products(dtype):
    for n in [1, 2, 11, 12, 31, 33, 65, 130, 1025]:
        for shape in [(3, n), (n, 3), (n, 17)]:
            rng = np.random.default_rng(n)
            signs = pkg.tensor(rng.integers(0, 2, shape) * 2 - 1).to(
                getattr(pkg, dtype)
            )
            for layout, x in layouts(signs):
                a = counted(x)
                for dim in (0, 1, None):
                    axis = () if dim is None else (dim,)
                    with np.errstate(over="ignore"):
                        expected = np.prod(a, axis=dim)
                    where = f"{dtype} {shape} {layout} {dim}"
                    result = x.prod(*axis)
                    result = wide(result) if dtype in FLOATS else result.numpy()
                    np.testing.assert_array_equal(result, expected, err_msg=where)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("order", [0, 1, 2, 3, -1, float("inf"), float("-inf")])
def test_norms(dtype, order):
    for n in [1, 2, 13, 17, 65, 1025, 3000]:
        for shape in [(3, n), (n, 3), (n, 17)]:
            for layout, x in layouts(values(dtype, shape, n)):
                a = wide(x)
                for dim in (0, 1):
                    expected = np.linalg.norm(a, order, dim)
                    where = f"{dtype} {shape} {layout} {dim}"
                    check(where, pkg.norm(x, order, dim), expected, dtype)


def test_a_sum_keeps_its_digits():
    """Far better than one running total, for rows and columns alike."""
    x = np.full(3_000_000, 0.1, np.float32)
    exact = np.float64(np.float32(0.1)) * len(x)
    for shape, dim in [((len(x),), 0), ((len(x), 1), 0), ((len(x) // 10, 10), 0)]:
        total = pkg.tensor(x).reshape(*shape).sum(dim).numpy()
        np.testing.assert_allclose(total, exact / max(1, total.size), rtol=1e-6)


@pytest.mark.parametrize("dtype", ["float32", "float16", "int64", "uint8", "bool"])
@pytest.mark.parametrize("shape", [(1, 7), (300, 1), (1, 1), (3, 1, 40)], ids=str)
def test_extremes_of_what_repeats(shape, dtype):
    rng = np.random.default_rng(5)
    x = rng.integers(0, 2 if dtype == "bool" else 100, shape).astype(dtype)
    if dtype.startswith("float"):
        x.reshape(-1)[-1] = np.nan if len(shape) == 3 else -3
    many = 9000 if shape.count(1) == 1 else 1200
    whole = tuple(many if n == 1 else n for n in shape)
    want, got = np.broadcast_to(x, whole), pkg.tensor(x).expand(*whole)
    for dim in [*range(len(shape)), None]:
        for name in ("amax", "amin"):
            np.testing.assert_array_equal(
                getattr(pkg, name)(got, dim).numpy(), getattr(np, name)(want, dim)
            )
        if dtype == "bool":
            continue
        for name in ("argmax", "argmin"):
            np.testing.assert_array_equal(
                getattr(pkg, name)(got, dim).numpy(), getattr(np, name)(want, dim)
            )
        if dim is not None:
            values, places = pkg.max(got, dim)
            np.testing.assert_array_equal(values.numpy(), want.max(dim))
            np.testing.assert_array_equal(places.numpy(), want.argmax(dim))
    if dtype == "float32":
        for p in (np.inf, -np.inf):
            np.testing.assert_array_equal(
                pkg.norm(got, p, 0).numpy(),
                np.abs(want).max(0) if p > 0 else np.abs(want).min(0),
            )


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    "rows", [0, 1, 2, 3, 4, 5, 7, 8, 9, 11, 12, 13, 15, 16, 17, 20]
)
def test_columns_of_few_rows(dtype, rows, level):
    """Up to 16 rows are added to the results at once, 8, 4 and 1 at a time."""
    for columns in (1, 5, 16, 63, 64, 65, 1_023, 1_024, 1_025, 5_001):
        x = values(dtype, (max(rows, 1), columns), rows)[:rows]
        wide = x.double().numpy()
        for name, laid in layouts(x) if rows else [("dense", x)]:
            count = pkg.count_nonzero(laid, 0).numpy()
            np.testing.assert_array_equal(count, np.count_nonzero(wide, 0), name)
            for f in ("sum", "prod", "amax", "amin"):
                if rows == 0 and f.startswith("am"):
                    continue
                got = getattr(laid, f)(0).double().numpy()
                want = getattr(wide, {"amax": "max", "amin": "min"}.get(f, f))(0)
                if dtype not in FLOATS and f == "prod":
                    want = laid.long().numpy().prod(0)
                limit = RELATIVE.get(dtype, 0)
                np.testing.assert_allclose(got, want, limit, 1e-7, err_msg=name)
            if dtype in FLOATS:
                got = pkg.norm(laid, 2, 0).double().numpy()
                limit = RELATIVE[dtype]
                np.testing.assert_allclose(got, np.sqrt((wide**2).sum(0)), limit)


@pytest.mark.parametrize("copies", [1, 2, 3, 7, 8, 13])
def test_rows_that_are_repeated(copies):
    x = np.random.default_rng(copies).uniform(0.5, 2, (1, 3, 1_500)).astype("float32")
    for dims in ((0,), (0, 1)):
        many = pkg.tensor(x).expand(copies, 3, 1_500)
        wide = np.repeat(x, copies, 0).astype("float64")
        np.testing.assert_allclose(many.sum(dims).numpy(), wide.sum(dims), 2e-6)
        got = pkg.norm(many, 2, dims).numpy()
        np.testing.assert_allclose(got, np.sqrt((wide**2).sum(dims)), 2e-6)
    np.testing.assert_allclose(many.prod(0).numpy(), wide.prod(0), 2e-7)
    np.testing.assert_allclose(many.var(0, correction=0).numpy(), wide.var(0), 0, 1e-12)


def test_products_whose_parts_float32_does_not_hold():
    factors = np.array([1e30, 1e20, 1e-30, 1e-25, 1e15, 3.0, 1e-20, 1e9], "float32")
    for rows in (factors, factors[::-1], np.sort(factors)):
        x = pkg.tensor(np.repeat(rows[:, None], 200, 1))
        want = rows.astype("float64").prod()
        for part in (x, x.t().contiguous().t(), pkg.cat([x, x], 1)[:, ::2]):
            np.testing.assert_allclose(part.prod(0).numpy(), want, 1e-7)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16", "float64"])
@pytest.mark.parametrize("scale", [1.0, 1e-30, 1e-22, 1e-19, 1e-13, 1e18, 1e30])
def test_norms_around_runs_and_limits(dtype, scale):
    """Runs have 4096 elements, groups in them 128; squares may be lost or infinite."""
    if dtype == "float16" and scale != 1:
        pytest.skip("no number of float16")
    rng = np.random.default_rng(0)
    for n in (0, 1, 2, 7, 8, 127, 128, 129, 255, 257, 4_095, 4_096, 4_097, 12_300):
        x = pkg.tensor(rng.standard_normal(n) * scale).to(getattr(pkg, dtype))
        wide = x.double().numpy()
        want = np.sqrt((wide**2).sum())
        limit = {"float16": 1e-3, "bfloat16": 8e-3, "float64": 1e-14}.get(dtype, 2e-7)
        for laid in (x, pkg.stack([x, x], 1)[:, 0], x.flip(0)):
            np.testing.assert_allclose(pkg.norm(laid).double().numpy(), want, limit)
        if n > 128:
            x[n - 100] = float("inf")
            assert pkg.norm(x) == float("inf")
            x[3] = float("nan")
            assert pkg.norm(x).isnan()


def test_a_large_number_among_those_whose_squares_are_lost():
    x = np.full(5_000, 1e-25, "float32")
    x[4_500] = 1e-24
    want = np.sqrt((x.astype("float64") ** 2).sum())
    np.testing.assert_allclose(pkg.norm(pkg.tensor(x)).numpy(), want, 2e-7)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int32", "uint8"])
def test_sums_of_rows_of_any_length(dtype):
    """What is left of a row is added with lanes of which some were seen."""
    rng = np.random.default_rng(1)
    lengths = [*range(1, 140), 255, 256, 257, 511, 512, 513, 1_025, 2_047, 2_049]
    for _ in every_level():
        for n in lengths:
            whole = rng.integers(0, 4, (7, n))
            x = pkg.tensor(whole).to(getattr(pkg, dtype))
            want = whole.sum(1)
            if dtype == "float16":
                want = want.astype(dtype)  # it has no odd ones above 2,048
            np.testing.assert_array_equal(pkg.sum(x, 1).double().numpy(), want)
            few = np.ones((7, n))
            for row in few:  # what makes the product is anywhere
                row[rng.integers(0, n, 3)] = 3.0
            few[:, -1] = 2.0
            x = pkg.tensor(few).to(getattr(pkg, dtype))
            product = pkg.prod(x, 1).double().numpy()
            np.testing.assert_array_equal(product, few.prod(1))


def test_a_row_with_an_infinity_or_nan_where_lanes_overlap():
    for _ in every_level():
        for dtype in ("float32", "float64", "float16"):
            for n in (33, 63, 65, 100, 600):
                rows = np.ones((2 * n, n), dtype)
                at = np.arange(n)
                rows[at, at], rows[n + at, at] = np.inf, np.nan
                x = pkg.tensor(rows)
                for f in (pkg.sum, pkg.prod):
                    got = f(x, 1).numpy()
                    assert (got[:n] == np.inf).all(), (dtype, n)
                    assert np.isnan(got[n:]).all(), (dtype, n)
