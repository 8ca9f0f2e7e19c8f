# SPDX-License-Identifier: Apache-2.0
"""NumPy's functions on tensors.  Called by Tensor's NumPy protocols at first use.

Whatever has an op of pkg is that op: operators, ufuncs and reductions give tensors, and
gradients flow.  Other ufuncs are computed by NumPy and give tensors; other functions
get the values and give arrays.  Neither has a gradient, so a tensor that requires one
is an error there.  A tensor that NumPy writes to is written by copy_(), which counts.
"""

from __future__ import annotations

import functools
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


def _functions(names: str) -> frozenset[Any]:
    return frozenset(getattr(numpy, name) for name in names.split())


_OPS = _by_function(_UFUNCS)
_CALLS = {ufunc: getattr(ops, op) for ufunc, op in _OPS.items()}
_REDUCING = _by_function(_REDUCTIONS)
# Those that write to their first argument.  Whatever has out= writes to that.
_WRITERS = _functions("copyto fill_diagonal put place putmask put_along_axis")
# Of the shape alone; and of shape, dtype and place, so that no gradient is lost.
_OF_SHAPES = _functions("shape ndim size")
_OF_KINDS = _functions("""
    can_cast common_type empty_like full_like iscomplexobj isrealobj may_share_memory
    ones_like result_type shares_memory zeros_like
""")
_OPERANDS = (Tensor, numpy.ndarray, numpy.generic, int, float)


def apply_ufunc(
    self: Tensor, ufunc: Any, method: str, *inputs: Any, **options: Any
) -> Any:
    """NumPy's operators and ufuncs: the op of that name, or NumPy's values."""
    if not options and method == "__call__" and ufunc in _CALLS:
        for given in inputs:
            if not isinstance(given, _OPERANDS):
                break
        else:
            return _CALLS[ufunc](*inputs)
    outputs = options.get("out", ())
    if not all(_is_known(given) for given in (*inputs, *outputs)):
        return NotImplemented
    if method == "__call__" and not options and ufunc in _CALLS:
        return _CALLS[ufunc](*map(_operand, inputs))
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
    # A mask (where=) that stayed a tensor would bring NumPy back here, without end.
    options = {key: _values(name, given) for key, given in options.items()}
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
    self: Tensor,
    func: Callable[..., Any],
    types: Iterable[type],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> Any:
    """NumPy's other functions: reductions are ops, the rest gets the values."""
    if not all(issubclass(kind, (Tensor, numpy.ndarray)) for kind in types):
        return NotImplemented
    if func in _OF_SHAPES:
        return func(*_arrays(args, _empty), **_arrays(kwargs, _empty))
    plain = not kwargs and len(args) == 1  # quicker than to bind them
    given = {"a": args[0]} if plain else _bound(func, args, kwargs)
    op = _REDUCING.get(func)
    if op is None:
        return _by_numpy(func, given, args, kwargs)
    a = given.get("a")
    if isinstance(a, Tensor) and _has_op(given):
        try:
            return _reduce(op, **given)
        except (TypeError, ValueError, RuntimeError, IndexError):
            if a.requires_grad:
                raise  # and what else the op does not take is NumPy's
    found = _by_numpy(func, given, args, kwargs)
    return found if "out" in given else _tensor(found)


@functools.cache
def _signature(function: Callable[..., Any]) -> inspect.Signature | None:
    try:
        return inspect.signature(function)
    except ValueError:  # some of NumPy's own in C, by version
        return None


def _bound(function: Callable[..., Any], args: Any, options: Any) -> dict[str, Any]:
    # The arguments by name, without those that say nothing.
    signature = _signature(function)
    given = signature.bind(*args, **options).arguments if signature else options
    return {key: value for key, value in given.items() if value is not None}


def _has_op(given: dict[str, Any]) -> bool:
    # Of no axes NumPy reduces nothing, an op all.
    axis = given.get("axis")
    if isinstance(axis, (tuple, list)) and not axis:
        return False
    return given.keys() <= {"a", "axis", "dtype", "keepdims", "ddof"}


def _reduce(op: str, a: Tensor, **given: Any) -> Any:
    if "dtype" in given:
        given["dtype"] = _dtype(given["dtype"])
    if op in ("std", "var"):
        given["correction"] = given.pop("ddof", 0)  # PyTorch's default is 1
    if op in ("cumsum", "cumprod") and "axis" not in given:
        a, given["axis"] = a.reshape(-1), 0
    return getattr(ops, op)(a, **given)


def _dtype(given: Any) -> Any:
    try:
        return getattr(core, numpy.dtype(given).name, given)
    except TypeError:
        return given  # one of pkg's


def _by_numpy(
    function: Callable[..., Any], given: dict[str, Any], args: Any, options: Any
) -> Any:
    name = function.__name__
    if function in _OF_KINDS:
        _values(name, given.get("fill_value"))
        return function(*_arrays(args, _detached), **_arrays(options, _detached))
    # Each tensor that is written is a copy, see _to_write().
    written = [t for t in _written(function, given, args) if isinstance(t, Tensor)]
    copies = {id(t): _to_write(name, t) for t in written}

    def values(given: Any) -> Any:
        copy = copies.get(id(given))
        return _values(name, given) if copy is None else copy

    found = function(*_arrays(args, values), **_arrays(options, values))
    for tensor in written:
        copy = copies[id(tensor)]
        tensor.copy_(core.tensor(copy))
        found = tensor if found is copy else found
    return found


def _written(function: Callable[..., Any], given: dict[str, Any], args: Any) -> Any:
    out = given.get("out", ())
    written = list(out) if isinstance(out, tuple) else [out]
    in_place = function is numpy.nan_to_num and not given.get("copy", True)
    if function in _WRITERS or in_place or given.get("overwrite_input", False):
        written.append(args[0] if args else next(iter(given.values())))
    return written


def _arrays(given: Any, array_of: Callable[[Any], Any]) -> Any:
    # With arrays in place of tensors, in lists, tuples and dicts too.
    if isinstance(given, (list, tuple)) and type(given) in (list, tuple):
        return type(given)(_arrays(entry, array_of) for entry in given)
    if isinstance(given, dict):
        return {key: _arrays(entry, array_of) for key, entry in given.items()}
    return array_of(given)


def _empty(given: Any) -> Any:
    # Of its shape, without values: a tensor without memory has a shape, too.
    return numpy.broadcast_to(0, given.shape) if isinstance(given, Tensor) else given


def _detached(given: Any) -> Any:
    return given.detach().numpy() if isinstance(given, Tensor) else given


# In place of the methods that import this module, which cost as much as a small op.
Tensor.__array_ufunc__ = apply_ufunc  # type: ignore[method-assign]
Tensor.__array_function__ = apply_function  # type: ignore[method-assign]
