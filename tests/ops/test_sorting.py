# SPDX-License-Identifier: Apache-2.0
"""sort and topk for every dtype, length and layout, against NumPy's stable sort.

Lengths lie around the limits of the ways to sort: ranks of 8, 16, 32 and 64 elements,
the 16 bits that decide (2048), radix sort, selection in blocks of 512.
"""

import numpy as np
import pytest

import pkg
from levels import every_level

RNG = np.random.default_rng(5)
DTYPES = ["float64", "float32", "float16", "int64", "int32", "int8", "uint8", "bool"]
LENGTHS = [
    0,
    1,
    2,
    7,
    8,
    9,
    15,
    16,
    17,
    31,
    32,
    33,
    63,
    64,
    65,
    255,
    511,
    513,
    1_025,
    2_047,
    2_049,
    5_000,
]
EXTREMES = [np.nan, -np.nan, np.inf, -np.inf, 0.0, -0.0, 1e-7, -1e-7]


def numbers(shape, dtype, kind):
    if dtype == "bool":
        return RNG.integers(0, 2, shape).astype(bool)
    if np.dtype(dtype).kind in "iu":
        limits = np.iinfo(dtype)
        few = np.array([limits.min, limits.max, 0, 1, 7, limits.max - 1], dtype)
        if kind == "few":
            return RNG.choice(few, shape)
        return RNG.integers(limits.min, limits.max, shape, dtype, endpoint=True)
    x = RNG.standard_normal(shape)
    if kind == "few":
        x = RNG.choice(np.array([*EXTREMES, 1.0, -1.0, 3.0]), shape)
    return x.astype(dtype)


def stable_order(x, axis, descending):
    """Places in order; NaN is the largest, also from the top."""
    if not descending:
        return np.argsort(x, axis, kind="stable")
    backwards = np.flip(np.argsort(np.flip(x, axis), axis, kind="stable"), axis)
    return x.shape[axis] - 1 - backwards


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kind", ["any", "few"])
@pytest.mark.parametrize("descending", [False, True])
def test_sort(dtype, kind, descending):
    for n in LENGTHS:
        for shape, axis in [((n,), 0), ((3, n), 1), ((n, 3), 0), ((2, n, 2), 1)]:
            x = numbers(shape, dtype, kind)
            places = stable_order(x, axis, descending)
            found = pkg.tensor(x).sort(axis, descending)
            np.testing.assert_array_equal(found.indices, places)
            values = np.take_along_axis(x, places, axis)
            assert found.values.numpy().tobytes() == values.tobytes()
            turned = pkg.tensor(np.ascontiguousarray(x.T)).permute(*range(x.ndim)[::-1])
            np.testing.assert_array_equal(turned.argsort(axis, descending), places)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kind", ["any", "few"])
