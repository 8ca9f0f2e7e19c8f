# SPDX-License-Identifier: Apache-2.0
"""Many rows of a few elements, with gaps, steps and repeats on every side: copies,
formulas, conversions and what is written in place.  Nothing else is written."""

import numpy as np
import pytest

import pkg
from levels import every_level

COLUMNS = [1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 63, 64, 65, 127, 129, 513]
ROWS = 300
DTYPES = ["uint8", "bfloat16", "int32", "float64"]

#: What has `n` columns of a (ROWS, 3 * n) array of NumPy or of ours.
VIEWS = {
    "dense": lambda x, n: x[:, :n] + 0,
    "gaps": lambda x, n: x[:, 1 : 1 + n] if n > 1 else x[:, :n],
    "stepped": lambda x, n: x[:, : 2 * n : 2],
    "third": lambda x, n: x[:, ::3],
    "every other row": lambda x, n: x[::2, :n],
    "turned": lambda x, n: x[:, :n].T,
    "one row": lambda x, n: x[:1, :n],
    "one column": lambda x, n: x[:, :1],
}


def numbers(rows, columns, seed=0):
    rng = np.random.default_rng(seed)
    return rng.integers(0, 100, (rows, columns))


def values(tensor):
    """As int64: the numbers of all dtypes are small."""
    return tensor.long().numpy()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("given", VIEWS)
def test_copies_between_rows(dtype, given):
    for _ in every_level():
        for n in COLUMNS:
            x = numbers(2 * ROWS, 3 * n)
            ours = pkg.tensor(x).to(getattr(pkg, dtype))
            want, view = VIEWS[given](x, n), VIEWS[given](ours, n)
            np.testing.assert_array_equal(values(view.contiguous()), want)
            shape = want.shape
            for into in ("gaps", "stepped", "turned"):
                room = np.full((2 * shape[0] + 2, 3 * shape[1] + 2), 7)
                if into == "turned":
                    room = room.T.copy().T
                got = pkg.tensor(room).to(getattr(pkg, dtype))
                if into == "turned":
                    got = got.t().contiguous().t()
                place = (slice(1, 1 + shape[0]), slice(1, 1 + shape[1]))
                if into == "stepped":
                    place = (slice(0, 2 * shape[0], 2), slice(0, 2 * shape[1], 2))
                room[place] = want
                got[place] = view
                np.testing.assert_array_equal(values(got), room, (n, into))


