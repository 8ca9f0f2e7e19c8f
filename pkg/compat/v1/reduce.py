# SPDX-License-Identifier: Apache-2.0
"""TensorFlow 1's reductions: sums, means and extremes over axes."""

from __future__ import annotations

import builtins
from typing import TYPE_CHECKING, Any

import numpy as np

from ... import ops
from ..._binding import core
from ...graph import Symbol
from ...graph.symbols import dtype_of
from . import dtypes
from .convert import first, narrow, rank_of
from .dtypes import core_dtype
from .exporting import exported
from .record import last, recorded
from .sizes import read_now
from .types import default_name


def _axes(x: Any, axis: Any) -> list[int]:
    if isinstance(axis, Symbol):
        axis = read_now(axis)
    dims = [int(d) for d in np.atleast_1d(np.asarray(axis, dtype=np.int64))]
    rank = x.ndim
    for d in dims:
        if rank is not None and not -rank <= d < rank:
            raise ValueError(
                f"Invalid reduction dimension {d} for input with {rank} dimensions."
            )
    return dims


def _reduction(op: Any, doc: str, at_once: bool = True) -> Any:
    def function(
        input_tensor: Any, axis: Any = None, keepdims: bool | None = None,
        reduction_indices: Any = None, keep_dims: bool | None = None,
    ) -> Any:  # fmt: skip
        x = first(input_tensor)
        kind = dtype_of(x)
        axis = reduction_indices if axis is None else axis
        keep = builtins.bool(keepdims or keep_dims)
        if axis is None and not keep and op is not ops.logsumexp:
            made = op(x)
            narrow(made, [])
        else:
            every = axis is None
            rank = rank_of("reduce", x) if every else 0
            dims = list(builtins.range(rank)) if every else _axes(x, axis)
            if not dims:
                return ops.clone(x)
            if at_once:
                made = op(x, dims, keep)
            else:
                made = x
                if len(dims) > 1:  # the last one first, as the others would move
                    rank = rank_of("reduce", x)
                    dims = sorted((d % rank for d in dims), reverse=True)
                for dim in dims:
                    made = op(made, dim, keep)
        if kind.is_floating_point or kind == core.bool:
            return made
        return made.to(kind)  # sums of integers are int64 here

    function.__doc__ = doc
    return recorded(default_name(op.__name__))(function)


reduce_sum = _reduction(ops.sum, "The sum over the axes, of all elements without.")
reduce_max = _reduction(ops.amax, "The largest element over the axes.")
reduce_min = _reduction(ops.amin, "The smallest element over the axes.")
reduce_prod = _reduction(ops.prod, "The product over the axes.", at_once=False)
reduce_all = _reduction(ops.all, "Whether all are true.", at_once=False)
reduce_any = _reduction(ops.any, "Whether one is true.", at_once=False)
reduce_logsumexp = _reduction(ops.logsumexp, "log(sum(exp(x))), without overflow.")
_mean = _reduction(ops.mean, "The mean of numbers that are not whole.")


@recorded("Mean", scope=True)
def _whole_mean(x: Any, axis: Any, keepdims: bool) -> Any:
    total = reduce_sum(x, axis, keepdims)
    count = reduce_sum(ops.ones_like(x), axis, keepdims)
    return last(ops.div, total, count, rounding_mode="trunc")


def reduce_mean(
    input_tensor: Any, axis: Any = None, keepdims: bool | None = None,
    name: str | None = None, reduction_indices: Any = None,
    keep_dims: bool | None = None,
) -> Any:  # fmt: skip
    """The mean over the axes; of integers a whole number."""
    x = first(input_tensor)
    axis = reduction_indices if axis is None else axis
    keep = builtins.bool(keepdims or keep_dims)
    if dtype_of(x).is_floating_point:
        return _mean(x, axis, keep, name=name)
    return _whole_mean(x, axis, keep, name=name)


def _place(op: Any, doc: str) -> Any:
    def function(
        input: Any, axis: Any = None, dimension: Any = None,  # noqa: A002
        output_type: Any = dtypes.int64,
    ) -> Any:  # fmt: skip
        x = first(input)
        along = dimension if axis is None else axis
        made = op(x, _axes(x, 0 if along is None else along)[0])
        wanted = core_dtype(output_type)
        return made if dtype_of(made) == wanted else made.to(wanted)

    function.__doc__ = doc
    return recorded(default_name(op.__name__))(function)


argmax = arg_max = _place(ops.argmax, "Where along the axis the largest element is.")
argmin = arg_min = _place(ops.argmin, "Where along the axis the smallest element is.")


@recorded("Cumsum")
def cumsum(
    x: Any, axis: int = 0, exclusive: bool = False, reverse: bool = False
) -> Any:
    """The sums of all up to each element; without itself where ``exclusive``."""
    x = first(x)
    kind = dtype_of(x)
    run = ops.flip(x, [axis]) if reverse else x
    made = ops.cumsum(run, axis).to(kind)
    made = made - run if exclusive else made
    return ops.flip(made, [axis]) if reverse else made


@recorded("norm")
def norm(tensor: Any, ord: Any = "euclidean", axis: Any = None) -> Any:  # noqa: A002
    """The root of the sum of squares; for ord 1 the sum of absolute values."""
    x = first(tensor)
    if ord not in ("euclidean", 1, 2):
        raise ValueError(f"[norm] expected ord 'euclidean', 1 or 2, got {ord!r}.")
    parts = ops.abs(x) if ord == 1 else ops.square(x)
    total = ops.sum(parts) if axis is None else ops.sum(parts, _axes(x, axis))
    return total if ord == 1 else ops.sqrt(total)


if not TYPE_CHECKING:
    __all__ = exported(globals())
