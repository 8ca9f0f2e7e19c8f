# SPDX-License-Identifier: Apache-2.0
"""Modules to flat dicts of tensors and back.  Called by Module."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

from ..autograd import no_grad
from ..tensor import Tensor

if TYPE_CHECKING:
    from .module import Module

__all__ = ["IncompatibleKeys", "collect_state", "load_state"]


class _Keys(NamedTuple):
    missing_keys: list[str]
    unexpected_keys: list[str]


class IncompatibleKeys(_Keys):
    """What did not match in a load that was not strict."""

    __slots__ = ()

    def __repr__(self) -> str:
        """Nothing to report, or the two lists."""
        if not self.missing_keys and not self.unexpected_keys:
            return "<All keys matched successfully>"
        return super().__repr__()


def _entries(module: Module, prefix: str) -> Iterator[tuple[str, Tensor]]:
    # Not named_parameters(): a shared tensor is listed under each of its names.
    own = {**module._parameters, **module._buffers}
    for name, tensor in own.items():
        if tensor is not None and name not in module._non_persistent_buffers_set:
            yield prefix + name, tensor
    for name, child in module._modules.items():
        if child is not None:
            yield from _entries(child, f"{prefix}{name}.")


def collect_state(module: Module, prefix: str, keep_vars: bool) -> dict[str, Tensor]:
    """Return the tensors to save by dotted name, detached unless ``keep_vars``."""
    entries = _entries(module, prefix)
    return {name: tensor if keep_vars else tensor.detach() for name, tensor in entries}


def load_state(
    module: Module, state: Mapping[str, Tensor], strict: bool
) -> IncompatibleKeys:
    """Copy ``state`` into the module, all of it or nothing."""
    if not isinstance(state, Mapping):
        raise TypeError(
            f"Expected state_dict to be dict-like, got {type(state).__name__}."
        )
    own = dict(_entries(module, ""))
    missing = [name for name in own if name not in state]
    unexpected = [name for name in state if name not in own]
    problems = []
    if strict and missing:
        problems.append(f"Missing key(s) in state_dict: {_quoted(missing)}.")
    if strict and unexpected:
        problems.append(f"Unexpected key(s) in state_dict: {_quoted(unexpected)}.")
    for name, tensor in own.items():
        if name not in state:
            continue
        given = state[name]
        if not isinstance(given, Tensor):
            problems.append(f"{name}: expected a Tensor, got {type(given).__name__}.")
        elif tuple(given.shape) != tuple(tensor.shape):
            problems.append(
                f"size mismatch for {name}: copying a param with shape "
                f"{tuple(given.shape)} from the state_dict, the shape in current model "
                f"is {tuple(tensor.shape)}."
            )
        elif given.device.type == "meta" != tensor.device.type:
            problems.append(f"{name}: expected a tensor with values, got one on meta.")
        elif _is_repeated(tensor):
            problems.append(
                f"{name}: the tensor in current model shows one element in several "
                "places (expand): copy it first."
            )
    if problems:
        raise RuntimeError(
            f"Error(s) in loading state_dict for {type(module).__name__}:\n\t"
            + "\n\t".join(problems)
        )
    with no_grad():
        for name, tensor in own.items():
            if name in state:
                tensor.copy_(state[name])
    return IncompatibleKeys(missing, unexpected)


def _is_repeated(tensor: Tensor) -> bool:
    return any(n > 1 and step == 0 for n, step in zip(tensor.shape, tensor.stride()))


def _quoted(names: list[str]) -> str:
    return ", ".join(f'"{name}"' for name in names)
