# SPDX-License-Identifier: Apache-2.0
"""TensorFlow 1's functions of tensors, over this library's ops."""

from __future__ import annotations

import builtins
from typing import TYPE_CHECKING, Any

from ... import ops
from ..._binding import core
from .convert import first, other, rank_of, recorded


def _binary(op: Any, doc: str) -> Any:
    def function(x: Any, y: Any) -> Any:
        return op(first(x), other(y))

    function.__doc__ = doc
    return recorded(function)


def _unary(op: Any, doc: str) -> Any:
    def function(x: Any) -> Any:
        return op(first(x))

    function.__doc__ = doc
    return recorded(function)


add = _binary(ops.add, "x + y, element by element.")
subtract = _binary(ops.sub, "x - y, element by element.")
multiply = _binary(ops.mul, "x * y, element by element.")
divide = truediv = div = _binary(ops.div, "x / y, element by element.")
floordiv = floor_div = _binary(ops.floor_divide, "x // y, element by element.")
mod = floormod = _binary(ops.remainder, "x % y, with the sign of y.")
maximum = _binary(ops.maximum, "The larger one.")
minimum = _binary(ops.minimum, "The smaller one.")
pow = _binary(ops.pow, "x ** y, element by element.")  # noqa: A001
equal = _binary(ops.eq, "x == y, element by element.")
not_equal = _binary(ops.ne, "x != y, element by element.")
less = _binary(ops.lt, "x < y, element by element.")
less_equal = _binary(ops.le, "x <= y, element by element.")
greater = _binary(ops.gt, "x > y, element by element.")
greater_equal = _binary(ops.ge, "x >= y, element by element.")
logical_and = _binary(ops.logical_and, "x and y, element by element.")
logical_or = _binary(ops.logical_or, "x or y, element by element.")
logical_not = _unary(ops.logical_not, "not x, element by element.")
negative = _unary(ops.neg, "-x.")
abs = _unary(ops.abs, "|x|.")  # noqa: A001
sign = _unary(ops.sign, "-1, 0 or 1.")
square = _unary(ops.square, "x * x.")
sqrt = _unary(ops.sqrt, "The square root.")
rsqrt = _unary(ops.rsqrt, "1 / sqrt(x).")
exp = _unary(ops.exp, "e ** x.")
log = _unary(ops.log, "The natural logarithm.")
sin = _unary(ops.sin, "The sine.")
cos = _unary(ops.cos, "The cosine.")
tanh = _unary(ops.tanh, "The hyperbolic tangent.")
sigmoid = _unary(ops.sigmoid, "1 / (1 + exp(-x)).")
floor = _unary(ops.floor, "The whole number below.")
ceil = _unary(ops.ceil, "The whole number above.")
identity = _unary(ops.clone, "The same value, read here.")
stop_gradient = _unary(ops.stop_gradient, "x, through which no gradient flows.")
zeros_like = _unary(ops.zeros_like, "Zeros of the same shape.")
ones_like = _unary(ops.ones_like, "Ones of the same shape.")
diag = _unary(ops.diag, "A matrix with x on its diagonal.")


@recorded
def matmul(a: Any, b: Any, transpose_a: bool = False, transpose_b: bool = False) -> Any:
    """The product of matrices, or of stacks of them."""
    a, b = first(a), first(b)
    if transpose_a:
        a = ops.transpose(a, -2, -1)
    if transpose_b:
        b = ops.transpose(b, -2, -1)
    return ops.matmul(a, b)


def _as_list(value: Any) -> list[Any]:
    return [value] if isinstance(value, int) else list(value)


