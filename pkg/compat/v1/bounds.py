# SPDX-License-Identifier: Apache-2.0
"""Places and sizes that a run refuses where the core would take others silently."""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import ops
from ..._binding import core
from ...graph import Symbol
from .convert import first, narrow, rank_of
from .messages import FAR
from .record import recorded
from .sizes import is_size_of, static_sizes, zeros_along, zeros_of

__all__ = ["cut", "left", "not_from_the_end", "of_first_size"]


def not_from_the_end(places: Any) -> Any:
    """The places; those below 0 are none, not even counted from the end."""
    return ops.where(ops.lt(places, 0), ops.sub(places, FAR), places)


@recorded("EnsureSize")
def _ensured(x: Any, size: Any) -> Any:
    if not isinstance(size, Symbol):
        return ops.unflatten(x, 0, [size])
    # Of one shape, or there are no such ones.
    ones = ops.ones_like(zeros_of([size], core.int64))
    ones = ops.reshape_as(ops.reshape_as(ones, zeros_along(x, 0, core.int64)), ones)
    return ops.index_select(x, 0, ops.cumsum(ones, 0) - 1)


def of_first_size(x: Any, size: Any) -> Any:
    """The tensor; a run refuses another first size than this one."""
    known = (static_sizes(x) or [None])[0]
    if is_size_of(size, x, 0) or (known is not None and known == size):
        return x
    made = _ensured(x, size)
    if x.ndim is not None:
        first_ = known if isinstance(size, Symbol) else size
        narrow(made, [first_, *(static_sizes(x) or [])[1:]])
    return made


def _refuse(dim: int, what: str, bound: Any, got: Any) -> None:
    raise ValueError(f"Expected {what}[{dim}] in [0, {bound}], but got {got}.")


def left(start: Any, count: Any, known: int | None) -> Any:
    """How many elements cut() gives, or None."""
    if isinstance(count, Symbol) or isinstance(start, Symbol) or known is None:
        return count if isinstance(count, int) and count != -1 else None
    return known - start if count == -1 else count


def cut(
    x: Any, dim: int, start: Any, count: Any, known: int | None, whole: Any
) -> Any:
    """So many elements along a dimension from a place on; -1: all that are left.

    known: the size of the dimension, or None; whole: a tensor that has it.  ValueError
    for what is known to be out of bounds; a run refuses the rest.
    """
    if isinstance(start, int):
        if start < 0 or (known is not None and start > known):
            _refuse(dim, "begin", "?" if known is None else known, start)
        rest = None if known is None else known - start
        if isinstance(count, int) and (
            count < -1 or (rest is not None and count > rest)
        ):
            _refuse(dim, "size", "?" if rest is None else rest, count)
        if isinstance(count, int):
            return _plain(x, dim, start, count, known)
    if isinstance(count, int) and count > 0:
        row = core.tensor(np.arange(count, dtype="int64"))
        return ops.index_select(x, dim, not_from_the_end(start.to(core.int64)) + row)
    size: Any = known
    if size is None:
        size = ops.sum(zeros_along(whole, dim, core.int64) + 1)
    return _counted(x, dim, start, count, size)


def _plain(x: Any, dim: int, start: int, count: int, known: int | None) -> Any:
    if known is not None or (start == 0 and count == -1):
        return ops.slice(x, dim, start, None if count == -1 else start + count)
    if count > 0:  # of which a run refuses fewer
        return ops.unflatten(ops.slice(x, dim, start, start + count), dim, [count])
    # Cut off, which a run refuses where there is less.
    rest = rank_of("slice", x) - 1 - dim
    x = ops.pad(x, [0, 0] * rest + [-start, 0], "constant", 0)
    return x if count == -1 else ops.slice(x, dim, 0, 0)


def _least(number: Any) -> Any:
    # Whether it is not below 0.
    return ops.ge(first(number, core.int64), 0)


def _counted(x: Any, dim: int, start: Any, count: Any, size: Any) -> Any:
    start = start.to(core.int64) if isinstance(start, Symbol) else start
    rest = size - start
    if isinstance(count, Symbol):
        count = count.to(core.int64)
        count = ops.where(ops.eq(count, -1), rest, count)
    elif count == -1:
        count = rest
    # One of start and count is a symbol, so that the comparisons are.
    fits = ops.logical_and(_least(rest - count), _least(rest))
    fits = ops.logical_and(fits, _least(start))
    count = ops.where(fits, count, -1)  # so many are refused
    one = core.tensor([1], dtype=core.int64)
    row = ops.repeat_interleave(one, ops.reshape(count, [1]))
    return ops.index_select(x, dim, ops.cumsum(row, 0) - 1 + start)
