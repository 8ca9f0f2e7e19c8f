# SPDX-License-Identifier: Apache-2.0
"""TensorFlow 1's functions that take parts of tensors, and ``x[key]``."""

from __future__ import annotations

import builtins
from typing import TYPE_CHECKING, Any

from ... import ops
from ..._binding import core
from ...graph import Symbol
from ...graph.symbols import dtype_of
from .bounds import cut, left, not_from_the_end, of_first_size
from .convert import first, narrow, other, rank_of
from .exporting import exported
from .record import recorded
from .sizes import constant_of, filled, ints, size_along, static_sizes, zeros_along


@recorded("GatherV2")
def gather(
    params: Any, indices: Any, validate_indices: Any = None, axis: int = 0
) -> Any:
    """Rows of params, by number; a run refuses numbers below 0."""
    x, i = first(params), first(indices)
    places = not_from_the_end(i.to(core.int64))
    if axis == 0:
        return ops.index(x, [places])
    if rank_of("gather", i) != 1:
        raise NotImplementedError("[gather] indices of several dimensions need axis 0.")
    return ops.index_select(x, int(axis), places)


@recorded("GatherNd")
def gather_nd(params: Any, indices: Any) -> Any:
    """Elements or slices of params, by a row of numbers for each.

    A run refuses numbers below 0.
    """
    x, i = first(params), first(indices)
    sizes = static_sizes(i)
    if sizes is None or sizes[-1] is None:
        raise ValueError(f"[gather_nd] expected indices of a known last size, got {i}.")
    i = not_from_the_end(i.to(core.int64))
    return ops.index(x, [ops.select(i, -1, n) for n in builtins.range(sizes[-1])])


@recorded("SparseToDense")
def sparse_to_dense(
    sparse_indices: Any, output_shape: Any, sparse_values: Any, default_value: Any = 0,
    validate_indices: bool = True,
) -> Any:  # fmt: skip
    """A tensor of this shape with values at some places, and one number at the others.

    sparse_indices: a row of numbers for each place, int32 or int64; of one dimension a
    number for each, or one.  output_shape: as many sizes as a row has numbers.
    sparse_values: one for each place, or one for all.  default_value: one number of
    their dtype.  Of places that are named twice the last counts, and their order is
    free: validate_indices is ignored.

    ValueError and TypeError for what does not fit; a run refuses numbers that are out
    of bounds, or below 0.
    """
    values, places = first(sparse_values), first(sparse_indices)
    if dtype_of(places) not in (core.int32, core.int64):
        raise TypeError(
            "[sparse_to_dense] expected sparse_indices of int32 or int64, got "
            f"{places!r}."
        )
    rank = rank_of("sparse_to_dense", places)
    sizes = [*[1] * (rank == 0), *(static_sizes(places) or []), *[1] * (rank < 2)]
    if rank > 2 or sizes[1] is None:
        raise ValueError(
            "[sparse_to_dense] expected sparse_indices of at most 2 dimensions and of "
            f"a known last size, got {places!r}."
        )
    default = other(
        default_value, values, "SparseToDense", "default_value", "sparse_values"
    )
    if getattr(default, "ndim", 0) not in (0, None):
        raise ValueError(
            f"[sparse_to_dense] expected default_value to be a scalar, got {default!r}."
        )
    symbolic = isinstance(default, Symbol)
    made = filled(output_shape, 0 if symbolic else default, dtype_of(values))
    if symbolic:
        made = made + default
    if rank_of("sparse_to_dense", made) != sizes[1]:
        raise ValueError(
            "[sparse_to_dense] expected a number for each dimension of output_shape, "
            f"which has {made.ndim}, got rows of {sizes[1]} in sparse_indices."
        )
    values = _for_rows(values, sizes[0], places)
    places = not_from_the_end(places.to(core.int64))
    if rank < 2:
        return ops.index_put(made, [ops.reshape(places, [-1])], values)
    columns = [ops.select(places, -1, n) for n in builtins.range(made.ndim)]
    return ops.index_put(made, columns, values)


def _for_rows(values: Any, rows: int | None, places: Any) -> Any:
    # The values: one for each row of places, or a scalar for all.
    sizes = static_sizes(values)
    if not sizes:
        return values
    if len(sizes) > 1 or not (rows is None or sizes[0] in (rows, None)):
        raise ValueError(
            "[sparse_to_dense] expected sparse_values to be a scalar or a vector of "
            f"one for each of the {'?' if rows is None else rows} rows of "
            f"sparse_indices, got shape {sizes}."
        )
    known = sizes[0] == rows and rows is not None
    if known or sizes[0] not in (1, None):
        return values  # known now, or the op refuses what does not fit
    return of_first_size(values, size_along(places, 0) if rows is None else rows)


@recorded("boolean_mask")
def boolean_mask(tensor: Any, mask: Any, axis: int = 0) -> Any:
    """What stands where the mask holds, along the first dimension of what is left."""
    x = first(tensor)
    return ops.index(x, [None] * int(axis or 0) + [first(mask)])


@recorded("Label")
def labelled(x: Any, places: Any) -> Any:
    """An element of each row, by number: errors say that this is a label."""
    return ops.gather(x, -1, places)


@recorded("Slice")
def slice(input_: Any, begin: Any, size: Any) -> Any:  # noqa: A001
    """So many elements of each dimension, from a place on; -1: all that are left."""
    x = first(input_)
    places, counts = _numbers(begin), _numbers(size)
    rank = len(places) if x.ndim is None else x.ndim
    if not len(places) == len(counts) == rank:
        raise ValueError(
            f"Expected begin and size arguments to be 1-D tensors of size {rank}, but "
            f"got shapes [{len(places)}] and [{len(counts)}] instead."
        )
    known, whole = static_sizes(x) or [None] * rank, x
    for dim, (start, count) in enumerate(zip(places, counts)):
        x = cut(x, dim, start, count, known[dim], whole)
    narrow(x, [left(*each) for each in zip(places, counts, known)])
    return x