@pytest.mark.parametrize("dtype", DTYPES)
def test_rows_backwards_and_repeated(dtype):
    for _ in every_level():
        for n in COLUMNS:
            x = numbers(ROWS, n)
            ours = pkg.tensor(x).to(getattr(pkg, dtype))
            np.testing.assert_array_equal(values(ours.flip([1])), x[:, ::-1])
            np.testing.assert_array_equal(values(ours.flip([0])), x[::-1])
            np.testing.assert_array_equal(values(ours.flip([0, 1])), x[::-1, ::-1])
            np.testing.assert_array_equal(values(ours.t().flip([0])), x.T[::-1])
            shift = max(1, n // 3)
            rolled = ours.roll([shift], [1])
            np.testing.assert_array_equal(values(rolled), np.roll(x, shift, 1))
            room = pkg.zeros(ROWS, n + 3, dtype=getattr(pkg, dtype))
            room[:, 1 : 1 + n] = ours[:, :1]
            np.testing.assert_array_equal(values(room)[:, 1 : 1 + n] - x[:, :1], 0)
            room[:, 1 : 1 + n] = 5
            assert (values(room)[:, 1 : 1 + n] == 5).all()
            assert (values(room)[:, 0] == 0).all() and (
                values(room)[:, 1 + n :] == 0
            ).all()


@pytest.mark.parametrize("dtype", DTYPES)
def test_formulas_of_rows(dtype):
    kind = getattr(pkg, dtype)
    limit = 256 if dtype == "uint8" else 1 << 40
    for _ in every_level():
        for n in COLUMNS:
            x, y = numbers(2 * ROWS, 3 * n), numbers(2 * ROWS, 3 * n, 1)
            a, b = pkg.tensor(x).to(kind), pkg.tensor(y).to(kind)
            dense = VIEWS["dense"](x, n), VIEWS["dense"](a, n)
            for name in ("gaps", "stepped", "turned", "one row", "one column"):
                other = VIEWS[name](y, n), VIEWS[name](b, n)
                first = dense
                if name == "turned":  # of the same shape, lying the other way round
                    other = other[0].T.copy(), other[1].contiguous().t()
                for left, right in ((first, other), (other, first)):
                    want = (left[0] + right[0]) % limit
                    np.testing.assert_array_equal(
                        values(left[1] + right[1]), want, name
                    )
                    larger = left[1] > right[1]
                    np.testing.assert_array_equal(
                        larger.numpy(), left[0] > right[0], name
                    )
                    chosen = pkg.where(larger, left[1], right[1])
                    np.testing.assert_array_equal(
                        values(chosen), np.maximum(left[0], right[0]), name
                    )


@pytest.mark.parametrize("dtype", DTYPES)
def test_in_place_formulas_leave_the_gaps(dtype):
    kind = getattr(pkg, dtype)
    for _ in every_level():
        for n in COLUMNS:
            x, y = numbers(ROWS, n + 2) % 50, numbers(ROWS, n, 1) % 50
            for view in (slice(1, n + 1), slice(0, n, 2)):
                a = pkg.tensor(x).to(kind)
                want = x.copy()
                other = y[:, : want[:, view].shape[1]]
                want[:, view] += other
                want[:, view] *= 2
                part = a[:, view]
                part += pkg.tensor(other).to(kind)
                part *= 2
                np.testing.assert_array_equal(values(a), want)
                np.testing.assert_array_equal(
                    a[:, view].to(pkg.float32).numpy(), want[:, view]
                )


def test_many_planes_of_short_rows():
    rng = np.random.default_rng(2)
    for shape in [
        (3, 40, 2, 5),
        (2, 3, 70, 3),
        (5, 1, 9, 2, 8),
        (2, 2, 2, 2, 2, 2, 11),
    ]:
        x = rng.standard_normal(tuple(s + 1 for s in shape)).astype("float32")
        place = tuple(slice(1, None) for _ in shape)
        ours = pkg.tensor(x)[place]
        np.testing.assert_array_equal((ours + 1).numpy(), x[place] + 1)
        np.testing.assert_array_equal(ours.contiguous().numpy(), x[place])
        dims = list(range(len(shape)))
        np.testing.assert_array_equal(ours.flip(dims).numpy(), np.flip(x[place]))
        room = pkg.zeros(*x.shape)
        room[place] = ours
        want = np.zeros_like(x)
        want[place] = x[place]
        np.testing.assert_array_equal(room.numpy(), want)


@pytest.mark.parametrize("dtype", ["bool", *DTYPES, "float32"])
def test_rows_in_reverse_order(dtype):
    """As of a flipped image: into a tensor of its own, or between other rows."""
    most = 2 if dtype == "bool" else 100
    for _ in every_level():
        for n in (1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17):
            for rows in (1, 2, 8, 9, 10, 15, 16, 17, 18, 33, 300, 5000):
                x = numbers(rows, n, seed=rows) % most
                ours = pkg.tensor(x).to(getattr(pkg, dtype))
                np.testing.assert_array_equal(values(ours.flip([0])), x[::-1])
                turned = ours.t().flip([1])
                np.testing.assert_array_equal(values(turned), x.T[:, ::-1])
                room = pkg.ones(rows + 2, n, dtype=ours.dtype)
                room[1:-1] = ours.flip([0])
                want = np.ones((rows + 2, n))
                want[1:-1] = x[::-1]
                np.testing.assert_array_equal(values(room), want)
