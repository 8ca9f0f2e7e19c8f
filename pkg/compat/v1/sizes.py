# SPDX-License-Identifier: Apache-2.0
"""Shapes that only a run knows, as tensors, and what has such a shape.

Of ``tf.shape(x)`` and ``tf.shape(x)[0]`` the graph remembers whose they are: what is
made of such a size takes it from x itself, so that a plan knows it as that of x.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import graph as pg, ops
from ..._binding import core
from ...graph import Symbol
from ...graph.symbols import dtype_of
from .convert import constant, convert_to_tensor, first, rank_of
from .dtypes import as_dtype, core_dtype, int32
from .record import recorded
from .shapes import Dimension, TensorShape


def known_sizes(shape: Any) -> list[int] | None:
    """The sizes, where all are numbers; -1 stays."""
    if isinstance(shape, TensorShape):
        shape = shape.as_list()
    if isinstance(shape, Symbol):
        return None if constant_of(shape) is None else ints(shape)
    if isinstance(shape, (int, np.integer, Dimension)):
        shape = [shape]
    if any(isinstance(size, Symbol) for size in shape):
        return None
    return [int(size) for size in shape]


def constant_of(tensor: Any) -> Any:
    """The array of a constant; None of any other tensor."""
    if isinstance(tensor, Symbol) and tensor.op._handle.type() == "Const":
        return tensor.op._handle.tensors()[0].numpy()
    return None


def read_now(tensor: Any) -> Any:
    """The array of a constant, which no run may feed from here on.

    NotImplementedError for any other tensor.
    """
    values = constant_of(tensor)
    if values is None:
        raise NotImplementedError(
            f"[graph] expected numbers or a constant, got {tensor}, whose values only "
            "a run knows."
        )
    tensor.graph.prevent_feeding(tensor)
    return values


def ints(values: Any) -> list[int]:
    """Numbers as a list, also of a single one, or of a constant tensor."""
    if isinstance(values, Symbol):
        values = read_now(values).tolist()
    return [int(values)] if not hasattr(values, "__len__") else [int(v) for v in values]


def static_sizes(x: Any) -> list[int | None] | None:
    """What is known of the sizes of a tensor; None if not even their number is."""
    shape = x.shape
    if getattr(shape, "ndims", 0) is None:
        return None
    return list(shape.as_list()) if hasattr(shape, "as_list") else list(shape)


def _origin(symbol: Any) -> Any:
    return getattr(symbol.graph, "origins", {}).get(symbol.name)


def _remember(symbol: Any, x: Any, dim: int | None) -> Any:
    origins = getattr(symbol.graph, "origins", None)
    if origins is not None:
        origins[symbol.name] = (x, dim)
    return symbol


def is_size_of(size: Any, x: Any, dim: int) -> bool:
    """Whether it is made as the size of x along a dimension."""
    origin = _origin(size) if isinstance(size, Symbol) else None
    return origin is not None and origin[0] is x and origin[1] == dim


def zeros_along(x: Any, dim: int, dtype: Any) -> Any:
    """A vector of zeros with as many elements as x has along a dimension."""
    rank_of("shape", x)
    for d in range(x.ndim):
        if d != dim:
            x = ops.slice(x, d, 0, 1)  # an empty dimension stays empty: its sum is 0
    zeros = ops.zeros_like(x, dtype=dtype)
    rest = [d for d in range(x.ndim) if d != dim]
    return (ops.sum(zeros, rest) if rest else zeros).to(dtype)


@recorded("strided_slice")
def _size(x: Any, dim: int, dtype: Any) -> Any:
    return ops.select(pg.shape(x), 0, dim).to(dtype)


def size_along(x: Any, dim: int, dtype: Any = int32, name: str | None = None) -> Any:
    """A size of a tensor: a constant where it is known."""
    size = x.shape.as_list()[dim]
    if size is not None:
        return constant(size, dtype, name=name or "Const")
    return _remember(_size(x, dim, core_dtype(dtype), name=name), x, dim)


def shape(input: Any, name: str | None = None, out_type: Any = int32) -> Any:  # noqa: A002
    """The shape as a tensor, also where it is not known before the run."""
    x = convert_to_tensor(input)
    sizes = x.shape
    name = "Shape" if name is None else name
    if sizes.is_fully_defined():
        return constant(sizes.as_list(), out_type, name=name, shape=[sizes.ndims])
    made = _shape(x, core_dtype(out_type), name=name)
    return _remember(made, x, None)


@recorded("Shape")
def _shape(x: Any, dtype: Any) -> Any:
    return pg.shape(x).to(dtype)


def part_of_shape(symbol: Any, place: int) -> Any:
    """``tf.shape(x)[place]``, which is the size itself; None for other tensors."""
    origin = _origin(symbol)
    if origin is None or origin[1] is not None:
        return None
    x = origin[0]
    if x.ndim is None:
        return None
    return size_along(x, place % x.ndim, symbol.dtype, "strided_slice")


def size(input: Any, name: str | None = None, out_type: Any = int32) -> Any:  # noqa: A002
    """How many elements there are."""
    x = convert_to_tensor(input)
    count = x.shape.num_elements()
    name = "Size" if name is None else name
    if count is not None:
        return constant(count, out_type, name=name)
    return _count(x, core_dtype(out_type), name=name)


@recorded("Size")
def _count(x: Any, dtype: Any) -> Any:
    return ops.sum(ops.ones_like(x, dtype=core.int64)).to(dtype)


def rank(input: Any, name: str | None = None) -> Any:  # noqa: A002
    """How many dimensions there are, which must be known."""
    x = convert_to_tensor(input)
    if x.ndim is None:
        raise NotImplementedError(f"[rank] expected a known rank, got {x!r}.")
    return constant(x.ndim, int32, name="Rank" if name is None else name)


def parts_of(shape: Any) -> list[Any]:
    """Sizes as numbers and scalar tensors, of a list of them or of a vector."""
    if isinstance(shape, Symbol):
        if shape.ndim == 0:
            return [shape]
        count = shape.shape.as_list()[0] if shape.ndim == 1 else None
        if count is None:
            raise NotImplementedError(
                f"[shape] expected a vector whose length is known, got {shape!r}."
            )
        parts = [part_of_shape(shape, d) for d in range(count)]
        return [
            ops.select(shape, 0, d) if part is None else part
            for d, part in enumerate(parts)
        ]
    return [
        part if isinstance(part, Symbol) else int(part)
        for part in (shape if isinstance(shape, (list, tuple)) else [shape])
    ]


def zeros_of(shape: Any, dtype: Any) -> Any:
    """Zeros of a shape with sizes that are tensors."""
    origin = _origin(shape) if isinstance(shape, Symbol) else None
    if origin is not None and origin[1] is None:
        return ops.zeros_like(origin[0], dtype=dtype)
    parts = parts_of(shape)
    static = [1 if isinstance(part, Symbol) else part for part in parts]
    made = ops.zeros(static, dtype=dtype)
    for place, part in enumerate(parts):
        if isinstance(part, Symbol):
            origin = _origin(part)
            if origin is not None:
                along = zeros_along(origin[0], origin[1], dtype)
            else:
                one, times = ops.zeros([1], dtype=dtype), ops.reshape(part, [1])
                along = ops.repeat_interleave(one, times.to(core.int64))
            made = made + ops.reshape(
                along, [-1 if d == place else 1 for d in range(len(parts))]
            )
    return made


def filled(shape: Any, value: Any, dtype: Any) -> Any:
    """One number everywhere."""
    sizes = known_sizes(shape)
    if sizes is not None:
        return ops.full(sizes, value, dtype=dtype)
    return ops.full_like(zeros_of(shape, dtype), value)


def _without_open(x: Any, parts: list[Any]) -> list[Any]:
    # Sizes of x reshaped, with what is left in the place of -1, also of one that only
    # a run knows; where nothing can be left, -1 stays, which a run refuses.
    open_ = [
        part == -1 if isinstance(part, int) else _origin(part) is None for part in parts
    ]
    if not any(open_):
        return parts
    given = sum(isinstance(part, int) and part == -1 for part in parts)
    if given > 1:
        raise ValueError(
            f"Only one input size may be -1, got {given} of them in {parts}."
        )
    wide = [p.to(core.int64) if isinstance(p, Symbol) else p for p in parts]
    missing: Any = given
    others: Any = 1
    for part, unsure in zip(wide, open_):
        if isinstance(part, Symbol) and unsure:
            missing = ops.eq(part, -1).to(core.int64) + missing
            part = ops.where(ops.eq(part, -1), 1, part)
        if isinstance(part, Symbol) or part != -1:
            others = part * others
    count = ops.sum(ops.ones_like(x, dtype=core.int64))
    left = count // ops.maximum(others, core.tensor(1, dtype=core.int64))
    left = ops.where(ops.eq(others, 0), -1, ops.where(ops.gt(missing, 1), -1, left))
    return [
        part if not unsure else left if isinstance(part, int) else
        ops.where(ops.eq(part, -1), left, part)
        for part, unsure in zip(wide, open_)
    ]  # fmt: skip


def reshaped(x: Any, shape: Any, add: Any = None) -> Any:
    """The same elements in a shape with sizes that may be tensors.

    add: what adds the last operation, of an op and its arguments.
    """
    add = add or (lambda op, *args: op(*args))
    sizes = known_sizes(shape)
    if sizes is not None:
        return add(ops.reshape, x, sizes)
    origin = _origin(shape) if isinstance(shape, Symbol) else None
    if origin is not None and origin[1] is None:
        return add(ops.reshape_as, x, origin[0])
    parts = _without_open(x, parts_of(shape))
    return add(ops.reshape_as, x, zeros_of(parts, dtype_of(x)))


@recorded("broadcast_to")
def broadcast_to(input: Any, shape: Any) -> Any:  # noqa: A002
    """Repeated along dimensions of size 1, to a shape."""
    x = first(input)
    sizes = known_sizes(shape)
    if sizes is not None:
        return ops.broadcast_to(x, sizes)
    return x + zeros_of(shape, as_dtype(dtype_of(x)).core)


__all__ = ["broadcast_to", "rank", "shape", "size"]
