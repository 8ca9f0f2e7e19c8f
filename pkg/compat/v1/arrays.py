# SPDX-License-Identifier: Apache-2.0
"""TensorFlow 1's functions that rearrange, join and take apart."""

from __future__ import annotations

import builtins
from typing import TYPE_CHECKING, Any

from ... import ops
from ..._binding import core
from ...graph import Symbol
from ...graph.symbols import dtype_of
from .convert import first, narrow, pair, rank_of
from .dtypes import core_dtype
from .exporting import exported
from .record import last, recorded
from .sizes import (
    ints,
    known_sizes,
    read_now,
    reshaped,
    static_sizes,
    zeros_along,
)  # fmt: skip


@recorded("Reshape", scope=True)
def reshape(tensor: Any, shape: Any) -> Any:
    """The same elements in another shape; -1 is what is left."""
    made = reshaped(first(tensor), shape, last)
    sizes = known_sizes(shape)
    if sizes is None and isinstance(shape, (list, builtins.tuple)):
        sizes = [-1 if isinstance(size, Symbol) else int(size) for size in shape]
    if sizes is None and shape.ndim == 1 and shape.shape.as_list()[0] is not None:
        sizes = [-1] * shape.shape.as_list()[0]
    if sizes is not None:
        narrow(made, [None if size == -1 else size for size in sizes])
    return made


@recorded("transpose")
def transpose(a: Any, perm: Any = None, conjugate: bool = False) -> Any:
    """Its dimensions in another order, turned round if none is given."""
    x = first(a)
    if perm is None:
        perm = reversed(builtins.range(rank_of("transpose", x)))
    perm = ints(perm if isinstance(perm, Symbol) else list(perm))
    if x.ndim is not None and len(perm) != x.ndim:
        raise ValueError(
            f"Dimension must be {x.ndim} but is {len(perm)} for 'transpose' of {x} "
            f"with the permutation {perm}."
        )
    return ops.permute(x, perm)


def _check_alike(values: list[Any], axis: int) -> None:
    shapes = [sizes for sizes in map(static_sizes, values) if sizes is not None]
    for sizes in shapes[1:]:
        if len(sizes) != len(shapes[0]):
            raise ValueError(
                f"Shape must be rank {len(shapes[0])} but is rank {len(sizes)} for "
                f"'concat' of the shapes {shapes}."
            )
    if not shapes:
        return
    rank = len(shapes[0])
    if not -rank <= axis < rank:
        raise ValueError(
            f"Invalid axis {axis} for 'concat' of tensors of {rank} dimensions."
        )
    rest = [[n for d, n in enumerate(sizes) if d != axis % rank] for sizes in shapes]
    for sizes in rest[1:]:
        for place, (a, b) in enumerate(zip(rest[0], sizes)):
            if a is not None and b is not None and a != b:
                raise ValueError(
                    f"Dimension {place} in both shapes must be equal, but are {a} and "
                    f"{b}. Shapes are {rest[0]} and {sizes}, of {shapes} for 'concat'."
                )


@recorded("concat")
def concat(values: Any, axis: Any) -> Any:
    """Tensors one after the other along an axis."""
    if not isinstance(values, (list, builtins.tuple)):
        values = [values]
    start = first(values[0])
    values = [start, *(first(value, dtype_of(start)) for value in values[1:])]
    _check_alike(values, ints(axis)[0])
    return ops.cat(values, ints(axis)[0])


@recorded("stack")
def stack(values: Any, axis: int = 0) -> Any:
    """Tensors of one shape along a new axis."""
    if isinstance(values, Symbol):
        return values
    start = first(values[0])
    values = [start, *(first(value, dtype_of(start)) for value in values[1:])]
    for value in values[1:]:
        a, b = static_sizes(start), static_sizes(value)
        if a is not None and b is not None:
            if len(a) != len(b):
                raise ValueError(f"Shapes must be equal rank, but are {a} and {b}.")
            for one, two in zip(a, b):
                if None not in (one, two) and one != two:
                    raise ValueError(
                        f"Dimension 0 in both shapes must be equal, but are {one} and "
                        f"{two}. Shapes are {a} and {b}."
                    )
    return ops.stack(values, axis)


@recorded("unstack")
def unstack(value: Any, num: int | None = None, axis: int = 0) -> Any:
    """A list of the slices along an axis; of ``num``, where its size is not known."""
    x = first(value)
    sizes = static_sizes(x)
    if num is None and sizes is not None:
        num = sizes[axis]
    if num is None:
        raise ValueError(f"Cannot infer argument `num` from shape {x.shape}.")
    return [ops.squeeze(part, axis) for part in ops.split(x, [1] * num, axis)]


@recorded("split")
def split(value: Any, num_or_size_splits: Any, axis: int = 0) -> Any:
    """A list of equal parts, or of parts of these sizes."""
    x = first(value)
    if not isinstance(num_or_size_splits, int):
        return list(ops.split(x, ints(num_or_size_splits), axis))
    sizes = static_sizes(x)
    known = None if sizes is None else sizes[axis]
    if known is not None and known % num_or_size_splits:
        raise ValueError(
            "Dimension size must be evenly divisible by "
            f"{num_or_size_splits} but is {known} for 'split'. "
            "Number of ways to split should evenly divide the split dimension"
        )
    if known is not None:
        return list(ops.chunk(x, num_or_size_splits, axis))
    # A new axis of so many parts, which a run refuses unless all are of one size.
    parts = ops.unflatten(x, axis, [num_or_size_splits, -1])
    place = axis if axis >= 0 else axis - 1
    return [ops.select(parts, place, i) for i in builtins.range(num_or_size_splits)]


