# SPDX-License-Identifier: Apache-2.0
"""A graph as plain data: what is written to files, and what is read from them.

A definition is a dict:

- ``format`` is "pkg.graph", ``version`` an int;
- ``nodes``: a list, in the order in which they were added, of dicts with ``name``,
  ``op`` (Operation.type), ``inputs`` ("name:output", and "^name" for what runs before),
  ``attributes`` (arguments by name), ``device`` and ``outputs`` (dtype and shape each;
  None for what is not known), and ``no_grad``: true where it was added under
  ``no_grad()``;
- ``collections``: names of symbols and operations, by the name of the collection;
- ``tensors``: tensors with values, by the name under which attributes refer to them.
  All the rest is what JSON has.

Values of attributes are None, bools, ints, floats, strings and lists of them; what
JSON has no word for is a dict with one entry: ``{"float": "inf"}``,
``{"dtype": "float32"}``, ``{"device": "cpu"}``, ``{"input": 0}`` (the first of the
inputs), ``{"tensor": name}``, ``{"number": 2.5}`` (a number in the place of a tensor),
``{"operation": name}``.
"""

from __future__ import annotations

import json
from typing import Any

from .building import Graph, Operation, Symbol
from .variables import Variable

__all__ = [
    "FORMAT", "VERSION", "GraphDefError", "brief", "describe", "shown", "spec",
]  # fmt: skip

FORMAT = "pkg.graph"
VERSION = 1


class GraphDefError(ValueError):
    """A definition, or a file of one, that is no graph.

    ``node`` is the name of the node that is wrong, or None.
    """

    def __init__(self, message: str, node: str | None = None) -> None:
        if node is not None:
            message = f"node {shown(node)}: {message}"
        super().__init__(f"[graph] {message}")
        self.node = node


def shown(value: Any) -> str:
    """A value in a message: never longer than a line, whatever it is."""
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) > 1 << 64:
        return f"an int of {value.bit_length()} bits"
    if isinstance(value, (list, tuple, dict)):
        return f"a {type(value).__name__} of {len(value)}"
    text = ascii(value)
    return text if len(text) <= 80 else text[:77] + "..."


def brief(error: BaseException) -> str:
    """What an error says, which may hold whatever a file does, in some lines."""
    text = str(error)
    return text if len(text) <= 1000 else text[:997] + "..."


def describe(graph: Graph) -> dict[str, Any]:
    """The definition of a graph; see ``Graph.as_graph_def``."""
    if graph._own:
        raise NotImplementedError(
            "[graph] expected a graph without gradients of one's own, which are "
            "functions "
            f"of Python, got one with that of {graph._own[0].outputs[0].name}."
        )
    tensors: dict[str, Any] = {}
    names: dict[int, str] = {}  # of the tensors, which `tensors` keeps alive
    nodes = [_node(op, tensors, names) for op in graph.get_operations()]
    return {
        "format": FORMAT,
        "version": VERSION,
        "nodes": nodes,
        "collections": _collections(graph),
        "tensors": tensors,
    }


Graph._describe = staticmethod(describe)


def _node(
    op: Operation, tensors: dict[str, Any], names: dict[int, str]
) -> dict[str, Any]:
    if op.name.startswith("^"):
        raise GraphDefError("expected a name that does not begin with '^'", op.name)
    stored = []
    for i, tensor in enumerate(op._handle.tensors()):
        name = names.setdefault(id(tensor), f"{op.name}:{i}")
        tensors[name] = tensor
        stored.append(name)
    arguments = op._handle.arguments()
    if not arguments:
        raise GraphDefError(
            f"{op.type} runs functions or graphs of its own, which are no plain data",
            op.name,
        )
    attributes = {
        name: _named(value, stored) for name, value in json.loads(arguments)
    }
    outputs = op.outputs
    if outputs and op.type == "Variable" and isinstance(outputs[0], Variable):
        attributes["initializer"] = {"operation": outputs[0].initializer.name}
        attributes["trainable"] = bool(outputs[0].trainable)
    plain = {
        "name": op.name,
        "op": op._handle.type(),
        "inputs": [symbol.name for symbol in op.inputs]
        + [f"^{control.name}" for control in op.control_inputs],
        "attributes": attributes,
        "device": op.device,
        "outputs": [spec(symbol) for symbol in outputs],
    }
    if op._handle.no_grad():
        plain["no_grad"] = True
    return plain


def spec(symbol: Symbol) -> dict[str, Any]:
    """What is known of a symbol: dtype and shape."""
    shape = symbol.shape
    return {
        "dtype": symbol.dtype.name,
        "shape": None if shape.ndims is None else list(shape),
    }


def _named(value: Any, stored: list[str]) -> Any:
    # C++ says the number of a tensor, a definition its name.
    if isinstance(value, list):
        return [_named(item, stored) for item in value]
    if isinstance(value, dict) and "tensor" in value:
        return {"tensor": stored[value["tensor"]]}
    return value


def _collections(graph: Graph) -> dict[str, list[str]]:
    # Of symbols and operations; other things have no name that a file could hold.
    found: dict[str, list[str]] = {}
    for key in graph.get_all_collection_keys():
        elements = [
            item.name
            for item in graph.get_collection(key)
            if isinstance(item, (Symbol, Operation)) and item.graph is graph
        ]
        if isinstance(key, str) and elements:
            found[key] = elements
    return found