def _reduction(op: Any, doc: str) -> Any:
    def function(
        input_tensor: Any, axis: Any = None, keepdims: bool = False,
        reduction_indices: Any = None, keep_dims: bool = False,
    ) -> Any:  # fmt: skip
        x = first(input_tensor)
        axis = reduction_indices if axis is None else axis
        keep = keepdims or keep_dims
        if axis is None and not keep:
            return op(x)
        dims = builtins.range(rank_of("reduce", x)) if axis is None else _as_list(axis)
        if len(dims) > 1:  # the last one first, as the others would move
            rank = rank_of("reduce", x)
            dims = sorted((d % rank for d in dims), reverse=True)
        for dim in dims:
            x = op(x, dim, keep)
        return x

    function.__doc__ = doc
    return recorded(function)


reduce_sum = _reduction(ops.sum, "The sum over the axes, of all elements without.")
reduce_mean = _reduction(ops.mean, "The mean over the axes.")
reduce_max = _reduction(ops.amax, "The largest element over the axes.")
reduce_min = _reduction(ops.amin, "The smallest element over the axes.")
reduce_prod = _reduction(ops.prod, "The product over the axes.")
reduce_all = _reduction(ops.all, "Whether all are true.")
reduce_any = _reduction(ops.any, "Whether one is true.")


@recorded
def argmax(input: Any, axis: int = 0, dimension: int | None = None) -> Any:  # noqa: A002
    """Where along the axis the largest element is, int64."""
    return ops.argmax(first(input), axis if dimension is None else dimension)


@recorded
def argmin(input: Any, axis: int = 0, dimension: int | None = None) -> Any:  # noqa: A002
    """Where along the axis the smallest element is, int64."""
    return ops.argmin(first(input), axis if dimension is None else dimension)


@recorded
def reshape(tensor: Any, shape: Any) -> Any:
    """The same elements in another shape; -1 is what is left."""
    return ops.reshape(first(tensor), [int(size) for size in shape])


@recorded
def transpose(a: Any, perm: Any = None) -> Any:
    """Its dimensions in another order, turned round if none is given."""
    x = first(a)
    if perm is None:
        perm = reversed(builtins.range(rank_of("transpose", x)))
    return ops.permute(x, list(perm))


@recorded
def concat(values: Any, axis: int) -> Any:
    """Tensors one after the other along an axis."""
    return ops.cat([first(value) for value in values], axis)


@recorded
def stack(values: Any, axis: int = 0) -> Any:
    """Tensors of one shape along a new axis."""
    return ops.stack([first(value) for value in values], axis)


@recorded
def unstack(value: Any, num: int | None = None, axis: int = 0) -> Any:
    """A list of the slices along an axis; of ``num``, where its size is not known."""
    x = first(value)
    if num is None:
        num = x.shape[axis]
    if num is None:
        raise ValueError(f"Cannot infer argument `num` from shape {x.shape}.")
    return [ops.squeeze(part, axis) for part in ops.split(x, [1] * num, axis)]


@recorded
def split(value: Any, num_or_size_splits: Any, axis: int = 0) -> Any:
    """A list of equal parts, or of parts of these sizes."""
    x = first(value)
    if isinstance(num_or_size_splits, int):
        return list(ops.chunk(x, num_or_size_splits, axis))
    return list(ops.split(x, list(num_or_size_splits), axis))


@recorded
def expand_dims(input: Any, axis: int) -> Any:  # noqa: A002
    """A new axis of one element."""
    return ops.unsqueeze(first(input), axis)


@recorded
def squeeze(input: Any, axis: Any = None) -> Any:  # noqa: A002
    """Without axes of one element."""
    x = first(input)
    return ops.squeeze(x) if axis is None else ops.squeeze(x, axis)


@recorded
def cast(x: Any, dtype: Any) -> Any:
    """Of another dtype."""
    return first(x).to(dtype)


@recorded
def one_hot(indices: Any, depth: int, dtype: Any = core.float32) -> Any:
    """1 at the index of each row, else 0."""
    return ops.one_hot(first(indices).to(core.int64), depth).to(dtype)


