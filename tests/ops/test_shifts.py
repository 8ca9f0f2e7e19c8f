# SPDX-License-Identifier: Apache-2.0
"""Shifts of bytes, which each instruction set computes in a way of its own."""

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