@pytest.mark.parametrize("largest", [False, True])
def test_topk(dtype, kind, largest):
    for n in LENGTHS:
        for k in {0, min(n, 1), n // 20, n // 9, n // 2, n}:
            for shape, axis in [((n,), 0), ((3, n), 1), ((n, 3), 0)]:
                x = numbers(shape, dtype, kind)
                places = stable_order(x, axis, largest).take(range(k), axis)
                found = pkg.tensor(x).topk(k, axis, largest)
                np.testing.assert_array_equal(found.indices, places)
                values = np.take_along_axis(x, places, axis)
                assert found.values.numpy().tobytes() == values.tobytes()


def test_bfloat16_is_sorted_as_its_numbers():
    x = pkg.tensor(numbers((300,), "float32", "any")).to("bfloat16")
    for n in (10, 300):
        expected = x[:n].to("float32").sort()
        found = x[:n].sort()
        np.testing.assert_array_equal(found.indices, expected.indices)
        np.testing.assert_array_equal(found.values.to("float32"), expected.values)


@pytest.mark.parametrize("case", ["up", "down", "equal", "two", "last byte"])
@pytest.mark.parametrize("dtype", ["float32", "int64", "uint8"])
def test_orders_that_are_there_already(case, dtype):
    n = 200_000
    x = {
        "up": np.arange(n) // 1_000,
        "down": -np.arange(n) // 1_000,
        "equal": np.full(n, 3),
        "two": np.arange(n) % 2,
        "last byte": np.arange(n) % 7 + 2**20,
    }[case].astype(dtype)
    for descending in (False, True):
        found = pkg.tensor(x).sort(0, descending)
        places = stable_order(x, 0, descending)
        np.testing.assert_array_equal(found.indices, places)
        np.testing.assert_array_equal(found.values, x[places])
    found = pkg.tensor(x).topk(100)
    np.testing.assert_array_equal(found.indices, stable_order(x, 0, True)[:100])


@pytest.mark.parametrize("n", [1, 2, 70, 900])
def test_lines_of_one_element_repeated(n):
    x = pkg.tensor([[3.0], [float("nan")], [-0.0]]).expand(3, n)
    for t, dim in ((x, 1), (x.t(), 0)):
        for descending in (False, True):
            found = t.sort(dim, descending)
            np.testing.assert_array_equal(found.values, t)
            np.testing.assert_array_equal(found.indices, np.indices(t.shape)[dim])
        best = t.topk((n + 1) // 2, dim)
        np.testing.assert_array_equal(best.values, t.narrow(dim, 0, (n + 1) // 2))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kind", ["any", "few"])
def test_a_few_of_many(dtype, kind):
    """One in 32 and fewer are found by the least of groups of 16."""
    for n in (65, 512, 513, 1_030, 5_000):
        x = numbers((3, n), dtype, kind)
        for k in {1, 2, n // 32 - 1, n // 32, n // 32 + 1}:
            for largest in (False, True):
                places = stable_order(x, 1, largest)[:, :k]
                found = pkg.tensor(x).topk(k, 1, largest)
                np.testing.assert_array_equal(found.indices, places)
                values = np.take_along_axis(x, places, 1)
                assert found.values.numpy().tobytes() == values.tobytes()


def alike(dtype, n, kind):
    """Numbers whose keys differ late, in few bits, or in the first and last alone."""
    high = np.iinfo(dtype).max
    if kind == "late":  # all but a few share the first 16 bits in which any two differ
        x = RNG.integers(0, 1000, n)
        x[:: n // 4] = high - 5
    elif kind == "few bits":
        x = high - RNG.integers(0, 200, n)
    elif kind == "both ends":
        x = RNG.choice([0, 1, high - 1, high], n)
    elif kind == "falling":
        x = np.arange(n)[::-1] * (high // n // 3)
    else:  # runs that end in another order
        x = np.arange(n) // 9 * (high // n) - np.arange(n) % 9
    return x.astype(dtype)


@pytest.mark.parametrize("dtype", ["int64", "int32"])
@pytest.mark.parametrize("kind", ["late", "few bits", "both ends", "falling", "runs"])
@pytest.mark.parametrize("n", [65, 100, 512, 2_048, 2_049])
@pytest.mark.parametrize("descending", [False, True])
def test_keys_that_differ_in_some_bits(dtype, kind, n, descending):
    x = np.stack([alike(dtype, n, kind), alike(dtype, n, kind)])
    x[1] = -x[1]
    where = stable_order(x, 1, descending)
    floats = x.astype("float64" if dtype == "int64" else "float32")
    for numbers in (x, floats):
        order = where if numbers is x else stable_order(numbers, 1, descending)
        for given in (
            pkg.tensor(numbers),
            pkg.tensor(np.repeat(numbers, 2, 1))[:, ::2],
        ):
            values, places = given.sort(1, descending)
            np.testing.assert_array_equal(places.numpy(), order)
            wanted = np.take_along_axis(numbers, order, 1)
            np.testing.assert_array_equal(values.numpy(), wanted)


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64"])
@pytest.mark.parametrize("n", [65, 300, 2_048, 2_049])
def test_exponents_of_few_values(n, dtype):
    """Most upper bytes are like others'; with places and without."""
    x = RNG.standard_normal(n)
    x = (x * 2**60).astype(dtype) if dtype == "int64" else x.astype(dtype)
    found = pkg.tensor(x).sort()
    order = np.argsort(x, kind="stable")
    np.testing.assert_array_equal(found.indices, order)
    np.testing.assert_array_equal(found.values, x[order])
    np.testing.assert_array_equal(pkg.unique(pkg.tensor(x)), np.unique(x))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kind", ["any", "few", "last"])
def test_the_first_of_short_lines(dtype, kind):
    """The least of those that are left, up to a sixth of them; "last" are mostly of the
    value that comes last, which also stands for what is gone."""
    for _ in every_level():
        for n in (5, 6, 7, 12, 16, 17, 32, 33, 64, 65, 100, 127, 128, 129):
            x = numbers((150, n), dtype, "few" if kind == "last" else kind)
            for k in {1, 2, n // 6, n // 6 + 1}:
                for largest in (False, True):
                    if kind == "last":
                        all_of_it = x.reshape(-1)
                        last = all_of_it[stable_order(all_of_it, 0, largest)[-1]]
                        x = np.where(RNG.random(x.shape) < 0.97, last, x).astype(dtype)
                    places = stable_order(x, 1, largest)[:, :k]
                    found = pkg.tensor(x).topk(k, 1, largest)
                    np.testing.assert_array_equal(found.indices, places)
                    values = np.take_along_axis(x, places, 1)
                    assert found.values.numpy().tobytes() == values.tobytes()
                    turned = pkg.tensor(np.ascontiguousarray(x.T)).topk(k, 0, largest)
                    np.testing.assert_array_equal(turned.indices, places.T)
