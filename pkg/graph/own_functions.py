# SPDX-License-Identifier: Apache-2.0
"""autograd.Function in graphs: gradients() calls its backward."""

from __future__ import annotations

from typing import Any

from .. import ops
from ..autograd import function
from ..tensor import Tensor
from .entering import is_building
from .own_gradients import with_gradient
from .symbols import Symbol, dtype_of

__all__ = ["in_graph"]


def in_graph(
    cls: Any, ctx: Any, args: tuple[Any, ...], results: tuple[Any, ...]
) -> tuple[Any, ...] | None:
    """autograd.Function.apply() in a graph: its results, by whose gradients backward is
    called."""
    given = [place for place, one in enumerate(results) if isinstance(one, Symbol)]
    if not given:
        return None
    whole = results[given[0]].graph._whole()
    if whole.keeps_history:  # a function is traced
        whole._without_backward.append(cls.__name__)
        return None
    taken = [place for place, one in enumerate(args) if isinstance(one, Symbol)]
    plain = {id(one) for one in ctx._non_differentiable}
    given = [place for place in given if id(results[place]) not in plain]
    if not taken or not given:
        return None
    ctx.needs_input_grad = tuple(
        isinstance(one, Symbol) and dtype_of(one).is_floating_point for one in args
    )

    def gradient(*grads: Any) -> list[Any]:
        every: list[Any] = [None] * len(results)
        for place, grad in zip(given, grads):
            every[place] = grad
        if ctx._materialize:
            for place, one in enumerate(results):
                if every[place] is None and isinstance(one, Tensor):
                    every[place] = ops.zeros_like(one)
        made = cls.backward(ctx, *every)
        made = made if isinstance(made, tuple) else (made,)
        return [made[place] for place in taken]

    outputs = with_gradient(
        [args[place] for place in taken], [results[place] for place in given], gradient
    )
    found = list(results)
    for place, output in zip(given, outputs):
        found[place] = output
    return tuple(found)


function.in_graph = in_graph
function.is_traced = is_building
