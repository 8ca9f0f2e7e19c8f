# SPDX-License-Identifier: Apache-2.0
"""Gradients of one's own: a function that stands for what the engine would do.

The outputs of such a part are cut off from its inputs, so that the engine stops there.
gradients() goes on from the inputs with what the function gives for them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from .. import ops
from .building import Symbol, dtype_of, get_default_graph

__all__ = ["Plain", "through_own", "with_gradient"]

# (ys, xs, grad_ys) to the gradients, of what the engine does alone.
Plain = Callable[[list[Any], list[Any], list[Any]], list[Any]]


class Own(NamedTuple):
    """A part with a gradient of its own."""

    inputs: list[Any]
    outputs: list[Any]
    function: Callable[..., Any]


def with_gradient(
    inputs: Sequence[Any], outputs: Sequence[Any], function: Callable[..., Any]
) -> list[Symbol]:
    """The outputs, whose gradients with respect to the inputs a function gives.

    inputs, outputs: symbols of the default graph, the outputs made of the inputs.
    function: takes a gradient for each output and gives one for each input, or None;
    it is
    called when gradients are asked for, to add operations.  What is made of the symbols
    that are given back has these gradients.

    NotImplementedError in a part of a loop or choice.
    """
    graph = get_default_graph()
    if graph.is_body:
        raise NotImplementedError(
            "[with_gradient] expected to be called outside of loops and choices: a "
            "part of one has the gradients of its operations."
        )
    for symbol in (*inputs, *outputs):
        graph.as_graph_element(symbol, allow_operation=False)
    cut: list[Any] = [ops.stop_gradient(output) for output in outputs]
    graph._own.append(Own(list(inputs), cut, function))
    return cut


def through_own(
    graph: Any, ys: list[Any], xs: list[Any], grad_ys: list[Any], plain: Plain
) -> list[Any]:
    """Gradients of the sum of ys with respect to each of xs, the parts of the graph
    that have gradients of their own among what is between."""
    ends = [*xs, *(output for own in graph._own for output in own.outputs)]
    totals = plain(ys, ends, grad_ys)
    place = len(ends)
    for own in reversed(graph._own):
        place -= len(own.outputs)
        there = totals[place : place + len(own.outputs)]
        if all(grad is None for grad in there):
            continue
        made = own.function(*[
            ops.zeros_like(output) if grad is None else grad
            for grad, output in zip(there, own.outputs)
        ])  # fmt: skip
        made = list(made) if isinstance(made, (list, tuple)) else [made]
        if len(made) != len(own.inputs):
            raise ValueError(
                f"[gradients] expected {len(own.inputs)} gradients, one for each "
                f"input of {own.outputs[0].name}, got {len(made)}."
            )
        further = [(x, g) for x, g in zip(own.inputs, made) if g is not None
                   and dtype_of(x).is_floating_point]  # fmt: skip
        if further:
            inputs, grads = (list(side) for side in zip(*further))
            more = plain(inputs, ends, grads)
            totals = [
                a if b is None else b if a is None else ops.add(a, b)
                for a, b in zip(totals, more)
            ]
    return totals[: len(xs)]
