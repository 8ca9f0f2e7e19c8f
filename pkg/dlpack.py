# SPDX-License-Identifier: Apache-2.0
"""Tensors over the memory of other libraries by the DLPack protocol."""

from __future__ import annotations

from typing import Any

from ._binding import core
from .tensor import Tensor

__all__ = ["check_device", "from_dlpack"]

_CPU = 1  # DLPack's number


def from_dlpack(
    ext_tensor: Any, *, device: Any = None, copy: bool | None = None
) -> Tensor:
    """Tensor over the memory of another library's array; both see writes.

    ext_tensor: an object with ``__dlpack__`` (of NumPy, PyTorch, JAX, CuPy, another
    binding of pkg ...), or a DLPack capsule, which can be used once.
    device: None or "cpu".
    copy: True for memory of its own, False never to copy.  None shares, except memory
    that its owner marks as read-only (JAX's arrays), since a tensor can be written to,
    and memory that is not aligned to its elements.

    TypeError for an element type that no dtype is for; BufferError for memory that is
    not the CPU's, or that is read-only or not aligned with copy=False; ValueError for
    negative strides.
    """
    check_device("from_dlpack", device)
    if not hasattr(ext_tensor, "__dlpack__"):
        return core._from_dlpack(ext_tensor, copy)
    kind, index = ext_tensor.__dlpack_device__()
    if kind != _CPU:
        raise BufferError(
            "[from_dlpack] expected memory of the CPU (device type 1), got device type "
            f"{int(kind)}. Copy it to the CPU first."
        )
    options = {} if copy is None else {"copy": copy}
    try:
        capsule = ext_tensor.__dlpack__(max_version=(1, 0), **options)
    except TypeError:  # a producer from before DLPack 1.0
        capsule = ext_tensor.__dlpack__()
    return core._from_dlpack(capsule, copy)


def check_device(function: str, device: Any) -> None:
    """ValueError for a device that has no memory of other libraries."""
    if device is not None and core.device(device).type != "cpu":
        raise ValueError(f"[{function}] expected device None or 'cpu', got {device!r}.")
