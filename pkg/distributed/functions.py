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
from .collectives import allgather, broadcast, broadcast_async_
from .handles import synchronize_all
from .session import rank

__all__ = [
    "allgather_object", "broadcast_object", "broadcast_optimizer_state",
    "broadcast_parameters",
]  # fmt: skip


def broadcast_parameters(params: Any, root_rank: int) -> None:
    """Give all ranks the values of rank ``root_rank``.

    params: ``model.state_dict()`` or ``model.named_parameters()``: names, the same on
    all ranks, and tensors, which are written.  ValueError for anything else, also a
    value that is no tensor.
    """
    if isinstance(params, Mapping):
        pairs = sorted(params.items())
    elif isinstance(params, Iterable):
        pairs = [p if isinstance(p, tuple) else ("", p) for p in params]
    else:
        raise ValueError(f"invalid params of type: {type(params)}")
    others = {name: type(v).__name__ for name, v in pairs if not isinstance(v, Tensor)}
    if others:
        raise ValueError(
            f"[broadcast_parameters] expected tensors, got {others}. Send what is no "
            "tensor with broadcast_object()."
        )
    synchronize_all(
        [
            broadcast_async_(
                value, root_rank, f"broadcast_parameters.{name}" if name else ""
            )
            for name, value in pairs
        ]
    )


def broadcast_optimizer_state(optimizer: Optimizer, root_rank: int) -> None:
    """Give all ranks the options and the state of rank ``root_rank``'s optimizer.

    Works where only the root has made steps, as after it has read a checkpoint."""
    state = optimizer.state_dict() if rank() == root_rank else None
    state = broadcast_object(state, root_rank)
    if rank() != root_rank:
        optimizer.load_state_dict(state)


def _bytes_of(value: Any) -> tuple[Tensor, Exception | None]:
    """It pickled; or the text of what went wrong, and the error."""
    failed = None
    try:
        data = pickle.dumps(value, protocol=pickle.HIGHEST_PROTOCOL)
    except Exception as error:  # of any kind: __reduce__ is the program's
        failed = error
        data = f"{type(error).__name__}: {error}".encode("utf-8", "replace")
    return core.tensor(np.frombuffer(data, np.uint8).copy()), failed


def _loaded(data: bytes, failed: int, owner: int) -> Any:
    if failed:
        raise core.HorovodInternalError(
            f"the object of rank {owner} cannot be pickled: "
            + data.decode("utf-8", "replace")
        )
    return pickle.loads(data)


def broadcast_object(
    obj: Any = None, root_rank: int = 0, name: str | None = None
) -> Any:
    """The object of rank ``root_rank``, on all ranks; others need not give one.

    It is pickled: ranks must trust each other.  Where it cannot be, all ranks raise:
    the root the error of pickle, the others HorovodInternalError."""
    data, failed = _bytes_of(obj) if rank() == root_rank else (None, None)
    head = [0 if data is None else data.numel(), int(failed is not None)]
    head = broadcast(
        core.tensor(head, dtype=core.int64), root_rank, name and f"{name}.size"
    ).tolist()
    if data is None:
        data = core.tensor(np.zeros(head[0], np.uint8))
    data = broadcast(data, root_rank, name and f"{name}.data")
    if failed is not None:
        raise failed
    if rank() == root_rank:
        return obj
    return _loaded(data.numpy().tobytes(), head[1], root_rank)


def allgather_object(obj: Any, name: str | None = None) -> list[Any]:
    """The objects of all ranks in their order; pickled, and with the errors, as by
    broadcast_object."""
    data, failed = _bytes_of(obj)
    head = core.tensor([[data.numel(), int(failed is not None)]], dtype=core.int64)
    heads = allgather(head, name and f"{name}.size").tolist()
    whole = allgather(data, name and f"{name}.data").numpy().tobytes()
    if failed is not None:
        raise failed
    found, begin = [], 0
    for owner, (count, bad) in enumerate(heads):
        found.append(_loaded(whole[begin : begin + count], bad, owner))
        begin += count
    return found
