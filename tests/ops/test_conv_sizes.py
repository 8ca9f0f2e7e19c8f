# SPDX-License-Identifier: Apache-2.0
"""Convolution and its gradients around the limits of tiles, against float64 sums."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import pkg

# Winograd's tiles (3x3) need 16 channels and maps, 512 pairs of them, and 16 tiles of
# 4x4 outputs; they sum blocks of 64 channels.  Of plain sums panels have 14, 6 or 4
# maps, strips up to 32 outputs, blocks 256 products (28 channels of 3x3 are less, 29
# more), tiles 1024 outputs.
CASES = [  # image (N, C, H, W), maps, kernel, options
    ((1, 1, 5, 5), 1, (1, 1), {}),
    ((2, 3, 6, 15), 13, (3, 3), {"padding": 1}),
    ((2, 28, 4, 16), 14, (3, 3), {"padding": 1}),
    ((3, 29, 5, 17), 15, (3, 3), {"padding": 1}),
    ((1, 2, 9, 31), 29, (2, 3), {"padding": (0, 1)}),
    ((1, 60, 3, 33), 5, (3, 3), {"padding": 1}),
    ((3, 16, 11, 14), 32, (3, 3), {}),
    ((2, 17, 8, 10), 33, (3, 3), {"padding": 2}),
    ((1, 32, 17, 9), 16, (3, 3), {"padding": (3, 1)}),
    ((17, 31, 4, 4), 17, (3, 3), {"padding": 1}),
    ((17, 16, 3, 3), 40, (3, 3), {"padding": 1}),
    ((40, 33, 3, 3), 16, (3, 3), {}),
    ((1, 16, 3, 700), 16, (3, 3), {"padding": 1}),  # a part of a row at a time
    ((2, 17, 5, 130), 16, (3, 3), {"padding": (0, 3)}),
    ((1, 64, 4, 259), 17, (3, 3), {}),
    ((1, 257, 8, 16), 29, (3, 3), {"padding": 1}),
    ((1, 19, 3, 700), 27, (3, 3), {"padding": (1, 0)}),
    ((2, 64, 14, 15), 34, (3, 3), {"padding": 1, "groups": 2}),
    ((3, 16, 33, 34), 35, (3, 3), {"padding": (0, 1)}),
    # Rows of several small maps in one band, fewer in the last one.
    ((37, 16, 4, 4), 32, (3, 3), {"padding": 1}),
    ((19, 16, 8, 8), 33, (3, 3), {"padding": 1}),
    ((7, 17, 22, 23), 31, (3, 3), {}),
    ((11, 64, 9, 13), 64, (3, 3), {"padding": (1, 0), "groups": 2}),
    ((2, 2, 41, 40), 3, (3, 3), {"padding": 1}),
    ((1, 1, 3, 1100), 2, (3, 5), {"padding": (1, 2)}),
    ((1, 300, 2, 7), 2, (1, 1), {}),
    ((2, 3, 20, 21), 8, (7, 7), {"stride": 2, "padding": 3}),
    ((2, 5, 11, 10), 6, (3, 2), {"stride": (3, 2), "padding": 1}),
    ((1, 3, 9, 9), 4, (1, 1), {"stride": 2}),
    ((1, 3, 9, 12), 4, (2, 2), {"stride": (4, 5)}),
    ((1, 3, 13, 12), 4, (3, 3), {"stride": 2, "dilation": (2, 3), "padding": 2}),
    ((2, 4, 8, 9), 6, (3, 3), {"groups": 2, "padding": 2}),
    ((2, 3, 31, 40), 4, (3, 2), {"stride": (14, 19), "padding": (1, 0)}),
    ((1, 2, 5, 6), 2, (2, 2), {"stride": (300, 4), "padding": (0, 1)}),
    ((1, 3, 12, 12), 2, (3, 3), {"stride": 4, "dilation": 4, "padding": 4}),
    ((2, 5, 9, 65), 5, (3, 3), {"groups": 5, "padding": 1}),
    ((1, 5, 9, 16), 10, (3, 3), {"groups": 5, "stride": 2, "padding": 1}),
    ((1, 1, 300, 3), 1, (5, 2), {"padding": (4, 0)}),
    ((1, 2, 1, 70), 17, (1, 9), {"padding": (0, 4), "dilation": (1, 2)}),
    # Images that are their own tiles, or nearly; columns of the kernel with planes of
    # their own; even and odd columns in turn; samples of small maps together.
    ((2, 3, 8, 8), 5, (1, 1), {}),
    ((1, 4, 64, 64), 15, (1, 1), {}),
    ((2, 6, 5, 16), 7, (1, 1), {"groups": 1}),
    ((2, 4, 4, 12), 9, (1, 1), {"padding": 1}),
    ((3, 16, 16, 16), 17, (3, 3), {"stride": 2, "padding": 1}),
    ((2, 4, 15, 33), 20, (3, 3), {"stride": 2, "padding": 1}),
    ((2, 3, 14, 37), 18, (5, 5), {"stride": 2, "padding": (2, 1)}),
    ((9, 8, 8, 8), 16, (3, 3), {"stride": 2, "padding": 1}),
    ((70, 2, 2, 3), 3, (2, 2), {}),
    ((5, 3, 7, 9), 30, (3, 3), {"stride": (1, 2)}),
    ((5, 4, 9, 7), 30, (2, 4), {"stride": (2, 1), "padding": (0, 2)}),
    ((2, 8, 18, 20), 32, (3, 3), {"stride": 2, "groups": 2}),
]


def pair(value):
    return value if isinstance(value, tuple) else (value, value)


def reference(x, w, g, stride=1, padding=0, dilation=1, groups=1):
    """Result and both gradients, one place of the kernel after the other."""
    (sh, sw), (ph, pw), (dh, dw) = pair(stride), pair(padding), pair(dilation)
    padded = np.pad(x, ((0, 0), (0, 0), (ph, ph), (pw, pw)))
    o, c, kh, kw = w.shape
    each = o // groups
    out, dx, dweight = np.zeros_like(g), np.zeros_like(padded), np.zeros_like(w)
    for group, i, j in itertools.product(range(groups), range(kh), range(kw)):
        maps = slice(group * each, group * each + each)
        seen = (
            slice(None),
            slice(group * c, group * c + c),
            slice(i * dh, i * dh + (g.shape[2] - 1) * sh + 1, sh),
            slice(j * dw, j * dw + (g.shape[3] - 1) * sw + 1, sw),
        )
        at = w[maps, :, i, j]
        out[:, maps] += np.einsum("oc,nchw->nohw", at, padded[seen])
        dx[seen] += np.einsum("oc,nohw->nchw", at, g[:, maps])
        dweight[maps, :, i, j] = np.einsum("nohw,nchw->oc", g[:, maps], padded[seen])
    return out, dx[:, :, ph : ph + x.shape[2], pw : pw + x.shape[3]], dweight


def agrees(got, want, exact):
    """Sums of small whole numbers are exact, Winograd's weighted ones are not."""
    if exact:
        np.testing.assert_array_equal(got, want)
    else:
        close = 30 * np.finfo(got.dtype).eps * np.abs(want).max()
        np.testing.assert_allclose(got, want, rtol=0, atol=close)


