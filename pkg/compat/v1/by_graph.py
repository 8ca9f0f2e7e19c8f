# SPDX-License-Identifier: Apache-2.0
"""Registered gradients where values are at hand: the function makes a graph, as it is
written for one, and a session runs it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ... import graph as pg
from ...tensor import Tensor
from .control import placeholder
from .elements import Graph

__all__ = ["by_graph"]


def by_graph(function: Callable[..., Any], op: Any, *grads: Tensor) -> list[Any]:
    """The gradients that the function gives, as tensors; None where it gives None.

    function: takes an operation and a gradient for each output; op: one whose inputs
    and outputs are tensors.
    """
    with Graph().as_default() as graph:
        feeds: dict[Any, Tensor] = {}

        def symbols(values: Sequence[Tensor]) -> list[Any]:
            made = []
            for value in values:
                made.append(placeholder(value.dtype, list(value.shape)))
                feeds[made[-1]] = value.detach()
            return made

        there = op.with_tensors(symbols(op.inputs), symbols(op.outputs))
        made = function(there, *symbols(grads))
        made = list(made) if isinstance(made, (list, tuple)) else [made]
        wanted = [symbol for symbol in made if symbol is not None]
        with pg.Session(graph=graph) as session:
            values = iter(session.run(wanted, feeds)) if wanted else iter(())
    return [None if symbol is None else next(values) for symbol in made]
