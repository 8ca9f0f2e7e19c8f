# SPDX-License-Identifier: Apache-2.0
"""Joins, copies, fills and picks over layouts and sizes around the limits of rows."""

import itertools

import numpy as np
import pytest

import pkg
from layouts import laid

RNG = np.random.default_rng(8)
LAYOUTS = ["dense", "transposed", "sliced", "broadcast"]
DTYPES = ["float64", "float32", "float16", "uint8", "bool"]
SHAPES = [(5, 1), (40, 3), (300, 129), (3, 40_001), (700, 64), (4, 33, 17), (9, 28, 30)]


def made(shape, dtype, layout):
    tensor = laid(RNG.integers(0, 100, shape).astype(dtype), layout)
    return tensor, tensor.numpy()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES)
def test_joins(shape, dtype):
    """Two and three tensors of any layouts along each dimension."""
    for layouts in [*itertools.product(LAYOUTS, repeat=2), LAYOUTS[:3]]:
        tensors, arrays = zip(*(made(shape, dtype, each) for each in layouts))
        for dim in range(len(shape)):
            got = pkg.cat(tensors, dim)
            np.testing.assert_array_equal(got, np.concatenate(arrays, dim))
        for dim in range(-1, len(shape)):
            np.testing.assert_array_equal(
                pkg.stack(tensors, dim), np.stack(arrays, dim)
            )


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES)
def test_copies_and_fills(shape, dtype):
    """Every order of dimensions; what lies between the elements stays as it is."""
    for layout in LAYOUTS:
        tensor, array = made(shape, dtype, layout)
        for order in itertools.permutations(range(len(shape))):
            got = tensor.permute(*order).contiguous()
            np.testing.assert_array_equal(got, array.transpose(order))
        for step in (1, 2, 3):
            room = np.full((*shape[:-1], step * shape[-1]), 1, dtype)
            into = pkg.tensor(room)
            into[..., ::step].copy_(tensor)
            room[..., ::step] = array
            np.testing.assert_array_equal(into, room)
            into[..., ::step].zero_()
            room[..., ::step] = 0
            np.testing.assert_array_equal(into, room)


@pytest.mark.parametrize("dtype", DTYPES)
def test_index_of_any_layout(dtype):
    """Its elements are as far apart as may be, and count from the end too."""
    x, array = made((4_000,), dtype, "dense")
    for shape, layout in itertools.product([(7,), (40, 31), (3, 5, 99)], LAYOUTS):
        index = laid(RNG.integers(-4_000, 4_000, shape), layout)
        np.testing.assert_array_equal(x[index], array[index.numpy()])
        np.testing.assert_array_equal(pkg.take(x, index % 4_000), array[index.numpy()])
    with pytest.raises(IndexError, match="index 4000 is out of bounds"):
        x[pkg.tensor([0, 9, 4_000, 9])[::2]]


@pytest.mark.parametrize("dtype", DTYPES)
def test_rows_of_any_layout(dtype):
    """Tables whose rows are one, apart, in pieces, read often or hardly at all."""
    x, array = made((60, 3, 40), dtype, "dense")
    tables = [
        (x[5, :1].expand(60, 40), np.broadcast_to(array[5, :1], (60, 40))),
        (x[:, 1], array[:, 1]), (x[:40, 2].t(), array[:40, 2].T),
        (x.permute(1, 0, 2), array.transpose(1, 0, 2)),
        (x[..., ::2], array[..., ::2]),
    ]  # fmt: skip
    for (table, rows), n in itertools.product(tables, (2, 30, 500)):
        index = RNG.integers(-rows.shape[0], rows.shape[0], (n, 2))
        np.testing.assert_array_equal(table[pkg.tensor(index)], rows[index])
        ascending = np.sort(index[:, 0])
        np.testing.assert_array_equal(table[pkg.tensor(ascending)], rows[ascending])
        keep = RNG.random(rows.shape[0]) < 0.8
        np.testing.assert_array_equal(table[pkg.tensor(keep)], rows[keep])
        with pytest.raises(IndexError, match="is out of bounds"):
            table[pkg.tensor(index) - 1000]
