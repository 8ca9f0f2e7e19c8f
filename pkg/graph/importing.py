# SPDX-License-Identifier: Apache-2.0
"""Definitions become operations of a graph: all of a definition, or nothing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from .building import Graph, get_default_graph
from .definition_values import Definition, element
from .graph_def import GraphDefError, shown, spec
from .node_builder import Builder, free_prefix, taken_names
from .reading import read
from .shapes import sizes_of
from .symbols import Symbol, dtype_of
from .variables import GLOBAL, TRAINABLE

__all__ = ["add_definition"]


def add_definition(
    data: Any,
    graph: Graph | None = None,
    name: str = "",
    input_map: Mapping[str, Any] | None = None,
    return_elements: Iterable[str] | None = None,
) -> list[Any] | None:
    """Adds what a definition describes; see ``import_graph``."""
    graph = get_default_graph() if graph is None else graph
    if not isinstance(graph, Graph):
        raise TypeError(
            f"Argument `graph` must be a Graph, got {type(graph).__name__}."
        )
    if not isinstance(name, str):
        raise TypeError(f"Argument `name` must be a string, got {type(name).__name__}.")
    if "\0" in name or name.startswith("^"):
        raise GraphDefError(f"expected another name, got {shown(name)}")
    if get_default_graph().is_body:
        raise NotImplementedError(
            "[import_graph] expected to be called outside of the functions of loops "
            "and choices. Hint: import the graph before, and use its symbols there."
        )
    if graph.finalized:
        raise RuntimeError("Graph is finalized and cannot be modified.")
    definition = read(data)
    _check_collections(definition)
    mapped = _mapped(definition, graph, input_map or {})
    wanted = list(return_elements or ())
    for text in wanted:
        if not isinstance(text, str):
            raise TypeError(
                f"return_elements are names, but got {type(text).__name__}."
            )
        element(definition, text, "return_elements")
    # Into a graph of its own first: what fails there has not touched the other.
    trial = Builder(Graph(), definition)
    for i, (key, symbol) in enumerate(mapped.items()):
        known = spec(symbol)
        stand_in = trial.graph._handle.placeholder(
            f"^{i}/", dtype_of(symbol), sizes_of(known["shape"]), None
        )
        trial.symbols[key] = trial.graph._operation(stand_in).outputs[0]
        trial.changed.add(key[0])
    mapped_names = {name for name, _ in mapped}
    trial.mapped |= mapped_names
    trial.add()
    trial.finish()
    trial.try_gradients()
    if name:
        prefix = free_prefix(graph, name.removesuffix("/"), definition.nodes)
    else:
        prefix = graph._scope().prefix
        taken = taken_names(graph, prefix, definition.nodes)
        if taken:
            raise GraphDefError(
                f"the names are taken: {shown(', '.join(taken))}. Hint: give a `name`, "
                "which then stands before all of them."
            )
    made = Builder(graph, definition, prefix)
    made.symbols.update(mapped)
    made.changed |= trial.changed
    made.mapped |= mapped_names
    made.add()
    made.finish()
    return None if return_elements is None else [made.find(text) for text in wanted]


def _mapped(
    definition: Definition, graph: Graph, input_map: Mapping[str, Any]
) -> dict[tuple[str, int], Symbol]:
    if not isinstance(input_map, Mapping):
        raise TypeError(
            f"input_map is a dict of symbols by name, got {type(input_map).__name__}."
        )
    mapped = {}
    for text, symbol in input_map.items():
        if not isinstance(text, str):
            raise TypeError(f"input_map has names as keys, got {type(text).__name__}.")
        if not isinstance(symbol, Symbol):
            raise TypeError(
                f"input_map has symbols as values, got {type(symbol).__name__} for "
                f"{text!r}."
            )
        symbol = graph.as_graph_element(symbol, allow_operation=False)
        node, port = element(definition, text, "input_map")
        if port is None and not node.outputs:
            raise node.error("input_map: it has no output")
        dtype, _ = node.outputs[port or 0]
        if dtype_of(symbol) != dtype:
            raise node.error(
                f"input_map: expected a symbol of {dtype.name}, got "
                f"{dtype_of(symbol).name}"
            )
        mapped[node.name, port or 0] = symbol
    return mapped


def _check_collections(definition: Definition) -> None:
    for key in (GLOBAL, TRAINABLE):
        for text in definition.collections.get(key, ()):
            node, port = element(definition, text, key)
            if port is None or node.op != "Variable" or not node.attributes:
                raise node.error(
                    f"the collection {key!r} has variables with initializers only"
                )
