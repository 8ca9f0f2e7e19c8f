# SPDX-License-Identifier: Apache-2.0
"""Losses as functions; nn.functional shows them, loss.py makes modules of them."""

from __future__ import annotations

import warnings

from .. import ops
from ..tensor import Tensor

__all__ = [
    "binary_cross_entropy_with_logits",
    "cross_entropy",
    "huber_loss",
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


def _warn_of_sizes(input: Tensor, target: Tensor) -> None:
    # (N, 1) against (N) broadcasts to (N, N): nobody wants that.
    if input.ndim is None or target.ndim is None:  # of a graph
        return
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


def huber_loss(
    input: Tensor, target: Tensor, reduction: str = "mean", delta: float = 1.0
) -> Tensor:
    """As ``smooth_l1_loss`` times ``delta``, which is where the lines begin."""
    _warn_of_sizes(input, target)
    return ops.huber_loss(input, target, reduction=reduction, delta=delta)


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
    return ops.cross_entropy(
        input,
        target,
        weight,
        ignore_index=ignore_index,
        label_smoothing=label_smoothing,
        reduction=reduction,
    )
