# SPDX-License-Identifier: Apache-2.0
"""Running sums, products and extremes of every layout, around their tiles' limits."""

from functools import partial

import numpy as np
import pytest

import pkg
from layouts import SEEDS, layouts, ways_to_lie
from levels import every_level

FLOATS = ["float64", "float32", "float16", "bfloat16"]
DTYPES = [*FLOATS, "int64", "int32", "int8", "uint8", "bool"]
# Lines that are short, few, side by side, read across; tiles of 2,048 elements, stripes
# of 128 lines, at most 1,024 of them, 64 and 512 places (scan_tiles.cc).
SHAPES = [
    (), (0,), (1,), (2047,), (2049,), (5000,), (4, 7), (8, 40), (40, 8), (33, 64),
    (33, 65), (130, 127), (129, 512), (3, 513), (3, 2100), (2100, 3), (700, 8),
    (2, 1025), (65, 1030), (2, 300, 2), (3, 50, 17), (20, 3, 40), (2, 2, 2, 3, 2, 2, 3),
    (2, 1, 2, 1, 2, 2, 2, 1, 2), (0, 3), (3, 0), (2, 0, 3),
]  # fmt: skip


def wide(x):
    """In float64 or int64."""
    return x.to(pkg.float64 if x.is_floating_point() else pkg.int64).numpy()


def check(x, dim):
    """Numbers are such that sums are exact and every order gives the same product."""
    a = wide(x)
    axis = dim if a.ndim else None

    def along(f, a):
        return f(a, axis=axis).reshape(a.shape)

    for name, f in (("cumsum", np.cumsum), ("cumprod", np.cumprod)):
        np.testing.assert_array_equal(wide(getattr(pkg, name)(x, dim)), along(f, a))
    if x.is_floating_point():
        back = np.flip(along(np.cumsum, np.flip(a, axis)), axis)
        np.testing.assert_array_equal(wide(pkg.ops._reverse_cumsum(x, dim)), back)
        for reverse in (False, True):
            got = wide(pkg.ops._linear_scan(x, x, dim, reverse))
            np.testing.assert_array_equal(got, linear(a, axis, reverse))
    if x.numel() == 0 or x.dtype == pkg.bool:
        return
    for name, f in (("cummax", np.maximum), ("cummin", np.minimum)):
        values, places = getattr(pkg, name)(x, dim)
        want = f.accumulate(a, axis=dim) if a.ndim else a
        np.testing.assert_array_equal(wide(values), want)
        np.testing.assert_array_equal(places.numpy(), latest(a, want, axis))


def linear(a, axis, reverse):
    """y[i] = a[i] + a[i] * y[i - 1], or a[i] + a[i + 1] * y[i + 1]."""
    if a.ndim == 0 or a.size == 0:
        return a
    lines = np.moveaxis(a, axis, 0)
    y = lines.copy()
    places = range(1, len(y))
    for i in places:
        if reverse:
            at = len(y) - 1 - i
            y[at] = lines[at] + lines[at + 1] * y[at + 1]
        else:
            y[i] = lines[i] + lines[i] * y[i - 1]
    return np.moveaxis(y, 0, axis)


def latest(a, extremes, axis):
    """The last place up to each one that has the extreme so far."""
    if a.ndim == 0:
        return np.zeros((), np.int64)
    shape = [1] * a.ndim
    shape[axis] = a.shape[axis]
    places = np.where(a == extremes, np.arange(a.shape[axis]).reshape(shape), 0)
    return np.maximum.accumulate(places, axis=axis)


@pytest.mark.parametrize("dtype", DTYPES)
def test_they_agree_with_numpy(dtype):
    rng = np.random.default_rng(0)
    for shape in SHAPES:
        # At most two numbers of a line are not 0: what is computed is exact in 16 bits.
        a = rng.integers(-1, 2, shape) * (rng.random(shape) < 2 / max(1, *shape, 1))
        if dtype in ("uint8", "bool"):
            a = np.abs(a)
        for x in ways_to_lie(pkg.tensor(a).to(getattr(pkg, dtype))):
            for dim in range(max(1, len(shape))):
                check(x, dim)


@pytest.mark.parametrize("seed", SEEDS)
def test_of_any_strides(seed):
    (layout,) = layouts(seed, 1)
    x = (layout.tensor() > 0.5).to(pkg.float64) if seed % 2 else layout.tensor()
    a = x.numpy()
    for dim in range(max(1, x.ndim)):
        want = np.cumsum(a, dim) if a.ndim else a
        np.testing.assert_allclose(pkg.cumsum(x, dim).numpy(), want, rtol=1e-12)
        if x.numel():
            want = np.maximum.accumulate(a, dim) if a.ndim else a
            np.testing.assert_array_equal(pkg.cummax(x, dim)[0].numpy(), want)


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int64"])
def test_the_same_on_every_level_and_for_any_threads(dtype, level):
    """Sums of a column do not depend on who takes it; levels agree to rounding."""
    rng = np.random.default_rng(1)
    before = pkg.get_num_threads()
    for shape, dim in [
        ((300, 1030), 0),
        ((1030, 300), 1),
        ((3, 9000), 1),
        ((9000, 8), 1),
    ]:
        x = pkg.tensor(rng.integers(-3, 4, shape)).to(getattr(pkg, dtype))
        results = []
        for threads in (1, 2, 3):
            pkg.set_num_threads(threads)
            results.append(
                [pkg.cumsum(x, dim), *pkg.cummax(x, dim), pkg.cumprod(x, dim)]
            )
        pkg.set_num_threads(before)
        for others in results[1:]:
            assert all(pkg.equal(a, b) for a, b in zip(results[0], others))
        np.testing.assert_array_equal(wide(results[0][0]), np.cumsum(wide(x), dim))


