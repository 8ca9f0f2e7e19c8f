# SPDX-License-Identifier: Apache-2.0
"""Changing the dtype of a whole Module.  Called by Module.to and its shorthands."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._binding import core
from ..tensor import Tensor

if TYPE_CHECKING:
    from .module import Module

__all__ = ["convert", "wanted_dtype"]


def wanted_dtype(args: tuple[Any, ...], device: Any, dtype: Any) -> Any:
    """Read the arguments of ``Module.to``; None when no dtype is asked for.

    TypeError for a dtype without fractions, NotImplementedError for another device
    than the CPU.
    """
    for value in args:
        if isinstance(value, Tensor):
            device, dtype = value.device, value.dtype
        elif isinstance(value, core.dtype | type):
            dtype = core.dtype(value)
        else:
            device = value
    if device is not None and str(core.device(device)) != "cpu":
        raise NotImplementedError(
            f"[Module.to] expected device 'cpu', got '{device}'. "
            "Parameters live in main memory."
        )
    dtype = None if dtype is None else core.dtype(dtype)
    if dtype is not None and not dtype.is_floating_point:
        raise TypeError(
            "[Module.to] only accepts floating point dtypes, but got desired "
            f"dtype={dtype!r}"
        )
    return dtype


def convert(module: Module, dtype: Any) -> None:
    """Convert floating-point parameters, gradients and buffers; others stay."""
    for part in module.modules():
        for parameter in part._parameters.values():
            if parameter is not None and parameter.is_floating_point():
                _convert_parameter(parameter, dtype)
        for name, buffer in part._buffers.items():
            if buffer is not None and buffer.is_floating_point():
                part._buffers[name] = buffer.to(dtype)


def _convert_parameter(parameter: Tensor, dtype: Any) -> None:
    # The object stays the same: optimisers and other modules hold it.
    if parameter.dtype == dtype:
        return
    grad, parameter.grad = parameter.grad, None
    parameter.data = parameter.data.to(dtype)
    if grad is not None:
        parameter.grad = grad.detach().to(dtype)