def case(image, maps, kernel, options, dtype):
    """Small whole numbers; results, gradients, and whether they must be exact."""
    rng = np.random.default_rng(0)
    shape = (maps, image[1] // options.get("groups", 1), *kernel)
    x, w = (rng.integers(-2, 3, s).astype(dtype) for s in (image, shape))
    inputs = [pkg.tensor(a, requires_grad=True) for a in (x, w)]
    out = pkg.conv2d(*inputs, None, **options)
    g = rng.integers(-2, 3, tuple(out.shape)).astype(dtype)
    out.backward(pkg.tensor(g))
    bias = pkg.arange(maps, dtype=out.dtype)
    with_bias = pkg.conv2d(*(i.detach() for i in inputs), bias, **options)
    exact = kernel != (3, 3) or bool(options.keys() & {"stride", "dilation"})
    agrees(with_bias.numpy(), (out.detach() + bias.reshape(-1, 1, 1)).numpy(), exact)
    return (x, w, g), (out.detach(), inputs[0].grad, inputs[1].grad), exact


@pytest.mark.parametrize(("image", "maps", "kernel", "options"), CASES)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_values_and_gradients(image, maps, kernel, options, dtype, level):
    given, got, exact = case(image, maps, kernel, options, dtype)
    for a, b in zip(got, reference(*(a.astype("float64") for a in given), **options)):
        agrees(a.numpy(), b, exact)


@pytest.mark.parametrize("threads", [2, 3])
@pytest.mark.parametrize(("image", "maps", "kernel", "options"), CASES[1::2])
def test_threads_change_no_bit(image, maps, kernel, options, threads):
    rng = np.random.default_rng(1)
    shape = (maps, image[1] // options.get("groups", 1), *kernel)
    arrays = [rng.standard_normal(s).astype("float32") for s in (image, shape)]
    results, before = [], pkg.get_num_threads()
    try:
        for n in (1, threads):
            pkg.set_num_threads(n)
            inputs = [pkg.tensor(a, requires_grad=True) for a in arrays]
            out = pkg.conv2d(*inputs, None, **options)
            (out * out).sum().backward()
            results.append(
                [t.numpy() for t in (out.detach(), *(i.grad for i in inputs))]
            )
    finally:
        pkg.set_num_threads(before)
    for a, b in zip(*results):
        assert (a == b).all()


@pytest.mark.parametrize("value", [np.inf, -np.inf, np.nan, 3e38])
@pytest.mark.parametrize("place", ["x", "w", "g"])
def test_what_is_not_finite_comes_out_as_from_plain_sums(place, value, level):
    """Differences of infinities, and of what overflows, may not be seen in a result."""
    rng = np.random.default_rng(2)
    arrays = {
        "x": np.abs(rng.standard_normal((1, 24, 16, 17))).astype("float32"),
        "w": np.abs(rng.standard_normal((24, 24, 3, 3))).astype("float32") * 0.01,
        "g": np.abs(rng.standard_normal((1, 24, 16, 17))).astype("float32") * 0.01,
    }
    arrays[place][0, 3, 1, 2] = value  # seen from the inner outputs
    inputs = [pkg.tensor(arrays[k], requires_grad=True) for k in "xw"]
    out = pkg.conv2d(*inputs, None, padding=1)
    out.backward(pkg.tensor(arrays["g"]))
    inner = np.s_[..., 1:-1, 1:-1]  # outside of it weights may meet zeros
    got = [out.detach().numpy()[inner], inputs[0].grad.numpy()[inner]]
    got.append(inputs[1].grad.numpy())
    with np.errstate(all="ignore"):
        wide = [arrays[k].astype("float64") for k in "xwg"]
        want = [a.astype("float32") for a in reference(*wide, padding=1)]
        for a, b in zip(got, (want[0][inner], want[1][inner], want[2])):
            assert (np.isfinite(a) == np.isfinite(b)).all()
            np.testing.assert_array_equal(a[~np.isfinite(b)], b[~np.isfinite(b)])
            close = 3e-6 * np.abs(b[np.isfinite(b)]).max()
            assert (np.abs(a - b)[np.isfinite(b)] <= close).all()


@pytest.mark.parametrize("shape", [(2, 32, 30, 30), (4, 128, 8, 8), (2, 64, 17, 19)])
def test_errors_of_winograd_are_those_of_sums(shape):
    """Against float64; plain float32 sums of so many terms err as much."""
    rng = np.random.default_rng(3)
    c = shape[1]
    x, g = (rng.standard_normal(shape).astype("float32") for _ in range(2))
    w = rng.standard_normal((c, c, 3, 3)).astype("float32")
    results = []
    for dtype in ("float32", "float64"):
        inputs = [pkg.tensor(a.astype(dtype), requires_grad=True) for a in (x, w)]
        out = pkg.conv2d(*inputs, None, padding=1)
        out.backward(pkg.tensor(g.astype(dtype)))
        results.append([t.numpy() for t in (out.detach(), *(i.grad for i in inputs))])
    for a, b in zip(*results):
        assert np.abs(a - b).max() < 3e-6 * np.abs(b).max()
        assert ((a - b) ** 2).mean() < (1e-6) ** 2 * (b**2).mean()


def test_what_is_not_seen_spreads_nowhere():
    """Sums beyond the end of a row are nobody's, also where the image is not finite."""
    x = np.ones((1, 2, 6, 20), "float32")
    x[0, 0, 2, 19], x[0, 1, 5, 0] = np.nan, np.inf
    w = np.ones((3, 2, 3, 3), "float32")
    inputs = [pkg.tensor(a, requires_grad=True) for a in (x, w)]
    out = pkg.conv2d(*inputs, None)
    bad = ~np.isfinite(out.detach().numpy()[0, 0])
    want = np.zeros((4, 18), bool)
    want[0:3, 17] = want[3, 0] = True
    assert (bad == want).all()
    g = np.ones(out.shape, "float32")
    out.backward(pkg.tensor(g))
    assert np.isfinite(inputs[0].grad.numpy()).all()
    finite = np.isfinite(inputs[1].grad.numpy()[0])
    assert finite[0].tolist() == [[True, True, False]] * 3
    assert finite[1].tolist() == [[True] * 3] * 2 + [[False, True, True]]


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float64"])
@pytest.mark.parametrize("stride", [2, 3, 7, 2**31, 2**62, 2**63 - 1])
def test_a_stride_may_be_of_any_size(stride, dtype):
    for w, kernel, pad in itertools.product((1, 2, 5, 16), (1, 2, 3), (0, 1, 3)):
        if w + 2 * pad < kernel:
            continue
        x = np.arange(6.0 * w).reshape(2, 3, w)
        t = pkg.tensor(x).to(dtype).requires_grad_()
        weight = pkg.ones(4, 3, kernel, dtype=getattr(pkg, dtype))
        out = pkg.conv1d(t, weight, None, stride, pad)
        out.sum().backward()
        seen = np.zeros(w + 2 * pad)
        padded = np.pad(x, ((0, 0), (0, 0), (pad, pad)))
        starts = range(0, w + 2 * pad - kernel + 1, stride)
        want = [padded[:, :, i : i + kernel].sum((1, 2)) for i in starts]
        for i in starts:
            seen[i : i + kernel] += 4
        got = out.detach().double().numpy()
        assert got.shape == (2, 4, len(want))
        np.testing.assert_allclose(got[:, 1], np.stack(want, 1), rtol=1e-2)
        grad = np.broadcast_to(seen[pad : pad + w], x.shape)
        np.testing.assert_array_equal(t.grad.double(), grad)
