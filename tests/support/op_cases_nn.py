# SPDX-License-Identifier: Apache-2.0
"""Rows of the op table: activations with attributes, layers and losses."""

import numpy as np

from op_case import Case, distinct, fixed, floats, integers

X = [floats(3, 4)]
EDGES = [[floats()], [floats(0, 4)]]


def _sigmoid(x):
    return 1 / (1 + np.exp(-x))


def _elu(x, alpha, scale=1.0):
    return scale * np.where(x > 0, x, alpha * np.expm1(np.minimum(x, 0)))


def _log_softmax(x, axis):
    return x - np.log(np.exp(x).sum(axis, keepdims=True))


ACTIVATIONS = [
    Case("hardtanh", lambda p, x: p.hardtanh(x, -1, 2), lambda x: np.clip(x, -1, 2), X,
         EDGES),
    Case("leaky_relu", lambda p, x: p.leaky_relu(x, 0.1),
         lambda x: np.where(x > 0, x, 0.1 * x), X, EDGES),
    Case("prelu", lambda p, x, w: p.prelu(x, w),
         lambda x, w: np.where(x > 0, x, w[:, None] * x), [floats(2, 3, 4), floats(3)]),
    Case("prelu", lambda p, x, w: p.prelu(x, w), lambda x, w: np.where(x > 0, x, w * x),
         [floats(2, 3), floats(1)], label="one"),
    Case("elu", lambda p, x: p.elu(x, 0.5), lambda x: _elu(x, 0.5), X, EDGES),
    Case("celu", lambda p, x: p.celu(x, 2.0),
         lambda x: np.where(x > 0, x, 2 * np.expm1(np.minimum(x, 0) / 2)), X, EDGES),
    Case("gelu", lambda p, x: p.gelu(x, approximate="tanh"),
         lambda x: 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3))),
         X, EDGES, label="tanh"),
    Case("softplus", lambda p, x: p.softplus(x, 2, 3),
         lambda x: np.where(2 * x > 3, x, np.log1p(np.exp(2 * x)) / 2), X, EDGES),
    Case("softplus", lambda p, x: p.softplus(x), lambda x: np.logaddexp(0, x),
         [fixed([-1000.0, 1000.0, 0.0])], label="large"),
    Case("threshold", lambda p, x: p.threshold(x, 0.5, 7),
         lambda x: np.where(x > 0.5, x, 7), X, EDGES),
    Case("glu", lambda p, x: p.glu(x), lambda x: x[:, :2] * _sigmoid(x[:, 2:]), X),
    Case("softmax", lambda p, x: p.softmax(x, 1),
         lambda x: np.exp(_log_softmax(x, 1)), X, [[floats(0, 4)]]),
    Case("log_softmax", lambda p, x: p.log_softmax(x, 0), lambda x: _log_softmax(x, 0),
         X),
]  # fmt: skip


_windows = np.lib.stride_tricks.sliding_window_view


def _pool(x, kernel, stride, how):
    windows = _windows(x, kernel, (-2, -1))
    return how(windows[..., :: stride[0], :: stride[1], :, :], (-2, -1))


def _conv1d(x, w, stride=1):
    windows = _windows(x, w.shape[2], 2)[:, :, ::stride]
    return np.einsum("nclk,ock->nol", windows, w)


def _conv2d(x, w):
    windows = _windows(x, w.shape[2:], (2, 3))
    return np.einsum("nchwij,ocij->nohw", windows, w)


def _normal(x, axes, eps=1e-5):
    centred = x - x.mean(axes, keepdims=True)
    return centred / np.sqrt(x.var(axes, keepdims=True) + eps)


def _groups(x, groups):
    return _normal(x.reshape(x.shape[0], groups, -1), 2).reshape(x.shape)


IMAGE = floats(2, 3, 5, 6)

