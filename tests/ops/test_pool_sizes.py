# SPDX-License-Identifier: Apache-2.0
"""Pooling around the limits of its blocks, against windows taken one by one."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import pkg
import pkg.nn.functional as F

# Results are made 16, 8 or 4 at a time, the last block overlapping the one before.
WIDTHS = (1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 50)
WINDOWS = [  # kernel, stride, padding
    (1, 1, 0), (2, 2, 0), (2, 1, 1), (3, 1, 1),
    (3, 2, 1), (3, 3, 0), (4, 3, 2), (5, 7, 0),
]  # fmt: skip


def fixed(n, kernel, stride, padding):
    """The parts of the windows that lie in n elements."""
    starts = range(-padding, n + padding - kernel + 1, stride)
    return [(max(0, s), min(n, s + kernel)) for s in starts]


def even(n, out):
    return [(i * n // out, -(-(i + 1) * n // out)) for i in range(out)]


def over(x, rows, columns, f):
    """f of each window of the last two dimensions."""
    out = np.empty((*x.shape[:-2], len(rows), len(columns)), x.dtype)
    for (i, (a, b)), (j, (c, d)) in itertools.product(*map(enumerate, (rows, columns))):
        out[..., i, j] = f(x[..., a:b, c:d].reshape(*x.shape[:-2], -1))
    return out


def spread(g, shape, rows, columns, divisor):
    dx = np.zeros(shape, g.dtype)
    for (i, (a, b)), (j, (c, d)) in itertools.product(*map(enumerate, (rows, columns))):
        dx[..., a:b, c:d] += (g[..., i, j] / divisor(a, b, c, d))[..., None, None]
    return dx


def fitting():
    for width, (kernel, stride, padding) in itertools.product(WIDTHS, WINDOWS):
        if kernel <= width + 2 * padding:
            yield (2, 2, kernel + 1, width), kernel, stride, padding


def run(f, x, dtype, *options):
    """f and its gradient, for a gradient of small whole numbers."""
    t = pkg.tensor(x.astype(dtype), requires_grad=True)
    out = f(t, *options)
    g = np.random.default_rng(1).integers(-3, 4, tuple(out.shape)).astype(dtype)
    out.backward(pkg.tensor(g))
    return out.detach().numpy(), g.astype("float64"), t.grad.numpy()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_max_pool(dtype, level):
    rng = np.random.default_rng(0)
    for shape, kernel, stride, padding in fitting():
        x = rng.permutation(np.prod(shape)).reshape(shape).astype("float64")
        out, g, dx = run(F.max_pool2d, x, dtype, kernel, stride, padding)
        rows, columns = (fixed(n, kernel, stride, padding) for n in shape[2:])
        want = over(x, rows, columns, lambda w: w.max(-1))
        np.testing.assert_array_equal(out, want)
        expected = np.zeros_like(x)
        for at in np.ndindex(*g.shape):
            place = np.argwhere(x[at[:2]] == want[at])[0]
            expected[(*at[:2], *place)] += g[at]
        np.testing.assert_array_equal(dx, expected)


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int8", "int32", "int64"])
def test_max_pool_of_integers(dtype, level):
    rng = np.random.default_rng(0)
    ends = np.iinfo(dtype) if dtype != "bool" else None
    for shape, kernel, stride, padding in fitting():
        x = rng.integers(0, 2, shape).astype(dtype)
        if ends:
            x = rng.integers(ends.min, ends.max, shape, dtype, endpoint=True)
        out = F.max_pool2d(pkg.tensor(x), kernel, stride, padding)
        rows, columns = (fixed(n, kernel, stride, padding) for n in shape[2:])
        np.testing.assert_array_equal(out, over(x, rows, columns, lambda w: w.max(-1)))


def test_max_pool_of_equal_and_missing_values(level):
    """The first of equal ones gets the gradient; the last NaN is the largest."""
    for width in (6, 20, 40):
        x = np.zeros((1, 1, 4, width))
        out, g, dx = run(F.max_pool2d, x, "float32", 2)
        assert (dx[0, 0, ::2, ::2] == g[0, 0]).all() and not dx[0, 0, 1::2].any()
        x[0, 0, 0, 3] = x[0, 0, 1, 2] = np.nan
        out, g, dx = run(F.max_pool2d, x, "float32", 2)
        assert np.isnan(out[0, 0, 0, 1]) and np.isnan(out).sum() == 1
        assert dx[0, 0, 1, 2] == g[0, 0, 0, 1] and dx[0, 0, 0, 3] == 0


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_avg_pool(dtype, whole, level):
    rng = np.random.default_rng(0)
    close = 1e-6 if dtype == "float32" else 1e-14
    for shape, kernel, stride, padding in fitting():
        x = rng.integers(-8, 9, shape).astype("float64")
        rows, columns = (fixed(n, kernel, stride, padding) for n in shape[2:])

        given = (kernel, stride, padding, False, whole)

        def divisor(a, b, c, d, area=kernel**2):
            return area if whole else (b - a) * (d - c)

        ones = over(np.ones(shape), rows, columns, lambda w: w.sum(-1))
        want = over(x, rows, columns, lambda w: w.sum(-1))
        want /= kernel**2 if whole else ones
        out, g, dx = run(F.avg_pool2d, x, dtype, *given)
        np.testing.assert_allclose(out, want, rtol=close, atol=close)
        want = spread(g, shape, rows, columns, divisor)
        np.testing.assert_allclose(dx, want, rtol=close, atol=8 * close)
        lines = x[:, :, 0]
        out, g, dx = run(F.avg_pool1d, lines, dtype, *given)
        at = fixed(shape[3], kernel, stride, padding)
        want = np.stack([lines[..., a:b].sum(-1) for a, b in at], -1)
        want /= np.array([kernel if whole else b - a for a, b in at])
        np.testing.assert_allclose(out, want, rtol=close, atol=close)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_adaptive_avg_pool(dtype, level):
    rng = np.random.default_rng(0)
    close = 1e-6 if dtype == "float32" else 1e-14
    for (h, w), out_size in itertools.product(
        [(1, 1), (7, 7), (5, 33), (16, 50), (2, 300)], [(1, 1), (2, 3), (7, 7), (4, 40)]
    ):
        x = rng.integers(-8, 9, (2, 3, h, w)).astype("float64")
        rows, columns = even(h, out_size[0]), even(w, out_size[1])
        want = over(x, rows, columns, lambda v: v.mean(-1))
        out, g, dx = run(F.adaptive_avg_pool2d, x, dtype, out_size)
        np.testing.assert_allclose(out, want, rtol=close, atol=close)
        want = spread(g, x.shape, rows, columns, lambda a, b, c, d: (b - a) * (d - c))
        np.testing.assert_allclose(dx, want, rtol=close, atol=20 * close)


def test_each_side_of_a_window_has_a_border_of_its_own():
    sides = [(k, p) for k in (1, 2, 3, 5, 7) for p in range(k // 2 + 1)]
    a = np.random.default_rng(2).standard_normal((8, 9))
    for (k0, p0), (k1, p1) in itertools.product(sides, sides):
        edges = np.pad(a, ((p0, p0), (p1, p1)), constant_values=-np.inf)
        views = np.lib.stride_tricks.sliding_window_view(edges, (k0, k1))
        got = F.max_pool2d(pkg.tensor(a)[None], (k0, k1), 1, (p0, p1))
        np.testing.assert_array_equal(got[0].numpy(), views.max((2, 3)))
        for wrong in ((k0 // 2 + 1, p1), (p0, k1 // 2 + 1)):
            with pytest.raises(RuntimeError, match="at most half"):
                F.max_pool2d(pkg.tensor(a)[None], (k0, k1), 1, wrong)


def test_second_gradients():
    x = pkg.tensor(np.random.default_rng(0).standard_normal((1, 2, 5, 6)))
    for f in (
        lambda t: F.avg_pool2d(t, 3, 2, 1) ** 3,
        lambda t: F.avg_pool2d(t, (2, 3), count_include_pad=False) ** 3,
        lambda t: F.adaptive_avg_pool2d(t, (2, 4)) ** 3,
        lambda t: F.adaptive_avg_pool1d(t[0], 4) ** 3,
    ):
        inputs = [x.clone().requires_grad_()]
        assert pkg.autograd.gradcheck(f, inputs)
        assert pkg.autograd.gradgradcheck(f, inputs)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_half_precision_is_summed_in_float32(dtype):
    x = pkg.ones(1, 1, 64, 64).to(getattr(pkg, dtype))
    for out in (F.avg_pool2d(x, 64), F.adaptive_avg_pool2d(x, 1), F.max_pool2d(x, 64)):
        assert str(out.dtype).endswith(dtype) and out.item() == 1


def test_nothing_to_pool():
    assert F.avg_pool2d(pkg.ones(0, 2, 4, 4), 2).shape == (0, 2, 2, 2)
    assert F.max_pool2d(pkg.ones(0, 2, 4, 4), 2).shape == (0, 2, 2, 2)
    x = pkg.ones(2, 0, 4, 4, requires_grad=True)
    F.adaptive_avg_pool2d(x, 2).sum().backward()
    assert x.grad.shape == x.shape
