# SPDX-License-Identifier: Apache-2.0
"""Gradients of one's own: a function that stands for what the engine would do.

The outputs of such a part are cut off from its inputs, or what arrives at them is
dropped (``replace_gradient``), so that the engine stops there.  gradients() goes on
from the inputs with what the function gives for them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from .. import ops
from .._binding import core
from ..autograd.grad_mode import no_grad
from .building import get_default_graph, outside
from .definitions import NAMESPACE
from .gradient_registry import gradient_of
from .symbols import Operation, Symbol, dtype_of

__all__ = [
    "Own", "Plain", "asked", "parts_of", "replace_gradient", "replaced", "through_own",
    "with_gradient",
]  # fmt: skip

# (ys, xs, grad_ys) to the gradients, of what the engine does alone.
Plain = Callable[[list[Any], list[Any], list[Any]], list[Any]]


class Own(NamedTuple):
    """A part with a gradient of its own.

    always: the function is asked wherever a gradient comes to the outputs, and not only
    where the inputs lead to what gradients are taken of.
    """

    inputs: list[Any]
    outputs: list[Any]
    function: Callable[..., Any]
    cut: bool = True  # the outputs are made for this, and have no history
    always: bool = True  # called where nothing wanted lies behind it, too


def with_gradient(
    inputs: Any | Sequence[Any], outputs: Any | Sequence[Any],
    function: Callable[..., Any],
) -> list[Symbol]:  # fmt: skip
    """The outputs, whose gradients with respect to the inputs a function gives.

    inputs, outputs: symbols of the default graph or their names, or one such; of any
    shapes and dtypes, the outputs made of the inputs.
    function: takes a gradient for each output, of its shape and dtype, and gives one
    for each input, of its shape and dtype, or None; what it gives for inputs that are
    not floating is not used.  It is called when gradients are asked for, with the graph
    as the default one, to add operations.
    What is made of the symbols that are given back has these gradients.

    TypeError for a function that cannot be called, and for what is no symbol; KeyError
    and ValueError for names and symbols that the graph does not have;
    NotImplementedError in a part of a loop or choice.  ``gradients`` raises TypeError
    for a gradient of another dtype or that is no symbol or tensor, ValueError for
    another number of gradients.
    """
    graph = get_default_graph()
    if graph.is_body and graph.is_gradient:
        raise NotImplementedError(
            "[with_gradient] in the function of another gradient cannot be written: a "
            "definition has the gradients of the graph only."
        )
    if graph.is_body:
        raise NotImplementedError(
            "[with_gradient] expected to be called outside of loops and choices: a "
            "part of one has the gradients of its operations."
        )
    if not callable(function):
        raise TypeError(
            "[with_gradient] expected a function of the gradients of the outputs, got "
            f"{type(function).__name__}."
        )
    taken, given = (
        [
            graph.as_graph_element(symbol, allow_operation=False)
            for symbol in (side if isinstance(side, (list, tuple)) else [side])
        ]
        for side in (inputs, outputs)
    )
    with no_grad():  # by which C++ knows it from others: Note [Gradients of one's own]
        cut: list[Any] = [ops.stop_gradient(output) for output in given]
    graph._own.append(Own(taken, cut, function))
    return cut


def replace_gradient(
    inputs: list[Any], outputs: list[Any], function: Callable[..., Any]
) -> None:
    """The same for outputs that stay what they are: those of an operation, all of them.

    They are symbols of a graph that is no part of a loop or choice.
    """
    outputs[0].graph._own.append(Own(list(inputs), list(outputs), function, cut=False))


def replaced(parts: list[Own]) -> list[Any]:
    """The floating symbols at which the engine stops, as a function goes on there."""
    return [
        output
        for own in parts
        if not own.cut
        for output in own.outputs
        if dtype_of(output).is_floating_point
    ]


def _registered_part(op: Operation) -> Own:
    # An operation that was added without gradients; which one is registered is asked
    # when it is wanted, as it may be registered later.
    def gradient(*grads: Any) -> Any:
        name = op.graph._gradient_names.get(op.name, op.type)
        function = gradient_of(name, op.name, op.type).function
        return [None] * len(op.inputs) if function is None else function(op, *grads)

    cut = not op.graph.keeps_history
    return Own(list(op.inputs), op.outputs, gradient, cut, always=False)


def parts_of(graph: Any) -> list[Own]:
    """The parts of the graph that have gradients of their own, in the graph's order:
    those of ``with_gradient``, and operations of ops that REGISTER_OP defined."""
    if not core.operator_names(NAMESPACE):
        return list(graph._own)
    own = {part.outputs[0].op.name: part for part in graph._own}
    parts = []
    for handle in graph._handle.operations():
        name = handle.name()
        if name in own:
            parts.append(own[name])
        elif (
            handle.type().startswith(f"{NAMESPACE}::")
            and handle.no_grad() != graph.keeps_history
        ):
            op = graph._operation(handle)
            if op.outputs:
                parts.append(_registered_part(op))
    return parts


def _leading(
    graph: Any, parts: list[Own], xs: list[Any], stops: list[Any]
) -> list[bool]:
    # Of each part: whether a way leads from its inputs to an x, through others too, and
    # not beyond the stops.
    stops = [*stops, *replaced(parts)]
    found: list[bool] = []
    for part in parts:
        before = [
            output
            for other, leads in zip(parts, found) if leads
            for output in other.outputs
        ]  # fmt: skip
        floating = [x for x in part.inputs if dtype_of(x).is_floating_point]
        found.append(
            any(
                graph._handle.connected(taken, end, stops)
                for taken in floating
                for end in [*xs, *before]
            )
        )
    return found


def asked(own: Own, grads: list[Any]) -> list[Any]:
    """What the function gives for each input, None for those that are not floating."""
    made = own.function(*grads)
    made = list(made) if isinstance(made, (list, tuple)) else [made]
    part = own.outputs[0].name
    if len(made) != len(own.inputs):
        raise ValueError(
            f"[gradients] expected {len(own.inputs)} gradients, one for each "
            f"input of {part}, got {len(made)}."
        )
    found = [
        grad if dtype_of(x).is_floating_point else None
        for x, grad in zip(own.inputs, made)
    ]
    for x, grad in zip(own.inputs, found):
        wanted = dtype_of(x)
        is_tensor = isinstance(grad, core.Tensor)
        if grad is not None and (not is_tensor or dtype_of(grad) != wanted):
            came = dtype_of(grad).name if is_tensor else type(grad).__name__
            raise TypeError(
                f"[gradients] expected a symbol of {wanted.name} as the gradient that "
                f"the function of {part} gives for its input {x.name}, got {came}."
            )
    return found


def through_own(
    graph: Any, parts: list[Own], ys: list[Any], xs: list[Any], grad_ys: list[Any],
    stops: list[Any], plain: Plain,
) -> list[Any]:  # fmt: skip
    """Gradients of the sum of ys with respect to each of xs, the parts of the graph
    that have gradients of their own among what is between; plain() stops at the stops.
    """
    # The operations that are added here are the graph's, whichever is the default one,
    # also where a part of it is built.
    here = get_default_graph()
    leaves = here.is_body and here is not graph
    with outside() if leaves else graph.as_default():
        return _through(graph, parts, ys, xs, grad_ys, stops, plain)


def _through(
    graph: Any, parts: list[Own], ys: list[Any], xs: list[Any], grad_ys: list[Any],
    stops: list[Any], plain: Plain,
) -> list[Any]:  # fmt: skip
    leading = _leading(graph, parts, xs, stops)
    ends = [*xs, *(output for own in parts for output in own.outputs)]
    totals = plain(ys, ends, grad_ys)
    place = len(ends)
    for own, leads in zip(reversed(parts), reversed(leading)):
        place -= len(own.outputs)
        there = [
            None if any(output is stop for stop in stops) else grad
            for output, grad in zip(own.outputs, totals[place:])
        ]
        if all(grad is None for grad in there) or not (leads or own.always):
            continue
        grads = [
            ops.zeros_like(output) if grad is None else grad
            for grad, output in zip(there, own.outputs)
        ]
        further = [
            (x, grad) for x, grad in zip(own.inputs, asked(own, grads))
            if grad is not None
        ]  # fmt: skip
        if further:
            inputs, grads = (list(side) for side in zip(*further))
            more = plain(inputs, ends, grads)
            totals = [
                a if b is None else b if a is None else ops.add(a, b)
                for a, b in zip(totals, more)
            ]
    return totals[: len(xs)]