LAYERS = [
    Case("linear", lambda p, x, w, b: p.linear(x, w, b), lambda x, w, b: x @ w.T + b,
         [floats(2, 3), floats(4, 3), floats(4)],
         [[floats(0, 3), floats(4, 3), floats(4)]]),
    Case("conv1d", lambda p, x, w, b: p.conv1d(x, w, b, stride=2),
         lambda x, w, b: _conv1d(x, w, 2) + b[:, None],
         [floats(2, 3, 7), floats(4, 3, 3), floats(4)]),
    Case("conv2d", lambda p, x, w: p.conv2d(x, w), _conv2d,
         [floats(1, 2, 4, 5), floats(3, 2, 2, 3)]),
    Case("max_pool1d", lambda p, x: p.max_pool1d(x, 3, 2),
         lambda x: _windows(x, 3, 2)[:, :, ::2].max(-1),
         [distinct(2, 2, 7)]),
    Case("max_pool2d", lambda p, x: p.max_pool2d(x, (2, 3), (2, 1)),
         lambda x: _pool(x, (2, 3), (2, 1), np.max), [distinct(1, 2, 4, 5)]),
    Case("avg_pool1d", lambda p, x: p.avg_pool1d(x, 3, 2),
         lambda x: _windows(x, 3, 2)[:, :, ::2].mean(-1),
         [floats(2, 2, 7)]),
    Case("avg_pool2d", lambda p, x: p.avg_pool2d(x, (2, 3), (2, 1)),
         lambda x: _pool(x, (2, 3), (2, 1), np.mean), [IMAGE]),
    Case("avg_pool2d",
         lambda p, x: p.avg_pool2d(x, 2, padding=1, count_include_pad=False),
         lambda x: _pool(np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)),
                                constant_values=np.nan), (2, 2), (2, 2), np.nanmean),
         [IMAGE], label="padding"),
    Case("adaptive_avg_pool1d", lambda p, x: p.adaptive_avg_pool1d(x, 2),
         lambda x: np.stack([x[..., :3].mean(-1), x[..., 2:].mean(-1)], -1),
         [floats(2, 3, 5)]),
    Case("adaptive_avg_pool2d", lambda p, x: p.adaptive_avg_pool2d(x, 1),
         lambda x: x.mean((2, 3), keepdims=True), [IMAGE]),
    Case("layer_norm", lambda p, x, w, b: p.layer_norm(x, (4,), w, b),
         lambda x, w, b: _normal(x, 1) * w + b, [floats(3, 4), floats(4), floats(4)]),
    Case("rms_norm", lambda p, x, w: p.rms_norm(x, (4,), w, 1e-5),
         lambda x, w: x / np.sqrt((x * x).mean(1, keepdims=True) + 1e-5) * w,
         [floats(3, 4), floats(4)]),
    Case("batch_norm", lambda p, x, w, b: p.batch_norm(
             x, None, None, weight=w, bias=b, training=True),
         lambda x, w, b: _normal(x, 0) * w + b, [floats(3, 4), floats(4), floats(4)],
         label="training"),
    Case("batch_norm", lambda p, x, m, v: p.batch_norm(x, m, v),
         lambda x, m, v: (x - m[:, None]) / np.sqrt(v[:, None] + 1e-5),
         [floats(2, 4, 3), floats(4), floats(4, low=0.5)], torch=False),
    Case("group_norm", lambda p, x, w, b: p.group_norm(x, 2, w, b),
         lambda x, w, b: _groups(x, 2) * w[:, None] + b[:, None],
         [floats(2, 4, 3), floats(4), floats(4)]),
    Case("instance_norm", lambda p, x: p.instance_norm(x), lambda x: _normal(x, 2),
         [floats(2, 3, 4)]),
    Case("embedding", lambda p, w, i: p.embedding(w, i), lambda w, i: w[i],
         [floats(5, 3), integers(2, 2)], torch=False),
]  # fmt: skip


