# SPDX-License-Identifier: Apache-2.0
"""TensorFlow 1's ``tf.losses``: numbers that a program makes small."""

from __future__ import annotations

from typing import Any

from . import math, nn, reduce
from .collections import GraphKeys, add_to_collection, get_collection
from .convert import convert_to_tensor
from .elements import get_default_graph


def add_loss(loss: Any, loss_collection: Any = GraphKeys.LOSSES) -> None:
    """Puts a loss into the collection of all."""
    if loss_collection:
        add_to_collection(loss_collection, loss)


def get_losses(
    scope: str | None = None, loss_collection: Any = GraphKeys.LOSSES
) -> list[Any]:
    """All losses of the default graph."""
    return get_collection(loss_collection, scope)


def get_regularization_losses(scope: str | None = None) -> list[Any]:
    """What the regularizers of variables have added."""
    return get_collection(GraphKeys.REGULARIZATION_LOSSES, scope)


def get_total_loss(
    add_regularization_losses: bool = True, name: str = "total_loss"
) -> Any:
    """The sum of all losses."""
    losses = get_losses()
    losses += get_regularization_losses() if add_regularization_losses else []
    return math.add_n(losses, name=name)


def compute_weighted_loss(
    losses: Any, weights: Any = 1.0, scope: str | None = None,
    loss_collection: Any = GraphKeys.LOSSES,
) -> Any:  # fmt: skip
    """The mean of the losses times their weights, where these are not 0."""
    losses = convert_to_tensor(losses)
    weights = convert_to_tensor(weights, losses.dtype)
    total = reduce.reduce_sum(losses * weights)
    each = math.cast(math.not_equal(weights, 0), losses.dtype)
    count = reduce.reduce_sum(math.ones_like(losses) * each)
    made = total / math.maximum(count, 1.0)
    add_loss(made, loss_collection)
    return made


def _scoped(scope: str | None, default: str) -> Any:
    return get_default_graph().name_scope(scope or default)


def mean_squared_error(
    labels: Any, predictions: Any, weights: Any = 1.0, scope: str | None = None,
    loss_collection: Any = GraphKeys.LOSSES,
) -> Any:  # fmt: skip
    """The mean of the squares of the differences."""
    with _scoped(scope, "mean_squared_error"):
        squares = math.squared_difference(convert_to_tensor(predictions), labels)
        return compute_weighted_loss(squares, weights, scope, loss_collection)


def absolute_difference(
    labels: Any, predictions: Any, weights: Any = 1.0, scope: str | None = None,
    loss_collection: Any = GraphKeys.LOSSES,
) -> Any:  # fmt: skip
    """The mean of the absolute values of the differences."""
    with _scoped(scope, "absolute_difference"):
        apart = math.abs(math.subtract(convert_to_tensor(predictions), labels))
        return compute_weighted_loss(apart, weights, scope, loss_collection)


def softmax_cross_entropy(
    onehot_labels: Any, logits: Any, weights: Any = 1.0, label_smoothing: float = 0,
    scope: str | None = None, loss_collection: Any = GraphKeys.LOSSES,
) -> Any:  # fmt: skip
    """The mean of nn.softmax_cross_entropy_with_logits."""
    with _scoped(scope, "softmax_cross_entropy_loss"):
        logits = convert_to_tensor(logits)
        labels = math.cast(onehot_labels, logits.dtype)
        if label_smoothing:
            classes = labels.shape.as_list()[-1]
            labels = labels * (1 - label_smoothing) + label_smoothing / classes
        each = nn.softmax_cross_entropy_with_logits(labels=labels, logits=logits)
        return compute_weighted_loss(each, weights, scope, loss_collection)


def sparse_softmax_cross_entropy(
    labels: Any, logits: Any, weights: Any = 1.0, scope: str | None = None,
    loss_collection: Any = GraphKeys.LOSSES,
) -> Any:  # fmt: skip
    """The mean of nn.sparse_softmax_cross_entropy_with_logits."""
    with _scoped(scope, "sparse_softmax_cross_entropy_loss"):
        each = nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
        return compute_weighted_loss(each, weights, scope, loss_collection)


def sigmoid_cross_entropy(
    multi_class_labels: Any, logits: Any, weights: Any = 1.0,
    label_smoothing: float = 0, scope: str | None = None,
    loss_collection: Any = GraphKeys.LOSSES,
) -> Any:  # fmt: skip
    """The mean of nn.sigmoid_cross_entropy_with_logits."""
    with _scoped(scope, "sigmoid_cross_entropy_loss"):
        logits = convert_to_tensor(logits)
        labels = math.cast(multi_class_labels, logits.dtype)
        if label_smoothing:
            labels = labels * (1 - label_smoothing) + 0.5 * label_smoothing
        each = nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits)
        return compute_weighted_loss(each, weights, scope, loss_collection)
