# SPDX-License-Identifier: Apache-2.0
"""Normalisation around the limits of runs, against float64: values and gradients.

Runs have 2048 elements; below 16 places a channel lies beside its neighbours; blocks of
16 rows sum the weights' gradients.
"""

from __future__ import annotations

import numpy as np
import pytest

import pkg
import pkg.nn.functional as F

ERRORS = {"float64": 1e-12, "float32": 4e-6, "float16": 4e-3, "bfloat16": 3e-2}
SHAPES = [  # (N, C, ...), groups
    ((3, 4), 2),
    ((40, 6, 3), 3),
    ((2, 6, 15), 2),
    ((2, 6, 16), 6),
    ((17, 4, 5, 5), 1),
    ((2, 2, 2047), 1),
    ((2, 4, 2049), 2),
    ((1, 3, 4100), 3),
    ((300, 2, 8), 2),
    ((33, 2100, 1), 1),
]


def laid(x, layout):
    """The same numbers, lying in memory otherwise."""
    if layout == "turned":
        return x.transpose(0, -1).contiguous().transpose(0, -1)
    if layout == "stepped":
        return pkg.stack([x, x], -1)[..., 0]
    return x


def gradients(x, dims, weight, g, eps=1e-5):
    """Of (x normalised over dims) * weight + bias, all of one shape."""
    scale = 1 / np.sqrt(x.var(dims, keepdims=True) + eps)
    h = (x - x.mean(dims, keepdims=True)) * scale
    d = g * weight
    inner = d - d.mean(dims, keepdims=True) - h * (d * h).mean(dims, keepdims=True)
    return h, inner * scale


def close(got, want, dtype):
    got = got.double().numpy().reshape(want.shape)
    limit = ERRORS[dtype] * max(1.0, np.abs(want).max())
    assert np.abs(got - want).max() <= limit


def case(shape, dtype, layout, weights):
    rng = np.random.default_rng(0)
    arrays = [rng.standard_normal(shape), rng.standard_normal(shape)]
    arrays += [rng.standard_normal(weights) for _ in range(2)]
    type_ = getattr(pkg, dtype)
    x, g, w, b = (pkg.tensor(a).to(type_) for a in arrays)
    x, g = (laid(t, layout).detach() for t in (x, g))
    wide = [t.double().numpy() for t in (x, g, w, b)]
    return [t.requires_grad_() for t in (x, w, b)], g, wide


@pytest.mark.parametrize("layout", ["dense", "turned", "stepped"])
@pytest.mark.parametrize("dtype", ERRORS)
@pytest.mark.parametrize(("shape", "groups"), SHAPES)
def test_group_norm(shape, groups, dtype, layout, level):
    (x, w, b), g, (wx, wg, ww, wb) = case(shape, dtype, layout, shape[1])
    out = F.group_norm(x, groups, w, b)
    out.backward(g)
    rows = (shape[0], groups, -1)
    each = np.broadcast_to(
        ww.reshape(1, -1, *[1] * (len(shape) - 2)), shape
    )  # the weights of all elements
    h, dx = gradients(wx.reshape(rows), (2,), each.reshape(rows), wg.reshape(rows))
    h = h.reshape(shape)
    bias = np.broadcast_to(wb.reshape(1, -1, *[1] * (len(shape) - 2)), shape)
    others = tuple(d for d in range(len(shape)) if d != 1)
    close(out.detach(), h * each + bias, dtype)
    close(x.grad, dx.reshape(shape), dtype)
    close(w.grad, (wg * h).sum(others), dtype)
    close(b.grad, wg.sum(others), dtype)


@pytest.mark.parametrize("given", [(True, False), (False, True), (False, False)])
@pytest.mark.parametrize("shape", [(5, 4, 3), (3, 4, 20)])
def test_group_norm_with_some_of_weight_and_bias(shape, given):
    (x, w, b), g, (wx, wg, ww, wb) = case(shape, "float64", "dense", shape[1])
    parts = [t if has else None for t, has in zip((w, b), given)]
    out = F.group_norm(x, 2, *parts)
    out.backward(g)
    each = ww[:, None] if given[0] else np.ones((4, 1))
    rows = (shape[0], 2, -1)
    full = np.broadcast_to(each, shape).reshape(rows)
    h, dx = gradients(wx.reshape(rows), (2,), full, wg.reshape(rows))
    h = h.reshape(shape)
    close(out.detach(), h * each + (wb[:, None] if given[1] else 0), "float64")
    close(x.grad, dx.reshape(shape), "float64")
    if given[0]:
        close(w.grad, (wg * h).sum((0, 2)), "float64")
    if given[1]:
        close(b.grad, wg.sum((0, 2)), "float64")


