# SPDX-License-Identifier: Apache-2.0
"""Checkpointing: trade time for memory by computing a part again in backward."""

from __future__ import annotations

from typing import Any, Callable

from .._binding import core
from ..random import get_rng_state, set_rng_state
from ..tensor import Tensor
from .function import Function, FunctionCtx
from .grad_mode import enable_grad


class _Checkpoint(Function):
    """Keeps the inputs only; backward runs the function again and differentiates it."""

    @staticmethod
    def forward(
        ctx: FunctionCtx, function: Callable[..., Any], state: Any, *args: Any
    ) -> Any:
        ctx.function = function
        ctx.state = state
        ctx.places = [i for i, a in enumerate(args) if isinstance(a, Tensor)]
        ctx.others = [None if isinstance(a, Tensor) else a for a in args]
        ctx.save_for_backward(*(args[i] for i in ctx.places))
        return function(*args)

    @staticmethod
    def backward(ctx: FunctionCtx, *grads: Any) -> Any:
        args = list(ctx.others)
        tensors = []
        for i, saved in zip(ctx.places, ctx.saved_tensors):
            args[i] = saved.detach().requires_grad_(saved.requires_grad)
            tensors.append(args[i])
        now = get_rng_state() if ctx.state is not None else None
        if ctx.state is not None:
            set_rng_state(ctx.state)
        try:
            with enable_grad():
                result = ctx.function(*args)
        finally:
            if now is not None:
                set_rng_state(now)
        outputs = result if isinstance(result, tuple) else (result,)
        pairs = [
            (o, g) for o, g in zip(outputs, grads)
            if isinstance(o, Tensor) and o.requires_grad
        ]  # fmt: skip
        outs, seeds = zip(*pairs)
        # Parameters that the function closes over get their .grad here; the gradients of
        # the arguments go on through the graph.
        core._backward(outs, seeds, False, False)
        found = dict(zip(ctx.places, (t.grad for t in tensors)))
        return (None, None, *(found.get(i) for i in range(len(args))))


def checkpoint(
    function: Callable[..., Any], *args: Any, preserve_rng_state: bool = True
) -> Any:
    """function(*args) without keeping what it saves; backward computes it again.

    At least one Tensor among `args` must require grad for gradients to flow.
    preserve_rng_state: random ops (dropout) draw the same numbers the second time.
    Works with ``backward``; ``grad`` reaches arguments but not closed-over parameters.
    """
    state = get_rng_state() if preserve_rng_state else None
    return _Checkpoint.apply(function, state, *args)
