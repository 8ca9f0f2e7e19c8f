# SPDX-License-Identifier: Apache-2.0
"""Reductions of any dimensions between others: shapes, orders in memory, gaps and the
dimensions that are reduced are drawn, and compared with NumPy."""

import math
import random

import numpy as np
import pytest

import pkg
from levels import every_level

DTYPES = [
    "float32",
    "float64",
    "float16",
    "bfloat16",
    "int64",
    "int32",
    "uint8",
    "bool",
]
SIZES = [1, 2, 3, 4, 5, 7, 15, 16, 17, 20, 33, 63, 64, 70, 300]
#: Elements of a tensor: more than a tile, and than a dozen of them.
FEW, MANY = 300, 40_000
CASES = 120


def drawn_shape(rng):
    """Two to six sizes, often many of one and few of the others."""
    limit = rng.choice([FEW, MANY])
    shape = []
    for _ in range(rng.randint(2, 6)):
        left = limit // math.prod(shape)
        shape.append(rng.choice([n for n in SIZES if n <= max(1, left)]))
    rng.shuffle(shape)
    if rng.random() < 0.4:  # the rest of the limit
        at = rng.randrange(len(shape))
        shape[at] = max(1, limit // max(1, math.prod(shape) // shape[at]))
    return tuple(shape)


def drawn(rng, dtype):
    """A tensor, the same for NumPy, and what it is called."""
    shape = drawn_shape(rng)
    order = list(range(len(shape)))
    if rng.random() < 0.5:
        rng.shuffle(order)
    inverse = [order.index(d) for d in range(len(order))]
    large = [shape[d] for d in order]
    gaps = rng.choice(["none", "none", "row", "step", "repeat"])
    if gaps == "row":
        large[-1] += 3
    elif gaps == "step":
        large[-1] *= 2
    elif gaps == "repeat":
        large[rng.randrange(len(large))] = 1
    numbers = np.random.default_rng(rng.randrange(2**32))
    most = 2 if dtype in ("bool", "float16") else 5
    a = numbers.integers(0, most, large)
    x = pkg.tensor(a).to(getattr(pkg, dtype))
    if gaps == "row":
        a, x = a[..., 3:], x[..., 3:]
    elif gaps == "step":
        a, x = a[..., ::2], x[..., ::2]
    elif gaps == "repeat":
        a, x = (t(v, [shape[d] for d in order]) for t, v in
                ((np.broadcast_to, a), (pkg.broadcast_to, x)))  # fmt: skip
    a, x = a.transpose(inverse), x.permute(*inverse)
    dims = tuple(rng.sample(range(len(shape)), rng.randint(1, len(shape))))
    return a, x, dims, f"{dtype} {shape} of order {order}, gaps {gaps}, dims {dims}"


def check(got, want, said):
    got = got.to(pkg.float64).numpy()
    assert got.shape == np.shape(want), said
    np.testing.assert_allclose(got, want, rtol=2e-2, atol=2e-2, err_msg=said)


def exact(got, want, said):
    np.testing.assert_array_equal(got.to(pkg.int64).numpy(), want, err_msg=said)


@pytest.mark.parametrize("dtype", DTYPES)
def test_reductions_of_drawn_dimensions(dtype):
    rng = random.Random(f"dims {dtype}")
    floats = dtype.startswith(("float", "bfloat"))
    for _ in every_level():
        for _ in range(CASES):
            a, x, dims, said = drawn(rng, dtype)
            exact(x.count_nonzero(dims), np.count_nonzero(a, axis=dims), said)
            exact(x.amax(dims), a.max(axis=dims), said)
            exact(x.amin(dims), a.min(axis=dims), said)
            exact(x.any(dims), a.any(axis=dims), said)
            total = a.sum(axis=dims)
            if dtype in ("float16", "bfloat16"):
                check(x.sum(dims), total, said)
            else:
                exact(x.sum(dims), total, said)
            if floats:
                check(x.mean(dims), a.mean(axis=dims), said)
                check(pkg.var(x, dims, correction=0), a.var(axis=dims), said)
                check(pkg.norm(x, 2, dims), np.sqrt((a * a).sum(axis=dims)), said)
            one = dims[0]
            exact(x.argmax(one), a.argmax(axis=one), said)
            running = x.cumsum(one), a.cumsum(axis=one)
            check(*running, said) if floats else exact(*running, said)
            exact(x.cummax(one).values, np.maximum.accumulate(a, one), said)


@pytest.mark.parametrize("dtype", ["float32", "float16", "int64", "uint8"])
def test_views_of_any_strides(dtype):
    """As NumPy has windows: steps that are no sizes, elements seen several times."""
    rng = random.Random(f"strides {dtype}")
    a = np.random.default_rng(1).integers(0, 5, 3000).astype(dtype)
    for _ in every_level():
        for _ in range(400):
            shape = tuple(rng.choice([1, 2, 3, 4, 7, 12]) for _ in range(4))
            steps = [rng.choice([0, 1, 2, 3, 4, 7, 12, 24, 49, 84]) for _ in range(4)]
            strides = tuple(step * a.itemsize for step in steps)
            view = np.lib.stride_tricks.as_strided(a, shape, strides, writeable=False)
            x = pkg.from_numpy(np.lib.stride_tricks.as_strided(a, shape, strides))
            dims = tuple(rng.sample(range(4), rng.randint(1, 4)))
            said = f"{dtype} {shape} steps {steps} dims {dims}"
            wide = view.astype(np.float64)
            exact(x.amax(dims), wide.max(axis=dims), said)
            exact(x.count_nonzero(dims), np.count_nonzero(view, axis=dims), said)
            check(x.sum(dims), wide.sum(axis=dims), said)
            one = dims[0]
            exact(x.argmax(one), view.argmax(axis=one), said)
            check(x.cumsum(one), wide.cumsum(axis=one), said)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "int64"])
def test_a_sum_is_the_same_for_any_number_of_threads(dtype):
    rng = random.Random(f"threads {dtype}")
    before = pkg.get_num_threads()
    try:
        for _ in range(CASES):
            _, x, dims, said = drawn(rng, dtype)
            x = x * 0.3 if dtype != "int64" else x
            pkg.set_num_threads(1)
            alone = x.sum(dims)
            pkg.set_num_threads(2)
            same = bool((x.sum(dims) == alone).all())
            assert same, said
    finally:
        pkg.set_num_threads(before)


@pytest.mark.parametrize("dims", [(1,), (0, 2), (1, 3), (0, 1, 3)])
def test_a_nan_in_a_plane_is_in_its_result_alone(dims):
    for shape in [(40, 3, 2, 3), (9, 30, 7, 4), (3, 5, 30, 17)]:
        a = np.ones(shape)
        a[2, 1, 1, 2] = np.nan
        x = pkg.tensor(a)
        for name in ("sum", "amax", "amin", "mean"):
            want = getattr(np, name)(a, axis=dims)
            np.testing.assert_array_equal(getattr(x, name)(dims), want)