@pytest.mark.parametrize("layout", ["dense", "turned"])
@pytest.mark.parametrize("dtype", ERRORS)
@pytest.mark.parametrize("shape", [(3, 7), (33, 2047), (5, 2049), (300, 33), (1, 5000)])
def test_layer_norm(shape, dtype, layout, level):
    (x, w, b), g, (wx, wg, ww, wb) = case(shape, dtype, layout, shape[1])
    out = F.layer_norm(x, shape[1:], w, b)
    out.backward(g)
    h, dx = gradients(wx, (1,), ww, wg)
    close(out.detach(), h * ww + wb, dtype)
    close(x.grad, dx, dtype)
    close(w.grad, (wg * h).sum(0), dtype)
    close(b.grad, wg.sum(0), dtype)
    plain = F.layer_norm(x.detach().requires_grad_(), shape[1:])
    close(plain.detach(), h, dtype)
    (only,) = pkg.autograd.grad(F.layer_norm(x, shape[1:]), [x], g)
    close(only, gradients(wx, (1,), 1.0, wg)[1], dtype)


@pytest.mark.parametrize("dtype", ERRORS)
@pytest.mark.parametrize(("shape", "groups"), SHAPES)
def test_batch_norm(shape, groups, dtype, level):
    (x, w, b), g, (wx, wg, ww, wb) = case(shape, dtype, "dense", shape[1])
    out = F.batch_norm(x, None, None, w, b, True)
    out.backward(g)
    dims = tuple(d for d in range(len(shape)) if d != 1)
    each = ww.reshape(1, -1, *[1] * (len(shape) - 2))
    h, dx = gradients(wx, dims, each, wg)
    close(out.detach(), h * each + wb.reshape(each.shape), dtype)
    close(x.grad, dx, dtype)
    close(w.grad, (wg * h).sum(dims), dtype)
    mean, variance = (pkg.tensor(np.abs(ww) + k).float() for k in (0.5, 1.5))
    out = F.batch_norm(x.detach(), mean, variance, w.detach(), b.detach(), False)
    wide = [t.double().numpy().reshape(each.shape) for t in (mean, variance)]
    want = (wx - wide[0]) / np.sqrt(wide[1] + 1e-5) * each + wb.reshape(each.shape)
    close(out, want, dtype)


def test_threads_change_no_bit():
    rng = np.random.default_rng(1)
    arrays = [rng.standard_normal((64, 8, 30)).astype("float32") for _ in range(2)]
    before, results = pkg.get_num_threads(), []
    try:
        for n in (1, 3):
            pkg.set_num_threads(n)
            x = pkg.tensor(arrays[0], requires_grad=True)
            w = pkg.ones(8, requires_grad=True)
            out = F.group_norm(x, 4, w)
            out.backward(pkg.tensor(arrays[1]))
            results.append([t.numpy() for t in (out.detach(), x.grad, w.grad)])
    finally:
        pkg.set_num_threads(before)
    for a, b in zip(*results):
        assert (a == b).all()


@pytest.mark.parametrize("shape", [(1, 3, 3, 0), (0, 3, 2, 2), (3, 3, 2, 0), (2, 3, 0)])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_gradients_where_there_are_no_elements(shape, dtype):
    """The weights' are zero, since no element has a share in them."""
    dtype = getattr(pkg, dtype)
    for norm in (pkg.group_norm, None):
        x = pkg.zeros(shape, dtype=dtype).requires_grad_()
        w = pkg.ones(3, dtype=dtype).requires_grad_()
        if norm:
            y = norm(x, 3, w)
        else:
            w = pkg.ones(shape[1:], dtype=dtype).requires_grad_()
            y = pkg.layer_norm(x, shape[1:], w)
        y.sum().backward()
        assert x.grad.shape == shape and not w.grad.any()


def test_no_sample_has_no_weights_to_read():
    w, b = pkg.ones(2), pkg.ones(2).requires_grad_()
    for weight, bias in ((w, b), (None, b), (w, None)):
        x = pkg.zeros(0, 2, 10_000_000).requires_grad_()
        out = F.group_norm(x, 1, weight, bias)
        assert out.shape == x.shape
        out.sum().backward()
        assert x.grad.shape == x.shape
    assert b.grad.tolist() == [0, 0]


def test_rows_of_nothing_are_refused():
    with pytest.raises(RuntimeError, match="rows of 0 elements"):
        pkg.ops._layer_norm(pkg.ones(5, 2), 0, pkg.ones(2, 1), None, 1e-5, True)
