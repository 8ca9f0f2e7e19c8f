# SPDX-License-Identifier: Apache-2.0
"""Arrays of other libraries as plain NumPy arrays, or a precise error.

Called by both bindings and by exchange.py for what says that it is an array and is not
one that the core reads itself: pandas, polars, PIL, PyTorch, masked arrays, other byte
orders.  NumPy is imported at first use.
"""

from __future__ import annotations

from typing import Any

from .dlpack import from_dlpack

__all__ = ["is_array", "plain_array", "refuse_masked"]

_DTYPES = "bool uint8 int8 int32 int64 float16 float32 float64".split()
_PROTOCOLS = ("__array__", "__array_interface__", "__array_struct__")


def is_array(obj: Any) -> bool:
    """Whether it says by NumPy's protocols that it is an array."""
    return not isinstance(obj, type) and any(hasattr(obj, name) for name in _PROTOCOLS)


def plain_array(obj: Any, copy: bool | None = None) -> Any:
    """NumPy's array of it: a dtype of ours, native, aligned, without negative strides,
    of bools whose bytes are 0 and 1.

    A Tensor where only DLPack has the values, such as PyTorch's bfloat16.  The memory
    is shared where it can be; ValueError with copy=False where it cannot.
    TypeError for what holds no numbers, ValueError where numbers are missing.
    """
    refuse_masked(obj)
    if not is_array(obj) and hasattr(obj, "__dlpack__"):
        return from_dlpack(obj)
    import numpy

    try:
        array = numpy.asarray(obj)
    except TypeError:
        if not hasattr(obj, "__dlpack__"):
            raise
        return from_dlpack(obj)
    _refuse_missing(obj, array)
    plain = _of_objects(array) if array.dtype == object else array
    if plain.dtype.newbyteorder("=").name not in _DTYPES:
        raise TypeError(
            f"[tensor] expected an array of {', '.join(_DTYPES)}, got {array.dtype} "
            f"(type={type(obj).__name__}). Convert it first: .astype('float32')."
        )
    if not plain.dtype.isnative:
        plain = plain.astype(plain.dtype.newbyteorder("="))
    odd = any(step < 0 or step % plain.itemsize for step in plain.strides)
    if odd or not plain.flags.aligned:
        plain = plain.copy()
    if plain.dtype == bool and (plain.view("uint8") > 1).any():
        plain = plain.view("uint8") != 0
    if copy is False and not numpy.may_share_memory(plain, numpy.asarray(obj)):
        raise ValueError(f"can't alias {type(obj).__name__} into a tensor.")
    return plain


def refuse_masked(obj: Any) -> None:
    """ValueError for a masked array with masked elements, whose values are no data."""
    mask = getattr(obj, "mask", None) if hasattr(obj, "_mask") else None
    if mask is not None and mask is not False and hasattr(obj, "filled") and mask.any():
        raise ValueError(
            f"[tensor] expected an array without masked elements, got {mask.sum()} of "
            f"{obj.size} masked. Use array.filled(value) or array.compressed()."
        )


def _refuse_missing(obj: Any, array: Any) -> None:
    # Integers with gaps (pandas' Int64, polars) come as floats with NaN: another dtype
    # than the data's, and other numbers from 2**53 on.
    own = type(obj).__module__.startswith("numpy")
    if own or array.dtype.kind != "f" or not array.ndim or not array.size:
        return
    dtypes: Any = getattr(obj, "dtypes", None)  # of a frame's columns
    if not hasattr(dtypes, "__iter__"):
        dtypes = [getattr(obj, "dtype", None)]
    columns = array.reshape(len(array), -1).T
    for dtype, column in zip(dtypes, columns):
        if _is_whole(dtype) and (column != column).any():
            raise ValueError(
                f"[tensor] expected whole numbers without gaps, got {dtype} with "
                f"{(column != column).sum()} missing (type={type(obj).__name__}). Fill "
                "them first, or convert to floats, whose NaN can say it."
            )


def _is_whole(dtype: Any) -> bool:
    # pandas' dtypes have NumPy's letter; those of polars can be asked.
    ask = getattr(dtype, "is_integer", None)
    return getattr(dtype, "kind", None) in ("i", "u", "b") or (callable(ask) and ask())


def _of_objects(array: Any) -> Any:
    # Python objects: numbers as NumPy reads them; anything else is named.
    import numpy

    if not array.size:
        return array.astype(float)
    try:
        numbers = numpy.array(array.tolist())
    except (TypeError, ValueError, OverflowError):  # of different lengths
        numbers = array
    if numbers.dtype.kind in "biuf" and numbers.shape[: array.ndim] == array.shape:
        return numbers
    for place, item in numpy.ndenumerate(array):
        if not isinstance(item, (int, float, numpy.number, numpy.bool_)):
            at = f"[{', '.join(map(str, place))}]"
            raise TypeError(
                f"[tensor] expected numbers, got {type(item).__name__} {item!r} at "
                f"{at} of an array of objects. Fill or convert it first."
            )
    return array
