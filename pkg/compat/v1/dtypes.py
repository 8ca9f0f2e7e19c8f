# SPDX-License-Identifier: Apache-2.0
"""TensorFlow 1's dtypes, each over the dtype of this library that has its values."""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np

from ..._binding import core

__all__ = [
    "DType", "as_dtype", "bfloat16", "bool", "complex64", "complex128",
    "double", "float16", "float32", "float64", "half", "int8", "int16",
    "int32", "int64", "string", "uint8", "uint16",
]  # fmt: skip


class DType:
    """A kind of element: ``tf.float32``.

    There are no tensors of some, as of ``tf.string``: asking for one is a
    NotImplementedError.
    """

    __slots__ = ("_core", "as_numpy_dtype", "name")

    def __init__(self, name: str, as_numpy_dtype: Any) -> None:
        self.name = name
        self.as_numpy_dtype = as_numpy_dtype
        self._core = getattr(core, name, None)

    base_dtype = property(lambda self: self, doc="The same: no dtype is a reference.")
    real_dtype = property(lambda self: self)

    @property
    def core(self) -> core.dtype:
        """This library's dtype; NotImplementedError where it has none."""
        if self._core is None:
            raise NotImplementedError(
                f"[{self.name}] there are no tensors of {self!r}. Hand such values to "
                "Python functions around the graph, or use another dtype."
            )
        found: core.dtype = self._core
        return found

    @property
    def _kind(self) -> str:
        return "f" if self is bfloat16 else str(np.dtype(self.as_numpy_dtype).kind)

    is_floating = property(lambda self: self._kind == "f", doc="float16, float32, ...")
    is_floating_point = is_floating
    is_integer = property(lambda self: self._kind in "iu", doc="int8, uint8, ...")
    is_unsigned = property(lambda self: self._kind == "u", doc="uint8, ...")
    is_bool = property(lambda self: self._kind == "b", doc="Whether it is tf.bool.")
    is_complex = property(lambda self: self._kind == "c", doc="complex64, complex128.")

    @property
    def size(self) -> int:
        """Bytes of one element."""
        return 2 if self is bfloat16 else int(np.dtype(self.as_numpy_dtype).itemsize)

    itemsize = size

    def _limit(self, which: str) -> Any:
        if self.is_bool:
            return which == "max"
        if self is bfloat16:
            largest = float.fromhex("0x1.fep127")
            return largest if which == "max" else -largest
        if self._kind not in "iuf":
            raise TypeError(f"Cannot find the {which} value of {self!r}.")
        info: Any = np.iinfo if self.is_integer else np.finfo
        return getattr(info(self.as_numpy_dtype), which)

    min = property(lambda self: self._limit("min"), doc="The least value it has.")
    max = property(lambda self: self._limit("max"), doc="The largest value it has.")
    limits = property(lambda self: (self.min, self.max), doc="Both.")

    def is_compatible_with(self, other: Any) -> Any:
        """Whether the other one is the same."""
        return self == other

    def __eq__(self, other: object) -> Any:
        """Whether the other one, of whatever library, is this one."""
        if isinstance(other, DType):
            return self is other
        try:
            return other is not None and as_dtype(other) is self
        except TypeError:
            return False

    def __hash__(self) -> int:
        """By name."""
        return hash(self.name)

    def __repr__(self) -> str:
        """tf.float32."""
        return f"tf.{self.name}"

    def __str__(self) -> str:
        """<dtype: 'float32'>."""
        return f"<dtype: {self.name!r}>"

    def __reduce__(self) -> Any:
        """The one of this process."""
        return as_dtype, (self.name,)


float16 = half = DType("float16", np.float16)
float32 = DType("float32", np.float32)
float64 = double = DType("float64", np.float64)
bfloat16 = DType("bfloat16", None)
int8, int16 = DType("int8", np.int8), DType("int16", np.int16)
int32, int64 = DType("int32", np.int32), DType("int64", np.int64)
uint8, uint16 = DType("uint8", np.uint8), DType("uint16", np.uint16)
bool = DType("bool", np.bool_)  # noqa: A001
complex64 = DType("complex64", np.complex64)
complex128 = DType("complex128", np.complex128)
string = DType("string", np.object_)

_ALL = [value for value in list(globals().values()) if isinstance(value, DType)]
_KNOWN: dict[Any, DType] = {dtype.name: dtype for dtype in _ALL}
_KNOWN.update({d._core: d for d in _ALL if d._core is not None})
_KNOWN.update({"half": half, "float": float32, "double": double, "str": string})
_KNOWN.update({float: float32, int: int32, builtins.bool: bool, str: string})


def as_dtype(type_value: Any) -> DType:
    """The dtype that this stands for: a name, NumPy's, Python's, this library's.

    TypeError for anything else.
    """
    if isinstance(type_value, DType):
        return type_value
    try:
        found = _KNOWN.get(type_value)
    except TypeError:
        found = None
    if found is None:
        try:
            given = np.dtype(type_value)
            found = string if given.kind in "OSU" else _KNOWN[given.name]
        except (TypeError, KeyError):
            raise TypeError(
                f"Cannot convert value {type_value!r} to a TensorFlow DType."
            ) from None
    return found


def core_dtype(dtype: Any) -> Any:
    """This library's dtype for whatever as_dtype() takes; None for None."""
    return None if dtype is None else as_dtype(dtype).core