def _nll(x, t, w=None, ignore=-100):
    kept = t != ignore
    safe = np.where(kept, t, 0)
    scale = kept * (1.0 if w is None else w[safe])
    return -(np.take_along_axis(x, safe[:, None], 1)[:, 0] * scale).sum() / scale.sum()


def _bce(x, t, pos_weight=1.0):
    p = _sigmoid(x)
    return -(pos_weight * t * np.log(p) + (1 - t) * np.log(1 - p))


def _smooth(d, beta):
    d = np.abs(d)
    return np.where(d < beta, d * d / 2 / beta, d - beta / 2)


PAIR = [floats(3, 4), floats(3, 4)]
UNIT = floats(3, 4, low=0.1, high=0.9)
SIGNS = fixed([1, -1, 1], "int64")

LOSSES = [
    Case("mse_loss", lambda p, x, y: p.mse_loss(x, y),
         lambda x, y: ((x - y) ** 2).mean(), PAIR),
    Case("l1_loss", lambda p, x, y: p.l1_loss(x, y, reduction="sum"),
         lambda x, y: np.abs(x - y).sum(), PAIR),
    Case("smooth_l1_loss", lambda p, x, y: p.smooth_l1_loss(x, y, beta=2.0),
         lambda x, y: _smooth(x - y, 2).mean(), PAIR),
    Case("huber_loss", lambda p, x, y: p.huber_loss(x, y, reduction="none", delta=2.0),
         lambda x, y: 2 * _smooth(x - y, 2), PAIR),
    Case("binary_cross_entropy", lambda p, x, y: p.binary_cross_entropy(x, y),
         lambda x, y: _bce(np.log(x / (1 - x)), y).mean(), [UNIT, UNIT]),
    Case("binary_cross_entropy_with_logits",
         lambda p, x, y: p.binary_cross_entropy_with_logits(x, y),
         lambda x, y: _bce(x, y).mean(), [floats(3, 4), UNIT]),
    Case("binary_cross_entropy_with_logits",
         lambda p, x, y, w, v: p.binary_cross_entropy_with_logits(
             x, y, w, pos_weight=v, reduction="sum"),
         lambda x, y, w, v: (w * _bce(x, y, v)).sum(),
         [floats(3, 4), UNIT, floats(4, low=0), floats(4, low=0)], torch=False,
         label="weights"),
    Case("kl_div", lambda p, x, y: p.kl_div(x, y, reduction="batchmean"),
         lambda x, y: (y * (np.log(y) - x)).sum() / 3, [floats(3, 4), UNIT]),
    Case("kl_div", lambda p, x, y: p.kl_div(x, y, reduction="sum", log_target=True),
         lambda x, y: (np.exp(y) * (y - x)).sum(), PAIR, label="log target"),
    Case("nll_loss", lambda p, x, t: p.nll_loss(x, t), _nll,
         [floats(3, 4), integers(3, high=4)]),
    Case("nll_loss", lambda p, x, t, w: p.nll_loss(x, t, w, ignore_index=2),
         lambda x, t, w: _nll(x, t, w, 2),
         [floats(4, 4), fixed([0, 2, 1, 3], "int64"), floats(4, low=0.1)],
         torch=False, label="weights"),
    Case("cross_entropy", lambda p, x, t: p.cross_entropy(x, t),
         lambda x, t: _nll(_log_softmax(x, 1), t), [floats(3, 4), integers(3, high=4)]),
    Case("hinge_embedding_loss", lambda p, x, y: p.hinge_embedding_loss(x, y),
         lambda x, y: np.where(y == 1, x, np.maximum(0, 1 - x)).mean(),
         [floats(3), SIGNS]),
    Case("margin_ranking_loss", lambda p, a, b, y: p.margin_ranking_loss(
             a, b, y, margin=0.5),
         lambda a, b, y: np.maximum(0, 0.5 - y * (a - b)).mean(),
         [floats(3), floats(3), SIGNS]),
]  # fmt: skip

CASES = ACTIVATIONS + LAYERS + LOSSES
