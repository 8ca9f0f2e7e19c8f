# SPDX-License-Identifier: Apache-2.0
"""Matrices of few rows or columns that are turned round, into memory with and without
gaps."""

import numpy as np
import pytest

import pkg
from levels import every_level

SIZES = [1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17]
LENGTHS = [1, 2, 3, 8, 31, 127, 128, 129, 2_049, 5_000]


@pytest.mark.parametrize("dtype", ["uint8", "float16", "int32", "float64"])
def test_copies_are_right_and_write_nothing_else(dtype):
    kind = getattr(pkg, dtype)
    for _ in every_level():
        for few in SIZES:
            for length in LENGTHS:
                numbers = np.arange(few * length).reshape(length, few) % 251
                x = pkg.tensor(numbers).to(kind)
                turned = x.t().contiguous().t()  # (length, few), columns lie dense
                for given in (x, turned, pkg.stack([turned, turned], 2)[..., 1]):
                    for into in (given.contiguous(), given.t().contiguous().t()):
                        np.testing.assert_array_equal(into.long().numpy(), numbers)
                    room = pkg.full((length, few + 3), 7, dtype=kind)
                    room[:, 2 : 2 + few] = given
                    got = room.long().numpy()
                    np.testing.assert_array_equal(got[:, 2 : 2 + few], numbers)
                    assert (got[:, :2] == 7).all() and (got[:, 2 + few :] == 7).all()
                    room = pkg.full((few + 3, length), 7, dtype=kind)
                    room[2 : 2 + few] = given.t()
                    got = room.long().numpy()
                    np.testing.assert_array_equal(got[2 : 2 + few], numbers.T)
                    assert (got[:2] == 7).all() and (got[2 + few :] == 7).all()


def test_batches_of_narrow_matrices():
    rng = np.random.default_rng(0)
    for shape in [(3, 2, 200), (50, 3, 5), (2, 300, 2), (7, 2, 2, 90), (1, 5, 1, 400)]:
        x = rng.standard_normal(shape).astype("float32")
        axes = list(range(len(shape)))
        for _ in range(6):
            order = rng.permutation(axes).tolist()
            t = pkg.tensor(x).permute(*order)
            np.testing.assert_array_equal(t.contiguous().numpy(), x.transpose(order))
