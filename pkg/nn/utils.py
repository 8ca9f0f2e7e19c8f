# SPDX-License-Identifier: Apache-2.0
"""Helpers over the parameters of a network."""

from __future__ import annotations

from collections.abc import Iterable

from ..autograd import no_grad
from ..ops import _clip_grad_norm_
from ..tensor import Tensor

__all__ = ["clip_grad_norm_"]


def clip_grad_norm_(
    parameters: Tensor | Iterable[Tensor],
    max_norm: float,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
) -> Tensor:
    """Scale all gradients in place so that their joint norm is at most ``max_norm``.

    Returns the norm that they had, as a 0-d tensor.  One call into C++.
    """
    if isinstance(parameters, Tensor):
        parameters = [parameters]
    grads = [p.grad for p in parameters if p.grad is not None]
    with no_grad():
        limit = float(max_norm)
        if error_if_nonfinite:
            norm = _clip_grad_norm_(grads, float("inf"), float(norm_type))
            if not abs(norm.item()) < float("inf"):
                raise RuntimeError(
                    f"The total norm of order {norm_type} for gradients from "
                    "`parameters` is non-finite, so it cannot be clipped."
                )
        return _clip_grad_norm_(grads, limit, float(norm_type))
