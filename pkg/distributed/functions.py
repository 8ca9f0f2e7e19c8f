# SPDX-License-Identifier: Apache-2.0
"""Whole models, optimisers and Python objects from one rank to all."""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from .._binding import core
from ..optim import Optimizer
from ..tensor import Tensor
from .collectives import allgather, broadcast, broadcast_async_, synchronize
from .session import rank

__all__ = [
    "allgather_object", "broadcast_object", "broadcast_optimizer_state",
    "broadcast_parameters",
]  # fmt: skip


def broadcast_parameters(params: Any, root_rank: int) -> None:
    """Give all ranks the values of rank ``root_rank``.

    params: ``model.state_dict()`` or ``model.named_parameters()``: names, the same on
    all ranks, and tensors, which are written.  ValueError for anything else.
    """
    if isinstance(params, Mapping):
        pairs = sorted(params.items())
    elif isinstance(params, Iterable):
        pairs = [p if isinstance(p, tuple) else ("", p) for p in params]
    else:
        raise ValueError(f"invalid params of type: {type(params)}")
    handles = [
        broadcast_async_(
            value, root_rank, f"broadcast_parameters.{name}" if name else ""
        )
        for name, value in pairs
        if isinstance(value, Tensor)
    ]
    for handle in handles:
        synchronize(handle)


def broadcast_optimizer_state(optimizer: Optimizer, root_rank: int) -> None:
    """Give all ranks the options and the state of rank ``root_rank``'s optimizer.

    Works where only the root has made steps, as after it has read a checkpoint."""
    state = optimizer.state_dict() if rank() == root_rank else None
    state = broadcast_object(state, root_rank)
    if rank() != root_rank:
        optimizer.load_state_dict(state)


def _bytes_of(value: Any) -> Tensor:
    data = pickle.dumps(value, protocol=pickle.HIGHEST_PROTOCOL)
    made: Tensor = core.tensor(np.frombuffer(data, np.uint8).copy())
    return made


def broadcast_object(
    obj: Any = None, root_rank: int = 0, name: str | None = None
) -> Any:
    """The object of rank ``root_rank``, on all ranks; others need not give one.

    It is pickled: ranks must trust each other."""
    data = _bytes_of(obj) if rank() == root_rank else None
    count = core.tensor([0 if data is None else data.numel()], dtype=core.int64)
    count = broadcast(count, root_rank, name and f"{name}.size")
    if data is None:
        data = core.tensor(np.zeros(int(count.item()), np.uint8))
    data = broadcast(data, root_rank, name and f"{name}.data")
    return obj if rank() == root_rank else pickle.loads(data.numpy().tobytes())


def allgather_object(obj: Any, name: str | None = None) -> list[Any]:
    """The objects of all ranks in their order; pickled, as by broadcast_object."""
    data = _bytes_of(obj)
    counts = allgather(
        core.tensor([data.numel()], dtype=core.int64), name and f"{name}.size"
    )
    whole = allgather(data, name and f"{name}.data").numpy().tobytes()
    found, begin = [], 0
    for count in counts.tolist():
        found.append(pickle.loads(whole[begin : begin + count]))
        begin += count
    return found
