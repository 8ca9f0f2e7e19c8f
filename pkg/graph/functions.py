# SPDX-License-Identifier: Apache-2.0
"""What adds operations to the default graph."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from .._binding import core
from .building import get_default_graph
from .own_gradients import parts_of, replaced, through_own
from .shapes import sizes_of
from .symbols import Operation, Symbol, dtype_of

__all__ = [
    "constant", "control_dependencies", "gradients", "group", "name_scope",
    "placeholder", "record", "shape",
]  # fmt: skip


def record(function: Callable[..., Any], *args: Any, name: str | None = None,
           **options: Any) -> Any:  # fmt: skip
    """Adds a call of an op to the default graph, or to that of a symbol in it."""
    return get_default_graph().record(name, function, *args, **options)


def name_scope(name: str | None) -> Any:
    """Graph.name_scope of the default graph."""
    return get_default_graph().name_scope(name)


def control_dependencies(control_inputs: Iterable[Any] | None) -> Any:
    """Graph.control_dependencies of the default graph."""
    return get_default_graph().control_dependencies(control_inputs)


def placeholder(
    dtype: core.dtype, shape: Any = None, name: str | None = None, default: Any = None
) -> Symbol:
    """A symbol that is fed.

    shape: sizes, None for one that is not known; None as a whole: any number of sizes.
    default: what it is where nothing is fed.
    """
    graph = get_default_graph()
    value = None if default is None else core.tensor(default, dtype=dtype)
    made = graph._handle.placeholder(name or "", dtype, sizes_of(shape), value)
    return graph._operation(made).outputs[0]


def constant(
    value: Any, dtype: core.dtype | None = None, name: str | None = None
) -> Symbol:
    """A symbol that has this value, which is copied."""
    graph = get_default_graph()
    tensor = core.tensor(value, dtype=dtype)
    return graph._operation(graph._handle.constant(name or "Const", tensor)).outputs[0]


def shape(symbol: Symbol) -> Symbol:
    """Its sizes as an int64 symbol of one dimension, also where they are not known."""
    found: Symbol = core.Operator("_shape_as_tensor")(symbol)
    return found


def group(*inputs: Any, name: str | None = None) -> Operation:
    """An operation that runs all of these."""
    graph = get_default_graph()
    handles = []
    for item in inputs:
        op = graph.as_graph_element(item)
        handles.append((op if isinstance(op, Operation) else op.op)._handle)
    return graph._operation(graph._handle.group(name or "group_deps", handles))


def gradients(
    ys: Any, xs: Any, grad_ys: Any = None, name: str | None = None,
    stop_gradients: Any = None,
) -> list[Any]:  # fmt: skip
    """Gradients of the sum of ``ys`` with respect to each of ``xs``; None: no way leads
    from it to a y.

    grad_ys: what each y is multiplied with, of its shape; None: ones.
    stop_gradients: symbols behind which no gradient flows, as if they were constants;
    the gradient at one of them is what arrives there.
    """
    ys = list(ys) if isinstance(ys, (list, tuple)) else [ys]
    xs = list(xs) if isinstance(xs, (list, tuple)) else [xs]
    if grad_ys is None:
        grad_ys = [None] * len(ys)
    elif not isinstance(grad_ys, (list, tuple)):
        grad_ys = [grad_ys]
    if not ys:
        return [None] * len(xs)
    here: Any = get_default_graph()
    graph = here
    if not here.is_body:
        graph = getattr(ys[0], "graph", here)
    while graph.is_body and all(getattr(y, "graph", 0) is not graph for y in ys):
        if graph.is_gradient:
            raise NotImplementedError(
                "[gradients] expected ys that the function of a gradient made itself: "
                "gradients() of others adds operations to the graph, which is being "
                "written."
            )
        graph = graph.outer  # nothing of it happens in this part
    ys = [graph.as_graph_element(y, allow_operation=False) for y in ys]
    given_xs = xs
    xs = [graph.as_graph_element(x, allow_operation=False) for x in xs]
    grad_ys = [
        graph.as_graph_element(g) if isinstance(g, Symbol) else g for g in grad_ys
    ]
    if len(grad_ys) != len(ys):
        raise ValueError(
            f"[gradients] expected one gradient for each of {len(ys)} ys, got "
            f"{len(grad_ys)}."
        )

    if stop_gradients is None:
        stop_gradients = []
    elif not isinstance(stop_gradients, (list, tuple)):
        stop_gradients = [stop_gradients]
    stops = [graph.as_graph_element(s, allow_operation=False) for s in stop_gradients]
    stops = [s for s in dict.fromkeys(stops) if dtype_of(s).is_floating_point]

    _refuse_begins(graph, ys, given_xs, stops)
    parts = parts_of(graph)
    ends = list(dict.fromkeys([*stops, *replaced(parts)]))

    def plain(ys: list[Any], xs: list[Any], grad_ys: list[Any]) -> list[Any]:
        return _plain(graph, ys, xs, grad_ys, ends, name)

    if parts:
        made = through_own(graph, parts, ys, xs, grad_ys, stops, plain)
    else:
        made = plain(ys, xs, grad_ys)
    shown = here if here.is_body else graph
    return [g if g is None else shown.as_graph_element(g) for g in made]


def _refuse_begins(graph: Any, ys: list[Any], xs: list[Any], stops: list[Any]) -> None:
    # What a variable of a loop begins with is its value in the first turn alone: there
    # is no gradient with respect to that in all of them.  So for each loop around here.
    ys = [y for y in ys if dtype_of(y).is_floating_point]
    for x in xs:
        for variable, begin in _variables_that_need(graph, x):
            here = graph.as_graph_element(variable)
            if any(here is s for s in stops):
                continue
            if any(_way_leads(graph, y, here, stops) for y in ys):
                name = x if isinstance(x, str) else x.op.name
                raise ValueError(
                    f"Cannot compute gradient inside while loop with respect to op "
                    f"'{name}'. We do not support taking the gradient wrt or through "
                    "the initial value of a loop variable. Gradients can be computed "
                    "through loop invariants or wrt the input parameters to the loop "
                    f"body. (The loop's variable {variable.name} begins with "
                    f"{begin.name}.)"
                )


def _variables_that_need(graph: Any, x: Any) -> list[tuple[Any, Any]]:
    # Of the loops around: those that begin with what is made of x, also by way of such
    # variables of loops further out, and what they begin with.
    if not graph.is_body or (isinstance(x, Symbol) and x.graph is graph):
        return []
    outer = graph.outer
    try:
        outside = outer.as_graph_element(x, allow_operation=False)
    except KeyError:  # the name of what the part has itself
        return []
    further = _variables_that_need(outer, x)
    ends = [outside, *(outer.as_graph_element(variable) for variable, _ in further)]
    return further + [
        (variable, begin)
        for variable, begin in graph.begins
        if dtype_of(begin).is_floating_point
        and not _of_sizes_alone(begin)
        and any(_way_leads(outer, begin, end, []) for end in ends)
    ]


def _way_leads(graph: Any, y: Any, x: Any, stops: list[Any]) -> bool:
    try:
        return bool(graph._handle.connected(y, x, stops))
    except NotImplementedError:  # one does, through what was computed outside
        return True


def _of_sizes_alone(begin: Any) -> bool:
    # zeros_like(x) and its sisters have the size of x, and no gradient.
    return str(begin.op.type).endswith("Like")


def _plain(
    graph: Any, ys: list[Any], xs: list[Any], grad_ys: list[Any], stops: list[Any],
    name: str | None,
) -> list[Any]:  # fmt: skip
    floating = [dtype_of(y).is_floating_point for y in ys]
    used = [
        dtype_of(x).is_floating_point
        and any(graph._handle.connected(y, x, stops)
                for y, f in zip(ys, floating) if f)
        for x in xs
    ]  # fmt: skip
    wanted = [x for x, use in zip(xs, used) if use]
    if not wanted:
        return [None] * len(xs)
    handle = graph._handle.gradients(
        name or "gradients",
        [y for y, f in zip(ys, floating) if f],
        [g for g, f in zip(grad_ys, floating) if f],
        wanted,
        stops,
    )
    made = iter(graph._operation(handle).outputs)
    return [next(made) if use else None for use in used]
