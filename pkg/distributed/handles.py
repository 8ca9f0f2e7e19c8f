# SPDX-License-Identifier: Apache-2.0
"""Handles of what is under way: numbers, as Horovod has them."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Iterable
from typing import Any, NamedTuple

from .._binding import core
from ..tensor import Tensor

__all__ = ["poll", "register", "register_in_place", "synchronize", "synchronize_all"]

_numbers = itertools.count(1)
_pending: dict[int, Any] = {}
_lock = threading.Lock()


def register(pending: Any) -> int:
    """A handle of pending tensors, or of an event whose result they will be."""
    number = next(_numbers)
    with _lock:
        _pending[number] = pending
    return number


class _InPlace(NamedTuple):
    """A tensor, and the pending result that it will be given."""

    target: Tensor
    made: Tensor


def register_in_place(target: Tensor, made: Tensor) -> int:
    """A handle of a tensor that synchronize() writes.  Only then, and after success: a
    tensor that waited for a collective that failed would be lost."""
    return register(_InPlace(target, made))


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
    if isinstance(pending, _InPlace):
        return bool(pending.made.is_ready())
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
    if isinstance(pending, _InPlace):
        pending.made.wait()
        before = core.set_grad_enabled(False)
        try:
            return pending.target.copy_(pending.made)
        finally:
            core.set_grad_enabled(before)
    for tensor in _tensors(pending):
        tensor.wait()
    return pending


def synchronize_all(handles: Iterable[int]) -> list[Any]:
    """What synchronize() returns for each.  After an error the others are waited for,
    so that none is left under way, and the first error is raised."""
    results, first = [], None
    for handle in handles:
        try:
            results.append(synchronize(handle))
        except Exception as error:
            first = first or error
    if first is not None:
        raise first
    return results
