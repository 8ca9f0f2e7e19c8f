# SPDX-License-Identifier: Apache-2.0
"""TensorFlow 1's ``tf.nn``."""

from __future__ import annotations

from typing import Any

from ... import ops
from ..._binding import core
from ...graph.symbols import dtype_of as _dtype_of
from . import indexing as _indexing, reduce as _reduce, sizes as _sizes
from .convert import first, other, pair
from .math import sigmoid as sigmoid, tanh as tanh
from .patches import avg_pool as avg_pool, conv2d as conv2d, max_pool as max_pool
from .record import last, recorded


@recorded("Relu")
def relu(features: Any) -> Any:
    """max(x, 0)."""
    return ops.relu(first(features))


@recorded("Relu6")
def relu6(features: Any) -> Any:
    """x between 0 and 6."""
    return ops.clamp(first(features), 0, 6)


@recorded("LeakyRelu")
def leaky_relu(features: Any, alpha: float = 0.2) -> Any:
    """x above 0, alpha * x below."""
    return ops.leaky_relu(first(features), alpha)


@recorded("Elu")
def elu(features: Any) -> Any:
    """x above 0, exp(x) - 1 below."""
    return ops.elu(first(features))


@recorded("Selu")
def selu(features: Any) -> Any:
    """Klambauer and others, 2017."""
    return ops.selu(first(features))


@recorded("Softplus")
def softplus(features: Any) -> Any:
    """log(1 + exp(x))."""
    return ops.softplus(first(features))


@recorded("Softsign")
def softsign(features: Any) -> Any:
    """x / (1 + |x|)."""
    return ops.softsign(first(features))


@recorded("Softmax")
def softmax(logits: Any, axis: Any = None, dim: int | None = None) -> Any:
    """exp(x) over its sum along the axis, the last one if none is given."""
    along = dim if axis is None else axis
    return ops.softmax(first(logits), -1 if along is None else along)


@recorded("LogSoftmax")
def log_softmax(logits: Any, axis: Any = None, dim: int | None = None) -> Any:
    """The logarithm of softmax."""
    along = dim if axis is None else axis
    return ops.log_softmax(first(logits), -1 if along is None else along)


@recorded("BiasAdd", kind="BiasAdd")
def bias_add(value: Any, bias: Any) -> Any:
    """A bias for each element of the last axis."""
    x = first(value)
    return ops.add(x, other(bias, x, "BiasAdd", "bias", "value"))


@recorded("xw_plus_b")
def xw_plus_b(x: Any, weights: Any, biases: Any) -> Any:
    """x @ weights + biases."""
    x, w = pair(x, weights, "MatMul", "ab")
    return ops.matmul(x, w) + other(biases, x, "BiasAdd")


@recorded("L2Loss")
def l2_loss(t: Any) -> Any:
    """Half of the sum of squares."""
    return ops.sum(ops.square(first(t))) * 0.5


@recorded("l2_normalize")
def l2_normalize(x: Any, axis: Any = None, epsilon: float = 1e-12) -> Any:
    """x over the root of its sum of squares along the axes."""
    x = first(x)
    squares = ops.square(x)
    if axis is None:
        total = ops.sum(squares)
    else:
        dims = [axis] if isinstance(axis, int) else list(axis)
        total = ops.sum(squares, dims, True)
    return x * ops.rsqrt(ops.clamp(total, epsilon))


@recorded("moments")
def moments(
    x: Any, axes: Any, shift: Any = None, keep_dims: bool = False,
    keepdims: bool = False,
) -> Any:  # fmt: skip
    """Mean and variance over the axes."""
    x = first(x)
    keep = bool(keep_dims or keepdims)
    mean = _reduce.reduce_mean(x, axes, True)
    variance = _reduce.reduce_mean(ops.square(x - ops.stop_gradient(mean)), axes, keep)
    return (mean if keep else _reduce.reduce_mean(x, axes)), variance


@recorded("batchnorm")
def batch_normalization(
    x: Any, mean: Any, variance: Any, offset: Any, scale: Any, variance_epsilon: float
) -> Any:
    """(x - mean) / sqrt(variance + epsilon), times the scale, plus the offset."""
    factor = ops.rsqrt(variance + variance_epsilon)
    factor = factor if scale is None else factor * scale
    moved = (first(x) - mean) * factor
    return moved if offset is None else moved + offset


