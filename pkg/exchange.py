# SPDX-License-Identifier: Apache-2.0
"""asarray(): whatever holds numbers as a tensor, over the same memory where it can be.

The way back is in Tensor: ``numpy()``, ``__array__``, ``__dlpack__``.
"""

from __future__ import annotations

from typing import Any

from ._binding import core
from .arrays import is_array, plain_array
from .dlpack import check_device, from_dlpack
from .tensor import Tensor

__all__ = ["asarray"]


def asarray(
    obj: Any,
    *,
    dtype: Any = None,
    device: Any = None,
    copy: bool | None = None,
    requires_grad: bool | None = None,
) -> Tensor:
    """Tensor of whatever holds numbers, without a copy where that can be.

    obj: a tensor, which is returned as it is; an array or another object with the
    buffer protocol (``bytes`` and ``bytearray`` are uint8), with ``__dlpack__`` or with
    ``__array__`` (of pandas, polars ...), whose memory is shared unless it is
    read-only or not aligned; a DLPack capsule; a number; nested sequences of numbers,
    which are copied.
    dtype: converts when it is another one, which copies.
    copy: True always copies, False raises ValueError where a copy is needed.
    requires_grad: None keeps that of `obj`.

    TypeError for an object that holds no numbers or numbers of another type, ValueError
    where numbers are missing or masked.
    """
    check_device("asarray", device)
    found = _shared(obj, copy)
    if found is None:
        if copy is False:
            raise ValueError("can't alias arbitrary sequence into a tensor.")
        result = core.tensor(obj, dtype=dtype)
    else:
        result = _converted(found, dtype, copy)
    if requires_grad is None or requires_grad == result.requires_grad:
        return result
    return result.detach().requires_grad_(requires_grad)


def _shared(obj: Any, copy: bool | None) -> Tensor | None:
    """Tensor over the object's memory, or a copy if read-only; None: no memory."""
    if isinstance(obj, Tensor):
        return obj
    # NumPy's own arrays have DLPack, too; for others that is the way to share.
    if is_array(obj) and (
        hasattr(obj, "__array_interface__") or not hasattr(obj, "__dlpack__")
    ):
        obj = plain_array(obj, copy)
        if isinstance(obj, Tensor):
            return obj
    try:
        view = memoryview(obj)
    except TypeError:
        view = None
    if view is not None:
        if not view.readonly:
            try:
                return core.from_numpy(view)
            except (TypeError, ValueError):  # other elements, or steps backwards
                return _shared(plain_array(obj, copy), copy)
        if copy is False:
            raise ValueError("can't alias read-only memory into a tensor.")
        return core.tensor(view if isinstance(obj, bytes) else obj)
    if hasattr(obj, "__dlpack__") or type(obj).__name__ == "PyCapsule":
        return from_dlpack(obj, copy=copy)
    return None


def _converted(tensor: Tensor, dtype: Any, copy: bool | None) -> Tensor:
    wanted = tensor.dtype if dtype is None else core.dtype(dtype)
    if wanted is tensor.dtype:
        return tensor.clone() if copy else tensor
    if copy is False:
        raise ValueError(
            f"can't alias tensor with dtype '{tensor.dtype.name}' into dtype "
            f"'{wanted.name}'."
        )
    converted: Tensor = tensor.to_dtype(wanted)
    return converted
