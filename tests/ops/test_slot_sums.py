# SPDX-License-Identifier: Apache-2.0
"""What many elements add to one slot, and who writes it: sums of 16-bit floats against
NumPy's float64, the same for any number of threads.
"""

import numpy as np
import pytest

import pkg

RNG = np.random.default_rng(21)
DTYPES = ["float16", "bfloat16", "float32", "float64", "int32", "uint8"]
#: Rows that tasks share by slots, too few bytes for that, and of one element; many and
#: few of the table.
ROWS = [(50, 3_000, 300), (3_000, 40, 99), (7, 5_000, 16), (9, 4_000, 3), (40, 900, 1)]


def numbers(shape, dtype):
    if dtype in ("int32", "uint8"):
        return pkg.tensor(RNG.integers(0, 90, shape)).to(dtype)
    return pkg.tensor(RNG.standard_normal(shape)).to(dtype)


def exact(t):
    return t.to("float64").numpy()


def once(values, dtype):
    """Rounded to the dtype, as a sum in float32 may be: half a step and a little."""
    return exact(pkg.tensor(values).to(dtype))


def check(found, expected, size, dtype):
    """size: the sum of magnitudes that were added."""
    if dtype in ("int32", "uint8"):
        wanted = expected.astype("int64").astype(dtype)
        np.testing.assert_array_equal(exact(found), wanted.astype("float64"))
        return
    step = {"float16": 2**-11, "bfloat16": 2**-8}.get(dtype, 0)
    far = np.abs(expected) * step * 1.01 + size * {"float64": 1e-14}.get(dtype, 1e-5)
    assert (np.abs(exact(found) - expected) <= far + 1e-7).all()


def on_threads(f):
    before = pkg.get_num_threads()
    results = []
    try:
        for threads in (1, 2, 3):
            pkg.set_num_threads(threads)
            results.append(exact(f()))
    finally:
        pkg.set_num_threads(before)
    for other in results[1:]:
        np.testing.assert_array_equal(results[0], other)


@pytest.mark.parametrize("layout", ["dense", "transposed", "stepped"])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("size, count, width", ROWS)
def test_rows(size, count, width, dtype, layout):
    x = {
        "dense": lambda: numbers((size, width), dtype),
        "transposed": lambda: numbers((width, size), dtype).t(),
        "stepped": lambda: numbers((size, 2 * width), dtype)[:, ::2],
    }[layout]()
    y, index = numbers((count, width), dtype), RNG.integers(0, size, count)
    i = pkg.tensor(index)
    expected, most = exact(x).copy(), np.abs(exact(x))
    np.add.at(expected, index, exact(y))
    np.add.at(most, index, np.abs(exact(y)))
    forms = [
        lambda: x.index_add(0, i, y),
        lambda: x.clone().index_add_(0, i, y),
        lambda: pkg.index_put(x, (i,), y, accumulate=True),
        lambda: x.t().index_add(1, i, y.t()).t(),
        lambda: x.scatter_add(0, i[:, None].expand(count, width), y),
    ]
    for form in forms:
        check(form(), expected, most, dtype)
        on_threads(form)
    copied = exact(x).copy()
    copied[index] = exact(y)  # in order: the last of equals stays
    for form in (
        lambda: x.index_copy(0, i, y),
        lambda: pkg.index_put(x, (i,), y),
        lambda: x.clone().index_copy_(0, i, y),
    ):
        np.testing.assert_array_equal(exact(form()), copied)
        on_threads(form)
    filled = exact(x).copy()
    filled[index] = 3
    np.testing.assert_array_equal(exact(x.index_fill(0, i, 3)), filled)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape, count", [((30, 20), 5_000), ((300, 200), 900)])
def test_elements(shape, count, dtype):
    x, z = numbers(shape, dtype), numbers((count,), dtype)
    rows, columns = (RNG.integers(0, n, count) for n in shape)
    expected, most = exact(x).copy(), np.abs(exact(x))
    np.add.at(expected, (rows, columns), exact(z))
    np.add.at(most, (rows, columns), np.abs(exact(z)))
    at = (pkg.tensor(rows), pkg.tensor(columns))
    for t in (x, x.t().clone().t(), pkg.cat([x, x], 1)[:, : shape[1]]):
        found = t.clone().index_put_(at, z, accumulate=True)
        check(found, expected, most, dtype)
        check(pkg.index_put(t, at, z, accumulate=True), expected, most, dtype)
        flat = pkg.tensor(rows * shape[1] + columns)
        added = t.reshape(-1).scatter_add(0, flat, z)
        check(added.reshape(shape), expected, most, dtype)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_a_thousand_additions_to_one_slot_round_once(dtype):
    n = 5_000
    ones, zeros = pkg.ones(n, dtype=dtype), pkg.zeros(1, dtype=dtype)
    index = pkg.zeros(n, dtype="int64")
    wanted = once(np.array([float(n)]), dtype)
    np.testing.assert_array_equal(exact(zeros.scatter_add(0, index, ones)), wanted)
    np.testing.assert_array_equal(exact(zeros.index_add(0, index, ones)), wanted)
    weight = pkg.zeros(40, 3, dtype=dtype).requires_grad_()
    pkg.nn.functional.embedding(index, weight).sum().backward()
    np.testing.assert_array_equal(exact(weight.grad)[0], wanted.repeat(3))
    assert not exact(weight.grad)[1:].any()


def test_an_index_outside_is_refused_by_rows_that_tasks_share():
    for bad in (-1, 50):
        index = RNG.integers(0, 50, 2_000)
        index[1_234] = bad
        i = pkg.tensor(index)[:, None].expand(2_000, 100)
        with pytest.raises(IndexError, match=f"index {bad} is out of bounds"):
            pkg.zeros(50, 100).scatter_add(0, i, pkg.ones(2_000, 100)).tolist()


@pytest.mark.parametrize("apart", [1, 2, 9])
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("count", [3, 800, 4_000])
def test_a_few_elements_of_a_large_table(dtype, count, apart):
    wide = pkg.zeros(200, 180 * apart, dtype=dtype)
    x = wide[:, ::apart]
    x.copy_(numbers((200, 180), "float32"))
    i, j = RNG.integers(-200, 200, count), RNG.integers(0, 180, count)
    i[: count // 2], j[: count // 2] = 7, j[: count // 2] % 3  # some slots often
    y = numbers(count, dtype)
    expected, most = exact(x).copy(), np.abs(exact(x))
    np.add.at(expected, (i, j), exact(y))
    np.add.at(most, (i, j), np.abs(exact(y)))
    x.index_put_((pkg.tensor(i), pkg.tensor(j)), y, accumulate=True)
    check(x, expected, most, dtype)
    between = np.delete(exact(wide), np.s_[::apart], axis=1)
    np.testing.assert_array_equal(between, np.zeros_like(between))


def test_a_16_bit_table_of_no_rows_has_no_slot():
    table = pkg.zeros(8, 100).half()[3:3, :3]
    with pytest.raises(IndexError, match="index 0 is out of bounds"):
        table.scatter_add_(0, pkg.zeros(2, 3).long(), pkg.zeros(2, 3).half())
