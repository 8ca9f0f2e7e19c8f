# SPDX-License-Identifier: Apache-2.0
"""Python's `float` as a dtype, and dtypes of ops whose operands are odd."""

import numpy as np
import pytest

import pkg

inf = float("inf")


def test_float_is_float64_whatever_the_default_is():
    for make in (
        lambda: pkg.ones(2, dtype=float),
        lambda: pkg.tensor([0.1], dtype=float),
        lambda: pkg.tensor(np.array([0.1]), dtype=float),
        lambda: pkg.ones(2).to(float),
        lambda: pkg.ones(2).sum(dtype=float),
        lambda: pkg.nn.Linear(2, 2, dtype=float).weight,
        lambda: pkg.nn.Linear(2, 2).to(float).weight,
        lambda: pkg.nn.Linear(2, 2).to(dtype=float).weight,
    ):
        assert make().dtype is pkg.float64
    assert pkg.tensor([0.1], dtype=float).item() == 0.1


def test_modules_refuse_dtypes_without_fractions():
    with pytest.raises(TypeError, match="floating point dtypes"):
        pkg.nn.Linear(2, 2).to(int)


def test_the_type_of_a_result_needs_no_fitting_shapes():
    assert pkg.result_type(pkg.ones(2), pkg.ones(3)) is pkg.float32
    whole = pkg.tensor(1)
    assert pkg.result_type(whole, pkg.ones(2, dtype=pkg.float16)) is pkg.float16
    assert pkg.result_type(pkg.ones(0, dtype=pkg.int32), pkg.ones(3)) is pkg.float32


@pytest.mark.parametrize("order", [1, inf])
@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (0, 0), (2, 0, 3), (2, 3, 0)])
def test_the_norm_of_an_empty_matrix_is_zero(order, shape):
    got = pkg.linalg.matrix_norm(pkg.zeros(shape), order)
    np.testing.assert_array_equal(got.numpy(), np.zeros(shape[:-2]))
