# SPDX-License-Identifier: Apache-2.0
"""SGD: gradient descent, with momentum when asked for."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .. import ops
from ..tensor import Tensor
from .optimizer import Optimizer, _check_not_negative

__all__ = ["SGD"]


class SGD(Optimizer):
    """``param -= lr * grad``; momentum keeps a running sum of gradients instead."""

    def __init__(
        self,
        params: Iterable[Tensor] | Iterable[dict[str, Any]],
        lr: float = 1e-3,
        momentum: float = 0.0,
        dampening: float = 0.0,
        weight_decay: float = 0.0,
        nesterov: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        fused: bool | None = None,
    ) -> None:
        """Take the parameters and the options of every group that has no own.

        ``maximize`` climbs instead.  ``foreach``, ``fused``: without effect, as a step
        is one call for all parameters.  ValueError for an option out of range.
        """
        defaults = {
            "lr": lr,
            "momentum": momentum,
            "dampening": dampening,
            "weight_decay": weight_decay,
            "nesterov": nesterov,
            "maximize": maximize,
        }
        super().__init__(params, defaults)

    def _check_group(self, group: dict[str, Any]) -> None:
        _check_not_negative(group, "lr", "momentum", "weight_decay")
        if group["nesterov"] and (group["momentum"] <= 0 or group["dampening"] != 0):
            raise ValueError("Nesterov momentum requires a momentum and zero dampening")

    def _step_group(
        self, group: dict[str, Any], params: list[Tensor], grads: list[Tensor]
    ) -> None:
        lr, momentum = group["lr"], group["momentum"]
        decay, nesterov = group["weight_decay"], group["nesterov"]
        damp = group["dampening"]
        if momentum == 0.0:
            ops._sgd_step_(params, grads, [], lr, 0.0, 0.0, decay, False)
            return
        entries = [self.state[p] for p in params]
        if not [entry for entry in entries if not entry]:  # quicker than any()
            momenta = [entry["momentum_buffer"] for entry in entries]
            ops._sgd_step_(params, grads, momenta, lr, momentum, damp, decay, nesterov)
            return
        # The first sum is the gradient itself, whatever the dampening.
        fresh = [not entry for entry in entries]
        momenta = [
            ops.zeros_like(param) if is_fresh else entry["momentum_buffer"]
            for param, entry, is_fresh in zip(params, entries, fresh)
        ]
        for first, dampening in ((True, 0.0), (False, damp)):
            some = [i for i, is_fresh in enumerate(fresh) if is_fresh == first]
            if some:
                ops._sgd_step_(
                    [params[i] for i in some],
                    [grads[i] for i in some],
                    [momenta[i] for i in some],
                    lr,
                    momentum,
                    dampening,
                    decay,
                    nesterov,
                )
            for i in some:  # kept when the step was made
                entries[i]["momentum_buffer"] = momenta[i]
