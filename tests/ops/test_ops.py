# SPDX-License-Identifier: Apache-2.0
"""Elementwise ops against NumPy, from one table."""

import numpy as np
import pytest

import pkg
from op_table import ELEMENTWISE

CASES = [(row, dtype) for row in ELEMENTWISE for dtype in row.dtypes]
IDS = [f"{row.name}-{dtype}" for row, dtype in CASES]


def make(row, dtype, shape, rng):
    """Inputs of the row's domain."""
    low, high = row.domain
    if dtype == "uint8":
        low = max(low, 0)
    values = rng.uniform(low, high, size=(row.arity, *shape))
    return [v.astype(dtype) for v in values]


def check(row, arrays, got):
    """Compares a result with the reference on float64 copies of the inputs."""
    with np.errstate(all="ignore"):
        want = np.asarray(row.reference(*arrays))
    assert type(got) is pkg.Tensor
    assert tuple(got.shape) == want.shape
    got = got.numpy()
    if want.dtype.kind in "f" and got.dtype.kind == "f":
        tight = row.rtol if got.dtype == np.float32 else min(row.rtol, 1e-12)
        tolerance = max(tight, 1e-5) if row.name == "gelu" else tight
        scale = 1e-6 if got.dtype == np.float32 else 1e-12
        np.testing.assert_allclose(got, want, rtol=tolerance, atol=scale)
    else:
        np.testing.assert_array_equal(got, want.astype(got.dtype))


@pytest.mark.parametrize("row,dtype", CASES, ids=IDS)
def test_values_and_layouts(row, dtype):
    """Dense, transposed, strided, broadcast, empty and 0-d inputs."""
    rng = np.random.default_rng(0)
    op = getattr(pkg, row.name)
    for shape in [(67,), (4, 5), (3, 1, 7), (0, 3), ()]:
        arrays = make(row, dtype, shape, rng)
        check(row, arrays, op(*[pkg.tensor(a) for a in arrays]))
    arrays = make(row, dtype, (6, 8), rng)
    views = [a.T[::2] for a in arrays]
    tensors = [pkg.tensor(a).t()[::2] for a in arrays]
    check(row, views, op(*tensors))
    if row.arity == 2:
        a, b = make(row, dtype, (5, 1, 4), rng)
        b = b[0]
        check(row, [a, b], op(pkg.tensor(a), pkg.tensor(b)))


@pytest.mark.parametrize("row", ELEMENTWISE, ids=lambda row: row.name)
def test_large_input_is_split_over_threads(row):
    """Results do not depend on where the work is cut."""
    rng = np.random.default_rng(1)
    arrays = make(row, row.dtypes[0], (100_003,), rng)
    check(row, arrays, getattr(pkg, row.name)(*[pkg.tensor(a) for a in arrays]))


def test_promotion_follows_pytorch():
    """Tensors decide before 0-d tensors before Python numbers."""
    i32, f32 = pkg.zeros(2, dtype=pkg.int32), pkg.zeros(2)
    f64 = pkg.zeros(2, dtype=pkg.float64)
    assert (i32 + 1).dtype is pkg.int32
    assert (i32 + 2.5).dtype is pkg.float32
    assert (f32 + 2.5).dtype is pkg.float32
    assert (f32 + pkg.tensor(1.0, dtype=pkg.float64)).dtype is pkg.float32
    assert (f32 + f64).dtype is pkg.float64
    assert (i32 / i32.add(1)).dtype is pkg.float32
    assert (i32 == i32).dtype is pkg.bool


def test_python_floats_keep_their_digits():
    """Next to float64 tensors, also in gradient formulas."""
    x = pkg.ones(1, dtype=pkg.float64, requires_grad=True)
    assert (x * 0.1).item() == 0.1
    x.log2().backward()
    assert x.grad.item() == 1 / np.log(2)


def test_shape_errors_name_both_sizes():
    """The message gives what came."""
    with pytest.raises(RuntimeError, match=r"size of tensor a \(2\).*tensor b \(3\)"):
        pkg.zeros(2) + pkg.zeros(3)


def test_in_place_forms():
    """They write to self, count versions and refuse results that do not fit."""
    x = pkg.ones(3)
    version = x._version
    y = x
    y += 2
    assert y is x and x.tolist() == [3.0, 3.0, 3.0] and x._version == version + 1
    with pytest.raises(RuntimeError, match="can't be cast"):
        pkg.ones(3, dtype=pkg.int64).add_(0.5)
    with pytest.raises(RuntimeError, match="doesn't match the broadcast shape"):
        pkg.ones(1).add_(pkg.ones(3))


def test_alpha_of_integers_must_be_an_integer():
    """A silent cut would be a wrong number."""
    x = pkg.ones(3, dtype=pkg.int64)
    with pytest.raises(RuntimeError, match="alpha must not be a floating"):
        x.add(x, alpha=0.5)
    assert x.add(x, alpha=3).tolist() == [4, 4, 4]


def test_numbers_keep_their_precision():
    """A Python float beside float64 is not rounded to the default dtype on the way."""
    x = pkg.ones(2, dtype=pkg.float64)
    assert (x * 0.1).tolist() == [0.1, 0.1]
    assert (0.1 + x).tolist() == [1.1, 1.1]
    assert pkg.pow(x * 2, 0.1).tolist() == [2**0.1] * 2
    assert pkg.exp(2.0).dtype is pkg.float32  # alone it has the default dtype