@recorded
def where(condition: Any, x: Any = None, y: Any = None) -> Any:
    """x where the condition holds, else y; without both, the places that hold."""
    if x is None and y is None:
        return ops.nonzero(first(condition))
    return ops.where(first(condition), first(x), first(y))


@recorded
def gather(params: Any, indices: Any, axis: int = 0) -> Any:
    """Rows of params, by number."""
    x, i = first(params), first(indices)
    if axis == 0:
        return x[i.to(core.int64)]
    if rank_of("gather", i) != 1:
        raise NotImplementedError("[gather] indices of several dimensions need axis 0.")
    return ops.index_select(x, axis, i.to(core.int64))


@recorded
def tile(input: Any, multiples: Any) -> Any:  # noqa: A002
    """Repeated along each axis."""
    return ops.tile(first(input), list(multiples))


@recorded
def clip_by_value(t: Any, clip_value_min: Any, clip_value_max: Any) -> Any:
    """No less and no more than these."""
    return ops.clamp(first(t), clip_value_min, clip_value_max)


@recorded
def add_n(inputs: Any) -> Any:
    """The sum of tensors."""
    total = first(inputs[0])
    for value in inputs[1:]:
        total = total + other(value)
    return total


# What makes tensors.
@recorded
def zeros(shape: Any, dtype: Any = core.float32) -> Any:
    """Zeros."""
    return ops.zeros(list(shape), dtype=dtype)


@recorded
def ones(shape: Any, dtype: Any = core.float32) -> Any:
    """Ones."""
    return ops.ones(list(shape), dtype=dtype)


@recorded
def fill(dims: Any, value: Any) -> Any:
    """One value everywhere."""
    dtype = core.float32 if isinstance(value, float) else core.int32
    return ops.full(list(dims), value, dtype=getattr(value, "dtype", dtype))


@recorded
def range(start: Any, limit: Any = None, delta: Any = 1, dtype: Any = None) -> Any:  # noqa: A001
    """Numbers from start up to limit, by delta."""
    if limit is None:
        start, limit = 0, start
    if dtype is None:
        whole = all(isinstance(value, int) for value in (start, limit, delta))
        dtype = core.int32 if whole else core.float32
    return ops.arange(start, limit, delta, dtype=dtype)


@recorded
def random_normal(
    shape: Any, mean: float = 0.0, stddev: float = 1.0, dtype: Any = core.float32,
    seed: int | None = None,
) -> Any:  # fmt: skip
    """Normal random numbers, others in each run; manual_seed() is the seed."""
    return ops.randn(list(shape), dtype=dtype) * stddev + mean


@recorded
def random_uniform(
    shape: Any, minval: Any = 0, maxval: Any = 1, dtype: Any = core.float32,
    seed: int | None = None,
) -> Any:  # fmt: skip
    """Uniform random numbers from minval up to maxval, others in each run."""
    if not dtype.is_floating_point:
        return ops.randint(minval, maxval, list(shape), dtype=dtype)
    return ops.rand(list(shape), dtype=dtype) * (maxval - minval) + minval


@recorded
def truncated_normal(
    shape: Any, mean: float = 0.0, stddev: float = 1.0, dtype: Any = core.float32,
    seed: int | None = None,
) -> Any:  # fmt: skip
    """Normal random numbers within two deviations: others are drawn again.

    Of five draws all are outside with a chance of 2e-7; the last is then cut.
    """
    size = list(shape)
    z = ops.randn(size, dtype=dtype)
    for _ in builtins.range(4):
        z = ops.where(ops.abs(z) > 2, ops.randn(size, dtype=dtype), z)
    return ops.clamp(z, -2, 2) * stddev + mean


if not TYPE_CHECKING:
    # What `import *` gives: the functions that stand here, under the names they have.
    __all__ = [
        name
        for name, value in globals().items()
        if not name.startswith("_") and getattr(value, "__module__", "") == __name__
    ]
    for _name in __all__:
        globals()[_name].__name__ = globals()[_name].__qualname__ = _name
