# SPDX-License-Identifier: Apache-2.0
"""Pooling of maps of a few elements, NaN among them, and padding of short rows."""

import numpy as np
import pytest

import pkg
import pkg.nn.functional as F
from levels import every_level

MAPS = [
    (1, 1),
    (1, 5),
    (2, 2),
    (3, 4),
    (4, 4),
    (5, 1),
    (7, 7),
    (8, 3),
    (9, 16),
    (6, 65),
]
PADS = [(1, 1, 2, 2), (3, 0, 0, 0), (0, 2, 1, 0), (-1, 2, 0, -3)]
KINDS = ["float16", "bfloat16", "float32", "float64"]


def images(height, width, dtype, nans=True):
    rng = np.random.default_rng(height * 100 + width)
    x = rng.integers(-4, 5, (3, 11, height, width)).astype("float64")
    if nans:
        x[rng.random(x.shape) < 0.05] = np.nan
    return x, pkg.tensor(x).to(getattr(pkg, dtype))


def windows(x, kernel, stride):
    view = np.lib.stride_tricks.sliding_window_view(x, kernel, axis=(2, 3))
    return view[:, :, :: stride[0], :: stride[1]].reshape(
        *view[:, :, :: stride[0], :: stride[1]].shape[:4], -1
    )


@pytest.mark.parametrize("dtype", KINDS)
def test_windows_of_small_maps(dtype):
    for _ in every_level():
        for height, width in MAPS:
            x, ours = images(height, width, dtype)
            turned = ours.transpose(2, 3).contiguous().transpose(2, 3)
            for kernel, stride in (((1, 1), (1, 1)), ((2, 2), (2, 2)), ((1, 3), (1, 2)),
                                   ((3, 1), (1, 1)), ((3, 3), (2, 1))):  # fmt: skip
                if kernel[0] > height or kernel[1] > width:
                    continue
                parts = windows(x, kernel, stride)
                for given in (ours, turned):
                    got = F.max_pool2d(given, kernel, stride)
                    np.testing.assert_array_equal(got.double().numpy(), parts.max(-1))
                    got = F.avg_pool2d(given, kernel, stride).double().numpy()
                    np.testing.assert_allclose(
                        got, parts.mean(-1), rtol=1e-2, atol=1e-2
                    )
                leaf = ours.clone().requires_grad_()
                with_places = (
                    F.max_pool2d(leaf, kernel, stride).detach().double().numpy()
                )
                np.testing.assert_array_equal(with_places, parts.max(-1))


@pytest.mark.parametrize("dtype", KINDS)
def test_the_first_of_equal_zeros_is_the_largest(dtype):
    """Its sign is the same with a gradient and without."""
    rng = np.random.default_rng(6)
    for height, width in ((2, 2), (3, 5), (1, 40), (4, 33)):
        x = rng.choice([0.0, -0.0, -1.0], (7, 5, height, width))
        ours = pkg.tensor(x).to(getattr(pkg, dtype))
        kernel = (min(2, height), 2)
        parts = windows(x, kernel, (1, 1))
        first = np.take_along_axis(parts, parts.argmax(-1)[..., None], -1)[..., 0]
        for given in (ours, ours.clone().requires_grad_()):
            got = F.max_pool2d(given, kernel, 1).detach().double().numpy()
            np.testing.assert_array_equal(np.signbit(got), np.signbit(first))


@pytest.mark.parametrize("padding", [0, 1, 2])
def test_a_stride_as_large_as_numbers_are(padding):
    """There is one window, at the beginning; with its place and without."""
    x = pkg.arange(64.0).reshape(1, 1, 8, 8)
    corner = 4 - padding
    for given in (x, x.clone().requires_grad_()):
        for stride in (2**63 - 1, 2**62, 9):
            y = F.max_pool2d(given, 5, stride, padding)
            assert y.tolist() == [[[[9.0 * corner]]]]


@pytest.mark.parametrize("dtype", KINDS)
def test_gradients_of_maxima_go_to_the_first_of_equal_ones(dtype):
    for height, width in MAPS:
        if height < 2 or width < 2:
            continue
        x, ours = images(height, width, dtype, nans=False)
        leaf = ours.requires_grad_()
        (grad,) = pkg.autograd.grad(F.max_pool2d(leaf, 2).sum(), [leaf])
        want = np.zeros_like(x)
        for n, c, i, j in np.ndindex(3, 11, height // 2, width // 2):
            part = x[n, c, 2 * i : 2 * i + 2, 2 * j : 2 * j + 2]
            y, z = np.unravel_index(part.argmax(), (2, 2))
            want[n, c, 2 * i + y, 2 * j + z] = 1
        np.testing.assert_array_equal(grad.double().numpy(), want)


@pytest.mark.parametrize("dtype", KINDS)
def test_one_window_is_the_mean(dtype):
    for height, width in MAPS:
        x, ours = images(height, width, dtype, nans=False)
        leaf = ours.requires_grad_()
        y = F.adaptive_avg_pool2d(leaf, 1)
        assert y.shape == (3, 11, 1, 1) and y.dtype == leaf.dtype
        want = x.mean((2, 3), keepdims=True)
        np.testing.assert_allclose(y.detach().double().numpy(), want, atol=2e-2)
        (grad,) = pkg.autograd.grad(y.sum(), [leaf])
        want = np.full(x.shape, 1 / (height * width))
        np.testing.assert_allclose(grad.double().numpy(), want, rtol=1e-2)
        lines = F.adaptive_avg_pool1d(leaf.detach()[0, :, 0], 1)
        want = x[0, :, 0].mean(1, keepdims=True)
        np.testing.assert_allclose(lines.double().numpy(), want, atol=2e-2)


@pytest.mark.parametrize("dtype", ["bool", "uint8", "float16", "int32", "float64"])
def test_padding_of_short_rows(dtype):
    for _ in every_level():
        for columns in (1, 2, 3, 5, 8, 15, 16, 31, 64, 130):
            x = np.arange(90 * columns).reshape(90, columns) % 2
            ours = pkg.tensor(x).to(getattr(pkg, dtype))
            stepped = pkg.stack([ours, ours], 2).reshape(90, -1)[:, ::2]
            for given in (ours, ours.t().contiguous().t(), stepped):
                for left, right, top, bottom in PADS:
                    if left + columns < 0:
                        continue
                    cut = x[: 90 + min(bottom, 0), -min(left, 0) :]
                    grown = ((top, max(bottom, 0)), (max(left, 0), right))
                    want = np.pad(cut, grown, constant_values=1)
                    got = pkg.constant_pad_nd(given, [left, right, top, bottom], 1)
                    np.testing.assert_array_equal(got.long().numpy(), want)
