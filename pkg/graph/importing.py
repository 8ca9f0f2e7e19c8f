# SPDX-License-Identifier: Apache-2.0
"""Definitions become operations of a graph: all of a definition, or nothing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from .._binding import core
from ..autograd.grad_mode import set_grad_enabled
from .building import Graph, get_default_graph
from .graph_def import GraphDefError, brief, shown, spec
from .reading import Definition, Node, Reference, element, read
from .shapes import sizes_of
from .symbols import Operation, Symbol, dtype_of
from .variables import GLOBAL, TRAINABLE, Variable

__all__ = ["Builder", "add_definition"]

#: Ints from here on are tried without memory first, and so many results refused.
_LARGE = 1 << 20


class Builder:
    """Adds the nodes of a definition to a graph, each under a prefix of its name."""

    def __init__(self, graph: Graph, definition: Definition, prefix: str = "") -> None:
        self.graph = graph
        self.definition = definition
        self.prefix = prefix
        #: The symbols that stand for outputs of nodes, and what stands for nodes.
        self.symbols: dict[tuple[str, int], Symbol] = {}
        self.operations: dict[str, list[Operation]] = {}
        #: Nodes that need not give what the definition says, as an input is another.
        self.changed: set[str] = set()

    def add(self) -> None:
        """All nodes, in their order; GraphDefError names the one that fails."""
        for node in self.definition.nodes.values():
            if any(name in self.changed for name, _ in node.inputs):
                self.changed.add(node.name)
            try:
                self.make(node)
            except GraphDefError:
                raise
            except (Exception, RecursionError) as error:
                raise node.error(f"{node.op}: {brief(error)}") from error

    def make(self, node: Node) -> None:
        """Adds one node."""
        arguments = {
            name: self.resolve(node, value) for name, value in node.attributes.items()
        }
        handle_name = self.taken(node.name)
        with self.scope(node), set_grad_enabled(not node.no_grad):
            if node.call is not None:
                op = self.call(node, node.call, arguments, handle_name)
            else:
                op = self.graph._operation(self._special(node, arguments, handle_name))
        self.show(node, op.outputs, [op])
        if node.name not in self.changed:
            compare(node, op.outputs)

    def show(self, node: Node, symbols: list[Symbol], ops: list[Operation]) -> None:
        """What stands for a node from here on."""
        for i, symbol in enumerate(symbols):
            self.symbols.setdefault((node.name, i), symbol)  # unless it is mapped
        self.operations[node.name] = ops

    def scope(self, node: Node) -> Any:
        """A context in which operations wait for what the node waits for."""
        controls = [op for name in node.controls for op in self.operations[name]]
        return self.graph._with(
            prefix="", controls=tuple(dict.fromkeys(controls)), device=node.device
        )

    def taken(self, name: str) -> str:
        """The name as it is given to the core: whole, and used from now on."""
        name = self.prefix + name
        self.graph._handle.unique_name(name, True)
        return name + "/"

    def resolve(self, node: Node, value: Any) -> Any:
        """A value with symbols and tensors in the place of references."""
        if isinstance(value, list):
            return [self.resolve(node, item) for item in value]
        if not isinstance(value, Reference):
            return value
        if value.kind == "input":
            name, port = node.inputs[value.to]
            try:
                return self.symbols[name, port]
            except KeyError:
                raise node.error(f"there is no output {name}:{port}") from None
        if value.kind == "tensor":
            return self.definition.tensors[value.to]
        return value.to if value.kind == "number" else value

    def call(
        self, node: Node, function: core.Operator, arguments: dict[str, Any], name: str
    ) -> Operation:
        """A node that calls an op, which must be the one of the definition."""
        refuse_large(node, arguments)
        before = self.graph.version
        self.graph.record(name, lambda: function(**arguments))
        handle = self.graph._handle.find(name.removesuffix("/"))
        if handle is None or self.graph.version != before + 1:
            raise node.error(f"{node.op} did not become one operation")
        if handle.type() != node.op:
            raise node.error(
                f"these arguments call {handle.type()}, expected those of {node.op}"
            )
        return self.graph._operation(handle)

    def _special(self, node: Node, arguments: dict[str, Any], name: str) -> Any:
        graph = self.graph._handle
        value = arguments.get("value")
        if node.op in ("Placeholder", "PlaceholderWithDefault"):
            dtype, shape = node.outputs[0]
            return graph.placeholder(name, dtype, sizes_of(shape), value)
        if node.op == "Const":
            return graph.constant(name, value)
        if node.op == "Variable":
            dtype, shape = node.outputs[0]
            return graph.variable(name, dtype, sizes_of(shape))
        if node.op == "Assign":
            (variable,) = self.operations[arguments["variable"].to]
            return graph.assign(name, variable._handle, value)
        if node.op == "Gradients":
            ys, grad_ys, xs = (arguments[key] for key in ("ys", "grad_ys", "xs"))
            return graph.gradients(name, ys, grad_ys, xs, arguments.get("stops", []))
        return graph.group(name, [])  # its controls are those of the scope

    def finish(self) -> None:
        """Variables and collections, when all nodes are there."""
        for node in self.definition.nodes.values():
            if node.op != "Variable" or not node.attributes:
                continue
            variable: Any = self.operations[node.name][0].outputs[0]
            assign = self.operations[node.attributes["initializer"].to][0]
            object.__setattr__(variable, "__class__", Variable)
            trainable = node.attributes["trainable"]
            variable._more = (assign.inputs[0], assign, trainable)
            self.graph._kept.append(variable)
        for key, items in self.definition.collections.items():
            for item in items:
                self.graph.add_to_collection(key, self.find(item))

    def find(self, text: str) -> Any:
        """The symbol of 'name:output', or the operation of 'name'."""
        node, port = element(self.definition, text, "find")
        if port is not None:
            return self.symbols[node.name, port]
        return self.operations[node.name][-1]


def refuse_large(node: Node, arguments: dict[str, Any]) -> None:
    """GraphDefError for a call that may need much memory only to see what it gives.

    Shapes come from calls without memory.  Some ops cannot do that and are called with
    zeros; others give as many results as a size says.
    """
    symbols = [s for value in arguments.values() for s in _tensors_of(value)]
    sizes = [size for symbol in symbols for size in symbol.shape if size is not None]
    ints = [i for value in arguments.values() for i in _ints_of(value)]
    stored = [t for t in symbols if not isinstance(t, Symbol)]
    ints += [_sum_of(tensor) for tensor in stored]
    if max((*ints, *sizes), default=0) < _LARGE:
        return
    assert node.call is not None
    if any("-> Tensor[]" in schema for schema in node.call.schemas):
        # All that exist take dim, and give a part for each of so many elements.
        dim = arguments.get("dim", 0)
        shape = symbols[0].shape if symbols else ()
        if type(dim) is int and -len(shape) <= dim < len(shape):
            sizes = [shape[dim] or 0]
        part = arguments.get("split_size", 1)
        if type(part) is int and part > 0:
            sizes = [-(-size // part) for size in sizes]
        parts = [arguments.get("chunks"), arguments.get("sections")]
        counts = [*sizes, *(n for n in parts if type(n) is int)]
        counts += [_sum_of(tensor) for tensor in stored if tensor.ndim == 0]
        if max(counts, default=0) >= _LARGE:
            raise node.error(f"{node.op}: it would have {max(counts)} results")
    with_meta = {key: _on_meta(value) for key, value in arguments.items()}
    try:
        node.call(**with_meta)
    except (Exception, RecursionError) as error:
        raise node.error(
            f"{node.op}: the numbers are too large to see what it gives: {brief(error)}"
        ) from error


def _items(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _tensors_of(value: Any) -> list[Any]:
    return [item for item in _items(value) if isinstance(item, core.Tensor)]


def _ints_of(value: Any) -> list[int]:
    return [abs(item) for item in _items(value) if type(item) in (int, float)]


def _sum_of(tensor: Any) -> int:
    # How many elements repeat_interleave() and the like make of such a tensor.
    if tensor.dtype.is_floating_point or tensor.device != "cpu":
        return 0
    return int(abs(tensor.numpy().astype("float64")).sum())


def _on_meta(value: Any) -> Any:
    if isinstance(value, list):
        return [_on_meta(item) for item in value]
    if not isinstance(value, core.Tensor):
        return value
    shape = [2 if size is None else size for size in value.shape]
    return core.Operator("empty")(shape, dtype=value.dtype, device="meta")


def compare(node: Node, symbols: list[Symbol]) -> None:
    """GraphDefError unless the symbols may be what the definition says of them."""
    if len(symbols) != len(node.outputs):
        raise node.error(
            f"expected {len(node.outputs)} outputs, as the definition says, got "
            f"{len(symbols)}"
        )
    for i, (symbol, (dtype, shape)) in enumerate(zip(symbols, node.outputs)):
        if symbol.dtype != dtype:
            raise node.error(
                f"expected {dtype.name} as output {i}, as the definition says, got "
                f"{symbol.dtype.name}"
            )
        found = symbol.shape
        if shape is None or found.ndims is None:
            continue
        fits = len(shape) == len(found) and all(
            a == b or a is None or b is None for a, b in zip(shape, found)
        )
        if not fits:
            raise node.error(
                f"expected the shape {shape} as output {i}, as the definition says, "
                f"got {found}"
            )


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
    trial.add()
    trial.finish()
    prefix = graph._scope().prefix
    if name:
        prefix = graph.unique_name(name.removesuffix("/"), False) + "/"
    taken = [n for n in definition.nodes if graph._handle.find(prefix + n) is not None]
    if taken:
        raise GraphDefError(
            f"the names are taken: {shown(', '.join(taken))}. Hint: give a `name`, "
            "which then stands before all of them."
        )
    if name:
        graph.unique_name(name.removesuffix("/"))
    made = Builder(graph, definition, prefix)
    made.symbols.update(mapped)
    made.changed |= trial.changed
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
        if symbol.dtype != dtype:
            raise node.error(
                f"input_map: expected a symbol of {dtype.name}, got {symbol.dtype.name}"
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
