# SPDX-License-Identifier: Apache-2.0
"""flip, triangles, nonzero, masked writes, sequences around the limits of loops."""

import itertools

import numpy as np
import pytest

import pkg
from layouts import laid

RNG = np.random.default_rng(3)
DTYPES = ["float64", "float32", "float16", "int32", "uint8", "bool"]
SHAPES = [(1,), (17,), (40_000,), (5, 1), (1, 5), (300, 129), (3, 4, 65), (2, 3, 4, 5)]


@pytest.mark.parametrize("layout", ["dense", "transposed", "sliced"])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES)
def test_flip_and_triangles(shape, dtype, layout):
    x = RNG.integers(0, 100, shape).astype(dtype)
    every = range(len(shape))
    for count in range(len(shape) + 1):
        for dims in itertools.combinations(every, count):
            flipped = laid(x, layout).flip(list(dims))
            np.testing.assert_array_equal(flipped, np.flip(x, dims))
    if x.ndim < 2:
        return
    for k in (-(2**62), -x.shape[-2], -1, 0, 1, 3, x.shape[-1], 2**62):
        near = int(np.clip(k, -1_000, 1_000))
        for name in ("tril", "triu"):
            expected = getattr(np, name)(x, near)
            t = laid(x, layout)
            np.testing.assert_array_equal(getattr(t, name)(k), expected)
            np.testing.assert_array_equal(getattr(t, name + "_")(k), expected)
            np.testing.assert_array_equal(t, expected)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    "shape",
    [
        (0,),
        (1,),
        (1_023,),
        (1_024,),
        (1_025,),
        (70_000,),
        (3, 0),
        (40, 1_030),
        (2, 3, 5),
        (2, 1, 3, 1_100),
    ],
)
def test_nonzero_and_masks(shape, dtype):
    x = RNG.integers(0, 3, shape).astype(dtype)
    np.testing.assert_array_equal(pkg.tensor(x).nonzero(), np.argwhere(x))
    for n in range(1, len(shape) + 1):
        mask = RNG.integers(0, 2, shape[:n]).astype(bool)
        written, t = x.copy(), pkg.tensor(x)
        written[mask] = 1
        t[pkg.tensor(mask)] = 1
        np.testing.assert_array_equal(t, written)
        np.testing.assert_array_equal(t[pkg.tensor(mask)], written[mask])


@pytest.mark.parametrize("columns", [1, 7, 33, 1_030, 140_000])
@pytest.mark.parametrize("share", [0.0, 0.01, 0.5, 0.99, 1.0])
def test_nonzero_of_runs(columns, share):
    """Groups of 32 that are all set, or none of it; pieces of 65,536 for threads."""
    groups = RNG.random(140_000 // 35) < share
    mask = np.repeat(groups, 35)
    mask ^= RNG.random(mask.size) < 0.001
    mask = mask[: mask.size // columns * columns]
    for shape in ((-1,), (-1, columns), (1, -1, columns)):
        x = mask.reshape(shape)
        values = np.arange(x.size).reshape(shape)
        before = pkg.get_num_threads()
        try:
            for number in (1, 2):
                pkg.set_num_threads(number)
                np.testing.assert_array_equal(pkg.tensor(x).nonzero(), np.argwhere(x))
                chosen = pkg.tensor(values).masked_select(pkg.tensor(x))
                np.testing.assert_array_equal(chosen, values[x])
        finally:
            pkg.set_num_threads(before)


@pytest.mark.parametrize("n", [0, 1, 15, 16, 17, 1_023, 1_024, 1_025, 40_000, 100_001])
def test_sequences(n):
    for dtype in ("float64", "float32", "int64", "int32"):
        found = pkg.arange(3, 3 + 2 * n, 2, dtype=dtype)
        np.testing.assert_array_equal(found, 3 + 2 * np.arange(n).astype(dtype))
    wrapped = pkg.arange(n, dtype="uint8")
    np.testing.assert_array_equal(wrapped, np.arange(n).astype("uint8"))
    halves = pkg.arange(n, dtype="float16") if n < 65_000 else pkg.zeros(n)[:0]
    np.testing.assert_array_equal(halves, np.arange(len(halves)).astype("float16"))
    spaced = pkg.linspace(-1, 2, n, dtype="float64")
    np.testing.assert_allclose(spaced, np.linspace(-1, 2, n), rtol=0, atol=1e-15)


@pytest.mark.parametrize("dtype", ["int64", "int32", "uint8"])
def test_one_hot(dtype):
    for shape in [(1,), (17,), (3, 5), (2_000,)]:
        x = RNG.integers(0, 10, shape).astype(dtype)
        x.reshape(-1)[0] = 9
        expected = np.eye(10, dtype=np.int64)[x]
        found = pkg.nn.functional.one_hot(pkg.tensor(x))
        np.testing.assert_array_equal(found, expected)
        wide = pkg.nn.functional.one_hot(pkg.tensor(x), 12)
        np.testing.assert_array_equal(wide[..., :10], expected)
        assert wide.shape == (*shape, 12) and wide.dtype == pkg.int64
