# SPDX-License-Identifier: Apache-2.0
"""Pointwise ops whose operands all repeat their elements; extremes of short rows."""

import itertools

import numpy as np
import pytest

import pkg

FLOATS = ["float64", "float32", "float16", "bfloat16"]
DTYPES = [*FLOATS, "int64", "int32", "uint8", "bool"]
# Results of 8,192 elements and fewer, repeated four times and less (staging.cc).
VIEWS = [
    ((64, 1), (64, 128)), ((128,), (64, 128)), ((128,), (63, 128)), ((1,), (8191,)),
    ((1,), (8192,)), ((), (90, 91)), ((1, 3000), (3, 3000)), ((1, 3000), (4, 3000)),
    ((7, 1, 5), (7, 300, 5)), ((1, 40, 1), (20, 40, 20)),
    ((3, 1, 4, 1), (3, 50, 4, 50)),
]  # fmt: skip


def wide(x):
    return x.to(pkg.float64 if x.is_floating_point() else pkg.int64).numpy()


def numbers(shape, dtype, seed=0):
    array = np.random.default_rng(seed).integers(0, 2 if dtype == "bool" else 9, shape)
    return pkg.tensor(array).to(getattr(pkg, dtype))


@pytest.mark.parametrize("dtype", DTYPES)
def test_repeated_operands(dtype):
    for few, many in VIEWS:
        small = numbers(few, dtype)
        for x in (small.expand(*many), small.expand(*many).transpose(0, -1)):
            dense = x.contiguous()
            assert dense.is_contiguous()
            calls = [
                lambda x: x + x, lambda x: x == 3, lambda x: x.to(pkg.float32),
                lambda x: pkg.where(x > 2, x, x), lambda x: pkg.clamp(x, 1, 4),
                lambda x: x.to(pkg.float16) * 2, lambda x: pkg.sin(x.to(pkg.float64)),
            ]  # fmt: skip
            if dtype == "bool":
                calls = [calls[1], calls[2], lambda x: x & x, lambda x: ~x]
            for call in calls:
                got, want = call(x), call(dense)
                assert got.dtype == want.dtype and got.shape == want.shape
                np.testing.assert_array_equal(wide(got), wide(want))


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "int32"])
def test_one_repeats_along_less_than_the_other(dtype):
    row, column = numbers((1, 128), dtype), numbers((300, 1), dtype, 1)
    block = numbers((300, 1, 5), dtype, 2).expand(300, 40, 5)
    pairs = [
        (row.expand(300, 128), column.expand(300, 128)),
        (row.expand(300, 128), row[0]), (block, numbers((5,), dtype, 3)),
        (block, numbers((40, 5), dtype, 3)), (block, numbers((), dtype, 3)),
    ]  # fmt: skip
    for x, y in pairs:
        got, want = x * y, x.contiguous() * y.expand(*x.shape).contiguous()
        np.testing.assert_array_equal(wide(got), wide(want))
        out = x.contiguous()
        out.add_(y)
        np.testing.assert_array_equal(wide(out), wide(x.contiguous() + y))
        turned = pkg.zeros(*x.shape[::-1], dtype=x.dtype).permute(
            *range(x.ndim - 1, -1, -1)
        )
        turned.copy_(x)
        np.testing.assert_array_equal(wide(turned), wide(x))


# Of other operands' dtypes: with few elements they are converted once (repeats.cc).
FEW = [
    ((128,), (64, 128)), ((64, 1), (64, 128)), ((1, 2000), (5, 2000)),
    ((2, 1, 130), (2, 40, 130)), ((40, 1), (2, 40, 130)), ((3, 2800), (3, 2800)),
]  # fmt: skip
LARGE_INTS = [-70000, -2049, 2049, 2**24 + 1, 2**40 + 3, 70000, 7]


@pytest.mark.parametrize("dtype", DTYPES)
def test_few_elements_of_another_dtype(dtype):
    for few, many in FEW:
        x = numbers(many, dtype)
        for other in DTYPES:
            y = numbers(few, other, 1)
            if other == "int64":  # which no 16-bit float and no float32 holds
                y = pkg.tensor(np.resize(LARGE_INTS, few))
            gaps = pkg.stack([y, y], -1)[..., 0]
            full = y.expand(*many).contiguous()
            calls = [lambda x, y: x * y, lambda x, y: y + x, lambda x, y: x < y]
            if dtype == other == "bool":
                calls = calls[2:]
            for call in calls:
                want = call(x, full)
                for z in (y, gaps, gaps.expand(*many)):
                    for w in (x, x.transpose(0, 1).contiguous().transpose(0, 1)):
                        got = call(w, z)
                        assert got.dtype == want.dtype
                        np.testing.assert_array_equal(wide(got), wide(want))


def test_rows_of_the_result_that_it_repeats_are_read_first():
    for other in (pkg.float32, pkg.int64):
        x = (pkg.arange(10000) % 1000).reshape(100, 100).to(other)
        y = x[3:4, :].expand(100, 100)
        want = x.numpy() + x.numpy()[3]
        x += y
        np.testing.assert_array_equal(x.numpy(), want)


def test_the_operand_is_the_result_repeated():
    x = pkg.arange(10000.0).reshape(100, 100)
    want = np.broadcast_to(x.numpy()[3] * 2, (100, 100)).copy()
    pkg.Tensor.copy_(x, x[3:4].expand(100, 100) * 2)
    np.testing.assert_array_equal(x.numpy(), want)
    x.copy_(x[5:6, :].expand(100, 100))
    np.testing.assert_array_equal(x.numpy(), want)


def test_nan_to_num_with_and_without_limits():
    for dtype in FLOATS:
        values = [0.0, -0.0, 1.5, -2.0, np.inf, -np.inf, np.nan] * 40
        x = pkg.tensor(values).to(getattr(pkg, dtype))
        a = x.to(pkg.float64).numpy()
        limit = pkg.finfo(x.dtype).max
        for given in ({}, {"nan": 3.0}, {"posinf": 1.0}, {"neginf": 2.0},
                      {"posinf": -np.inf, "neginf": np.inf}):  # fmt: skip
            full = {"nan": 0.0, "posinf": limit, "neginf": -limit} | given
            want = np.nan_to_num(a, **full)
            np.testing.assert_array_equal(wide(x.nan_to_num(**given)), want)


@pytest.mark.parametrize("dtype", DTYPES)
def test_extremes_of_short_rows(dtype):
    """Rows of fewer than twelve, 64 of them at once; ties, NaN and infinities."""
    rng = np.random.default_rng(4)
    for rows, n in itertools.product((1, 2, 63, 64, 65, 130), (1, 2, 3, 8, 11, 12)):
        most = 2 if dtype == "bool" else 5
        a = rng.integers(0, most, (rows, 2 * n)).astype("float64")
        if "float" in dtype:
            for special in (np.nan, np.inf, -np.inf):
                a[rng.integers(0, rows, 3), rng.integers(0, 2 * n, 3)] = special
        whole = pkg.tensor(a).to(getattr(pkg, dtype))
        for x in (whole[:, :n].contiguous(), whole[:, :n], whole[:, ::2]):
            b = wide(x)
            np.testing.assert_array_equal(x.argmax(1).numpy(), b.argmax(1))
            np.testing.assert_array_equal(x.argmin(1).numpy(), b.argmin(1))
            values, places = pkg.max(x, 1)
            np.testing.assert_array_equal(places.numpy(), b.argmax(1))
            np.testing.assert_array_equal(wide(values), b.max(1))
