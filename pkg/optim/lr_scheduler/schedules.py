# SPDX-License-Identifier: Apache-2.0
"""The schedules that depend on the epoch alone."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from ..optimizer import Optimizer
from .base import LRScheduler, check_optimizer

__all__ = [
    "ConstantLR",
    "CosineAnnealingLR",
    "ExponentialLR",
    "LambdaLR",
    "LinearLR",
    "MultiStepLR",
    "StepLR",
]


class LambdaLR(LRScheduler):
    """The first rate times a function of the epoch."""

    _not_saved = (*LRScheduler._not_saved, "lr_lambdas")

    def __init__(
        self,
        optimizer: Optimizer,
        lr_lambda: Callable[[int], float] | Sequence[Callable[[int], float]],
        last_epoch: int = -1,
    ) -> None:
        """Take one function, or one per parameter group."""
        check_optimizer(optimizer)
        count = len(optimizer.param_groups)
        self.lr_lambdas = (
            [lr_lambda] * count if callable(lr_lambda) else list(lr_lambda)
        )
        if len(self.lr_lambdas) != count:
            raise ValueError(f"Expected {count} lr_lambdas, got {len(self.lr_lambdas)}")
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        """Return base rates times the functions' values."""
        factors = [function(self.last_epoch) for function in self.lr_lambdas]
        return [base * factor for base, factor in zip(self.base_lrs, factors)]


class _Multiplied(LRScheduler):
    # The rates of the epoch before times a factor.

    def get_lr(self) -> list[float]:
        """Return the current rates times the factor of this epoch."""
        factor = self._factor(self.last_epoch)
        return [rate * factor for rate in self._current()]

    def _factor(self, epoch: int) -> float:
        raise NotImplementedError


class StepLR(_Multiplied):
    """Times ``gamma`` every ``step_size`` epochs."""

    def __init__(
        self,
        optimizer: Optimizer,
        step_size: int,
        gamma: float = 0.1,
        last_epoch: int = -1,
    ) -> None:
        """Take the epochs between changes and the factor."""
        self.step_size = step_size
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def _factor(self, epoch: int) -> float:
        return self.gamma if epoch > 0 and epoch % self.step_size == 0 else 1.0


class MultiStepLR(_Multiplied):
    """Times ``gamma`` at each of the ``milestones``."""

    def __init__(
        self,
        optimizer: Optimizer,
        milestones: Sequence[int],
        gamma: float = 0.1,
        last_epoch: int = -1,
    ) -> None:
        """Take the epochs of the changes and the factor."""
        self.milestones = sorted(milestones)
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def _factor(self, epoch: int) -> float:
        return float(self.gamma ** self.milestones.count(epoch))


class ExponentialLR(_Multiplied):
    """Times ``gamma`` every epoch."""

    def __init__(
        self, optimizer: Optimizer, gamma: float, last_epoch: int = -1
    ) -> None:
        """Take the factor."""
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def _factor(self, epoch: int) -> float:
        return self.gamma if epoch > 0 else 1.0


class ConstantLR(_Multiplied):
    """Times ``factor`` during the first ``total_iters`` epochs."""

    def __init__(
        self,
        optimizer: Optimizer,
        factor: float = 1.0 / 3,
        total_iters: int = 5,
        last_epoch: int = -1,
    ) -> None:
        """Take the factor, above 0 and at most 1, and its duration."""
        if not 0 < factor <= 1:
            raise ValueError(f"[ConstantLR] expected 0 < factor <= 1, got {factor}.")
        self.factor = factor
        self.total_iters = total_iters
        super().__init__(optimizer, last_epoch)

    def _factor(self, epoch: int) -> float:
        if epoch == 0:
            return self.factor
        return 1.0 / self.factor if epoch == self.total_iters else 1.0


class LinearLR(_Multiplied):
    """From ``start_factor`` to ``end_factor`` times the rate, in equal steps."""

    def __init__(
        self,
        optimizer: Optimizer,
        start_factor: float = 1.0 / 3,
        end_factor: float = 1.0,
        total_iters: int = 5,
        last_epoch: int = -1,
    ) -> None:
        """Take both factors (start above 0, both at most 1) and the number of steps."""
        if not (0 < start_factor <= 1 and 0 <= end_factor <= 1):
            raise ValueError(
                "[LinearLR] expected 0 < start_factor <= 1 and 0 <= end_factor <= 1, "
                f"got {start_factor} and {end_factor}."
            )
        self.start_factor = start_factor
        self.end_factor = end_factor
        self.total_iters = total_iters
        super().__init__(optimizer, last_epoch)

    def _factor(self, epoch: int) -> float:
        if epoch == 0:
            return self.start_factor
        if epoch > self.total_iters:
            return 1.0
        return self._at(epoch) / self._at(epoch - 1)

    def _at(self, epoch: int) -> float:
        slope = (self.end_factor - self.start_factor) / self.total_iters
        return self.start_factor + slope * epoch


class CosineAnnealingLR(LRScheduler):
    """A cosine from the rate down to ``eta_min`` in ``T_max`` epochs, then back."""

    def __init__(
        self,
        optimizer: Optimizer,
        T_max: int,  # noqa: N803  (PyTorch's name)
        eta_min: float = 0.0,
        last_epoch: int = -1,
    ) -> None:
        """Take the epochs of the way down and the lowest rate."""
        self.T_max = T_max
        self.eta_min = eta_min
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        """Return the next rates on the curve through the current ones."""
        if self.last_epoch == 0:
            return self._current()
        before, now = (self._height(e) for e in (self.last_epoch - 1, self.last_epoch))
        if (self.last_epoch - 1) % (2 * self.T_max) == self.T_max:
            # Just left the bottom, where the current rate no longer tells the height.
            return [
                rate + (base - self.eta_min) * now
                for rate, base in zip(self._current(), self.base_lrs)
            ]
        return [
            self.eta_min + (rate - self.eta_min) * now / before
            for rate in self._current()
        ]

    def _height(self, epoch: int) -> float:
        return (1 + math.cos(math.pi * epoch / self.T_max)) / 2
