# SPDX-License-Identifier: Apache-2.0
"""Gradients: PyTorch's ``torch.autograd`` over the C++ engine.

``backward`` and ``grad`` run the recorded graph; the grad modes say what is recorded;
``Function`` is an operation with a backward of one's own; ``vjp``, ``jvp``,
``jacobian`` and ``hessian`` are built from them; ``gradcheck`` compares with central
differences; ``graph`` exports what was recorded.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from .._binding import core
from ..tensor import Tensor
from .anomaly import detect_anomaly, set_detect_anomaly
from .checkpoint import checkpoint
from .drawing import graph
from .function import Function, FunctionCtx, once_differentiable
from .functional import hessian, hvp, jacobian, jvp, vhp, vjp
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
    "vhp",
    "vjp",
]

Node = core.Node
Tensors = Tensor | Iterable[Tensor]
OptionalTensors = Tensor | Sequence[Tensor | None] | None


def _as_tuple(value: Any) -> tuple[Any, ...]:
    """One tensor, None or an iterable, as a tuple."""
    if value is None:
        return ()
    one = isinstance(value, core.Tensor) or not isinstance(value, Iterable)
    return (value,) if one else tuple(value)


def backward(
    tensors: Tensors,
    grad_tensors: OptionalTensors = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    inputs: Tensors | None = None,
) -> None:
    """Add the gradients of `tensors` to the .grad of the leaves they depend on.

    grad_tensors: one gradient per tensor, of its shape; may be left out for one-element
    tensors.  retain_graph: keep what was saved, for another pass (default: as
    create_graph).  create_graph: make the gradients differentiable themselves.
    inputs: only these get a .grad, leaves or not (default: every leaf), and only the
    nodes that lead to one of them run.
    RuntimeError when nothing requires grad or the graph was already freed.
    """
    keep = create_graph if retain_graph is None else retain_graph
    outputs, seeds = _as_tuple(tensors), _as_tuple(grad_tensors)
    wanted = _as_tuple(inputs)
    if inputs is not None and not wanted:
        raise RuntimeError("`inputs` argument to `backward()` cannot be empty.")
    core._backward(outputs, seeds, keep, create_graph, wanted)


def grad(
    outputs: Tensors,
    inputs: Tensors,
    grad_outputs: OptionalTensors = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    allow_unused: bool | None = None,
    materialize_grads: bool = False,
) -> tuple[Tensor, ...]:
    """Gradients of `outputs` with respect to `inputs`, as a tuple; nothing accumulates.

    The other parameters are those of ``backward``.  An input that `outputs` do not
    depend on is a RuntimeError, or None in the result with allow_unused, or zeros with
    materialize_grads.
    """
    if materialize_grads and allow_unused is False:
        raise ValueError(
            "Expected allow_unused to be True or not passed when "
            "materialize_grads=True, but got: allow_unused=False."
        )
    keep = create_graph if retain_graph is None else retain_graph
    wanted = _as_tuple(inputs)
    if not wanted:
        raise RuntimeError("`inputs` argument to `grad()` cannot be empty.")
    grads: tuple[Tensor, ...] = core._grad(
        _as_tuple(outputs),
        wanted,
        _as_tuple(grad_outputs),
        keep,
        create_graph,
        bool(allow_unused) or materialize_grads,
    )
    if not materialize_grads:
        return grads
    zeros = core.Operator("zeros_like")
    # As PyTorch's, they can be differentiated where the others can.
    return tuple(
        zeros(t.detach()).requires_grad_(create_graph) if g is None else g
        for t, g in zip(wanted, grads)
    )
