# SPDX-License-Identifier: Apache-2.0
"""gather, scatter and slices over shapes, layouts and dtypes, against NumPy.

The shapes lie around the limits of the kernels' walk: dimensions that merge, rows too
short for the inner loop, parts of a block, one more and one less, tables of several.
"""

import numpy as np
import pytest

import pkg
from layouts import laid

RNG = np.random.default_rng(11)

#: Sizes of the table and of the index.
SHAPES = [
    ((5,), (0,)),
    ((1,), (1,)),
    ((300,), (40_001,)),
    ((7, 33), (7, 33)),
    ((40, 3), (3_000, 3)),
    ((3, 40), (3, 17)),
    ((300, 130), (70, 129)),
    ((4, 5, 6), (3, 9, 6)),
    ((4, 5, 6), (4, 5, 2)),
    ((2, 3, 4, 5), (2, 3, 4, 5)),
    ((64, 300), (200, 300)),
    ((300, 64), (300, 200)),
    ((2, 1, 3), (2, 6, 3)),
    ((3, 50, 40), (3, 99, 40)),
    ((2_100, 260), (40, 257)),
]
DTYPES = ["float64", "float32", "float16", "int64", "int32", "uint8", "bool"]
LAYOUTS = ["dense", "transposed", "sliced", "repeated index"]


def cases():
    for shape, index in SHAPES:
        for dim in range(len(shape)):
            rest = [d for d in range(len(shape)) if d != dim]
            if all(index[d] <= shape[d] for d in rest):
                yield shape, index, dim


def index_of(sizes, past, dim, layout):
    index = RNG.integers(0, past, sizes)
    if layout != "repeated index" or len(sizes) == 1:
        return index, laid(index, layout)
    repeated = (dim + 1) % len(sizes)
    once = index.take([0], repeated)
    return (
        np.broadcast_to(once, sizes),
        pkg.tensor(np.ascontiguousarray(once)).to("int32").expand(*sizes),
    )


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("shape, sizes, dim", list(cases()))
def test_values(shape, sizes, dim, layout):
    for dtype in DTYPES:
        x = RNG.integers(0, 9, shape).astype(dtype)
        src = RNG.integers(0, 9, sizes).astype(dtype)
        index, given = index_of(sizes, shape[dim], dim, layout)
        table, source = laid(x, layout), laid(src, layout)
        part = tuple(slice(None if d == dim else n) for d, n in enumerate(index.shape))
        gathered = np.take_along_axis(x[part], index, dim)
        np.testing.assert_array_equal(pkg.gather(table, dim, given), gathered)
        places = list(np.indices(sizes))
        places[dim] = index
        added, written, ones = x.copy(), x.copy(), x.copy()
        (np.logical_or if dtype == "bool" else np.add).at(added, tuple(places), src)
        written[tuple(places)] = src  # in order: the last of equals stays
        ones[tuple(places)] = 1
        np.testing.assert_array_equal(table.scatter_add(dim, given, source), added)
        np.testing.assert_array_equal(table.scatter(dim, given, source), written)
        np.testing.assert_array_equal(table.scatter(dim, given, 1), ones)
        table.scatter_add_(dim, given, source)
        np.testing.assert_array_equal(table, added)


@pytest.mark.parametrize("threads", [1, 2])
def test_sums_are_those_of_one_after_the_other(threads):
    before = pkg.get_num_threads()
    pkg.set_num_threads(threads)
    try:
        for shape, dim in [((50, 3_000), 0), ((3_000, 50), 1), ((40_000,), 0)]:
            index = RNG.integers(0, min(shape), shape)
            src = RNG.standard_normal(shape).astype("float32")
            expected = np.zeros(shape, "float32")
            places = list(np.indices(shape))
            places[dim] = index
            np.add.at(expected, tuple(places), src)
            at, given = pkg.tensor(index), pkg.tensor(src)
            found = pkg.zeros(shape).scatter_add(dim, at, given)
            np.testing.assert_array_equal(found, expected)
    finally:
        pkg.set_num_threads(before)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    "shape", [(3, 5), (4, 6, 1), (40, 70, 65), (7_000, 3), (3, 1_100)]
)
def test_slices(shape, dtype):
    x = RNG.integers(0, 9, shape).astype(dtype)
    for dim in range(len(shape)):
        n = shape[dim]
        for layout in LAYOUTS:
            index = RNG.integers(-n, n, 2 * min(n, 50) + 1)
            table = laid(x, layout)
            before = (slice(None),) * dim
            chosen = x[(*before, index)]
            found = table.index_select(dim, pkg.tensor(index))
            np.testing.assert_array_equal(found, chosen)
            assert found.is_contiguous()
            np.testing.assert_array_equal(table[(*before, pkg.tensor(index))], chosen)
            source = RNG.integers(0, 9, chosen.shape).astype(dtype)
            added, filled, written = x.copy(), x.copy(), x.copy()
            add = np.logical_or if dtype == "bool" else np.add
            add.at(added, (*before, index), source)
            filled[(*before, index)] = 1
            for k, i in enumerate(index):
                written[(*before, i)] = source[(*before, k)]
            at, given = pkg.tensor(index), laid(source, layout)
            np.testing.assert_array_equal(table.index_add(dim, at, given), added)
            np.testing.assert_array_equal(table.index_copy(dim, at, given), written)
            np.testing.assert_array_equal(table.index_fill(dim, at, 1), filled)
            table[(*before, at)] = given
            np.testing.assert_array_equal(table, written)


@pytest.mark.parametrize("bad", [-1, 7])
@pytest.mark.parametrize("place", [0, 17, 1_500, -1])
def test_an_index_outside_is_refused(bad, place):
    for shape, dim in [((7,), 0), ((7, 900), 0), ((900, 7), 1)]:
        sizes = (5_000,) if len(shape) == 1 else shape
        index = RNG.integers(0, 7, sizes)
        index.reshape(-1)[place] = bad
        index = pkg.tensor(index)
        text = f"index {bad} is out of bounds for dimension {dim} with size 7"
        with pytest.raises(IndexError, match=text):
            pkg.ones(shape).gather(dim, index).tolist()
        with pytest.raises(IndexError, match=text):
            pkg.ones(shape).scatter(dim, index, 1).tolist()
        with pytest.raises(IndexError, match=text):
            pkg.ones(shape).scatter_add(dim, index, pkg.ones(sizes)).tolist()
    with pytest.raises(IndexError, match="index 7 is out of bounds"):
        pkg.ones(3, 7).index_select(1, pkg.tensor([0, 7])).tolist()
