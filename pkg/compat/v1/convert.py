# SPDX-License-Identifier: Apache-2.0
"""Values as TensorFlow 1 reads them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import graph as pg, ops
from ..._binding import core
from ...graph import Symbol
from ...graph.symbols import dtype_of
from ...tensor import Tensor
from . import dtypes
from .dtypes import as_dtype, core_dtype
from .elements import get_default_graph
from .shapes import Dimension, TensorShape

__all__ = [
    "as_values", "constant", "convert_to_tensor", "first", "narrow", "other", "pair",
    "rank_of",
]  # fmt: skip


def _array(value: Any) -> np.ndarray[Any, Any]:
    if isinstance(value, TensorShape):
        value = value.as_list()
    if isinstance(value, (list, tuple)):
        value = [int(v) if isinstance(v, Dimension) else v for v in value]
    elif isinstance(value, Dimension):
        value = int(value)
    if value is None or (isinstance(value, (list, tuple)) and None in value):
        raise ValueError("None values not supported.")
    array = np.asarray(value)
    if array.dtype.kind in "USO":
        leaves = np.asarray(value, dtype=object).ravel().tolist()
        if all(isinstance(leaf, (str, bytes)) for leaf in leaves):
            dtypes.string.core  # noqa: B018  (it raises)
        kinds = sorted({type(leaf).__name__ for leaf in leaves})
        raise TypeError(
            f"Failed to convert elements of {value!r} to a tensor: expected numbers of "
            f"one kind, got {', '.join(kinds)}."
        )
    return array


def _leaf(value: Any) -> Any:
    while isinstance(value, (list, tuple)) and value:
        value = value[0]
    return value


def _check_fits(array: np.ndarray[Any, Any], dtype: dtypes.DType) -> None:
    # Of Python's numbers none may be rounded, and only numbers are numbers.
    kind = array.dtype.kind
    fits = {
        "b": dtype.is_bool,
        "i": not dtype.is_bool,
        "u": not dtype.is_bool,
        "f": dtype.is_floating or dtype.is_complex,
        "c": dtype.is_complex,
    }
    if array.size and not fits[kind]:
        leaf = array.ravel()[0].item()
        raise TypeError(
            f"Expected {dtype.name}, but got {leaf} of type '{type(leaf).__name__}'."
        )


def as_values(value: Any, dtype: Any = None) -> Tensor:
    """A tensor of the value; Python's floats are float32 and its ints int32.

    ValueError for None and for lists that are no rectangles; TypeError for what is no
    number, and for Python's floats where integers are wanted.
    """
    if isinstance(value, Tensor):
        return value if dtype is None else value.to(core_dtype(dtype))
    array = _array(value)
    plain = not isinstance(_leaf(value), (np.ndarray, np.generic))
    if dtype is not None:
        if plain:
            _check_fits(array, as_dtype(dtype))
        return core.tensor(array, dtype=core_dtype(dtype))
    wanted = as_dtype(array.dtype)
    if plain and array.dtype.kind == "f":
        wanted = dtypes.float32
    elif plain and array.dtype.kind == "i":
        small = np.iinfo(np.int32)
        if not array.size or (small.min <= array.min() and array.max() <= small.max):
            wanted = dtypes.int32
    return core.tensor(array, dtype=wanted.core)


def _holds_symbols(value: Any) -> bool:
    return isinstance(value, Symbol) or (
        isinstance(value, (list, tuple)) and any(map(_holds_symbols, value))
    )


def convert_to_tensor(
    value: Any, dtype: Any = None, name: str | None = None, preferred_dtype: Any = None,
    dtype_hint: Any = None,
) -> Any:  # fmt: skip
    """The tensor itself, or a constant of the value.

    ValueError for None and for a tensor of another dtype; TypeError for what is no
    value.
    """
    as_tensor = getattr(value, "_as_tensor", None)
    if as_tensor is not None:
        value = as_tensor()
    if isinstance(value, Symbol):
        if dtype is not None and dtype_of(value) != core_dtype(dtype):
            raise ValueError(
                f"Tensor conversion requested dtype {as_dtype(dtype).name} for Tensor "
                f"with dtype {as_dtype(dtype_of(value)).name}: {value!r}"
            )
        return value
    if isinstance(value, pg.Operation):
        raise TypeError(
            f"Can't convert Operation {value.name!r} to Tensor (target "
            f"dtype={dtype!r}, name={name!r}, as_ref=False)"
        )
    if isinstance(value, (list, tuple)) and _holds_symbols(value):
        if dtype is None:
            there = next(v for v in value if _holds_symbols(v))
            dtype = there.dtype if isinstance(there, Symbol) else None
        parts = [convert_to_tensor(part, dtype) for part in value]
        return get_default_graph().record(name or "packed", ops.stack, parts)
    hint = preferred_dtype if dtype_hint is None else dtype_hint
    if dtype is None and hint is not None:
        try:
            return constant(value, hint, name=name or "Const")
        except (TypeError, ValueError):
            pass
    return constant(value, dtype, name="Const" if name is None else name)


def constant(
    value: Any, dtype: Any = None, shape: Any = None, name: str = "Const",
    verify_shape: bool = False,
) -> Any:  # fmt: skip
    """A tensor of this value; with a shape, repeated where it is one number.

    TypeError and ValueError for what is no value of the dtype.
    """
    graph = get_default_graph()
    if hasattr(graph, "check"):
        graph.check(name)
    # No op is called here: this may be one of the calls that a graph records.
    values = as_values(value, dtype)
    if shape is not None:
        sizes: Any = TensorShape(shape).as_list()
        array = values.numpy()
        one = array.size == 1
        array = np.broadcast_to(array, sizes) if one else array.reshape(sizes)
        values = core.tensor(array, dtype=values.dtype)
    with graph.as_default():
        return pg.constant(values, name=name)


def first(value: Any, dtype: Any = None) -> Any:
    """The operand that an op needs as a tensor: lists and numbers become one."""
    if isinstance(value, Symbol) or (isinstance(value, Tensor) and dtype is None):
        return value
    return convert_to_tensor(value, dtype)


def other(
    value: Any, like: Any, op: str = "", name: str = "y", of: str = "x"
) -> Any:
    """A further operand, which has the first one's dtype; numbers stay what they are.

    TypeError for a tensor of another dtype, and for floats where integers are wanted.
    """
    wanted = as_dtype(dtype_of(like))
    if isinstance(value, (bool, int, float)) and not isinstance(value, np.generic):
        _check_fits(np.asarray(value), wanted)
        return value
    as_tensor = getattr(value, "_as_tensor", None)
    if as_tensor is not None:
        value = as_tensor()
    if isinstance(value, Tensor):
        if dtype_of(value) != wanted.core:
            raise TypeError(
                f"Input '{name}' of '{op}' Op has type {as_dtype(dtype_of(value)).name}"
                f" that does not match type {wanted.name} of argument '{of}'."
            )
        return value
    if isinstance(value, (np.ndarray, np.generic)):
        return convert_to_tensor(np.asarray(value).astype(wanted.as_numpy_dtype))
    return convert_to_tensor(value, wanted)


def pair(x: Any, y: Any, op: str = "", names: str = "xy") -> tuple[Any, Any]:
    """Two operands of one dtype, the first of which is a tensor."""
    if not isinstance(x, Tensor) and isinstance(y, Tensor):
        if isinstance(x, (np.ndarray, np.generic)):
            x = np.asarray(x).astype(as_dtype(dtype_of(y)).as_numpy_dtype)
        return convert_to_tensor(x, dtype_of(y)), y
    x = first(x)
    return x, other(y, x, op, names[1], names[0])


def narrow(made: Any, shape: list[int | None]) -> None:
    """Says of a result what its shape is, where the core could not know."""
    if hasattr(made, "set_shape") and not made.shape.is_fully_defined():
        made.set_shape(shape)


def rank_of(function: str, x: Any) -> int:
    """How many dimensions the tensor has; ValueError where that is not known."""
    if x.ndim is None:
        raise ValueError(
            f"[{function}] expected a tensor whose number of dimensions is known, got "
            f"{x!r}."
        )
    return int(x.ndim)