@pytest.mark.parametrize("shape", [(5,), (3, 70), (70, 40), (40, 8)])
@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "bfloat16"])
def test_nan_stays_and_the_latest_is_found(dtype, shape):
    rng = np.random.default_rng(2)
    a = np.where(rng.random(shape) < 0.1, np.nan, rng.integers(-9, 9, shape))
    for x in ways_to_lie(pkg.tensor(a).to(getattr(pkg, dtype))):
        for dim in range(len(shape)):
            b = wide(x)
            for name, f in (("cummax", np.maximum), ("cummin", np.minimum)):
                values, places = getattr(pkg, name)(x, dim)
                want = f.accumulate(b, axis=dim)
                np.testing.assert_array_equal(wide(values), want)
                found = np.take_along_axis(b, places.numpy(), dim)
                np.testing.assert_array_equal(found, want)


@pytest.mark.parametrize("kind", ["rare", "rising", "ties", "odd"])
@pytest.mark.parametrize("dtype", DTYPES[:-1])
def test_extremes_of_long_lines(dtype, kind):
    """Groups of 16 without a new extreme are passed over, by every instruction set."""
    rng = np.random.default_rng(5)
    for n in (15, 16, 17, 100, 2_049, 5_000):
        a = {
            "rare": rng.integers(0, 100, (3, n)),
            "rising": np.arange(3 * n).reshape(3, n) * 100 // (3 * n),
            "ties": rng.integers(0, 2, (3, n)),
            "odd": np.where(rng.random((3, n)) < 0.3, rng.integers(0, 9, (3, n)), 0.0),
        }[kind]
        if kind == "odd" and dtype in FLOATS:
            a = np.where(rng.random((3, n)) < 0.2, -0.0, a)
            a = np.where(rng.random((3, n)) < 0.001, np.nan, a)
            a = np.where(rng.random((3, n)) < 0.001, np.inf, a)
        x = pkg.tensor(a).to(getattr(pkg, dtype))
        b = wide(x)
        for _ in every_level():
            for name, f in (("cummax", np.maximum), ("cummin", np.minimum)):
                values, places = getattr(pkg, name)(x, 1)
                want = f.accumulate(b, axis=1)
                np.testing.assert_array_equal(wide(values), want)
                same = (b == want) | (np.isnan(b) & np.isnan(want))
                at = np.where(same, np.arange(n), 0)
                np.testing.assert_array_equal(places, np.maximum.accumulate(at, 1))
                signs = np.signbit(np.take_along_axis(b, places.numpy(), 1))
                np.testing.assert_array_equal(np.signbit(wide(values)), signs)


@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16", "int32", "uint8"])
@pytest.mark.parametrize("lines", [1, 3, 4, 9, 130, 1_100])
def test_lines_of_every_short_length(dtype, lines):
    """The shortest are turned round; a tile has many lines, or none."""
    rng = np.random.default_rng(lines)
    for n in (*range(4), 8, 15, 16, 17, 23, 24, 25, 26, 40, 63, 64, 65, 70):
        signs = rng.integers(0, 2, (lines, n)) if dtype != "uint8" else 0
        x = pkg.tensor(rng.integers(0, 2, (lines, n)) - signs).to(getattr(pkg, dtype))
        check(x, 1)
        check(x.t().contiguous().t(), 1)


def test_sums_of_integers_wrap():
    for n in (1, 5, 3000):
        x = pkg.full((n,), 2**63 - 1, dtype=pkg.int64)
        want = [(((k + 1) * (2**63 - 1) + 2**63) % 2**64) - 2**63 for k in range(n)]
        assert pkg.cumsum(x, 0).tolist() == want


@pytest.mark.parametrize("reverse", [False, True])
def test_gradients_of_a_linear_scan_of_every_order(reverse):
    rng = np.random.default_rng(3)
    for shape, dim in [((5,), 0), ((3, 4), 0), ((3, 4), 1), ((2, 3, 10), 1)]:
        a, b = (
            pkg.tensor(rng.standard_normal(shape), requires_grad=True) for _ in range(2)
        )
        scan = partial(pkg.ops._linear_scan, dim=dim, reverse=reverse)
        assert pkg.autograd.gradcheck(scan, (a, b))
        assert pkg.autograd.gradgradcheck(scan, (a, b))


@pytest.mark.parametrize("dtype", ["float32", "int64", "bool"])
@pytest.mark.parametrize("shape", [(0, 5), (5, 0), (5, 3), (1,), (0,)])
def test_differences_that_leave_nothing(shape, dtype):
    x = pkg.ones(shape, dtype=getattr(pkg, dtype))
    for dim, size in enumerate(shape):
        for n in (0, 1, 4, 5, 6, 2**40, 2**63 - 1):
            got = x.diff(n, dim)
            assert got.shape[dim] == max(size - n, 0) and got.dtype is x.dtype
            if dtype == "float32" and 0 in got.shape:
                t = x.clone().requires_grad_()
                t.diff(n, dim).sum().backward()
                assert (t.grad == 0).all()
    assert pkg.zeros(0, 2**40).diff(2**39).shape == (0, 2**39)
