# SPDX-License-Identifier: Apache-2.0
"""Convolution and max pooling: loops in NumPy, gradients, threads, bad sizes."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import pkg

CASES = [  # image (N, C, H, W), weight (O, C / groups, kH, kW), options
    ((2, 3, 5, 6), (4, 3, 3, 2), {}),
    ((2, 3, 7, 6), (4, 3, 3, 3), {"padding": 1}),
    ((3, 4, 9, 8), (6, 2, 3, 2), {"stride": (2, 3), "padding": (2, 1), "groups": 2}),
    ((2, 2, 11, 9), (3, 2, 3, 3), {"dilation": (2, 3), "padding": (1, 3)}),
    ((2, 4, 6, 6), (8, 1, 3, 3), {"groups": 4, "stride": 2}),
    ((1, 2, 3, 4), (2, 2, 1, 1), {"padding": 1}),
]


def pair(value):
    return value if isinstance(value, tuple) else (value, value)


def reference(x, w, b, stride=1, padding=0, dilation=1, groups=1):
    """The sum that defines the operation, position by position."""
    (sh, sw), (ph, pw), (dh, dw) = pair(stride), pair(padding), pair(dilation)
    x = np.pad(x, ((0, 0), (0, 0), (ph, ph), (pw, pw)))
    (n, _, height, width), (o, c, kh, kw) = x.shape, w.shape
    oh = (height - dh * (kh - 1) - 1) // sh + 1
    ow = (width - dw * (kw - 1) - 1) // sw + 1
    out = np.zeros((n, o, oh, ow), x.dtype)
    for channel, i, j in itertools.product(range(o), range(oh), range(ow)):
        group = channel // (o // groups)
        seen = x[:, group * c : (group + 1) * c, i * sh :, j * sw :]
        seen = seen[:, :, : dh * kh : dh, : dw * kw : dw][:, :, :kh, :kw]
        out[:, channel, i, j] = (seen * w[channel]).sum((1, 2, 3)) + b[channel]
    return out


def make(image, weight, seed=0):
    rng = np.random.default_rng(seed)
    return [rng.standard_normal(s) for s in (image, weight, weight[:1])]


@pytest.mark.parametrize(("image", "weight", "options"), CASES)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_values_are_those_of_the_definition(image, weight, options, dtype):
    x, w, b = (a.astype(dtype) for a in make(image, weight))
    got = pkg.conv2d(pkg.tensor(x), pkg.tensor(w), pkg.tensor(b), **options)
    want = reference(x, w, b, **options)
    tolerance = 1e-5 if dtype == "float32" else 1e-12
    np.testing.assert_allclose(got.numpy(), want, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize(("image", "weight", "options"), CASES)
def test_gradients_of_two_orders(image, weight, options):
    inputs = [pkg.tensor(a, requires_grad=True) for a in make(image, weight)]

    def f(x, w, b):
        return pkg.conv2d(x, w, b, **options)

    assert pkg.autograd.gradcheck(f, inputs)
    few = [t.detach()[:1].requires_grad_() for t in inputs[:1]] + inputs[1:]
    assert pkg.autograd.gradgradcheck(f, few)


def test_large_images_are_worked_on_in_tiles():
    """More than one tile to an image: values and gradients as by definition."""
    x, w, b = make((2, 2, 70, 60), (3, 2, 3, 3))
    inputs = [pkg.tensor(a, requires_grad=True) for a in (x, w, b)]
    out = pkg.conv2d(*inputs, padding=1, stride=(1, 1))
    np.testing.assert_allclose(
        out.detach().numpy(), reference(x, w, b, padding=1), rtol=1e-11, atol=1e-11
    )
    g = np.random.default_rng(1).standard_normal(out.shape)
    out.backward(pkg.tensor(g))
    # Linear in each argument: <g, conv(x, w)> = <x, dx> = <w, dw>, the bias apart.
    total = (g * reference(x, w, b * 0, padding=1)).sum()
    for array, t in ((x, inputs[0]), (w, inputs[1])):
        assert (array * t.grad.numpy()).sum() == pytest.approx(total, rel=1e-10)
    np.testing.assert_allclose(inputs[2].grad.numpy(), g.sum((0, 2, 3)), rtol=1e-10)


def test_results_do_not_depend_on_the_number_of_threads():
    x, w, b = make((37, 5, 12, 12), (7, 5, 3, 3))
    results = []
    before = pkg.get_num_threads()
    try:
        for threads in (1, 2, 3):
            pkg.set_num_threads(threads)
            inputs = [
                pkg.tensor(a.astype("float32"), requires_grad=True) for a in (x, w, b)
            ]
            out = pkg.conv2d(*inputs, padding=1)
            (out * out).sum().backward()
            results.append([out.detach().numpy()] + [t.grad.numpy() for t in inputs])
    finally:
        pkg.set_num_threads(before)
    for other in results[1:]:
        for a, b in zip(results[0], other):
            assert (a == b).all()


def test_one_image_without_batch():
    x, w, b = (pkg.tensor(a) for a in make((1, 3, 5, 5), (2, 3, 2, 2)))
    assert (pkg.conv2d(x[0], w, b) == pkg.conv2d(x, w, b)[0]).all()
    assert (pkg.max_pool2d(x[0], 2) == pkg.max_pool2d(x, 2)[0]).all()


def test_no_samples_and_no_channels():
    """Empty batches stay empty; without input channels the bias is left."""
    empty = pkg.conv2d(pkg.ones(0, 3, 5, 5), pkg.ones(2, 3, 2, 2))
    assert empty.shape == (0, 2, 4, 4)
    x = pkg.ones(1, 0, 5, 5, requires_grad=True)
    out = pkg.conv2d(x, pkg.ones(2, 0, 2, 2), pkg.tensor([1.0, 2.0]))
    assert out[0, :, 0, 0].tolist() == [1.0, 2.0]
    out.sum().backward()
    assert x.grad.shape == x.shape


@pytest.mark.parametrize(
    ("image", "weight", "options", "match"),
    [
        ((2, 3, 5, 5), (4, 2, 3, 3), {}, "to have 2 channels, but got 3"),
        ((2, 3, 5, 5), (4, 3, 6, 3), {}, "Kernel size can't be greater"),
        ((2, 3, 5, 5), (4, 3, 3, 3), {"stride": 0}, "must be positive"),
        ((2, 3, 5, 5), (4, 3, 3, 3), {"padding": -1}, "not negative"),
        ((2, 4, 5, 5), (3, 2, 3, 3), {"groups": 2}, "groups=2"),
        ((3, 5), (4, 3, 3, 3), {}, "expected input"),
    ],
)
def test_sizes_that_do_not_fit(image, weight, options, match):
    with pytest.raises(RuntimeError, match=match):
        pkg.conv2d(pkg.ones(image), pkg.ones(weight), **options)
    with pytest.raises(RuntimeError, match="same floating or integer type"):
        pkg.conv2d(pkg.ones(1, 1, 3, 3), pkg.ones(1, 1, 2, 2, dtype=pkg.float64))


def pooled(x, kernel, stride, padding):
    (kh, kw), (sh, sw), (ph, pw) = pair(kernel), pair(stride), pair(padding)
    x = np.pad(x, ((0, 0), (0, 0), (ph, ph), (pw, pw)), constant_values=-np.inf)
    seen = np.lib.stride_tricks.sliding_window_view(x, (kh, kw), (2, 3))
    return seen[:, :, ::sh, ::sw].max((4, 5))


@pytest.mark.parametrize(
    ("kernel", "stride", "padding"),
    [(2, 2, 0), ((3, 2), (1, 2), 1), (3, 2, 1), (1, 3, 0)],
)
def test_max_pooling(kernel, stride, padding):
    x = np.random.default_rng(2).standard_normal((2, 3, 7, 8))
    t = pkg.tensor(x, requires_grad=True)
    got = pkg.max_pool2d(t, kernel, stride, padding)
    np.testing.assert_array_equal(
        got.detach().numpy(), pooled(x, kernel, stride, padding)
    )

    def f(x):
        return pkg.max_pool2d(x, kernel, stride, padding)

    assert pkg.autograd.gradcheck(f, [t])
    assert pkg.autograd.gradgradcheck(f, [t])


def test_max_pooling_of_ties_and_nan():
    """The first of equal values gets the gradient; NaN is a maximum."""
    x = pkg.ones(1, 1, 2, 2, requires_grad=True)
    pkg.max_pool2d(x, 2).backward(pkg.full((1, 1, 1, 1), 5.0))
    assert x.grad.tolist() == [[[[5.0, 0.0], [0.0, 0.0]]]]
    nan = pkg.tensor([[[[1.0, float("nan")], [3.0, 4.0]]]])
    assert pkg.isnan(pkg.max_pool2d(nan, 2)).all()


@pytest.mark.parametrize(("image", "weight", "options"), CASES)
@pytest.mark.parametrize("dtype", ["uint8", "int8", "int32", "int64"])
def test_integers_are_exact_and_wrap(image, weight, options, dtype):
    rng = np.random.default_rng(0)
    x, w, b = (
        rng.integers(0, 100, s).astype(dtype) for s in (image, weight, weight[:1])
    )
    got = pkg.conv2d(pkg.tensor(x), pkg.tensor(w), pkg.tensor(b), **options)
    assert got.dtype is getattr(pkg, dtype)
    np.testing.assert_array_equal(got.numpy(), reference(x, w, b, **options))
    plain = pkg.conv2d(pkg.tensor(x), pkg.tensor(w), **options)
    np.testing.assert_array_equal(plain.numpy(), reference(x, w, b * 0, **options))


def test_integers_of_one_dimension_and_mixtures():
    x, w = pkg.arange(4), pkg.tensor([[[1, -1]]])
    assert pkg.conv1d(x.reshape(1, 1, 4), w).tolist() == [[[-1, -1, -1]]]
    assert pkg.conv1d(x.reshape(1, 4), w, pkg.tensor([5])).tolist() == [[4, 4, 4]]
    for other in (w.float(), w.bool()):
        with pytest.raises(RuntimeError, match="same floating or integer type"):
            pkg.conv1d(x.reshape(1, 1, 4), other)
    with pytest.raises(RuntimeError, match="expected bias"):
        pkg.conv1d(x.reshape(1, 1, 4), w, pkg.tensor([5.0]))


def test_one_sample_of_one_dimension():
    x = pkg.arange(6.0).reshape(1, 6)
    assert pkg.max_pool1d(x, 4).tolist() == [[3.0]]
    w = pkg.tensor([[[1.0, -1.0]]])
    want = pkg.conv1d(x.unsqueeze(0), w)[0]
    assert pkg.conv1d(x, w).tolist() == want.tolist()


def test_averages_of_integers_are_rounded_towards_zero():
    x = -pkg.arange(9).reshape(1, 3, 3)
    got = pkg.avg_pool2d(x, 2, padding=1)
    assert got.dtype is pkg.int64 and got.tolist() == [[[0, 0], [-2, -6]]]
    inner = pkg.avg_pool2d(x, 2, padding=1, count_include_pad=False)
    assert inner.tolist() == [[[0, -1], [-4, -6]]]
    assert pkg.avg_pool1d(pkg.arange(6).reshape(1, 1, 6), 4).tolist() == [[[1]]]
    for dtype in (pkg.bool, pkg.uint8, pkg.int8, pkg.int32):
        with pytest.raises(NotImplementedError, match="is not implemented for"):
            pkg.avg_pool2d(x.to(dtype), 2)


def test_images_without_rows_have_an_empty_gradient():
    x = pkg.zeros(1, 1, 0, 3, requires_grad=True)
    pkg.conv2d(x, pkg.ones(1, 1, 3, 3), None, 1, 2).sum().backward()
    assert x.grad.shape == (1, 1, 0, 3)
