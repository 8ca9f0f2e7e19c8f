# SPDX-License-Identifier: Apache-2.0
"""Adam and AdamW: steps scaled by running means of the gradient and its square."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .. import ops
from ..tensor import Tensor
from .optimizer import Optimizer, _check_not_negative

__all__ = ["Adam", "AdamW"]


class Adam(Optimizer):
    """Adam (Kingma and Ba, 2015); weight decay is added to the gradient."""

    _decoupled = False

    def __init__(
        self,
        params: Iterable[Tensor] | Iterable[dict[str, Any]],
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.0,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        fused: bool | None = None,
    ) -> None:
        """Take the parameters and the options of every group that has no own.

        ``maximize`` climbs instead.  ``foreach``, ``fused``: without effect, as a step
        is one call for all parameters.  ValueError for an option out of range.
        """
        defaults = {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay}
        super().__init__(params, {**defaults, "maximize": maximize})

    def _check_group(self, group: dict[str, Any]) -> None:
        _check_not_negative(group, "lr", "eps", "weight_decay")
        for i, beta in enumerate(group["betas"]):
            if not 0.0 <= beta < 1.0:
                raise ValueError(f"Invalid beta parameter at index {i}: {beta}")

    def _step_group(
        self, group: dict[str, Any], params: list[Tensor], grads: list[Tensor]
    ) -> None:
        # Parameters that have made equally many steps share a call: usually all do.
        by_step: dict[int, list[int]] = {}
        entries, fresh = [], False
        for i, param in enumerate(params):
            entry = self.state[param]
            if not entry:
                fresh = True
                entry = {
                    "step": 0,
                    "exp_avg": ops.zeros_like(param),
                    "exp_avg_sq": ops.zeros_like(param),
                }
            entries.append(entry)
            by_step.setdefault(int(entry["step"]) + 1, []).append(i)
        for step, some in by_step.items():
            states = [entries[i] for i in some]
            ops._adam_step_(
                [params[i] for i in some],
                [grads[i] for i in some],
                [s["exp_avg"] for s in states],
                [s["exp_avg_sq"] for s in states],
                float(group["lr"]),
                float(group["betas"][0]),
                float(group["betas"][1]),
                float(group["eps"]),
                float(group["weight_decay"]),
                step,
                self._decoupled,
            )
            for i, state in zip(some, states):  # when the step was made
                state["step"] = step
                if fresh:
                    self.state[params[i]].update(state)


class AdamW(Adam):
    """Adam with decoupled weight decay (Loshchilov and Hutter, 2019)."""

    _decoupled = True

    def __init__(
        self,
        params: Iterable[Tensor] | Iterable[dict[str, Any]],
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 1e-2,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        fused: bool | None = None,
    ) -> None:
        """Take the parameters and the options of every group that has no own.

        ``maximize`` climbs instead.  ``foreach``, ``fused``: without effect, as a step
        is one call for all parameters.  ValueError for an option out of range.
        """
        super().__init__(params, lr, betas, eps, weight_decay, maximize=maximize)
