# SPDX-License-Identifier: Apache-2.0
"""Registered gradients where values are at hand: the function makes a graph, as it is
written for one, and a session runs it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ... import graph as pg
from ...autograd.grad_mode import is_grad_enabled
from ...tensor import Tensor
from .control import placeholder
from .elements import Graph

__all__ = ["by_graph"]


def by_graph(function: Callable[..., Any], op: Any, *grads: Tensor) -> list[Any]:
    """The gradients that the function gives, as tensors; None where it gives None.

    function: takes an operation and a gradient for each output; op: one whose inputs
    and outputs are tensors.  Where gradients are on, those that it gives have history.
    """
    with Graph().as_default() as graph:
        feeds: dict[Any, Tensor] = {}

        def symbols(values: Sequence[Tensor]) -> list[Any]:
            made = []
            for value in values:
                made.append(placeholder(value.dtype, list(value.shape)))
                feeds[made[-1]] = value
            return made

        there = op.with_tensors(symbols(op.inputs), symbols(op.outputs))
        made = function(there, *symbols(grads))
        made = list(made) if isinstance(made, (list, tuple)) else [made]
        wanted = [symbol for symbol in made if symbol is not None]
        for one in wanted:
            if not isinstance(one, Tensor):
                raise TypeError(
                    f"[{op.type}] expected a tensor for each gradient, got "
                    f"{type(one).__name__} {one!r}."
                )
        with pg.Session(graph=graph) as session:
            run = session._handle.make_callable(list(feeds), wanted, [])
            call = run.run_recorded if is_grad_enabled() else run.run
            values = iter(call(list(feeds.values())) if wanted else ())
    return [None if symbol is None else next(values) for symbol in made]
