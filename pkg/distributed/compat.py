# SPDX-License-Identifier: Apache-2.0
"""Horovod's mpi_ops of TensorFlow 1, by its names: ``_allreduce`` with the rule by
which nodes of graphs are named, and the op library that it calls.

The ops are in the core, so MPI_LIB is no file beside this one.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from .._binding import core
from .._version import __version__
from ..graph import Symbol
from .collectives import Sum
from .in_graphs import node, normalize_name as _normalize_name
from .versions import (
    HorovodVersionMismatchError as HorovodVersionMismatchError,
    _load_library as _load_library,
    check_installed_version as check_installed_version,
    get_ext_suffix as get_ext_suffix,
    get_path_to_datafile as get_path_to_datafile,
)

__all__ = [
    "HorovodVersionMismatchError", "MPI_LIB", "check_installed_version",
    "get_ext_suffix", "get_path_to_datafile",
]  # fmt: skip


def _executing_eagerly(tensor: Any) -> bool:
    """Whether an op of this tensor computes at once, and adds no node to a graph."""
    return not isinstance(tensor, Symbol)


def _horovod_allreduce(
    tensor: Any, name: str | None = None, reduce_op: int = Sum,
    prescale_factor: float = 1.0, postscale_factor: float = 1.0,
    ignore_name_scope: bool = False,
) -> Any:  # fmt: skip
    """The op.  In a graph ``name`` is that of the node, made unique, and the ranks know
    the tensor by the node's whole name, or without its scope."""
    factors = (reduce_op, prescale_factor, postscale_factor, ignore_name_scope)
    if _executing_eagerly(tensor):
        return core.Operator("allreduce", "horovod")(tensor, name or "", *factors)
    # In turn: the next run may begin before this one's result is there.
    return node("allreduce", tensor, name or "HorovodAllreduce", *factors, True)


MPI_LIB = SimpleNamespace(horovod_allreduce=_horovod_allreduce)
check_installed_version("pkg", __version__)


def _allreduce(
    tensor: Any, name: str | None = None, op: int = Sum, prescale_factor: float = 1.0,
    postscale_factor: float = 1.0, ignore_name_scope: bool = False,
) -> Any:  # fmt: skip
    """postscale_factor * (reduction over all ranks of prescale_factor * tensor).

    tensor: a Tensor, whose result is pending, or a symbol of a graph.
    name: by default, in a graph, HorovodAllreduce_ and the tensor's.
    ignore_name_scope: ranks may call it under different scopes.
    """
    if name is None and not _executing_eagerly(tensor):
        name = f"HorovodAllreduce_{_normalize_name(tensor.name)}"
    return MPI_LIB.horovod_allreduce(
        tensor, name=name, reduce_op=op, prescale_factor=prescale_factor,
        postscale_factor=postscale_factor, ignore_name_scope=ignore_name_scope,
    )  # fmt: skip
