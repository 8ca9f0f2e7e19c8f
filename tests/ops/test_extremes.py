# SPDX-License-Identifier: Apache-2.0
"""The smallest and largest: of any length, layout and bits, alone and both at once."""

import numpy as np
import pytest

import pkg
from levels import every_level

FLOATS = ("float32", "float64", "float16", "bfloat16")
DTYPES = (*FLOATS, "int64", "int32", "uint8", "bool")


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int32", "uint8"])
def test_extremes_of_rows_of_any_length(dtype):
    """A row's last lanes may be read twice; NaN may be in any of them."""
    rng = np.random.default_rng(1)
    lengths = [*range(1, 140), 255, 256, 257, 511, 513, 2_047, 2_049]
    for _ in every_level():
        for n in lengths:
            x = (rng.standard_normal((7, n)) * 40).astype(dtype)
            if dtype.startswith("float"):
                x[3, rng.integers(n)] = x[5, n - 1] = x[6, 0] = np.nan
                x[0], x[1] = -np.inf, np.inf
            for got, want in ((pkg.amax, np.max), (pkg.amin, np.min)):
                np.testing.assert_array_equal(got(pkg.tensor(x), 1), want(x, 1))


def laid_out(x):
    yield "dense", x
    yield "transposed", x.t().contiguous().t()
    yield "stepped", pkg.stack([x, x], 2)[..., 1]
    yield "broadcast", x[:1].expand(*x.shape)


def same(a, b) -> bool:
    return np.array_equal(a.double().numpy(), b.double().numpy(), equal_nan=True)


@pytest.mark.parametrize("dtype", DTYPES)
def test_both_are_those_of_amin_and_amax(dtype):
    rng = np.random.default_rng(2)
    shapes = [(1, 1), (3, 7), (16, 33), (130, 64), (5, 20_000), (20_000, 5)]
    shapes.append((2, 70_001))
    for level in every_level():
        for shape in shapes:
            x = pkg.tensor(rng.standard_normal(shape) * 40).to(getattr(pkg, dtype))
            if dtype in FLOATS and x.numel() > 200:
                x[0, shape[1] // 2] = float("nan")
                x[1, 0], x[1, 1] = float("inf"), float("-inf")
            for layout, t in laid_out(x):
                for dim in (None, 0, -1):
                    for keepdim in (False, True):
                        low, high = pkg.aminmax(t, dim=dim, keepdim=keepdim)
                        where = (level, shape, layout, dim, keepdim)
                        assert same(low, pkg.amin(t, dim, keepdim)), where
                        assert same(high, pkg.amax(t, dim, keepdim)), where
                        assert low.dtype == high.dtype == t.dtype


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_every_number_of_16_bits(dtype):
    """They are compared by their bits: each with a number on either side of it."""
    if dtype == "float16":
        x = pkg.tensor(np.arange(65_536, dtype=np.uint16).view(np.float16))
    else:
        wide = (np.arange(65_536, dtype=np.uint32) << 16).view(np.float32)
        x = pkg.tensor(wide).to(pkg.bfloat16)
    rng = np.random.default_rng(3)
    wide = x.double().numpy()
    for _ in every_level():
        for n in (2, 5, 70):
            others = rng.choice(wide[~np.isnan(wide)], (len(wide), n))
            rows = np.where(np.arange(n) == n // 2, wide[:, None], others)
            rows = rows[:: 1 if n < 9 else 17]
            t = pkg.tensor(rows).to(x.dtype)
            for given, axis in ((t, 1), (t.t().contiguous(), 0)):
                low, high = pkg.aminmax(given, dim=axis)
                np.testing.assert_array_equal(low.double().numpy(), rows.min(1))
                np.testing.assert_array_equal(high.double().numpy(), rows.max(1))
                np.testing.assert_array_equal(
                    pkg.amax(given, axis).double().numpy(), rows.max(1)
                )


@pytest.mark.parametrize("dim", [None, 0, 1])
def test_the_gradient_of_both_is_the_sum_of_each(dim):
    x = pkg.tensor([[1.0, 3.0, 3.0], [-2.0, 0.0, 3.0]]).requires_grad_()
    low, high = pkg.aminmax(x, dim=dim)
    apart = pkg.amin(x, dim), pkg.amax(x, dim)
    for used in ((0,), (1,), (0, 1)):
        of_both = sum((low, high)[k].sum() * (k + 2) for k in used)
        of_each = sum(apart[k].sum() * (k + 2) for k in used)
        (got,) = pkg.autograd.grad(of_both, [x], retain_graph=True)
        (want,) = pkg.autograd.grad(of_each, [x], retain_graph=True)
        np.testing.assert_array_equal(got.numpy(), want.numpy())


def test_nothing_has_no_extremes():
    with pytest.raises(IndexError, match=r"\[aminmax\].*at least one element"):
        pkg.aminmax(pkg.zeros(0))
    with pytest.raises(IndexError, match=r"\[amin\].*at least one element"):
        pkg.amin(pkg.zeros(0))
    low, high = pkg.aminmax(pkg.zeros(0, 3), dim=1)
    assert low.shape == high.shape == (0,)


@pytest.mark.parametrize("dtype", DTYPES)
def test_both_of_seven_dimensions_on_one_thread_and_on_two(dtype):
    rng = np.random.default_rng(4)
    before = pkg.get_num_threads()
    shapes = [(2, 3, 2, 5, 3, 2, 60), (2, 1, 3, 2, 9_000, 1, 2), (3, 2, 0, 2, 1, 2, 2)]
    for shape in shapes:
        x = pkg.tensor(rng.integers(0, 2, shape)).to(getattr(pkg, dtype))
        turned = x.permute(*rng.permutation(7).tolist())
        for dim in range(-7, 7):
            if turned.shape[dim] == 0:
                continue
            a = turned.double().numpy()
            for threads in (1, 2):
                pkg.set_num_threads(threads)
                low, high = pkg.aminmax(turned, dim=dim)
                np.testing.assert_array_equal(low.double().numpy(), a.min(dim))
                np.testing.assert_array_equal(high.double().numpy(), a.max(dim))
    pkg.set_num_threads(before)
