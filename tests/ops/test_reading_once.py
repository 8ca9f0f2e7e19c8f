# SPDX-License-Identifier: Apache-2.0
"""Reductions of expanded, 16-bit and long tensors, and maxima without places.

What is repeated is read once, 16-bit floats are combined in registers, one long line is
multiplied in chunks: the results are those of a dense tensor, of NumPy, or of the road
with places.
"""

from __future__ import annotations

import numpy as np
import pytest

import pkg
import pkg.nn.functional as F

RNG = np.random.default_rng(7)
CLOSE = {"float64": 1e-12, "float32": 2e-6, "float16": 2e-3, "bfloat16": 1.6e-2}


def close(got, want, dtype):
    got, want = got.double().numpy(), np.asarray(want, dtype=np.float64)
    assert got.shape == want.shape
    same = np.isclose(got, want, CLOSE[dtype], CLOSE[dtype], equal_nan=True)
    assert same.all()


@pytest.mark.parametrize("dim", [None, 0, 1, 2])
@pytest.mark.parametrize("op", ["sum", "mean", "prod", "amax", "amin", "var", "norm"])
def test_expanded_dimensions_are_reduced_as_dense_ones(op, dim):
    small = pkg.tensor(RNG.uniform(0.9, 1.1, (1, 30, 1)))
    for x in (
        small.expand(7, 30, 33),
        pkg.tensor(RNG.random((9, 1, 70))).expand(9, 17, 70),
    ):
        reduced = getattr(pkg, op)
        given = () if dim is None else (2, dim) if op == "norm" else (dim,)
        close(reduced(x, *given), reduced(x.contiguous(), *given).numpy(), "float64")


@pytest.mark.parametrize("op", ["all", "any", "count_nonzero"])
def test_expanded_elements_are_counted_as_often_as_they_are_there(op):
    x = pkg.tensor(RNG.integers(0, 2, (1, 300)) > 0).expand(41, 300)
    for dim in ((), (0,), (1,)):
        want = getattr(pkg, op)(x.contiguous(), *dim)
        assert (getattr(pkg, op)(x, *dim) == want).all().item()
    assert pkg.count_nonzero(x).item() == 41 * x[0].sum().item()


@pytest.mark.parametrize("n", [0, 127, 128, 511, 512, 8192, 70001])
def test_bytes_are_counted_in_lanes(n):
    array = RNG.integers(0, 3, n).astype("uint8")
    x = pkg.tensor(array)
    assert pkg.count_nonzero(x).item() == np.count_nonzero(array)
    assert pkg.all(x).item() == bool(array.all())
    assert pkg.all(pkg.ones(n, dtype=pkg.uint8)).item()


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize(
    "shape", [(3, 5), (31, 33), (2, 2100), (2100, 2), (65, 130), (1, 16), (70, 17)]
)
def test_sixteen_bits_are_reduced_as_float64(dtype, shape):
    x = pkg.tensor(RNG.standard_normal(shape)).to(getattr(pkg, dtype))
    for view in (x, x.transpose(0, 1), x[..., ::2]):
        array = view.double().numpy()
        for axis in (None, 0, 1):
            dim = () if axis is None else (axis,)
            close(pkg.sum(view, *dim), array.sum(axis), dtype)
            assert (pkg.amax(view, *dim).double().numpy() == array.max(axis)).all()
            assert (pkg.amin(view, *dim).double().numpy() == array.min(axis)).all()
    x[-1, -1] = float("nan")
    assert x.amax().isnan().item() and x.amin(0).isnan().sum().item() == 1


def test_norms_beyond_the_squares_of_float32():
    for size in (1e-30, 1e-20, 1.0, 1e25):
        x = pkg.full((3, 4000), size, dtype=pkg.float32)
        want = np.full(3, np.float64(np.float32(size)) * 4000**0.5)
        got = pkg.norm(x, 2, 1).double().numpy()
        assert np.allclose(got / want, 1, rtol=1e-6)


