# SPDX-License-Identifier: Apache-2.0
"""SequentialLR: several schedules one after another, such as warm-up and decay."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import Any

from ..optimizer import Optimizer
from .base import LRScheduler

__all__ = ["SequentialLR"]


class SequentialLR(LRScheduler):
    """Several schedules one after another, each starting at its milestone."""

    _not_saved = (*LRScheduler._not_saved, "_schedulers")

    def __init__(
        self,
        optimizer: Optimizer,
        schedulers: Sequence[LRScheduler],
        milestones: Sequence[int],
        last_epoch: int = -1,
    ) -> None:
        """Take schedules of this optimiser, and the epochs at which the next begins."""
        if len(milestones) != len(schedulers) - 1:
            raise ValueError(
                "[SequentialLR] expected one milestone between every two schedulers, "
                f"got {len(milestones)} (schedulers={len(schedulers)})."
            )
        for scheduler in schedulers:
            if not isinstance(scheduler, LRScheduler):
                raise ValueError(
                    "[SequentialLR] expected schedules of epochs alone, got "
                    f"{type(scheduler).__name__}."
                )
        if any(s.optimizer is not optimizer for s in schedulers):
            raise ValueError(
                "[SequentialLR] expected schedulers of this optimizer, got another's."
            )
        self._schedulers = list(schedulers)
        self._milestones = list(milestones)
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        """Return the rates of the schedule whose turn it is."""
        turn = bisect_right(self._milestones, self.last_epoch)
        scheduler = self._schedulers[turn]
        if self.last_epoch == ([0, *self._milestones])[turn]:
            scheduler._restart()
        else:
            scheduler._advance()
        return scheduler.get_last_lr()

    def state_dict(self) -> dict[str, Any]:
        """Return the state of this schedule and of its parts."""
        parts = [scheduler.state_dict() for scheduler in self._schedulers]
        return {**super().state_dict(), "_schedulers": parts}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over what ``state_dict`` returned."""
        rest = dict(state_dict)
        for scheduler, part in zip(self._schedulers, rest.pop("_schedulers")):
            scheduler.load_state_dict(part)
        super().load_state_dict(rest)
