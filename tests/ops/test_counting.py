# SPDX-License-Identifier: Apache-2.0
"""bincount, one_hot, isin, searchsorted, cat, roll around the limits of their loops."""

import numpy as np
import pytest

import pkg

RNG = np.random.default_rng(31)
INTEGERS = ["int64", "int32", "int8", "uint8"]
LENGTHS = [0, 1, 3, 5, 15, 16, 17, 1_000, 70_000, 300_001]


@pytest.mark.parametrize("dtype", [*INTEGERS, "bool"])
@pytest.mark.parametrize("n", LENGTHS)
def test_bincount(n, dtype):
    for past in (1, 2, 100, 5_000):
        if past > np.iinfo(dtype).max if dtype != "bool" else past != 2:
            continue
        x = RNG.integers(0, past, 2 * n)
        w = RNG.standard_normal(n)
        for given in (pkg.tensor(x[:n]).to(dtype), pkg.tensor(x).to(dtype)[::2]):
            numbers = given.to("int64").numpy()
            for least in (0, 7, 6_000):
                expected = np.bincount(numbers, minlength=least)
                np.testing.assert_array_equal(given.bincount(minlength=least), expected)
            found = given.bincount(pkg.tensor(w))
            np.testing.assert_array_equal(found, np.bincount(numbers, w))
            assert found.dtype == pkg.float64


def test_bincount_refuses_negative_numbers():
    x = np.zeros(5_000, "int64")
    x[4_321] = -3
    for dtype in ("int64", "int32", "int8"):
        with pytest.raises(RuntimeError, match="non-negative inputs, got -3"):
            pkg.tensor(x).to(dtype).bincount()


@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize("shape", [(1,), (3, 5), (700, 2), (0, 4)])
def test_one_hot(shape, dtype):
    x = RNG.integers(0, 100, shape)
    for classes in (100, 127, 1_000):
        found = pkg.one_hot(pkg.tensor(x).to(dtype), classes)
        assert found.dtype == pkg.int64
        np.testing.assert_array_equal(found, np.eye(classes, dtype=int)[x])
    if x.size:
        wide = pkg.one_hot(pkg.tensor(x).to(dtype))
        np.testing.assert_array_equal(wide, np.eye(x.max() + 1, dtype=int)[x])
        with pytest.raises(RuntimeError, match="must be smaller than num_classes"):
            pkg.one_hot(pkg.tensor(x), int(x.max()))
        with pytest.raises(RuntimeError, match="must be non-negative"):
            pkg.one_hot(pkg.tensor(x - 100), 5)


@pytest.mark.parametrize("dtype", [*INTEGERS, "float64", "float32", "float16", "bool"])
@pytest.mark.parametrize("n", [1, 2, 3, 16, 17, 1_000, 40_001])
def test_searchsorted_and_isin(n, dtype):
    for spread in (1, 50, 30_000 if dtype == "float16" else 10**7):
        line = np.sort(RNG.integers(-spread, spread + 1, n).astype(dtype))
        values = RNG.integers(-spread - 9, spread + 9, 5_000).astype(dtype)
        values[:n] = line[:5_000]
        for side in ("left", "right"):
            found = pkg.searchsorted(
                pkg.tensor(line), pkg.tensor(values), right=side == "right"
            )
            np.testing.assert_array_equal(found, np.searchsorted(line, values, side))
        for x in (values, values[:7], values.reshape(50, 100).T):
            tests = RNG.permutation(line)
            found = pkg.isin(pkg.tensor(x), pkg.tensor(tests))
            np.testing.assert_array_equal(found, np.isin(x, tests))


def test_isin_of_large_numbers_and_nan():
    big = np.array([-(2**63), -(2**62), 0, 2**62, 2**63 - 1])
    x = np.array([2**63 - 1, 2**63 - 2, -(2**63), 1, 0, -1])
    np.testing.assert_array_equal(
        pkg.isin(pkg.tensor(x), pkg.tensor(big)), np.isin(x, big)
    )
    some = np.array([np.nan, 0.0, np.inf, -0.0, 1.0])
    x = np.array([np.nan, -0.0, -np.inf, np.inf, 1.0, 2.0])
    for dtype in ("float64", "float32", "float16"):
        found = pkg.isin(pkg.tensor(x).to(dtype), pkg.tensor(some).to(dtype))
        np.testing.assert_array_equal(found, np.isin(x, some))


@pytest.mark.parametrize("far", [2, 2**40, -(2**40), 2**63 - 1])
def test_tests_that_are_not_sorted_write_nowhere(far):
    """isin sorts them; the op under it trusts its caller, but not with memory."""
    tests = pkg.tensor([0, far, 1])
    found = pkg.ops._among(pkg.tensor([0, 1, 5, far]), tests)
    assert found.tolist()[:3] == [True, True, False]