@pytest.mark.parametrize("kind", ["tame", "wild", "zero", "zeros"])
def test_gradient_of_the_product_of_one_long_line(kind):
    n = 4500
    array = RNG.uniform(0.9, 1.1, n)
    if kind == "wild":
        array[10], array[4000] = 1e-200, 1e190
    if kind.startswith("zero"):
        array[2100] = 0
    if kind == "zeros":
        array[64] = 0
    x = pkg.tensor(array).requires_grad_()
    (got,) = pkg.autograd.grad(pkg.prod(x), [x], pkg.tensor(2.0, dtype=pkg.float64))
    long = array.astype(np.longdouble)
    before = np.concatenate([[1], np.cumprod(long)[:-1]])
    after = np.concatenate([np.cumprod(long[::-1])[::-1][1:], [1]])
    want = (2 * before * after).astype("float64")
    assert np.allclose(got.numpy(), want, rtol=1e-10, atol=0)


@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16", "int32", "uint8"])
@pytest.mark.parametrize(
    "window", [(2, 2, 0), (3, 2, 1), (3, 1, 1), (5, 3, 2), (9, 4, 3)]
)
def test_maxima_are_those_that_have_places(dtype, window):
    x = pkg.tensor(RNG.integers(0, 50, (2, 3, 11, 23))).to(getattr(pkg, dtype))
    if dtype.startswith("float"):
        x[0, 1, 4, 5] = float("nan")
    kernel, stride, padding = ([n, n] for n in window)
    for view in (x, x.transpose(2, 3), x[..., ::2]):
        want, _ = pkg.ops._max_pool2d(view, kernel, stride, padding)
        got = F.max_pool2d(view, *window)
        assert got.dtype == want.dtype and got.shape == want.shape
        assert ((got == want) | ((got != got) & (want != want))).all().item()
        flat = view[:, 0]
        lines = F.max_pool1d(flat, *window)
        sizes = [1, kernel[1]], [1, stride[1]], [0, padding[1]]
        want, _ = pkg.ops._max_pool2d(flat.unsqueeze(2), *sizes)
        assert (lines == want[:, :, 0]).all().item()


@pytest.mark.parametrize("wanted", [False, True], ids=["values", "gradient"])
def test_maxima_of_no_channels_or_samples_are_none(wanted):
    for sizes, want in (((2, 0, 8), (2, 0, 4)), ((0, 3, 8), (0, 3, 4))):
        x = pkg.zeros(*sizes, requires_grad=wanted)
        assert F.max_pool1d(x, 2).shape == want
    with pytest.raises(RuntimeError, match="expected planes of at least one element"):
        F.max_pool1d(pkg.zeros(2, 3, 0, requires_grad=wanted), 2)


@pytest.mark.parametrize("order", [1, 2, 3])
@pytest.mark.parametrize("size", [31, 255, 1023, 100001])
def test_norms_of_equal_numbers_are_about_as_good_as_rounded(size, order):
    x = np.full(size, 0.2, np.float32)  # the errors of all additions have one sign
    want = np.linalg.norm(x.astype(np.float64), order)
    got = pkg.norm(pkg.tensor(x), order).item()
    assert got == pytest.approx(want, rel=1.5 * 2**-23 if order == 2 else 2**-24)


@pytest.mark.parametrize("op", ["median", "mode", "kthvalue"])
def test_one_element_repeated_is_picked_as_from_a_dense_line(op):
    x = pkg.tensor([[3.0, float("nan"), -1.0]]).expand(50, 3)
    given = (4, 0) if op == "kthvalue" else (0,)
    for got, want in zip(
        getattr(pkg, op)(x, *given),
        getattr(pkg, op)(x.contiguous(), *given),
        strict=True,
    ):
        assert ((got == want) | ((got != got) & (want != want))).all().item()
