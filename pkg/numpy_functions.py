# SPDX-License-Identifier: Apache-2.0
"""NumPy's functions on tensors.  Called by Tensor's NumPy protocols at first use.

Whatever has an op of pkg is that op: operators, ufuncs and reductions give tensors, and
gradients flow.  Other ufuncs are computed by NumPy and give tensors; other functions
get the values and give arrays.  Neither has a gradient, so a tensor that requires one
is an error there.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from typing import Any

import numpy

from . import ops
from ._binding import core
from .tensor import Tensor

__all__ = ["apply_function", "apply_ufunc"]

# NumPy's ufuncs that are ops of the same meaning; "a=b" where the op is called b.
_UFUNCS = """
    absolute=abs add arccos=acos arccosh=acosh arcsin=asin arcsinh=asinh arctan=atan
    arctan2=atan2 arctanh=atanh bitwise_and bitwise_or bitwise_xor ceil cos cosh deg2rad
    divide=div equal=eq exp exp2 expm1 floor floor_divide fmod greater=gt
    greater_equal=ge hypot invert=bitwise_not isfinite isinf isnan
    left_shift=bitwise_left_shift less=lt less_equal=le log log10 log1p log2 logaddexp
    logical_and logical_not logical_or logical_xor matmul maximum minimum multiply=mul
    negative=neg not_equal=ne power=pow rad2deg reciprocal remainder
    right_shift=bitwise_right_shift rint=round sign sin sinh sqrt square subtract=sub
    tan tanh trunc
"""
_REDUCTIONS = """
    sum mean prod any all std var argmax argmin cumsum cumprod
    max=amax min=amin amax amin
"""


def _by_function(table: str) -> dict[Any, str]:
    pairs = [entry.partition("=") for entry in table.split()]
    return {getattr(numpy, name): op or name for name, _, op in pairs}


_OPS = _by_function(_UFUNCS)
_REDUCING = _by_function(_REDUCTIONS)


def apply_ufunc(ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
    """What ``Tensor.__array_ufunc__`` answers."""
    outputs = options.get("out", ())
    if not all(_is_known(given) for given in (*inputs, *outputs)):
        return NotImplemented
    if method == "__call__" and not options and ufunc in _OPS:
        return getattr(ops, _OPS[ufunc])(*map(_operand, inputs))
    name = ufunc.__name__ if method == "__call__" else f"{ufunc.__name__}.{method}"
    if method == "at":  # writes to its first argument
        written = inputs[0]
        if isinstance(written, Tensor):
            written = _to_write(name, written)
        ufunc.at(written, *(_values(name, given) for given in inputs[1:]))
        if isinstance(inputs[0], Tensor):
            inputs[0].copy_(core.tensor(written))
        return None
    values = [_values(name, given) for given in inputs]
    if outputs:
        options["out"] = tuple(
            _to_write(name, out) if isinstance(out, Tensor) else out for out in outputs
        )
    found = getattr(ufunc, method)(*values, **options)
    results = list(found) if isinstance(found, tuple) else [found]
    for i, result in enumerate(results):
        out = outputs[i] if outputs else None
        if isinstance(out, Tensor):
            out.copy_(core.tensor(result))
        results[i] = _tensor(result) if out is None else out
    return tuple(results) if isinstance(found, tuple) else results[0]


def _is_known(given: Any) -> bool:
    # Another library's array that answers for ufuncs itself gets its turn.
    plain = isinstance(given, (Tensor, numpy.ndarray, numpy.generic))
    return plain or not hasattr(type(given), "__array_ufunc__")


def _operand(given: Any) -> Any:
    return core.tensor(given) if isinstance(given, (list, tuple)) else given


def _values(function: str, given: Any) -> Any:
    if not isinstance(given, Tensor):
        return given
    if given.requires_grad:
        raise RuntimeError(
            f"[{function}] expected tensors that require no grad, as NumPy's function "
            "has no gradient here, got one that does. Use tensor.detach() for its "
            "values."
        )
    return given.numpy()


def _to_write(function: str, given: Any) -> Any:
    # A copy, which comes back by copy_(): autograd sees that.
    return _values(function, given).copy()


def _tensor(result: Any) -> Any:
    # Of what no dtype holds (complex numbers, objects) it stays NumPy's.
    numbers = isinstance(result, (numpy.ndarray, numpy.generic))
    if numbers and result.dtype.name in vars(core) and result.dtype.isnative:
        return core.tensor(result)
    return result


def apply_function(
    function: Callable[..., Any],
    types: Iterable[type],
    args: tuple[Any, ...],
    options: dict[str, Any],
) -> Any:
    """What ``Tensor.__array_function__`` answers."""
    if not all(issubclass(kind, (Tensor, numpy.ndarray)) for kind in types):
        return NotImplemented
    if function in _REDUCING and args and isinstance(args[0], Tensor):
        return _reduce(function, _REDUCING[function], args, options)
    name = function.__name__
    return function(*_arrays(name, args), **_arrays(name, options))


def _arrays(function: str, given: Any) -> Any:
    # With arrays in place of tensors, in lists, tuples and dicts too.
    if isinstance(given, (list, tuple)) and type(given) in (list, tuple):
        return type(given)(_arrays(function, entry) for entry in given)
    if isinstance(given, dict):
        return {key: _arrays(function, entry) for key, entry in given.items()}
    return _values(function, given)


def _reduce(function: Callable[..., Any], op: str, args: Any, options: Any) -> Any:
    given = inspect.signature(function).bind(*args, **options).arguments
    a = given.pop("a")
    given = {key: value for key, value in given.items() if value is not None}
    if not given.keys() <= {"axis", "dtype", "keepdims", "ddof"}:
        return _tensor(function(*_arrays(op, args), **_arrays(op, options)))
    if op in ("std", "var"):
        given["correction"] = given.pop("ddof", 0)  # PyTorch's default is 1
    if op in ("cumsum", "cumprod") and "axis" not in given:
        a, given["axis"] = a.reshape(-1), 0
    return getattr(ops, op)(a, **given)
