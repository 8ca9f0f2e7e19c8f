# SPDX-License-Identifier: Apache-2.0
"""Losses as functions; nn.functional shows them, loss.py makes modules of them."""

from __future__ import annotations

import warnings

from .. import ops
from ..tensor import Tensor

__all__ = [
    "binary_cross_entropy_with_logits",
    "cross_entropy",
    "l1_loss",
    "mse_loss",
    "nll_loss",
    "smooth_l1_loss",
]


def check_reduction(reduction: str) -> None:
    """ValueError unless it is "none", "mean" or "sum"."""
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(
            f"{reduction} is not a valid value for reduction: expected 'none', 'mean' "
            "or 'sum'"
        )


def _reduce(loss: Tensor, reduction: str) -> Tensor:
    check_reduction(reduction)
    if reduction == "none":
        return loss
    return ops.mean(loss) if reduction == "mean" else ops.sum(loss)


def _warn_of_sizes(input: Tensor, target: Tensor) -> None:
    # (N, 1) against (N) broadcasts to (N, N): nobody wants that.
    if tuple(input.shape) != tuple(target.shape):
        warnings.warn(
            f"Using a target size {tuple(target.shape)} that is different to the input "
            f"size {tuple(input.shape)}. This will likely lead to incorrect results "
            "due to broadcasting. Please ensure they have the same size.",
            stacklevel=3,
        )


def mse_loss(input: Tensor, target: Tensor, reduction: str = "mean") -> Tensor:
    """(input - target) squared, reduced by "mean", "sum" or "none"."""
    _warn_of_sizes(input, target)
    return ops.mse_loss(input, target, reduction=reduction)


def l1_loss(input: Tensor, target: Tensor, reduction: str = "mean") -> Tensor:
    """|input - target|, reduced."""
    _warn_of_sizes(input, target)
    return ops.l1_loss(input, target, reduction=reduction)


def smooth_l1_loss(
    input: Tensor, target: Tensor, reduction: str = "mean", beta: float = 1.0
) -> Tensor:
    """A parabola where |input - target| is below ``beta``, straight lines outside."""
    _warn_of_sizes(input, target)
    return ops.smooth_l1_loss(input, target, reduction=reduction, beta=beta)


def binary_cross_entropy_with_logits(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    reduction: str = "mean",
    pos_weight: Tensor | None = None,
) -> Tensor:
    """-log of the probability that sigmoid(input) gives to targets from 0 to 1.

    weight: a factor per element.  pos_weight: a factor of the positive part, per class.
    """
    return ops.binary_cross_entropy_with_logits(
        input, target, weight, pos_weight, reduction=reduction
    )


def nll_loss(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    ignore_index: int = -100,
    reduction: str = "mean",
) -> Tensor:
    """Minus the log-probability at each class number.

    Shapes: input (C), (N, C) or (N, C, ...), target int64 of () or (N, ...).  Targets
    of ``ignore_index`` count nothing; ``weight`` (C) is a factor per class, and the
    mean is over the sum of factors.
    """
    return ops.nll_loss(
        input, target, weight, ignore_index=ignore_index, reduction=reduction
    )


def cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    ignore_index: int = -100,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Tensor:
    """-log softmax(input)[target]: scores (C), (N, C) or (N, C, ...) against classes.

    target: class numbers as in ``nll_loss``, or probabilities in the shape of input.
    label_smoothing: the share that is spread evenly over all classes.
    """
    check_reduction(reduction)
    if not 0.0 <= label_smoothing <= 1.0:
        raise RuntimeError(
            "[cross_entropy] expected label_smoothing from 0.0 to 1.0, got "
            f"{label_smoothing}."
        )
    probabilities = target.is_floating_point()
    plain = weight is None and label_smoothing == 0.0 and not probabilities
    if plain and input.ndim == 2 and not _has(target, ignore_index):
        return ops.cross_entropy(input, target, reduction=reduction)
    dim = 0 if input.ndim == 1 else 1
    scores = ops.log_softmax(input, dim)
    if probabilities:
        return _soft_loss(scores, target, weight, reduction, label_smoothing, dim)
    loss = nll_loss(scores, target, weight, ignore_index, reduction)
    if label_smoothing == 0.0:
        return loss
    even = _even_loss(scores, target, weight, ignore_index, reduction, dim)
    hard = ops.mul(loss, 1 - label_smoothing)
    return ops.add(hard, ops.mul(even, label_smoothing))


def _has(target: Tensor, ignore_index: int) -> bool:
    # A valid class is never negative, so that the usual -100 costs one pass.
    if not target.numel():
        return True  # the mean of nothing is NaN, which the long way gives
    if ignore_index < 0:
        return bool(ops.amin(target).item() < 0)
    return bool(ops.any(ops.eq(target, ignore_index)).item())


def _per_class(weight: Tensor, ndim: int, dim: int) -> Tensor:
    return ops.reshape(weight, [-1 if d == dim else 1 for d in range(ndim)])


def _even_loss(
    scores: Tensor,
    target: Tensor,
    weight: Tensor | None,
    ignore_index: int,
    reduction: str,
    dim: int,
) -> Tensor:
    # The loss against the even distribution, averaged like the hard one.
    ignored = ops.eq(target, ignore_index)
    kept = ops.logical_not(ignored).to(scores.dtype)
    if weight is not None:
        scores = scores * _per_class(weight, scores.ndim, dim)
        kept = kept * ops.embedding(weight, ops.masked_fill(target, ignored, 0))
    loss = ops.masked_fill(-ops.mean(scores, dim), ignored, 0)
    if reduction == "mean":
        return ops.div(ops.sum(loss), ops.sum(kept))
    return _reduce(loss, reduction)


def _soft_loss(
    scores: Tensor,
    target: Tensor,
    weight: Tensor | None,
    reduction: str,
    label_smoothing: float,
    dim: int,
) -> Tensor:
    if tuple(scores.shape) != tuple(target.shape):
        raise ValueError(
            "[cross_entropy] expected probabilities in the shape of the input, got "
            f"{tuple(target.shape)} and {tuple(scores.shape)}."
        )
    classes = scores.shape[dim]
    target = target * (1 - label_smoothing) + label_smoothing / classes
    terms = target * scores
    if weight is not None:
        terms = terms * _per_class(weight, scores.ndim, dim)
    loss = -ops.sum(terms, dim)
    if reduction == "mean":
        # Over samples, weights or not: PyTorch's rule for probabilities.
        return ops.div(ops.sum(loss), max(scores.numel() // max(classes, 1), 0))
    return _reduce(loss, reduction)
