# SPDX-License-Identifier: Apache-2.0
"""TensorFlow 1's ``tf.nn``."""

from __future__ import annotations

from typing import Any

import pkg

from .convert import first, recorded
from .math import sigmoid as sigmoid, tanh as tanh


@recorded
def relu(features: Any) -> Any:
    """max(x, 0)."""
    return pkg.relu(first(features))


@recorded
def elu(features: Any) -> Any:
    """x above 0, exp(x) - 1 below."""
    return pkg.elu(first(features))


@recorded
def softplus(features: Any) -> Any:
    """log(1 + exp(x))."""
    return pkg.softplus(first(features))


@recorded
def softmax(logits: Any, axis: int = -1) -> Any:
    """exp(x) over its sum along the axis."""
    return pkg.softmax(first(logits), axis)


@recorded
def log_softmax(logits: Any, axis: int = -1) -> Any:
    """The logarithm of softmax."""
    return pkg.log_softmax(first(logits), axis)


@recorded
def bias_add(value: Any, bias: Any) -> Any:
    """A bias for each element of the last axis."""
    return first(value) + bias


@recorded
def l2_loss(t: Any) -> Any:
    """Half of the sum of squares."""
    return pkg.sum(pkg.square(first(t))) * 0.5


@recorded
def softmax_cross_entropy_with_logits(
    labels: Any = None, logits: Any = None, axis: int = -1, dim: int | None = None
) -> Any:
    """For each row, -sum(labels * log_softmax(logits))."""
    along = axis if dim is None else dim
    return -pkg.sum(labels * pkg.log_softmax(first(logits), along), along)


softmax_cross_entropy_with_logits_v2 = softmax_cross_entropy_with_logits


@recorded
def sparse_softmax_cross_entropy_with_logits(
    labels: Any = None, logits: Any = None
) -> Any:
    """For each row, -log_softmax(logits)[label]."""
    logs = pkg.log_softmax(first(logits), -1)
    places = pkg.unsqueeze(first(labels).to(pkg.int64), -1)
    return -pkg.squeeze(pkg.gather(logs, -1, places), -1)


@recorded
def sigmoid_cross_entropy_with_logits(labels: Any = None, logits: Any = None) -> Any:
    """max(x, 0) - x * z + log(1 + exp(-|x|)), which does not overflow."""
    x = first(logits)
    return pkg.relu(x) - x * labels + pkg.log1p(pkg.exp(-pkg.abs(x)))


@recorded
def dropout(x: Any, keep_prob: Any = None, rate: float | None = None) -> Any:
    """Zeros some elements, others in each run, and scales the rest up."""
    lost = rate if rate is not None else 1 - keep_prob
    mask = pkg.rand_like(first(x)) >= lost
    return x * mask / (1 - lost)
