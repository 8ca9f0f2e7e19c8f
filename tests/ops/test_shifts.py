# SPDX-License-Identifier: Apache-2.0
"""Shifts by any count, which each instruction set computes in a way of its own."""

import numpy as np
import pytest

import pkg
from levels import LEVELS, at_level


@pytest.fixture(params=LEVELS)
def level(request):
    with at_level(request.param):
        yield


@pytest.mark.parametrize("dtype", ["uint8", "int8"])
def test_every_byte_by_every_count(level, dtype):
    """A negative count is a large one without its sign: all bits are shifted out."""
    bytes_ = np.arange(256, dtype=np.uint8).view(dtype)
    x, count = np.repeat(bytes_, 256), np.tile(bytes_, 256)
    wide, by = x.astype(np.int64), np.minimum(count.view(np.uint8), 8).astype(np.int64)
    a, b = pkg.tensor(x), pkg.tensor(count)
    left, right = pkg.bitwise_left_shift(a, b), pkg.bitwise_right_shift(a, b)
    np.testing.assert_array_equal(left.numpy(), (wide << by).astype(dtype))
    np.testing.assert_array_equal(right.numpy(), (wide >> by).astype(dtype))


@pytest.mark.parametrize("dtype", ["int64", "int32"])
def test_numbers_by_counts_around_all_limits(level, dtype):
    """As of bytes: a count of all bits or more, or below 0, shifts all of them out."""
    limits, bits = np.iinfo(dtype), np.iinfo(dtype).bits
    x = [0, 1, -1, 2, -2, 12345, -98765, limits.max, limits.min, limits.max - 1]
    counts = [0, 1, 2, 7, 30, 31, 32, 33, 62, 63, 64, 65, 2**30, limits.max]
    counts += [-1, -2, -31, -64, limits.min, limits.min + 1]
    if bits == 64:
        counts += [2**32, 2**32 + 1, 2**63 - 64, -(2**32)]
    pairs = [(a, b) for a in x for b in counts]
    left = [(a << b) % 2**bits if 0 <= b < bits else 0 for a, b in pairs]
    left = [n - 2**bits if n >> (bits - 1) else n for n in left]
    right = [a >> (b if 0 <= b < bits else bits - 1) for a, b in pairs]
    a, b = (pkg.tensor(np.array(column, dtype)) for column in zip(*pairs))
    for shift, want in (
        (pkg.bitwise_left_shift, left),
        (pkg.bitwise_right_shift, right),
    ):
        assert shift(a, b).tolist() == want
        assert shift(pkg.stack([a, a], 1)[:, 0], b).tolist() == want
        into = a.clone()
        getattr(into, f"{shift.__name__}_")(b)
        assert into.tolist() == want
