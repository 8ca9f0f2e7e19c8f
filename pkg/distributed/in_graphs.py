# SPDX-License-Identifier: Apache-2.0
"""Collectives of symbols: nodes, which the ranks know by their names."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from .._binding import core
from ..graph import Symbol

__all__ = ["in_graph", "node", "normalize_name", "refuse_symbols"]


def in_graph(tensors: Any) -> bool:
    """Whether it is a symbol, or a list with one."""
    if isinstance(tensors, (list, tuple)):
        return any(isinstance(tensor, Symbol) for tensor in tensors)
    return isinstance(tensors, Symbol)


def normalize_name(name: str) -> str:
    """The name with _ for all that is neither letter, digit nor _."""
    return re.sub("[^a-zA-Z0-9_]", "_", name)


def node(op: str, tensors: Any, name: str | None, *after: Any, before: Any = ()) -> Any:
    """A call of the op with (tensors, *before, name of the node, *after).

    The node is called HorovodAllgather_ and the name of the (first) tensor where there
    is no name, made unique; ranks whose graphs are alike so have the same names.
    """
    many: Sequence[Any] = tensors if isinstance(tensors, (list, tuple)) else [tensors]
    first = next(tensor for tensor in many if isinstance(tensor, Symbol))
    kind = "".join(word.capitalize() for word in op.split("_"))
    name = name or f"Horovod{kind}_{normalize_name(first.name)}"
    whole = first.graph.unique_name(name, mark_as_used=False)
    made = core.Operator(op, "horovod")
    return first.graph.record(name, made, tensors, *before, whole, *after)


def refuse_symbols(function: str, tensors: Any) -> None:
    """TypeError for symbols: a handle would be one of the graph, not of a run."""
    if in_graph(tensors):
        raise TypeError(
            f"[{function}] expected tensors with values, got a symbol of a graph. Use "
            f"{function.replace('_async', '').rstrip('_')}: a run is asynchronous by "
            "itself."
        )
