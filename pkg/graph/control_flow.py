# SPDX-License-Identifier: Apache-2.0
"""Loops and choices of a graph, whose parts are functions that build graphs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from .._binding import core
from .bodies import BodyGraph, add_parts, more_general
from .building import get_default_graph
from .functions import constant
from .shapes import TensorShape, sizes_of
from .structures import flatten, outline, pack
from .symbols import Operation, Symbol, dtype_of

__all__ = ["Collecting", "cond", "while_loop"]


class Collecting(NamedTuple):
    """What a body may give: the next values, and tensors that are collected.

    The loop then gives such a pair, too: of each of these, the tensors of all turns as
    one, along a new first dimension.  They have one shape in all turns.
    """

    values: Any
    pieces: list[Any]


def _as_symbol(value: Any, dtype: Any) -> Symbol:
    return value if isinstance(value, Symbol) else constant(value, dtype)


def _check_callable(what: str, name: str, function: Any) -> None:
    if not callable(function):
        raise TypeError(
            f"[{what}] '{name}' must be callable, got {type(function).__name__}."
        )


def _invariants(loop_vars: Any, given: list[Symbol], shapes: Any) -> list[TensorShape]:
    if shapes is None:
        return [symbol.shape for symbol in given]
    found = []
    flat = pack(loop_vars, range(len(given)))
    if len(shapes) != len(flat):
        raise ValueError(
            f"[while_loop] expected {len(flat)} shape_invariants, got {len(shapes)}."
        )
    for shape in _flatten_shapes(shapes):
        found.append(shape if isinstance(shape, TensorShape) else TensorShape(shape))
    for symbol, shape in zip(given, found, strict=True):
        if not more_general(shape, symbol.shape):
            raise ValueError(
                f"[while_loop] the shape invariant {shape} of {symbol.name} is not "
                f"compatible with the initial shape {symbol.shape} of the variable."
            )
    return found


def _flatten_shapes(shapes: Any) -> Iterator[Any]:
    """The shapes in a structure of shapes, which are lists of sizes or TensorShapes."""
    if shapes is None or isinstance(shapes, TensorShape):
        yield shapes
    elif isinstance(shapes, dict):
        for key in sorted(shapes):
            yield from _flatten_shapes(shapes[key])
    elif isinstance(shapes, (list, tuple)):
        plain = all(size is None or isinstance(size, int) for size in shapes)
        if plain and isinstance(shapes, list):
            yield shapes  # the sizes of one shape
        else:
            for shape in shapes:
                yield from _flatten_shapes(shape)
    else:
        raise TypeError(f"[while_loop] expected a shape, got {shapes!r}.")


def while_loop(
    cond: Callable[..., Any],
    body: Callable[..., Any],
    loop_vars: Any,
    shape_invariants: Any = None,
    maximum_iterations: Any = None,
    name: str | None = None,
    convert: Callable[[Any, Any], Symbol] = _as_symbol,
) -> Any:
    """Repeats the body as long as the condition holds; gives the last values.

    cond: takes the loop variables, gives one bool.
    body: takes them, gives their next values, in the same structure; or a Collecting.
    loop_vars: a list or tuple of values, which may nest; their dtypes stay the same.
    shape_invariants: for each variable the sizes that it has in every turn, None for
    one that changes; without it they have the sizes that they begin with.
    maximum_iterations: a number of turns after which it ends in any case.
    convert: makes a symbol of a value (and a dtype, or None).

    One variable gives a symbol, several give the structure of loop_vars.  Both
    functions may use symbols from outside, and gradients flow through.  The loop runs
    its parts turn after turn: the graph around it is run operation by operation.

    TypeError and ValueError where functions, structures, dtypes or shapes do not fit.
    """
    _check_callable("while_loop", "cond", cond)
    _check_callable("while_loop", "body", body)
    if not isinstance(loop_vars, (list, tuple)):
        loop_vars = [loop_vars]
    if not loop_vars:
        raise ValueError("[while_loop] expected at least one loop variable, got none.")
    graph = get_default_graph()
    if maximum_iterations is not None:
        return _limited(
            cond, body, loop_vars, shape_invariants, maximum_iterations, name, convert
        )
    with graph.name_scope(name or "while"):
        given = [
            graph.as_graph_element(convert(value, None)) for value in flatten(loop_vars)
        ]
        shapes = _invariants(loop_vars, given, shape_invariants)
        parts, outer_controls = [], []
        for function in (cond, body):
            part = graph._body()
            with part.building():
                inputs = [
                    part._operation(
                        part._handle.placeholder(
                            "arg", dtype_of(symbol), sizes_of(shape)
                        )
                    ).outputs[0]
                    for symbol, shape in zip(given, shapes)
                ]
                part.begins = list(zip(inputs, given))
                result = function(*pack(loop_vars, inputs))
                if function is cond:
                    leaves = [_condition(part, result, convert)]
                else:
                    result, pieces = _split(result)
                    leaves = _next_values(part, loop_vars, result, inputs, convert)
                    leaves += [part.inside(piece) for piece in pieces or []]
            parts.append(part.part(inputs, leaves))
            outer_controls += part.outer_controls
        with graph.control_dependencies(outer_controls):
            made = add_parts(graph, "While", "While", parts, given)
    outputs = made.outputs
    values, collected = outputs[: len(given)], outputs[len(given) :]
    last = values[0] if len(values) == 1 else pack(loop_vars, values)
    return last if pieces is None else Collecting(last, collected)


def _split(result: Any) -> tuple[Any, list[Any] | None]:
    # The next values, and what is collected if the body says so.
    if isinstance(result, Collecting):
        return result.values, result.pieces
    return result, None


def _condition(part: BodyGraph, value: Any, convert: Any) -> Symbol:
    symbol: Symbol = part.inside(convert(value, None))
    if symbol.dtype != core.bool:
        raise TypeError(
            "[while_loop] expected a condition that gives a bool, got "
            f"{symbol.dtype} ({symbol})."
        )
    if symbol.ndim:
        raise ValueError(
            "[while_loop] expected a condition that gives one bool, got the shape "
            f"{symbol.shape} ({symbol})."
        )
    return symbol


def _as_list(result: Any, loop_vars: Any) -> Any:
    # What the body gave, one value for each variable; of one it may be that value.
    single = len(loop_vars) == 1 and outline(result) == outline(loop_vars[0])
    return [result] if single or not isinstance(result, (list, tuple)) else result


def _next_values(
    part: BodyGraph, loop_vars: Any, result: Any, inputs: list[Symbol], convert: Any
) -> list[Symbol]:
    result = _as_list(result, loop_vars)
    if outline(result) != outline(loop_vars):
        raise ValueError(
            "[while_loop] expected the body to give what it takes: they don't have the "
            f"same nested structure. Taken: {loop_vars!r}. Given: {result!r}."
        )
    values = []
    for value, taken in zip(flatten(result), inputs):
        symbol = part.inside(convert(value, taken.dtype))
        if symbol.dtype != taken.dtype:
            raise TypeError(
                f"[while_loop] a variable enters the loop as {taken.dtype} but is "
                f"{symbol.dtype} after one iteration ({symbol}). Convert it there."
            )
        if not more_general(taken.shape, symbol.shape):
            raise ValueError(
                f"[while_loop] a variable enters the loop with shape {taken.shape}, "
                f"but has shape {symbol.shape} after one iteration. Say which sizes "
                "change by `shape_invariants`."
            )
        values.append(symbol)
    return values


def _limited(
    cond: Any, body: Any, loop_vars: Any, shapes: Any, most: Any, name: Any,
    convert: Any,
) -> Any:  # fmt: skip
    # The same loop with a counter in front.
    if shapes is not None:
        shapes = (TensorShape(()), shapes)
    if not isinstance(most, Symbol):
        most = constant(int(most))

    def counted(turn: Any, values: Any) -> Any:
        result, pieces = _split(body(*values))
        following = turn + 1, _as_list(result, loop_vars)
        return following if pieces is None else Collecting(following, pieces)

    result = while_loop(
        lambda turn, values: (turn < most) & convert(cond(*values), None),
        counted,
        (constant(0, dtype_of(most)), loop_vars),
        shapes,
        name=name,
        convert=convert,
    )
    (_, values), pieces = _split(result)
    last = values[0] if len(values) == 1 else values
    return last if pieces is None else Collecting(last, pieces)


def cond(
    pred: Any,
    true_fn: Callable[[], Any],
    false_fn: Callable[[], Any],
    name: str | None = None,
    convert: Callable[[Any, Any], Symbol] = _as_symbol,
) -> Any:
    """What ``true_fn`` gives where the predicate is true, else what ``false_fn`` gives.

    pred: a symbol of one bool.  The functions take nothing, may use symbols from
    outside, and give values of the same structure and dtypes, or operations.  Only what
    is made by the function that is chosen runs.  Gradients flow through.

    TypeError and ValueError where the predicate, structures or dtypes do not fit.
    """
    _check_callable("cond", "true_fn", true_fn)
    _check_callable("cond", "false_fn", false_fn)
    graph = get_default_graph()
    if not isinstance(pred, Symbol):
        raise TypeError(
            f"[cond] expected a symbol of one bool for pred, got {pred!r}. Use if for "
            "what Python knows."
        )
    if pred.dtype != core.bool:
        raise TypeError(f"[cond] expected a predicate of bool, got {pred.dtype}.")
    if pred.ndim:
        raise ValueError(f"[cond] expected a predicate of one bool, got {pred!r}.")
    pred = graph.as_graph_element(pred)
    with graph.name_scope(name or "cond"):
        graphs, results = [], []
        for function in (true_fn, false_fn):
            part = graph._body()
            with part.building():
                results.append(function())
                if results[-1] is None:
                    raise ValueError(
                        "[cond] true_fn and false_fn must have a return value, "
                        "got None."
                    )
            graphs.append(part)
        leaves = _branches(graphs, results, convert)
        parts = [part.part([], found) for part, found in zip(graphs, leaves)]
        controls = graphs[0].outer_controls + graphs[1].outer_controls
        with graph.control_dependencies(controls):
            made = add_parts(graph, "If", "If", parts, [pred])
    outputs = iter(made.outputs)
    return pack(
        results[0],
        [made if isinstance(leaf, Operation) else next(outputs) for leaf in leaves[0]],
    )


def _branches(graphs: list[BodyGraph], results: list[Any], convert: Any) -> Any:
    if outline(results[0]) != outline(results[1]):
        raise ValueError(
            "[cond] expected true_fn and false_fn to give the same nested structure, "
            f"got {results[0]!r} and {results[1]!r}."
        )
    pairs = []
    for one, other in zip(flatten(results[0]), flatten(results[1])):
        ops = [isinstance(value, Operation) for value in (one, other)]
        if any(ops) and not all(ops):
            raise TypeError(
                "[cond] expected both functions to give an operation, or both a value, "
                f"got {one!r} and {other!r}."
            )
        if all(ops):
            pairs.append((one, other))
            continue
        made = []
        for part, value in zip(graphs, (one, other)):
            with part.building():
                made.append(part.inside(convert(value, None)))
        if made[0].dtype != made[1].dtype:
            raise ValueError(
                "[cond] expected outputs of true_fn and false_fn of the same type, got "
                f"{made[0].dtype} and {made[1].dtype}."
            )
        pairs.append((made[0], made[1]))
    return [list(side) for side in zip(*pairs)] if pairs else [[], []]
