# SPDX-License-Identifier: Apache-2.0
"""Helpers over the parameters of a network."""

from __future__ import annotations

from collections.abc import Iterable

from .. import ops
from ..autograd import no_grad
from ..tensor import Tensor

__all__ = [
    "clip_grad_norm_",
    "clip_grad_value_",
    "parameters_to_vector",
    "vector_to_parameters",
]


def _gradients(parameters: Tensor | Iterable[Tensor]) -> list[Tensor]:
    if isinstance(parameters, Tensor):
        parameters = [parameters]
    return [p.grad for p in parameters if p.grad is not None]


def clip_grad_norm_(
    parameters: Tensor | Iterable[Tensor],
    max_norm: float,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
) -> Tensor:
    """Scale all gradients in place so that their joint norm is at most ``max_norm``.

    Returns the norm that they had, as a 0-d tensor.  One call into C++.
    """
    grads = _gradients(parameters)
    with no_grad():
        if error_if_nonfinite:
            # Copies: a norm that is not finite spoils what it scales.
            copies = [ops.clone(grad) for grad in grads]
            norm = ops._clip_grad_norm_(copies, float(max_norm), float(norm_type))
            if not abs(norm.item()) < float("inf"):
                raise RuntimeError(
                    f"The total norm of order {norm_type} for gradients from "
                    "`parameters` is non-finite, so it cannot be clipped."
                )
        total: Tensor = ops._clip_grad_norm_(grads, float(max_norm), float(norm_type))
        return total


def clip_grad_value_(parameters: Tensor | Iterable[Tensor], clip_value: float) -> None:
    """Limit every element of the gradients to [-clip_value, clip_value], in place."""
    limit = float(clip_value)
    with no_grad():
        for grad in _gradients(parameters):
            ops.clamp_(grad, -limit, limit)


def parameters_to_vector(parameters: Iterable[Tensor]) -> Tensor:
    """Return all parameters, flattened, one after the other in a 1-d tensor."""
    return ops.cat([ops.reshape(p, [-1]) for p in parameters])


def vector_to_parameters(vec: Tensor, parameters: Iterable[Tensor]) -> None:
    """Copy the values of ``parameters_to_vector`` back.

    ValueError when the vector is not as long as the parameters together.
    """
    parameters = list(parameters)
    total = sum(p.numel() for p in parameters)
    if tuple(vec.shape) != (total,):
        raise ValueError(
            f"[vector_to_parameters] expected a vector of {total} values, got shape "
            f"{tuple(vec.shape)}."
        )
    start = 0
    with no_grad():
        for p in parameters:
            p.copy_(ops.reshape(vec[start : start + p.numel()], p.shape))
            start += p.numel()
