# SPDX-License-Identifier: Apache-2.0
"""ReduceLROnPlateau: a schedule that follows a measured value."""

from __future__ import annotations

import math
from typing import Any

from ..optimizer import Optimizer
from .base import check_optimizer

__all__ = ["ReduceLROnPlateau"]


class ReduceLROnPlateau:
    """Lowers the rate when a measured value has not improved for a while."""

    def __init__(
        self,
        optimizer: Optimizer,
        mode: str = "min",
        factor: float = 0.1,
        patience: int = 10,
        threshold: float = 1e-4,
        threshold_mode: str = "rel",
        cooldown: int = 0,
        min_lr: float = 0.0,
        eps: float = 1e-8,
    ) -> None:
        """Take what counts as better and what then happens.

        mode: whether "min" or "max" is better.  threshold: by which share ("rel") or
        amount ("abs").  After more than ``patience`` values without improvement the
        rate is multiplied by ``factor``, not below ``min_lr``, unless that changes it
        by less than ``eps``; values of the next ``cooldown`` epochs are not counted.
        """
        check_optimizer(optimizer)
        if factor >= 1.0:
            raise ValueError("Factor should be < 1.0.")
        if mode not in ("min", "max"):
            raise ValueError(f"mode {mode} is unknown!")
        if threshold_mode not in ("rel", "abs"):
            raise ValueError(f"threshold mode {threshold_mode} is unknown!")
        self.optimizer = optimizer
        self.mode, self.factor, self.patience = mode, factor, patience
        self.threshold, self.threshold_mode = threshold, threshold_mode
        self.cooldown, self.min_lr, self.eps = cooldown, min_lr, eps
        self.best = math.inf if mode == "min" else -math.inf
        self.num_bad_epochs = self.cooldown_counter = self.last_epoch = 0
        self._last_lr: list[float] = [g["lr"] for g in optimizer.param_groups]

    def step(self, metrics: Any) -> None:
        """Take the value of this epoch: a number or a tensor of one element."""
        value = float(metrics)
        self.last_epoch += 1
        if self._is_better(value):
            self.best, self.num_bad_epochs = value, 0
        else:
            self.num_bad_epochs += 1
        if self.cooldown_counter > 0:
            self.cooldown_counter -= 1
            self.num_bad_epochs = 0
        if self.num_bad_epochs > self.patience:
            self.cooldown_counter, self.num_bad_epochs = self.cooldown, 0
            for group in self.optimizer.param_groups:
                lower = max(group["lr"] * self.factor, self.min_lr)
                if group["lr"] - lower > self.eps:
                    group["lr"] = lower
        self._last_lr = [group["lr"] for group in self.optimizer.param_groups]

    def _is_better(self, value: float) -> bool:
        sign = 1 if self.mode == "max" else -1
        if self.threshold_mode == "rel":
            return sign * value > sign * self.best * (1 + sign * self.threshold)
        return sign * value > sign * self.best + self.threshold

    def get_last_lr(self) -> list[float]:
        """Return the rates that were set last."""
        return self._last_lr

    def state_dict(self) -> dict[str, Any]:
        """Return everything but the optimiser."""
        return {k: v for k, v in vars(self).items() if k != "optimizer"}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over what ``state_dict`` returned."""
        vars(self).update(state_dict)
