# SPDX-License-Identifier: Apache-2.0
"""TensorFlow 1's ``tf.nn``."""

from __future__ import annotations

from typing import Any

from ... import ops
from ..._binding import core
from .convert import first, other, recorded
from .math import sigmoid as sigmoid, tanh as tanh


@recorded
def relu(features: Any) -> Any:
    """max(x, 0)."""
    return ops.relu(first(features))


@recorded
def elu(features: Any) -> Any:
    """x above 0, exp(x) - 1 below."""
    return ops.elu(first(features))


@recorded
def softplus(features: Any) -> Any:
    """log(1 + exp(x))."""
    return ops.softplus(first(features))


@recorded
def softmax(logits: Any, axis: int = -1) -> Any:
    """exp(x) over its sum along the axis."""
    return ops.softmax(first(logits), axis)


@recorded
def log_softmax(logits: Any, axis: int = -1) -> Any:
    """The logarithm of softmax."""
    return ops.log_softmax(first(logits), axis)


@recorded
def bias_add(value: Any, bias: Any) -> Any:
    """A bias for each element of the last axis."""
    return first(value) + other(bias)


@recorded
def l2_loss(t: Any) -> Any:
    """Half of the sum of squares."""
    return ops.sum(ops.square(first(t))) * 0.5


@recorded
def softmax_cross_entropy_with_logits(
    labels: Any = None, logits: Any = None, axis: int = -1, dim: int | None = None
) -> Any:
    """For each row, -sum(labels * log_softmax(logits))."""
    along = axis if dim is None else dim
    return -ops.sum(first(labels) * ops.log_softmax(first(logits), along), along)


softmax_cross_entropy_with_logits_v2 = softmax_cross_entropy_with_logits


@recorded
def sparse_softmax_cross_entropy_with_logits(
    labels: Any = None, logits: Any = None
) -> Any:
    """For each row, -log_softmax(logits)[label]."""
    logs = ops.log_softmax(first(logits), -1)
    places = ops.unsqueeze(first(labels).to(core.int64), -1)
    return -ops.squeeze(ops.gather(logs, -1, places), -1)


@recorded
def sigmoid_cross_entropy_with_logits(labels: Any = None, logits: Any = None) -> Any:
    """max(x, 0) - x * z + log(1 + exp(-|x|)), which does not overflow."""
    x = first(logits)
    return ops.relu(x) - x * first(labels) + ops.log1p(ops.exp(-ops.abs(x)))


@recorded
def dropout(x: Any, keep_prob: Any = None, rate: float | None = None) -> Any:
    """Zeros some elements, others in each run, and scales the rest up."""
    lost = rate if rate is not None else 1 - keep_prob
    x = first(x)
    mask = ops.rand_like(x) >= lost
    return x * mask / (1 - lost)
