# SPDX-License-Identifier: Apache-2.0
"""Losses as modules; the functions are in functional.py."""

from __future__ import annotations

from ..tensor import Tensor
from . import functional as F
from .module import Module

__all__ = ["CrossEntropyLoss", "MSELoss"]


class _Loss(Module):
    def __init__(self, reduction: str = "mean") -> None:
        """``reduction`` is "mean", "sum" or "none"."""
        super().__init__()
        if reduction not in ("mean", "sum", "none"):
            raise ValueError(
                f"[{type(self).__name__}] expected 'mean', 'sum' or 'none', got "
                f"{reduction!r} (reduction)."
            )
        self.reduction = reduction


class CrossEntropyLoss(_Loss):
    """-log softmax(input)[target]: scores (N, C) against class numbers (N)."""

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Return the loss."""
        return F.cross_entropy(input, target, reduction=self.reduction)


class MSELoss(_Loss):
    """(input - target) squared."""

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Return the loss."""
        return F.mse_loss(input, target, reduction=self.reduction)
