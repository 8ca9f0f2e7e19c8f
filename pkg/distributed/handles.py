# SPDX-License-Identifier: Apache-2.0
"""Handles of what is under way: numbers, as Horovod has them."""

from __future__ import annotations

import itertools
import threading
from typing import Any

from .._binding import core
from ..tensor import Tensor

__all__ = ["poll", "register", "synchronize"]

_numbers = itertools.count(1)
_pending: dict[int, Any] = {}
_lock = threading.Lock()


def register(pending: Any) -> int:
    """A handle of pending tensors, or of an event whose result they will be."""
    number = next(_numbers)
    with _lock:
        _pending[number] = pending
    return number


def _tensors(value: Any) -> list[Tensor]:
    return list(value) if isinstance(value, (list, tuple)) else [value]


def poll(handle: int) -> bool:
    """Whether what the handle stands for is done, well or not: synchronize() returns at
    once.  ValueError for a number that is no handle."""
    with _lock:
        pending = _pending.get(handle)
    if pending is None:
        raise ValueError(
            f"Handle {handle} was not created or has been cleared; it can be given to "
            "synchronize() once."
        )
    if isinstance(pending, core.Event):
        return bool(pending.done())
    return all(tensor.is_ready() for tensor in _tensors(pending))


def synchronize(handle: int) -> Any:
    """Wait for what the handle stands for, and return it: the tensor, or tensors, or
    with splits the tensor and the splits.

    HorovodInternalError when it failed.  ValueError for a number that is no handle;
    each is one once.
    """
    poll(handle)
    with _lock:
        pending = _pending.pop(handle)
    if isinstance(pending, core.Event):
        return pending.result()
    for tensor in _tensors(pending):
        tensor.wait()
    return pending
