# SPDX-License-Identifier: Apache-2.0
"""TensorFlow 1's gradients, and what is done with them."""

from __future__ import annotations

import enum
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ... import graph as pg, ops
from ...graph import Symbol
from . import arrays, math, reduce
from .convert import convert_to_tensor, first
from .elements import get_default_graph
from .exporting import exported
from .make import zeros
from .record import graph_of, recorded


class UnconnectedGradients(enum.Enum):
    """What stands where a result does not depend on an input."""

    NONE = "none"
    ZERO = "zero"


class AggregationMethod:
    """How gradients of several ways are added: always in place."""

    ADD_N = DEFAULT = 0
    EXPERIMENTAL_TREE = 1
    EXPERIMENTAL_ACCUMULATE_N = 2


def _list(values: Any) -> list[Any]:
    return list(values) if isinstance(values, (list, tuple)) else [values]


@contextmanager
def _in_scope(graph: Any, name: str) -> Iterator[None]:
    with graph.as_default(), graph.control_dependencies(None), graph.name_scope(name):
        yield


def gradients(
    ys: Any, xs: Any, grad_ys: Any = None, name: str = "gradients",
    colocate_gradients_with_ops: bool = False, gate_gradients: bool = False,
    aggregation_method: Any = None, stop_gradients: Any = None,
    unconnected_gradients: Any = UnconnectedGradients.NONE,
) -> list[Any]:  # fmt: skip
    """Gradients of the sum of ys with respect to each of xs.

    Of what no y depends on it is None, or zeros with ``UnconnectedGradients.ZERO``.
    stop_gradients: tensors that count as constants.
    """
    try:
        unconnected = UnconnectedGradients(unconnected_gradients)
    except ValueError:
        raise ValueError(
            f"Unknown value for unconnected_gradients: {unconnected_gradients!r}"
        ) from None
    if aggregation_method not in (None, 0, 1, 2):
        raise ValueError(
            f"Invalid aggregation_method specified: {aggregation_method}."
        )
    ys = [convert_to_tensor(y) for y in _list(ys)]
    xs = _list(xs)
    if not xs:
        return []
    graph = graph_of(ys)
    with _in_scope(graph, "gradients" if name is None else name):
        weights = None
        if grad_ys is not None:
            weights = _weights(ys, _list(grad_ys))
        reads = getattr(graph, "reads", {})
        of_reads = {read.name: read.op.inputs[0] for read in reads.values()}
        wanted = [
            of_reads.get(x.name, x) if isinstance(x, Symbol) else x for x in xs
        ]
        stops = [
            of_reads.get(stop.name, stop) if isinstance(stop, Symbol) else stop
            for stop in ([] if stop_gradients is None else _list(stop_gradients))
        ]
        made = pg.gradients(ys, wanted, weights, "grad", stops)
        if unconnected is UnconnectedGradients.ZERO:
            made = [_zeros_like(x) if g is None else g for g, x in zip(made, xs)]
    return made


def _zeros_like(x: Any) -> Any:
    return math.zeros_like(x)


def _weights(ys: list[Any], given: list[Any]) -> list[Any]:
    if len(given) != len(ys):
        raise ValueError(f"Passed {len(given)} grad_ys for {len(ys)} ys")
    made: list[Any] = []
    for y, weight in zip(ys, given):
        if weight is None:
            made.append(None)
            continue
        weight = convert_to_tensor(
            weight, None if isinstance(weight, Symbol) else y.dtype
        )
        if weight.dtype != y.dtype:
            raise ValueError(
                f"Gradient type {weight.dtype.name} of {y} must be {y.dtype.name}."
            )
        if not y.shape.is_compatible_with(weight.shape):
            raise ValueError(
                f"The gradient of {y} must have its shape, got {weight.shape}."
            )
        made.append(weight)
    return made


def hessians(ys: Any, xs: Any, name: str = "hessians", **options: Any) -> list[Any]:
    """The second derivatives of the sum of ys, of each x its shape twice, which must be
    known."""
    made = []
    for x in _list(xs):
        sizes = x.shape.as_list()
        if None in sizes:
            raise ValueError(f"[hessians] expected a known shape, got {x}.")
        with x.graph.as_default(), x.graph.name_scope(name):
            slope = gradients(ys, x, **options)[0]
            flat = arrays.reshape(slope, [-1])
            count = x.shape.num_elements()
            rows = [gradients(flat[i], x, **options)[0] for i in range(count)]
            rows = [zeros(sizes, x.dtype) if row is None else row for row in rows]
            made.append(arrays.reshape(arrays.stack(rows), sizes + sizes))
    return made


@recorded("global_norm")
def global_norm(t_list: Any) -> Any:
    """The root of the sum of squares of all elements of all tensors."""
    parts = [ops.sum(ops.square(first(t))) for t in t_list if t is not None]
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    return ops.sqrt(total)


def clip_by_global_norm(
    t_list: Any, clip_norm: Any, use_norm: Any = None, name: str | None = None
) -> tuple[list[Any], Any]:
    """The tensors made smaller by one factor, so that their common norm is not above
    clip_norm; and what the norm was."""
    t_list = [None if t is None else convert_to_tensor(t) for t in t_list]
    total = global_norm(t_list) if use_norm is None else use_norm
    with get_default_graph().name_scope(name or "clip_by_global_norm"):
        scale = clip_norm / math.maximum(total, clip_norm)
        return [None if t is None else t * scale for t in t_list], total


@recorded("clip_by_norm")
def clip_by_norm(t: Any, clip_norm: Any, axes: Any = None) -> Any:
    """The tensor made smaller, so that its norm is not above clip_norm."""
    x = first(t)
    total = math.sqrt(reduce.reduce_sum(ops.square(x), axes, axes is not None))
    return x * clip_norm / math.maximum(total, clip_norm)


if not TYPE_CHECKING:
    __all__ = [*exported(globals()), "AggregationMethod", "UnconnectedGradients"]
