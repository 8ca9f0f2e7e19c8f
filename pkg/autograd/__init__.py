# SPDX-License-Identifier: Apache-2.0
"""Gradients: PyTorch's ``torch.autograd`` over the C++ engine.

``backward`` and ``grad`` run the recorded graph; the grad modes say what is recorded;
``Function`` is an operation with a backward of one's own; ``vjp``, ``jvp``, ``jacobian``
and ``hessian`` are built from them; ``gradcheck`` compares with central differences;
``graph`` exports what was recorded.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Optional, Union

from .._binding import core
from ..tensor import Tensor
from .anomaly import detect_anomaly, set_detect_anomaly
from .checkpoint import checkpoint
from .drawing import graph
from .function import Function, FunctionCtx, once_differentiable
from .functional import hessian, hvp, jacobian, jvp, vjp
from .grad_mode import (
    enable_grad,
    inference_mode,
    is_grad_enabled,
    is_inference_mode_enabled,
    no_grad,
    set_grad_enabled,
)
from .gradcheck import GradcheckError, gradcheck, gradgradcheck

__all__ = [
    "Function",
    "FunctionCtx",
    "GradcheckError",
    "Node",
    "backward",
    "checkpoint",
    "detect_anomaly",
    "enable_grad",
    "grad",
    "gradcheck",
    "gradgradcheck",
    "graph",
    "hessian",
    "hvp",
    "inference_mode",
    "is_grad_enabled",
    "is_inference_mode_enabled",
    "jacobian",
    "jvp",
    "no_grad",
    "once_differentiable",
    "set_detect_anomaly",
    "set_grad_enabled",
    "vjp",
]

Node = core.Node
Tensors = Union[Tensor, Sequence[Tensor]]
OptionalTensors = Union[Tensor, Sequence[Optional[Tensor]], None]


def _as_tuple(value: Any) -> tuple[Any, ...]:
    """One tensor, None or a sequence, as a tuple."""
    if value is None:
        return ()
    return tuple(value) if isinstance(value, (tuple, list)) else (value,)


def backward(
    tensors: Tensors,
    grad_tensors: OptionalTensors = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
) -> None:
    """Add the gradients of `tensors` to the .grad of the leaves they depend on.

    grad_tensors: one gradient per tensor, of its shape; may be left out for one-element
    tensors.  retain_graph: keep what was saved, for another pass (default: as
    create_graph).  create_graph: make the gradients differentiable themselves.
    RuntimeError when nothing requires grad or the graph was already freed.
    """
    keep = create_graph if retain_graph is None else retain_graph
    core._backward(_as_tuple(tensors), _as_tuple(grad_tensors), keep, create_graph)


def grad(
    outputs: Tensors,
    inputs: Tensors,
    grad_outputs: OptionalTensors = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    allow_unused: bool = False,
) -> tuple[Tensor, ...]:
    """Gradients of `outputs` with respect to `inputs`, as a tuple; nothing accumulates.

    The other parameters are those of ``backward``.  An input that `outputs` do not depend
    on is a RuntimeError, or None in the result with allow_unused.
    """
    keep = create_graph if retain_graph is None else retain_graph
    found: tuple[Tensor, ...] = core._grad(
        _as_tuple(outputs),
        _as_tuple(inputs),
        _as_tuple(grad_outputs),
        keep,
        create_graph,
        allow_unused,
    )
    return found