def test_nan_stands_behind_every_number():
    nan = np.nan
    for line in ([1, 2, nan], [nan] * 3, [0, np.inf, nan, nan], [1, 2, 2]):
        line = np.array(line, "float64")
        for v in (-np.inf, 0.0, 1.0, 2.0, 5.0, np.inf):
            for side in ("left", "right"):
                value, right = pkg.tensor([v]).double(), side == "right"
                found = pkg.searchsorted(pkg.tensor(line), value, right=right)
                assert found.tolist() == [np.searchsorted(line, v, side)]
        for right in (False, True):
            value = pkg.tensor([nan])
            found = pkg.searchsorted(pkg.tensor(line), value, right=right)
            assert found.tolist() == [len(line)]


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "uint8"])
@pytest.mark.parametrize("sizes", [(3,), (0, 5, 0, 1), (70, 1, 300), (9_000, 8)])
def test_cat(sizes, dtype):
    for rest in ((), (1,), (7,), (40, 65), (5_000,)):
        if max(sizes) > 1_000 and rest > (1_000,):
            continue  # 360 MB
        if max(sizes) > 1_000 and rest == (40, 65) and dtype != "uint8":
            continue  # elements enough for a task, of the least bytes
        parts = [RNG.integers(0, 99, (n, *rest)).astype(dtype) for n in sizes]
        for dim in range(1 + len(rest)):
            arrays = [np.moveaxis(p, 0, dim) for p in parts]
            expected = np.concatenate(arrays, dim)
            dense = [pkg.tensor(np.ascontiguousarray(a)) for a in arrays]
            moved = [pkg.tensor(p).movedim(0, dim) for p in parts]
            for tensors in (dense, moved, [*dense[:1], *moved[1:]]):
                np.testing.assert_array_equal(pkg.cat(tensors, dim), expected)
    many = [RNG.integers(0, 99, (3, n % 5)).astype(dtype) for n in range(60)]
    found = pkg.cat([pkg.tensor(a) for a in many], 1)
    np.testing.assert_array_equal(found, np.concatenate(many, 1))


@pytest.mark.parametrize("shape", [(), (1,), (4, 7), (3, 4, 5), (300, 200), (0, 3)])
def test_roll(shape):
    x = RNG.standard_normal(shape)
    t = pkg.tensor(x).requires_grad_()
    for shift in (0, 1, -1, 5, -700, 2**40):
        np.testing.assert_array_equal(t.roll(shift).detach(), np.roll(x, shift))
    cases = [((2,), (0,)), ((-1,), (-1,)), ((1, 2), (0, -1)), ((3, -5), (0, 0))]
    for shifts, dims in cases if shape else ():
        found = t.roll(shifts, dims)
        np.testing.assert_array_equal(found.detach(), np.roll(x, shifts, dims))
        g = RNG.standard_normal(shape)
        (grad,) = pkg.autograd.grad(found, [t], pkg.tensor(g))
        back = [-s for s in shifts]
        np.testing.assert_array_equal(grad, np.roll(g, back, dims))
        turned = pkg.tensor(x.T.copy()).permute(*range(len(shape))[::-1])
        found = turned.roll(shifts, dims)
        np.testing.assert_array_equal(found, np.roll(x, shifts, dims))
    if not shape:
        with pytest.raises(IndexError, match="has no dimensions"):
            t.roll(1, 0)


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "uint8"])
def test_flip_of_what_repeats_and_of_turned_dimensions(dtype):
    x = RNG.integers(0, 99, (5, 1, 33)).astype(dtype)
    t = pkg.tensor(x)
    wide, array = t.expand(5, 70, 33), np.broadcast_to(x, (5, 70, 33))
    for order in ((0, 1, 2), (2, 1, 0), (1, 2, 0), (0, 2, 1)):
        for dims in ((0,), (1,), (2,), (0, 2), (0, 1, 2)):
            for a, b in ((wide, array), (wide.clone(), array.copy())):
                found = a.permute(*order).flip(dims)
                expected = np.flip(b.transpose(order), dims)
                np.testing.assert_array_equal(found, expected)
                copy = a.permute(*order).clone()
                assert found.is_contiguous() == copy.is_contiguous()
    narrow = pkg.tensor(x[:, 0, :1].copy()).expand(5, 40)
    expected = np.flip(x[:, 0, :1] + np.zeros(40, dtype), (0, 1))
    np.testing.assert_array_equal(narrow.flip([0, 1]), expected)
