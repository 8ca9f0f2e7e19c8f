# SPDX-License-Identifier: Apache-2.0
"""Optimizer: groups of parameters with options, and the state kept per parameter.

Subclasses fill in ``_step_group``, which makes one call into C++ for all parameters.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from ..autograd import enable_grad, no_grad
from ..tensor import Tensor

__all__ = ["Optimizer"]


class Optimizer:
    """Base class of SGD, Adam and AdamW."""

    def __init__(
        self,
        params: Iterable[Tensor] | Iterable[dict[str, Any]],
        defaults: dict[str, Any],
    ) -> None:
        """Take parameters, or dicts with ``params`` and options of their own."""
        if isinstance(params, Tensor):
            raise TypeError(
                "params argument given to the optimizer should be an iterable of "
                "Tensors or dicts, but got a Tensor"
            )
        self.defaults = defaults
        self.state: dict[Tensor, dict[str, Any]] = {}
        self.param_groups: list[dict[str, Any]] = []
        groups = list(params)
        if not groups:
            raise ValueError("optimizer got an empty parameter list")
        if not isinstance(groups[0], dict):
            groups = [{"params": groups}]
        for group in groups:
            self.add_param_group(group)

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Add parameters with options; options left out are the defaults."""
        given = param_group["params"]
        params = [given] if isinstance(given, Tensor) else list(given)
        known = {id(p) for group in self.param_groups for p in group["params"]}
        for param in params:
            if not isinstance(param, Tensor):
                raise TypeError(
                    f"optimizer can only optimize Tensors, got {type(param).__name__}"
                )
            if not param.is_leaf:
                raise ValueError("can't optimize a non-leaf Tensor")
            if id(param) in known:
                raise ValueError(
                    "some parameters appear in more than one parameter group"
                )
            known.add(id(param))
        group = {**self.defaults, **param_group, "params": params}
        self._check_group(group)
        self.param_groups.append(group)

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Drop the gradients, or set them to zero."""
        for group in self.param_groups:
            for param in group["params"]:
                if set_to_none or param.grad is None:
                    param.grad = None
                else:
                    param.grad = param.grad.detach() * 0

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Change every parameter that has a gradient; ``closure`` computes the loss."""
        loss = None
        if closure is not None:
            with enable_grad():
                loss = closure()
        with no_grad():
            for group in self.param_groups:
                params = [p for p in group["params"] if p.grad is not None]
                if params:
                    self._step_group(group, params, [p.grad for p in params])
        return loss

    def _check_group(self, group: dict[str, Any]) -> None:
        _check_not_negative(group, "lr", "weight_decay")

    def _step_group(
        self, group: dict[str, Any], params: list[Tensor], grads: list[Tensor]
    ) -> None:
        raise NotImplementedError(f"{type(self).__name__} does not define _step_group")

    def state_dict(self) -> dict[str, Any]:
        """Return state and options, with parameters as numbers in order."""
        numbers: dict[int, int] = {}
        for group in self.param_groups:
            for param in group["params"]:
                numbers[id(param)] = len(numbers)
        return {
            "state": {numbers[id(p)]: dict(s) for p, s in self.state.items()},
            "param_groups": [
                {**group, "params": [numbers[id(p)] for p in group["params"]]}
                for group in self.param_groups
            ],
        }

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over what ``state_dict`` returned; the parameters keep their order."""
        saved = state_dict["param_groups"]
        if [len(g["params"]) for g in saved] != [
            len(g["params"]) for g in self.param_groups
        ]:
            raise ValueError(
                "loaded state dict contains a different number of parameter groups, or "
                "a parameter group that doesn't match the size of optimizer's group"
            )
        params: dict[int, Tensor] = {}
        for group, other in zip(self.param_groups, saved):
            params.update(zip(other["params"], group["params"]))
            group.update({k: v for k, v in other.items() if k != "params"})
        self.state = {
            params[number]: {k: _copied(v) for k, v in entries.items()}
            for number, entries in state_dict["state"].items()
        }

    def __repr__(self) -> str:
        """The options of every group, as PyTorch prints them."""
        text = type(self).__name__ + " ("
        for i, group in enumerate(self.param_groups):
            text += f"\nParameter Group {i}\n"
            for key in sorted(group):
                if key != "params":
                    text += f"    {key}: {group[key]}\n"
        return text + ")"


def _copied(value: Any) -> Any:
    return value.detach().clone() if isinstance(value, Tensor) else value


def _check_not_negative(group: dict[str, Any], *names: str) -> None:
    for name in names:
        if not group[name] >= 0:
            label = "learning rate" if name == "lr" else f"{name} value"
            raise ValueError(f"Invalid {label}: {group[name]}")