@recorded("ExpandDims")
def expand_dims(input: Any, axis: Any = None, dim: Any = None) -> Any:  # noqa: A002
    """A new axis of one element."""
    return ops.unsqueeze(first(input), ints(dim if axis is None else axis)[0])


@recorded("Squeeze")
def squeeze(input: Any, axis: Any = None, squeeze_dims: Any = None) -> Any:  # noqa: A002
    """Without axes of one element; ValueError for an axis of more."""
    x = first(input)
    axis = squeeze_dims if axis is None else axis
    if axis is None:
        return ops.squeeze(x)
    sizes = static_sizes(x)
    for d in ints(axis):
        if sizes is not None and sizes[d] not in (None, 1):
            raise ValueError(
                f"Can not squeeze dim[{d}], expected a dimension of 1, got {sizes[d]}"
            )
        if sizes is None or sizes[d] is None:
            x = ops.unflatten(x, d, [1])  # which a run refuses for another size
    return ops.squeeze(x, ints(axis))


@recorded("one_hot", scope=True)
def one_hot(
    indices: Any, depth: Any, on_value: Any = None, off_value: Any = None,
    axis: Any = None, dtype: Any = None,
) -> Any:  # fmt: skip
    """on_value at the index of each row, else off_value: all of it outside of depth."""
    i = first(indices)
    given = [v for v in (on_value, off_value) if v is not None]
    if dtype is None:
        dtype = dtype_of(first(given[0])) if given else core.float32
    kind = core_dtype(dtype)
    depth = int(depth)
    row = ops.arange(depth, dtype=dtype_of(i))
    at = -1 if axis in (None, -1) else ints(axis)[0]
    hot = ops.eq(ops.unsqueeze(i, -1), row)
    if at != -1:
        hot = ops.movedim(hot, -1, at)
    if not given:
        return last(ops.to, hot, kind)
    on, off = (ops.full([], v, dtype=kind) for v in (
        1 if on_value is None else on_value, 0 if off_value is None else off_value
    ))  # fmt: skip
    return last(ops.where, hot, on, off)


@recorded("Select")
def where(condition: Any, x: Any = None, y: Any = None) -> Any:
    """x where the condition holds, else y; without both, the places that hold."""
    if x is None and y is None:
        return ops.nonzero(first(condition))
    if x is None or y is None:
        raise ValueError("x and y must both be non-None or both be None.")
    condition = first(condition)
    x, y = pair(x, y, "Select", "te")
    y = y if isinstance(y, core.Tensor) else first(y, dtype_of(x))
    if condition.ndim == 1 and x.ndim is not None and x.ndim > 1:  # chooses rows
        condition = ops.reshape(condition, [-1] + [1] * (x.ndim - 1))
    return ops.where(condition, x, y)


@recorded("Tile")
def tile(input: Any, multiples: Any) -> Any:  # noqa: A002
    """Repeated along each axis."""
    return ops.tile(first(input), ints(multiples))


@recorded("ReverseV2")
def reverse(tensor: Any, axis: Any) -> Any:
    """The order along these axes turned round."""
    return ops.flip(first(tensor), ints(axis))


@recorded("Pad")
def pad(
    tensor: Any, paddings: Any, mode: str = "CONSTANT", constant_values: Any = 0
) -> Any:
    """A border: (before, after) of each dimension."""
    if isinstance(paddings, Symbol):
        paddings = read_now(paddings)
    borders = [ints(list(border)) for border in paddings]
    flat = [n for border in reversed(borders) for n in border]
    if mode.upper() == "CONSTANT":
        return ops.pad(first(tensor), flat, "constant", constant_values)
    if mode.upper() != "REFLECT":
        raise ValueError(
            f"Unknown padding mode: {mode!r}: 'CONSTANT' and 'REFLECT' are there."
        )
    x = first(tensor)
    while flat and flat[-2:] == [0, 0]:  # the core wants a dimension that stays
        del flat[-2:]
    if len(flat) // 2 < len(borders):
        return ops.pad(x, flat, "reflect") if flat else ops.clone(x)
    return ops.squeeze(ops.pad(ops.unsqueeze(x, 0), flat, "reflect"), 0)


@recorded("Diag")
def diag(diagonal: Any) -> Any:
    """A matrix with a vector on its diagonal."""
    return ops.diag(first(diagonal))


@recorded("DiagPart")
def diag_part(input: Any) -> Any:  # noqa: A002
    """The diagonal of a matrix."""
    return ops.diagonal(first(input))


@recorded("RandomShuffle")
def random_shuffle(value: Any, seed: int | None = None) -> Any:
    """The rows in random order, another one in each run."""
    x = first(value)
    keys = ops.rand_like(zeros_along(x, 0, core.float32))
    return ops.index_select(x, 0, ops.argsort(keys))


@recorded("meshgrid")
def meshgrid(*args: Any, indexing: str = "xy") -> Any:
    """The coordinates of all points of a grid."""
    return list(ops.meshgrid(*(first(a) for a in args), indexing=indexing))


@recorded("DynamicPartition")
def dynamic_partition(data: Any, partitions: Any, num_partitions: int) -> Any:
    """The rows of each number, as a list."""
    x, of = first(data), first(partitions)
    return [ops.index(x, [ops.eq(of, n)]) for n in builtins.range(num_partitions)]


@recorded("UnsortedSegmentSum")
def unsorted_segment_sum(data: Any, segment_ids: Any, num_segments: int) -> Any:
    """The sums of the rows of each number."""
    x, of = first(data), first(segment_ids)
    sizes: Any = [int(num_segments), *(static_sizes(x) or [])[1:]]
    zeros = ops.zeros(sizes, dtype=dtype_of(x))
    return ops.index_add(zeros, 0, of.to(core.int64), x)


if not TYPE_CHECKING:
    __all__ = exported(globals())
