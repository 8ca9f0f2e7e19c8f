# SPDX-License-Identifier: Apache-2.0
"""TensorFlow 1's functions of elements, over this library's ops."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ... import ops
from ..._binding import core
from ...graph import Symbol
from ...graph.symbols import dtype_of
from . import dtypes
from .convert import first, other, pair
from .dtypes import as_dtype, core_dtype
from .exporting import exported
from .record import last, recorded
from .types import default_name


def _binary(op: Any, doc: str, name: str | None = None) -> Any:
    name = name or default_name(op.__name__)

    def function(x: Any, y: Any) -> Any:
        return op(*pair(x, y, name))

    function.__doc__ = doc
    return recorded(name)(function)


def _unary(op: Any, doc: str, floats: bool = False) -> Any:
    name = default_name(op.__name__)

    def function(x: Any) -> Any:
        x = first(x)
        if floats and not dtype_of(x).is_floating_point:
            allowed = "bfloat16, float16, float32, float64"
            raise TypeError(
                f"Value passed to parameter 'x' has DataType {as_dtype(x.dtype).name} "
                f"not in list of allowed values: {allowed}"
            )
        return op(x)

    function.__doc__ = doc
    return recorded(name)(function)


add = _binary(ops.add, "x + y, element by element.")
subtract = _binary(ops.sub, "x - y, element by element.")
multiply = _binary(ops.mul, "x * y, element by element.")
maximum = _binary(ops.maximum, "The larger one.")
minimum = _binary(ops.minimum, "The smaller one.")
pow = _binary(ops.pow, "x ** y, element by element.")  # noqa: A001
mod = floormod = _binary(ops.remainder, "x % y, with the sign of y.", "mod")
floordiv = floor_div = _binary(
    ops.floor_divide, "x // y, element by element.", "floordiv"
)
equal = _binary(ops.eq, "x == y, element by element.")
not_equal = _binary(ops.ne, "x != y, element by element.")
less = _binary(ops.lt, "x < y, element by element.")
less_equal = _binary(ops.le, "x <= y, element by element.")
greater = _binary(ops.gt, "x > y, element by element.")
greater_equal = _binary(ops.ge, "x >= y, element by element.")
logical_and = _binary(ops.logical_and, "x and y, element by element.")
logical_or = _binary(ops.logical_or, "x or y, element by element.")
logical_xor = _binary(ops.logical_xor, "One of x and y, and not both.")
logical_not = _unary(ops.logical_not, "not x, element by element.")
negative = _unary(ops.neg, "-x.")
abs = _unary(ops.abs, "|x|.")  # noqa: A001
sign = _unary(ops.sign, "-1, 0 or 1.")
square = _unary(ops.square, "x * x.")
reciprocal = _unary(ops.reciprocal, "1 / x.", floats=True)
sqrt = _unary(ops.sqrt, "The square root.", floats=True)
rsqrt = _unary(ops.rsqrt, "1 / sqrt(x).", floats=True)
exp = _unary(ops.exp, "e ** x.", floats=True)
expm1 = _unary(ops.expm1, "e ** x - 1, exactly.", floats=True)
log = _unary(ops.log, "The natural logarithm.", floats=True)
log1p = _unary(ops.log1p, "log(1 + x), exactly.", floats=True)
sin = _unary(ops.sin, "The sine.", floats=True)
cos = _unary(ops.cos, "The cosine.", floats=True)
tan = _unary(ops.tan, "The tangent.", floats=True)
asin = _unary(ops.asin, "The angle of a sine.", floats=True)
acos = _unary(ops.acos, "The angle of a cosine.", floats=True)
atan = _unary(ops.atan, "The angle of a tangent.", floats=True)
sinh = _unary(ops.sinh, "The hyperbolic sine.", floats=True)
cosh = _unary(ops.cosh, "The hyperbolic cosine.", floats=True)
tanh = _unary(ops.tanh, "The hyperbolic tangent.", floats=True)
erf = _unary(ops.erf, "The error function.", floats=True)
sigmoid = _unary(ops.sigmoid, "1 / (1 + exp(-x)).", floats=True)
floor = _unary(ops.floor, "The whole number below.")
ceil = _unary(ops.ceil, "The whole number above.")
round = _unary(ops.round, "The nearest whole number, of two the even one.")  # noqa: A001
is_nan = _unary(ops.isnan, "Whether it is no number.")
is_inf = _unary(ops.isinf, "Whether it is infinite.")
is_finite = _unary(ops.isfinite, "Whether it is a number that is not infinite.")
identity = _unary(ops.clone, "The same value, read here.")
stop_gradient = _unary(ops.stop_gradient, "x, through which no gradient flows.")
zeros_like = _unary(ops.zeros_like, "Zeros of the same shape.")
ones_like = _unary(ops.ones_like, "Ones of the same shape.")



@recorded("truediv", scope=True)
def truediv(x: Any, y: Any) -> Any:
    """x / y, element by element; of integers in float64."""
    x, y = pair(x, y, "truediv")
    if dtype_of(x).is_floating_point:
        return last(ops.div, x, y)
    small = dtype_of(x) in (core.int8, core.uint8)
    wide = core.float32 if small else core.float64
    return last(ops.div, x.to(wide), y.to(wide) if hasattr(y, "to") else y)


divide = truediv


@recorded("div")
def div(x: Any, y: Any) -> Any:
    """x / y, element by element; of integers the whole number below."""
    x, y = pair(x, y, "div")
    if dtype_of(x).is_floating_point:
        return ops.div(x, y)
    return ops.floor_divide(x, y)


@recorded("truncatediv")
def truncatediv(x: Any, y: Any) -> Any:
    """x / y of integers, rounded towards 0."""
    x, y = pair(x, y, "TruncateDiv")
    return ops.div(x, y, rounding_mode="trunc")


@recorded("SquaredDifference", scope=True)
def squared_difference(x: Any, y: Any) -> Any:
    """(x - y) * (x - y)."""
    return last(ops.square, ops.sub(*pair(x, y, "SquaredDifference")))


@recorded("MatMul", scope=True)
def matmul(a: Any, b: Any, transpose_a: bool = False, transpose_b: bool = False) -> Any:
    """The product of matrices, or of stacks of them."""
    a, b = pair(a, b, "MatMul", "ab")
    for x in (a, b):
        if x.ndim is not None and x.ndim < 2:
            raise ValueError(f"Shape must be rank 2 but is rank {x.ndim} for 'MatMul'.")
    if transpose_a:
        a = ops.transpose(a, -2, -1)
    if transpose_b:
        b = ops.transpose(b, -2, -1)
    return last(ops.matmul, a, b)


@recorded("Tensordot")
def tensordot(a: Any, b: Any, axes: Any) -> Any:
    """Sums of products over the last ``axes`` of a and the first ones of b, or over
    two lists of axes."""
    a, b = pair(a, b, "Tensordot", "ab")
    if isinstance(axes, int):
        return ops.tensordot(a, b, axes)
    of_a, of_b = ([d] if isinstance(d, int) else list(d) for d in axes)
    return ops.tensordot(a, b, of_a, of_b)


def cast(x: Any, dtype: Any, name: str | None = None) -> Any:
    """Of another dtype; the tensor itself where it has that one."""
    x = first(x)
    if dtype_of(x) == core_dtype(dtype):
        return x
    return _cast(x, core_dtype(dtype), name=name)


@recorded("Cast")
def _cast(x: Any, dtype: Any) -> Any:
    return x.to(dtype)


def to_float(x: Any, name: str | None = "ToFloat") -> Any:
    """As float32."""
    return cast(x, dtypes.float32, name)


def to_double(x: Any, name: str | None = "ToDouble") -> Any:
    """As float64."""
    return cast(x, dtypes.float64, name)


def to_int32(x: Any, name: str | None = "ToInt32") -> Any:
    """As int32."""
    return cast(x, dtypes.int32, name)


def to_int64(x: Any, name: str | None = "ToInt64") -> Any:
    """As int64."""
    return cast(x, dtypes.int64, name)


@recorded("clip_by_value")
def clip_by_value(t: Any, clip_value_min: Any, clip_value_max: Any) -> Any:
    """No less and no more than these."""
    t = first(t)
    limits = [other(v, t, "Minimum") for v in (clip_value_min, clip_value_max)]
    return ops.clamp(t, *limits)


def scalar_mul(scalar: Any, x: Any) -> Any:
    """scalar * x, also of IndexedSlices."""
    scalar = first(scalar, None if isinstance(scalar, Symbol) else x.dtype)
    if scalar.ndim:
        raise ValueError("Only scalar multiply works here.")
    if hasattr(x, "_parts"):
        values, *rest = x._parts()
        return x._of([values * scalar, *rest])
    return x * scalar


@recorded("AddN")
def add_n(inputs: Any) -> Any:
    """The sum of tensors."""
    if not isinstance(inputs, (list, tuple)) or not inputs:
        raise ValueError(
            "inputs must be an iterable of at least one Tensor/IndexedSlices with the "
            "same dtype and shape"
        )
    total = first(inputs[0])
    for value in inputs[1:]:
        total = total + other(value, total, "AddN")
    return total


accumulate_n = add_n
if not TYPE_CHECKING:
    __all__ = exported(globals())