@recorded("TopKV2")
def top_k(input: Any, k: int = 1, sorted: bool = True) -> Any:  # noqa: A002
    """The k largest elements of the last axis, and where they stand."""
    values, places = ops.topk(first(input), int(k))
    return values, places.to(core.int32)


@recorded("in_top_k")
def in_top_k(predictions: Any, targets: Any, k: int) -> Any:
    """Whether fewer than k predictions of the row are above that of its target."""
    x, rows = first(predictions), first(targets)
    own = ops.gather(x, -1, ops.unsqueeze(rows.to(core.int64), -1))
    return ops.lt(ops.sum(ops.gt(x, own).to(core.int64), -1), int(k))


def embedding_lookup(
    params: Any, ids: Any, partition_strategy: str = "mod", name: str | None = None,
    **_: Any,
) -> Any:  # fmt: skip
    """Rows of params, by number."""
    if isinstance(params, (list, tuple)) and hasattr(params[0], "shape"):
        if len(params) != 1:
            raise NotImplementedError(
                "[embedding_lookup] expected params in one piece."
            )
        params = params[0]
    return _indexing.gather(params, ids, name=name or "embedding_lookup")


def _check_labels(labels: Any, logits: Any) -> None:
    a, b = labels.shape, logits.shape
    if hasattr(a, "is_compatible_with") and not a.is_compatible_with(b):
        raise ValueError(
            f"Shapes must be equal, but labels and logits have {a} and {b}."
        )


def _both(labels: Any, logits: Any) -> None:
    if labels is None or logits is None:
        raise ValueError("Both labels and logits must be provided.")


@recorded("softmax_cross_entropy_with_logits")
def softmax_cross_entropy_with_logits(
    _sentinel: Any = None, labels: Any = None, logits: Any = None, axis: int = -1,
    dim: int | None = None,
) -> Any:  # fmt: skip
    """For each row, -sum(labels * log_softmax(logits))."""
    _both(labels, logits)
    along = axis if dim is None else dim
    logits = first(logits)
    labels = other(labels, logits, "SoftmaxCrossEntropyWithLogits", "labels", "logits")
    _check_labels(labels, logits)
    return -ops.sum(labels * ops.log_softmax(logits, along), along)


softmax_cross_entropy_with_logits_v2 = softmax_cross_entropy_with_logits


@recorded("SparseSoftmaxCrossEntropyWithLogits", scope=True)
def sparse_softmax_cross_entropy_with_logits(
    _sentinel: Any = None, labels: Any = None, logits: Any = None
) -> Any:
    """For each row, -log_softmax(logits)[label]."""
    _both(labels, logits)
    x, which = first(logits), first(labels)
    if x.ndim is not None and which.ndim is not None:
        if which.ndim != x.ndim - 1:
            raise ValueError(
                "Rank mismatch: Rank of labels (received "
                f"{which.ndim}) should equal rank of logits minus 1 (received "
                f"{x.ndim})."
            )
        if hasattr(which, "graph") and not which.shape.is_compatible_with(x.shape[:-1]):
            raise ValueError(
                "Shapes must be equal, but labels and rows of logits are "
                f"{which.shape} and {x.shape[:-1]}."
            )
    logs = ops.log_softmax(x, -1)
    places = ops.unsqueeze(which.to(core.int64), -1)
    chosen = _indexing.labelled(logs, places, name="Label")
    return last(ops.neg, ops.squeeze(chosen, -1))


@recorded("logistic_loss")
def sigmoid_cross_entropy_with_logits(
    _sentinel: Any = None, labels: Any = None, logits: Any = None
) -> Any:
    """max(x, 0) - x * z + log(1 + exp(-|x|)), which does not overflow."""
    _both(labels, logits)
    x = first(logits)
    labels = other(labels, x, "logistic_loss", "labels", "logits")
    _check_labels(labels, x)
    return ops.relu(x) - x * labels + ops.log1p(ops.exp(-ops.abs(x)))


@recorded("dropout")
def dropout(
    x: Any, keep_prob: Any = None, noise_shape: Any = None, seed: int | None = None,
    rate: Any = None,
) -> Any:  # fmt: skip
    """Zeros some elements, others in each run, and scales the rest up."""
    if rate is None and keep_prob is None:
        raise ValueError("[dropout] expected keep_prob or rate.")
    lost = rate if rate is not None else 1 - keep_prob
    x = first(x)
    like = x if noise_shape is None else _sizes.zeros_of(noise_shape, _dtype_of(x))
    mask = ops.ge(ops.rand_like(like), lost)
    return ops.mul(x, mask) / (1 - lost)
