# SPDX-License-Identifier: Apache-2.0
"""SGD: gradient descent, with momentum when asked for."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..ops import _sgd_step_, zeros_like
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
    ) -> None:
        """Take the parameters and the options of every group that has no own."""
        defaults = {
            "lr": lr,
            "momentum": momentum,
            "dampening": dampening,
            "weight_decay": weight_decay,
            "nesterov": nesterov,
        }
        super().__init__(params, defaults)

    def _check_group(self, group: dict[str, Any]) -> None:
        _check_not_negative(group, "lr", "momentum", "weight_decay")
        if group["nesterov"] and (group["momentum"] <= 0 or group["dampening"] != 0):
            raise ValueError("Nesterov momentum requires a momentum and zero dampening")

    def _step_group(
        self, group: dict[str, Any], params: list[Tensor], grads: list[Tensor]
    ) -> None:
        lr, momentum = float(group["lr"]), float(group["momentum"])
        decay, nesterov = float(group["weight_decay"]), bool(group["nesterov"])
        damp = float(group["dampening"])
        if momentum == 0.0:
            _sgd_step_(params, grads, [], lr, 0.0, 0.0, decay, False)
            return
        state = self.state
        fresh = [p for p in params if p not in state]
        if not fresh:
            buffers = [state[p]["momentum_buffer"] for p in params]
            _sgd_step_(params, grads, buffers, lr, momentum, damp, decay, nesterov)
            return
        # The first sum is the gradient itself, whatever the dampening.
        for param in fresh:
            state[param] = {"momentum_buffer": zeros_like(param)}
        new = set(fresh)
        for first in (True, False):
            some = [i for i, p in enumerate(params) if (p in new) == first]
            _sgd_step_(
                [params[i] for i in some],
                [grads[i] for i in some],
                [state[params[i]]["momentum_buffer"] for i in some],
                lr,
                momentum,
                0.0 if first else damp,
                decay,
                nesterov,
            )
