# SPDX-License-Identifier: Apache-2.0
"""Powers of integers, which wrap, against Python's: chunks have 256 elements."""

import numpy as np
import pytest

import pkg

DTYPES = ["int64", "int32", "int8", "uint8"]


def wrapped(x, y):
    """x ** y of each pair; 1 / x ** -y is rounded towards zero."""
    bits = x.dtype.itemsize * 8
    signed = x.dtype.kind == "i"

    def one(a, b):
        if b < 0:
            return (a if b % 2 else 1) if abs(a) == 1 else 0
        n = pow(a, b, 1 << bits)
        return n - (1 << bits) if signed and n >> (bits - 1) else n

    flat = [one(int(a), int(b)) for a, b in zip(x.flat, y.flat)]
    return np.array(flat, x.dtype).reshape(x.shape)


def exponents(dtype, n, kind):
    rng = np.random.default_rng(3)
    limits = np.iinfo(dtype)
    if kind == "few":
        y = rng.integers(0, 5, n)
    elif kind == "zero":
        y = np.zeros(n, "int64")
    elif kind == "one large":  # the others of its chunk take as many steps
        y = rng.integers(0, 4, n)
        y[n // 2 :: 300] = limits.max
    else:
        y = rng.integers(limits.min, limits.max, n, dtype=dtype, endpoint=True)
        y[::3] = -1 if limits.min < 0 else 1
        y[1::50] = limits.min
    return y.astype(dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kind", ["few", "zero", "one large", "all"])
def test_lengths_and_layouts(dtype, kind, level):
    rng = np.random.default_rng(0)
    limits = np.iinfo(dtype)
    for n in (0, 1, 2, 7, 129, 255, 256, 257, 1_000):
        x = rng.integers(limits.min, limits.max, n, dtype=dtype, endpoint=True)
        x[::4] = 3
        x[1::4] = -1 if limits.min < 0 else 1
        y = exponents(dtype, n, kind)
        want = wrapped(x, y)
        for a in (pkg.tensor(x), pkg.tensor(np.repeat(x, 2))[::2], pkg.tensor(x)[None]):
            got = pkg.pow(a, pkg.tensor(y))
            np.testing.assert_array_equal(got.numpy().reshape(n), want)
        got = pkg.pow(pkg.tensor(x), pkg.tensor(np.repeat(y, 3))[1::3])
        np.testing.assert_array_equal(got.numpy(), want)
        a = pkg.tensor(x)
        assert a.pow_(pkg.tensor(y)) is a
        np.testing.assert_array_equal(a.numpy(), want)


@pytest.mark.parametrize("dtype", DTYPES)
def test_numbers_and_repeated_operands(dtype, level):
    x = np.random.default_rng(1).integers(0, 100, (7, 300)).astype(dtype)
    for number in (0, 1, 2, 3, 4, 5, 31, 100):
        want = wrapped(x, np.full_like(x, number))
        np.testing.assert_array_equal(pkg.pow(pkg.tensor(x), number).numpy(), want)
    row, column = x[:1] % 9, x[:, :1] % 9
    for y in (row, column):
        got = pkg.pow(pkg.tensor(x), pkg.tensor(y)).numpy()
        np.testing.assert_array_equal(got, wrapped(x, np.broadcast_to(y, x.shape)))
    turned = pkg.tensor(np.ascontiguousarray(x.T)).t()
    got = pkg.pow(turned, pkg.tensor(x % 5)).numpy()
    np.testing.assert_array_equal(got, wrapped(x, x % 5))
    got = pkg.pow(pkg.tensor(3, dtype=getattr(pkg, dtype)), turned).numpy()
    np.testing.assert_array_equal(got, wrapped(np.full_like(x, 3), x))


@pytest.mark.parametrize("shape", [(2, 1, 3, 2, 5, 2, 4), (2, 2, 1, 3, 2, 1, 5, 2, 3)])
def test_many_dimensions_and_mixed_dtypes(shape):
    rng = np.random.default_rng(2)
    x, y = rng.integers(-9, 9, shape).astype("int32"), rng.integers(0, 9, shape)
    order = tuple(reversed(range(len(shape))))
    turned = pkg.tensor(np.ascontiguousarray(y.transpose(order))).permute(*order)
    got = pkg.pow(pkg.tensor(x), turned)
    assert got.dtype is pkg.int64
    np.testing.assert_array_equal(got.numpy(), wrapped(x.astype("int64"), y))


def test_an_exponent_that_shares_the_memory_of_the_result():
    numbers = np.arange(3_000) % 7
    for start in (0, 1, 5):
        x = pkg.tensor(numbers)
        y = numbers[start : start + 2_990]
        want = wrapped(numbers[:2_990], y)
        x[:2_990].pow_(x[start : start + 2_990])
        np.testing.assert_array_equal(x[:2_990].numpy(), want)
    x = pkg.tensor(numbers[:2_900])
    x.pow_(x)
    np.testing.assert_array_equal(x.numpy(), wrapped(numbers[:2_900], numbers[:2_900]))
