# SPDX-License-Identifier: Apache-2.0
"""The collectives with Horovod's names and parameters.

They are ops of the registry (``pkg.ops.horovod``): gradients go through them, and
several are under way at a time.  A function without ``_async`` waits for its result, so
that what went wrong is raised by the call; of a symbol it makes a node of its graph.  A
call that this rank refuses is an error on the others as well.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .._binding import core
from ..scheduler import submit
from ..tensor import Tensor
from .compression import Compression
from .handles import poll, register, register_in_place, synchronize
from .in_graphs import in_graph, node, refuse_symbols
from .refusing import Refusing
from .session import _count_anew, _next_call, _place, _session, size

__all__ = [
    "Adasum", "Average", "Max", "Min", "Product", "Sum", "allgather",
    "allgather_async", "allreduce", "allreduce_", "allreduce_async", "allreduce_async_",
    "alltoall", "alltoall_async", "barrier", "broadcast", "broadcast_",
    "broadcast_async", "broadcast_async_", "grouped_allgather",
    "grouped_allgather_async", "grouped_allreduce", "grouped_allreduce_async",
    "grouped_reducescatter", "grouped_reducescatter_async", "join", "poll",
    "reducescatter", "reducescatter_async", "synchronize",
]  # fmt: skip

Average, Sum, Adasum, Min, Max, Product = range(6)


def _op(name: str) -> Any:
    return core.Operator(name, "horovod")


def _reduction(average: bool | None, op: int | None) -> int:
    if average is not None:
        warnings.warn(
            "Parameter `average` has been replaced with `op` and will be removed",
            DeprecationWarning,
            stacklevel=3,
        )
        if op is not None:
            raise ValueError(
                "The op parameter supersedes average. Please provide only one of them."
            )
        return Average if average else Sum
    return Average if op is None else op


def allreduce_async(
    tensor: Tensor, average: bool | None = None, name: str | None = None,
    op: int | None = None, prescale_factor: float = 1.0, postscale_factor: float = 1.0,
) -> int:  # fmt: skip
    """As ``allreduce``, without compression; returns a handle for ``synchronize``."""
    refuse_symbols("allreduce_async", tensor)
    with Refusing("allreduce", name):
        how = _reduction(average, op)
        factors = prescale_factor, postscale_factor
        made = _op("allreduce")(tensor, name or "", how, *factors)
    return register(made)


def allreduce(
    tensor: Tensor, average: bool | None = None, name: str | None = None,
    compression: Any = Compression.none, op: int | None = None,
    prescale_factor: float = 1.0, postscale_factor: float = 1.0,
) -> Tensor:  # fmt: skip
    """postscale_factor * (reduction over all ranks of prescale_factor * tensor).

    tensor: of the same shape and dtype on each rank.
    name: calls with the same name on all ranks belong together, in whatever order a
    rank makes them; without one the first belongs to the first, and so on.
    op: Average (default), Sum, Min, Max or Product.  Average and factors are for
    floating dtypes; sums are made in the order of the ranks, in float64, so that
    results have the same bits always.
    HorovodInternalError on all ranks where they differ in shape, dtype, op or factors;
    ValueError for a name in use.
    """
    factors = prescale_factor, postscale_factor
    if in_graph(tensor):
        how = _reduction(average, op)
        small, context = compression.compress(tensor)
        made = node("allreduce", small, name, how, *factors, False, True)
        return compression.decompress(made, context)  # type: ignore[no-any-return]
    with Refusing("allreduce", name):
        how = _reduction(average, op)
        small, context = compression.compress(tensor)
        made = _op("allreduce")(small, name or "", how, *factors)
    result: Tensor = compression.decompress(synchronize(register(made)), context)
    return result


def allreduce_async_(
    tensor: Tensor, average: bool | None = None, name: str | None = None,
    op: int | None = None, prescale_factor: float = 1.0, postscale_factor: float = 1.0,
) -> int:  # fmt: skip
    """As ``allreduce_async``, into the tensor itself, which ``synchronize`` writes:
    after an error it is as it was.  ValueError for what an op made and autograd
    follows."""
    refuse_symbols("allreduce_async_", tensor)
    with Refusing("allreduce", name):
        _check_writable(tensor, "allreduce")
        how = _reduction(average, op)
        factors = prescale_factor, postscale_factor
        made = _op("allreduce")(tensor.detach(), name or "", how, *factors)
    return register_in_place(tensor, made)


def allreduce_(
    tensor: Tensor, average: bool | None = None, name: str | None = None,
    op: int | None = None, prescale_factor: float = 1.0, postscale_factor: float = 1.0,
) -> Tensor:  # fmt: skip
    """As ``allreduce``, into the tensor itself: after an error it is as it was.
    ValueError for what an op made and autograd follows."""
    with Refusing("allreduce", name):
        how = _reduction(average, op)
    handle = allreduce_async_(
        tensor, None, name, how, prescale_factor, postscale_factor
    )
    result: Tensor = synchronize(handle)
    return result


def _check_writable(tensor: Tensor, name: str) -> None:
    # Backward would go by what the tensor was before.
    if tensor.requires_grad and not tensor.is_leaf and core.is_grad_enabled():
        raise ValueError(
            f"[{name}_] expected a leaf, or a tensor that autograd does not follow, "
            f"got the result of an op that requires grad, of shape "
            f"{list(tensor.shape)}: backward would go past the collective. "
            f"Use {name}, without underscore, whose result gradients go through, or "
            "write within no_grad()."
        )


def grouped_allreduce_async(
    tensors: Sequence[Tensor], average: bool | None = None, name: str | None = None,
    op: int | None = None, prescale_factor: float = 1.0, postscale_factor: float = 1.0,
) -> int:  # fmt: skip
    """As ``grouped_allreduce``; returns a handle for ``synchronize``."""
    refuse_symbols("grouped_allreduce_async", tensors)
    with Refusing("allreduce", name, tensors):
        how = _reduction(average, op)
        factors = prescale_factor, postscale_factor
        made = _op("grouped_allreduce")(list(tensors), name or "", how, *factors)
    return register(list(made))


def grouped_allreduce(
    tensors: Sequence[Tensor], average: bool | None = None, name: str | None = None,
    compression: Any = Compression.none, op: int | None = None,
    prescale_factor: float = 1.0, postscale_factor: float = 1.0,
) -> list[Tensor]:  # fmt: skip
    """``allreduce`` of several tensors as one: all of them or, after an error in one,
    none; the same number of tensors on each rank."""
    factors = prescale_factor, postscale_factor
    if in_graph(tensors):
        how = _reduction(average, op)
        pairs = [compression.compress(tensor) for tensor in tensors]
        small = [small for small, _ in pairs]
        made = node("grouped_allreduce", small, name, how, *factors, True)
    else:
        with Refusing("allreduce", name, tensors):
            pairs = [compression.compress(tensor) for tensor in tensors]
            small = [small for small, _ in pairs]
            how = _reduction(average, op)
            handle = grouped_allreduce_async(small, None, name, how, *factors)
        made = synchronize(handle)
    return [
        compression.decompress(tensor, context)
        for tensor, (_, context) in zip(made, pairs, strict=True)
    ]


def broadcast_async(tensor: Tensor, root_rank: int, name: str | None = None) -> int:
    """As ``broadcast``; returns a handle for ``synchronize``."""
    refuse_symbols("broadcast_async", tensor)
    with Refusing("broadcast", name):
        made = _op("broadcast")(tensor, root_rank, name or "")
    return register(made)


def broadcast(tensor: Tensor, root_rank: int, name: str | None = None) -> Tensor:
    """The tensor of rank ``root_rank``, on all ranks; shapes and dtypes agree."""
    if in_graph(tensor):
        made: Tensor = node("broadcast", tensor, name, True, before=(root_rank,))
        return made
    result: Tensor = synchronize(broadcast_async(tensor, root_rank, name))
    return result


def broadcast_async_(tensor: Tensor, root_rank: int, name: str | None = None) -> int:
    """As ``broadcast_async``, into the tensor itself, which ``synchronize`` writes:
    after an error it is as it was.  ValueError for what an op made and autograd
    follows."""
    refuse_symbols("broadcast_async_", tensor)
    with Refusing("broadcast", name):
        _check_writable(tensor, "broadcast")
        made = _op("broadcast")(tensor.detach(), root_rank, name or "")
    return register_in_place(tensor, made)


def broadcast_(tensor: Tensor, root_rank: int, name: str | None = None) -> Tensor:
    """As ``broadcast``, into the tensor itself: after an error it is as it was.
    ValueError for what an op made and autograd follows."""
    result: Tensor = synchronize(broadcast_async_(tensor, root_rank, name))
    return result


def _as_it_is(value: Any) -> Any:
    """A copy, for a task that runs later: what is written in place after the call must
    not be sent.  What is no tensor, the task refuses."""
    if isinstance(value, Tensor):
        return value.clone()
    if isinstance(value, (list, tuple)):
        return [_as_it_is(each) for each in value]
    return value.copy() if isinstance(value, np.ndarray) else value


def _begin(function: Callable[[], Any]) -> int:
    """A handle of what a thread of the pool calls: in this session or not at all, as
    others would take it for one of their own in the next."""
    session = _session()

    def call() -> Any:
        if _session() != session:
            raise core.HorovodInternalError(
                "Horovod has been shut down, and begun again, before this call was sent"
            )
        return function()

    return register(submit(call))


def allgather_async(tensor: Tensor, name: str | None = None) -> int:
    """As ``allgather``; returns a handle for ``synchronize``."""
    _place()
    refuse_symbols("allgather_async", tensor)
    name = name or f"allgather.noname.async.{_next_call()}"
    sent = _as_it_is(tensor)
    return _begin(lambda: _gathered(sent, name))


def allgather(tensor: Tensor, name: str | None = None) -> Tensor:
    """The tensors of all ranks, one behind the other along the first dimension, in
    which they may differ."""
    result: Tensor = _gathered(tensor, name)
    return result


def _gathered(tensor: Tensor, name: str | None) -> Any:
    if in_graph(tensor):
        return node("allgather", tensor, name, True)
    with Refusing("allgather", name):
        return _op("allgather")(tensor, name or "")


def grouped_allgather_async(tensors: Sequence[Tensor], name: str | None = None) -> int:
    """As ``grouped_allgather``; returns a handle for ``synchronize``."""
    _place()
    refuse_symbols("grouped_allgather_async", tensors)
    name = name or f"grouped_allgather.noname.async.{_next_call()}"
    sent = _as_it_is(tensors)
    return _begin(lambda: _all_gathered(sent, name))


def grouped_allgather(
    tensors: Sequence[Tensor], name: str | None = None
) -> list[Tensor]:
    """``allgather`` of several tensors as one: all of them or, after an error in one,
    none; the same number of tensors on each rank."""
    return _all_gathered(tensors, name)


def _all_gathered(tensors: Sequence[Tensor], name: str | None) -> list[Tensor]:
    if in_graph(tensors):
        return list(node("grouped_allgather", list(tensors), name, True))
    with Refusing("allgather", name, tensors):
        return list(_op("grouped_allgather")(list(tensors), name or ""))


def alltoall_async(
    tensor: Tensor, splits: Tensor | None = None, name: str | None = None
) -> int:
    """As ``alltoall``; returns a handle for ``synchronize``."""
    _place()
    refuse_symbols("alltoall_async", tensor)
    name = name or f"alltoall.noname.async.{_next_call()}"
    sent, rows = _as_it_is(tensor), _as_it_is(splits)
    return _begin(lambda: _exchanged(sent, rows, name))


def alltoall(
    tensor: Tensor, splits: Tensor | None = None, name: str | None = None
) -> Any:
    """Rows sent to each rank and got from each, in the order of ranks.

    splits: how many rows go to each rank; then the result is (rows, received_splits).
    Without it all get the same number: ValueError where that is not possible.
    """
    return _exchanged(tensor, splits, name)


def _exchanged(tensor: Tensor, splits: Any, name: str | None) -> Any:
    if in_graph(tensor):
        rows, counts = node("alltoall", tensor, name, True, before=(_rows(splits),))
    else:
        with Refusing("alltoall", name):
            rows, counts = _op("alltoall")(tensor, _rows(splits), name or "")
    return rows if splits is None else (rows, counts)


def _rows(splits: Any) -> Any:
    known = splits is None or isinstance(splits, Tensor) or in_graph(splits)
    return splits if known else core.tensor(splits)


def reducescatter_async(
    tensor: Tensor, name: str | None = None, op: int = Average,
    prescale_factor: float = 1.0, postscale_factor: float = 1.0,
) -> int:  # fmt: skip
    """As ``reducescatter``; returns a handle for ``synchronize``."""
    refuse_symbols("reducescatter_async", tensor)
    with Refusing("reducescatter", name):
        factors = prescale_factor, postscale_factor
        made = _op("reducescatter")(tensor, name or "", op, *factors)
    return register(made)


def reducescatter(
    tensor: Tensor, name: str | None = None, compression: Any = Compression.none,
    op: int = Average, prescale_factor: float = 1.0, postscale_factor: float = 1.0,
) -> Tensor:  # fmt: skip
    """As ``allreduce``, of which each rank gets a share of the rows; the first ranks
    get one more where they cannot be shared evenly."""
    factors = prescale_factor, postscale_factor
    if in_graph(tensor):
        small, context = compression.compress(tensor)
        made = node("reducescatter", small, name, op, *factors, True)
        return compression.decompress(made, context)  # type: ignore[no-any-return]
    with Refusing("reducescatter", name):
        small, context = compression.compress(tensor)
        handle = reducescatter_async(small, name, op, *factors)
    result: Tensor = compression.decompress(synchronize(handle), context)
    return result


def grouped_reducescatter_async(
    tensors: Sequence[Tensor], name: str | None = None, op: int = Average,
    prescale_factor: float = 1.0, postscale_factor: float = 1.0,
) -> int:  # fmt: skip
    """As ``grouped_reducescatter``; returns a handle for ``synchronize``."""
    refuse_symbols("grouped_reducescatter_async", tensors)
    with Refusing("reducescatter", name, tensors):
        factors = prescale_factor, postscale_factor
        made = _op("grouped_reducescatter")(list(tensors), name or "", op, *factors)
    return register(list(made))


def grouped_reducescatter(
    tensors: Sequence[Tensor], name: str | None = None, op: int = Average,
    prescale_factor: float = 1.0, postscale_factor: float = 1.0,
) -> list[Tensor]:  # fmt: skip
    """``reducescatter`` of several tensors as one: all of them or, after an error in
    one, none; the same number of tensors on each rank."""
    factors = prescale_factor, postscale_factor
    if in_graph(tensors):
        how = (op, *factors, True)
        return list(node("grouped_reducescatter", list(tensors), name, *how))
    made: list[Tensor] = synchronize(
        grouped_reducescatter_async(tensors, name, op, *factors)
    )
    return made


def join() -> int:
    """Wait until all ranks have called join(); meanwhile this one takes part in the
    allreduces (Sum and Average) of the others with zeros.  For ranks with less data
    than others.  Returns the rank that joined last.  From here on calls without a name
    are numbered anew."""
    last = _op("join")()
    _count_anew()
    return int(last.item())


def barrier() -> None:
    """Wait until all ranks have come here."""
    if size() > 0:
        _op("barrier")().wait()