def _numbers(values: Any) -> list[Any]:
    # Of a constant its numbers, of another tensor the tensors of its elements.
    if isinstance(values, Symbol) and constant_of(values) is None:
        count = values.shape.as_list()[0] if values.ndim == 1 else None
        if count is None:
            raise ValueError(
                f"[slice] expected vectors of a known length, got {values}."
            )
        return [sliced(values, n) for n in builtins.range(count)]
    if isinstance(values, (list, builtins.tuple)):
        return [v if isinstance(v, Symbol) else int(v) for v in values]
    return list(ints(values))


def _part(x: Any, dim: int, key: Any) -> Any:
    # x[key] along one dimension, for a slice.
    start, stop, step = key.start, key.stop, 1 if key.step is None else int(key.step)
    if isinstance(start, Symbol) or isinstance(stop, Symbol):
        if step != 1:
            raise NotImplementedError("[strided_slice] a step needs bounds of numbers.")
        along = zeros_along(x, dim, core.int64) + 1
        places, count = ops.cumsum(along, 0) - 1, ops.sum(along)
        for bound, compare in ((start, ops.ge), (stop, ops.lt)):
            if isinstance(bound, Symbol):
                bound = bound.to(core.int64)
                bound = ops.where(bound < 0, bound + count, bound)
            elif bound is not None:
                bound = bound + count if bound < 0 else bound
            if bound is not None:
                kept = ops.masked_select(places, compare(places, bound))
                places = kept
        return ops.index_select(x, dim, places)
    start = None if start is None else int(start)
    stop = None if stop is None else int(stop)
    if step > 0:
        return ops.slice(x, dim, start, stop, step)
    turned = ops.flip(x, [dim])  # -1 is its first one
    start = None if start is None else -1 - start
    stop = None if stop is None else -1 - stop
    size = (static_sizes(x) or [None])[dim]
    if size is not None:  # where counting from the end would pass the beginning
        start = None if start is None else max(start, -size) if start < 0 else start
    return ops.slice(turned, dim, start, stop, -step)


@recorded("strided_slice")
def sliced(x: Any, key: Any) -> Any:
    """x[key], for numbers, slices, None, dots and tensors of one number."""
    x = first(x)
    parts = list(key) if isinstance(key, builtins.tuple) else [key]
    for part in parts:
        if isinstance(part, float):
            raise TypeError(
                "Only integers, slices (`:`), ellipsis (`...`), tf.newaxis (`None`) "
                f"and scalar tf.int32/tf.int64 tensors are valid indices, got {part!r}"
            )
    taken = sum(part is not None and part is not Ellipsis for part in parts)
    if x.ndim is not None and taken > x.ndim:
        raise ValueError(
            f"Index out of range using input dim {taken - 1}; input has only {x.ndim} "
            "dims for 'strided_slice'"
        )
    if any(part is Ellipsis for part in parts):
        at = next(n for n, part in enumerate(parts) if part is Ellipsis)
        missing = rank_of("strided_slice", x) - taken
        parts[at : at + 1] = [builtins.slice(None)] * missing
    dim = 0
    for part in parts:
        if part is None:
            x = ops.unsqueeze(x, dim)
        elif isinstance(part, builtins.slice):
            if part != builtins.slice(None):
                x = _part(x, dim, part)
        elif isinstance(part, Symbol):
            if part.ndim not in (0, None):
                raise ValueError(f"[strided_slice] expected a scalar, got {part!r}.")
            row = ops.reshape(part, [1]).to(core.int64)
            x, dim = ops.squeeze(ops.index_select(x, dim, row), dim), dim - 1
        else:
            place = int(part)
            size = (static_sizes(x) or [None] * (dim + 1))[dim]
            if size is not None and not -size <= place < size:
                raise ValueError(
                    f"slice index {place} of dimension {dim} out of bounds."
                )
            x, dim = ops.select(x, dim, place), dim - 1
        dim += 1
    return x if isinstance(x, Symbol) and parts else ops.clone(x)


def strided_slice(
    input_: Any, begin: Any, end: Any, strides: Any = None, begin_mask: int = 0,
    end_mask: int = 0, ellipsis_mask: int = 0, new_axis_mask: int = 0,
    shrink_axis_mask: int = 0, var: Any = None, name: str | None = None,
) -> Any:  # fmt: skip
    """x[begin:end:strides] along the first dimensions.

    The bits of the masks say of which of them a bound is left out, of which the dots, a
    new dimension or a single place stand there.
    """
    first_, last_ = _numbers(begin), _numbers(end)
    steps = [1] * len(first_) if strides is None else _numbers(strides)
    if not len(first_) == len(last_) == len(steps):
        raise ValueError(
            f"[strided_slice] expected begin, end and strides of one length, got "
            f"{len(first_)}, {len(last_)} and {len(steps)}."
        )
    key: list[Any] = []
    for n, (start, stop, step) in enumerate(zip(first_, last_, steps)):
        bit = 1 << n
        if ellipsis_mask & bit:
            key.append(Ellipsis)
        elif new_axis_mask & bit:
            key.append(None)
        elif shrink_axis_mask & bit:
            key.append(start)
        else:
            start = None if begin_mask & bit else start
            stop = None if end_mask & bit else stop
            key.append(builtins.slice(start, stop, step))
    return sliced(input_, builtins.tuple(key), name=name or "StridedSlice")


if not TYPE_CHECKING:
    _INNER = ("labelled", "sliced")
    __all__ = [name for name in exported(globals()) if name not in _INNER]
