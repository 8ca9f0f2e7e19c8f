# SPDX-License-Identifier: Apache-2.0
"""Optimizer: groups of parameters with options, and the state kept per parameter.

Subclasses here fill in ``_step_group``, which makes one call into C++ for all
parameters, and ``_check_group``.  Those of users may define ``step`` instead, as with
PyTorch; the options are theirs to choose.
"""

from __future__ import annotations

import copy
import operator
from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import Any

from .. import ops
from .._binding import core
from ..autograd import enable_grad
from ..nn.parameter import clear_gradients
from ..tensor import Tensor

__all__ = ["Optimizer"]


def _refuse_set(params: Any) -> None:
    if isinstance(params, (set, frozenset)):
        raise TypeError(
            "optimizer parameters need to be organized in ordered collections, but the "
            "ordering of tensors in sets will change between runs. Use a list."
        )


class Optimizer:
    """Base class of SGD, Adam, AdamW and of optimisers of your own."""

    def __init__(
        self,
        params: Iterable[Tensor] | Iterable[dict[str, Any]],
        defaults: dict[str, Any],
    ) -> None:
        """Take parameters, or dicts with ``params`` and options of their own.

        Parameters may have their names beside them, as in ``model.named_parameters()``.
        defaults: options by name, any that the steps need, for groups without own.
        """
        if isinstance(params, Tensor):
            raise TypeError(
                "params argument given to the optimizer should be an iterable of "
                "Tensors or dicts, but got a Tensor"
            )
        _refuse_set(params)
        self.defaults = defaults
        self.state: defaultdict[Any, Any] = defaultdict(dict)
        self.param_groups: list[dict[str, Any]] = []
        self._steps = 0  # read by lr_scheduler through steps_made
        groups: list[Any] = list(params)
        if not groups:
            raise ValueError("optimizer got an empty parameter list")
        if not isinstance(groups[0], dict):
            groups = [{"params": groups}]
        for group in groups:
            self.add_param_group(group)

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Add parameters with options; options left out are the defaults.

        TypeError for what is no tensor, ValueError for one that an op made, that is
        there already, or for an option out of range.
        """
        if not isinstance(param_group, dict):
            raise TypeError(f"param_group must be a dict, got {type(param_group)}")
        given = param_group["params"]
        _refuse_set(given)
        params = [given] if isinstance(given, Tensor) else list(given)
        if params and isinstance(params[0], tuple):  # model.named_parameters()
            names, params = [n for n, _ in params], [p for _, p in params]
            param_group = {**param_group, "param_names": names}
        known = {id(p) for group in self.param_groups for p in group["params"]}
        if len({id(p) for p in params}) != len(params):
            raise ValueError("a parameter group contains duplicate parameters")
        for param in params:
            if not isinstance(param, Tensor):
                raise TypeError(
                    "optimizer can only optimize Tensors, but one of the params is "
                    f"{type(param).__name__}"
                )
            if not param.is_leaf:
                raise ValueError("can't optimize a non-leaf Tensor")
            if id(param) in known:
                raise ValueError(
                    "some parameters appear in more than one parameter group"
                )
        group = {**self.defaults, **param_group, "params": params}
        self._check_group(group)
        self.param_groups.append(group)

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Drop the gradients, or fill them with zeros."""
        for group in self.param_groups:
            clear_gradients(group["params"], set_to_none)

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Change every parameter that has a gradient; ``closure`` computes the loss."""
        loss = None
        if closure is not None:
            with enable_grad():
                loss = closure()
        before = core.set_grad_enabled(False)  # cheaper than no_grad()
        try:
            for group in self.param_groups:
                params = group["params"]
                grads = [p.grad for p in params]
                if [g for g in grads if g is None]:  # quicker than any()
                    params = [p for p, g in zip(params, grads) if g is not None]
                    grads = [g for g in grads if g is not None]
                if group.get("maximize"):
                    grads = [ops.neg(grad) for grad in grads]
                if params:
                    self._step_group(group, params, grads)
        finally:
            core.set_grad_enabled(before)
        self._steps += 1
        return loss

    def _check_group(self, group: dict[str, Any]) -> None:
        """Raise ValueError for an option out of range."""

    def _step_group(
        self, group: dict[str, Any], params: list[Tensor], grads: list[Tensor]
    ) -> None:
        raise NotImplementedError(f"{type(self).__name__} does not define _step_group")

    def state_dict(self) -> dict[str, Any]:
        """Return state and options, with parameters as numbers in order."""
        numbers: dict[int, int] = {}
        for group in self.param_groups:
            for param in group["params"]:
                numbers[id(param)] = len(numbers)  # no parameter comes twice
        return {
            # Keys that are no parameters are the subclass's own.
            "state": {
                numbers[id(key)] if isinstance(key, Tensor) else key: copy.copy(entry)
                for key, entry in self.state.items()
            },
            "param_groups": [
                {**group, "params": [numbers[id(p)] for p in group["params"]]}
                for group in self.param_groups
            ],
        }

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over what ``state_dict`` returned; the parameters keep their order.

        Tensors are copied and converted to the dtype of their parameter.  ValueError
        when the groups do not match; nothing has changed then.
        """
        saved = copy.deepcopy(state_dict["param_groups"])
        if len(saved) != len(self.param_groups):
            raise ValueError(
                "loaded state dict has a different number of parameter groups: "
                f"{len(saved)} instead of {len(self.param_groups)}"
            )
        params: dict[int, Tensor] = {}
        for group, other in zip(self.param_groups, saved):
            if len(group["params"]) != len(other["params"]):
                raise ValueError(
                    "loaded state dict contains a parameter group that doesn't match "
                    f"the size of optimizer's group: {len(other['params'])} instead of "
                    f"{len(group['params'])}"
                )
            params.update(zip(other["params"], group["params"]))
        given = {
            operator.index(key) if hasattr(key, "__index__") else key: entry
            for key, entry in state_dict["state"].items()
        }
        texts = [key for key in given if isinstance(key, str) and key.isdecimal()]
        if texts:
            raise ValueError(
                "[load_state_dict] expected numbers of parameters as keys of 'state', "
                f"got texts {texts}, as JSON makes them. Convert them: int(key)."
            )
        unknown = [n for n in given if isinstance(n, int) and n not in params]
        if unknown:
            raise ValueError(f"loaded state dict has state of no parameter: {unknown}")
        state: defaultdict[Any, Any] = defaultdict(dict)
        for number, entry in given.items():
            if number in params:
                state[params[number]] = _restored(entry, params[number])
            else:
                state[number] = copy.deepcopy(entry)
        self.state = state
        for group, other in zip(self.param_groups, saved):
            group.update({k: v for k, v in other.items() if k != "params"})

    def steps_made(self) -> int | None:
        """Return the number of steps; None where a class's own ``step`` counts none."""
        return self._steps if type(self).step is Optimizer.step else None

    def __repr__(self) -> str:
        """The options of every group, as PyTorch prints them."""
        text = type(self).__name__ + " ("
        for i, group in enumerate(self.param_groups):
            text += f"\nParameter Group {i}\n"
            for key in sorted(group):
                if key != "params":
                    text += f"    {key}: {group[key]}\n"
        return text + ")"


def _restored(value: Any, param: Tensor) -> Any:
    if isinstance(value, dict):
        return {key: _restored(entry, param) for key, entry in value.items()}
    if not isinstance(value, Tensor):
        return copy.deepcopy(value)
    if value.is_floating_point() and param.is_floating_point() and value.ndim:
        value = value.to(param.dtype)
    return ops.clone(value.detach())


def _check_not_negative(group: dict[str, Any], *names: str) -> None:
    labels = {"lr": "learning rate", "momentum": "momentum value"}
    labels.update({"eps": "epsilon value", "weight_decay": "weight_decay value"})
    for name in names:
        if not group[name] >= 0:  # NaN too
            raise ValueError(f"Invalid {labels[name]}: {group[name]}")
