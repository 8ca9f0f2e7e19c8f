# SPDX-License-Identifier: Apache-2.0
"""LRScheduler: sets the rate of every parameter group once an epoch."""

from __future__ import annotations

import warnings
from typing import Any

from ..optimizer import Optimizer

__all__ = ["LRScheduler", "check_optimizer"]


def check_optimizer(optimizer: Any) -> None:
    """TypeError unless it is an Optimizer, KeyError where a group has no 'lr'."""
    if not isinstance(optimizer, Optimizer):
        raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")
    for i, group in enumerate(optimizer.param_groups):
        if "lr" not in group:
            options = ", ".join(repr(key) for key in group if key != "params")
            raise KeyError(
                f"[lr_scheduler] expected 'lr' in every parameter group, got "
                f"{options or 'no option'} (optimizer={type(optimizer).__name__}, "
                f"param_groups[{i}])."
            )


class LRScheduler:
    """Base class: ``get_lr`` returns the rates of epoch ``self.last_epoch``.

    ``base_lrs`` are the rates at the start, kept as ``initial_lr`` in each group.
    """

    _not_saved: tuple[str, ...] = ("optimizer", "_steps_at_start")

    def __init__(self, optimizer: Optimizer, last_epoch: int = -1) -> None:
        """Start at epoch 0, or after ``last_epoch`` to resume."""
        check_optimizer(optimizer)
        self.optimizer = optimizer
        for i, group in enumerate(optimizer.param_groups):
            if last_epoch == -1:
                group.setdefault("initial_lr", group["lr"])
            elif "initial_lr" not in group:
                raise KeyError(
                    "param 'initial_lr' is not specified in "
                    f"param_groups[{i}] when resuming a scheduler"
                )
        self.base_lrs = [g["initial_lr"] for g in optimizer.param_groups]
        self.last_epoch = last_epoch
        self._steps_at_start = optimizer.steps_made()
        self._advance()

    def get_lr(self) -> list[float]:
        """Return the rate of each group for ``self.last_epoch``."""
        raise NotImplementedError(f"{type(self).__name__} does not define get_lr")

    def get_last_lr(self) -> list[float]:
        """Return the rates that were set last."""
        return self._last_lr

    def step(self) -> None:
        """Set the rates of the next epoch."""
        steps = self.optimizer.steps_made()
        if self.last_epoch == 0 and steps is not None and steps == self._steps_at_start:
            warnings.warn(
                "`lr_scheduler.step()` was called before `optimizer.step()`: the first "
                "rate of the schedule is skipped.",
                stacklevel=2,
            )
        self._advance()

    def _advance(self) -> None:
        self.last_epoch += 1
        rates = self.get_lr()
        for group, rate in zip(self.optimizer.param_groups, rates):
            group["lr"] = rate
        self._last_lr = list(rates)

    def _restart(self) -> None:
        # As if made now.  Called by SequentialLR.
        for group, rate in zip(self.optimizer.param_groups, self.base_lrs):
            group["lr"] = rate
        self.last_epoch = -1
        self._advance()

    def _current(self) -> list[float]:
        return [group["lr"] for group in self.optimizer.param_groups]

    def state_dict(self) -> dict[str, Any]:
        """Return what changes and the options, without the optimiser and functions."""
        return {k: v for k, v in vars(self).items() if k not in self._not_saved}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over what ``state_dict`` returned; the optimiser restores its rates."""
        kept = {k: v for k, v in state_dict.items() if k not in self._not_saved}
        vars(self).update(kept)
