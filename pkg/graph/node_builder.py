# SPDX-License-Identifier: Apache-2.0
"""The nodes of a definition become operations of a graph."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import nullcontext
from typing import Any

from .._binding import core
from ..autograd.grad_mode import inference_mode, set_grad_enabled
from .bodies import ROLES, Part, add_parts
from .building import Graph, get_default_graph
from .definition_values import (
    Definition,
    FunctionDefinition,
    Gradient,
    Node,
    Reference,
    element,
)
from .graph_def import GraphDefError, brief, shown, spec
from .import_checks import check_shapes, compare, refuse_large
from .own_gradients import Own, asked
from .shapes import sizes_of
from .symbols import Operation, Symbol, dtype_of

__all__ = ["Builder", "free_prefix", "taken_names"]


class Builder:
    """Adds the nodes of a definition to a graph, each under a prefix of its name."""

    def __init__(self, graph: Graph, definition: Definition, prefix: str = "") -> None:
        self.graph = graph
        self.definition = definition
        self.prefix = prefix
        #: The symbols that stand for outputs of nodes, and what stands for nodes.
        self.symbols: dict[tuple[str, int], Symbol] = {}
        self.operations: dict[str, list[Operation]] = {}
        self.tried = False  # all of it was built before
        #: Of a function, what stands outside for what it captured, by its node's name;
        #: or None in the place of a node that was made already.
        self.outer: dict[str, Symbol | None] = {}
        #: Nodes that need not give what the definition says, as an input is another.
        self.changed: set[str] = set()
        #: Variables that another symbol takes the place of, where they are read.
        self.mapped: set[str] = set()

    def add(self) -> None:
        """All nodes, in their order; GraphDefError names the one that fails."""
        with inference_mode(False):  # what counts is the mode of each node
            for node in self.definition.nodes.values():
                self._add(node)

    def _add(self, node: Node) -> None:
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
        if node.name in self.outer:
            return self.capture(node, self.outer[node.name])
        arguments = {
            name: self.resolve(node, value) for name, value in node.attributes.items()
        }
        handle_name = self.taken(node.name)
        with self.scope(node), set_grad_enabled(not node.no_grad):
            if node.call is not None:
                op = self.call(node, node.call, arguments, handle_name)
            elif node.op in ROLES:
                op = self.with_parts(node, arguments, handle_name)
            else:
                op = self.graph._operation(self._special(node, arguments, handle_name))
        if node.gradient is not None:
            self.graph._gradient_names[op.name] = node.gradient
        self.show(node, op.outputs, [op])
        if node.name not in self.changed:
            compare(node, op.outputs)

    def capture(self, node: Node, outer: Symbol | None) -> None:
        """What stands for a symbol of the graph around, under its name of the file."""
        if outer is None:
            return
        with self.scope(node), set_grad_enabled(not node.no_grad):
            self.graph._handle.begin_trace(f"{self.prefix}{node.name}/")
            try:
                symbol = self.graph._handle.capture(outer)
            finally:
                self.graph._handle.end_trace()
        self.show(node, [symbol], [symbol.op])
        if node.name not in self.changed:
            compare(node, [symbol])

    def with_parts(self, node: Node, arguments: dict[str, Any], name: str) -> Operation:
        """A loop or choice, whose functions become graphs of their own."""
        parts = [self.part(node, role) for role in ROLES[node.op]]
        if node.op == "If":
            return add_parts(self.graph, "If", name, parts, [arguments["predicate"]])
        op = add_parts(self.graph, "While", name, parts, arguments["values"])
        check_shapes(node, op, parts)
        return op

    def part(self, node: Node, role: str) -> Part:
        """The graph of a function."""
        function = self.definition.functions[node.attributes[role].to]
        outer, changed, mapped = {}, set(), set()
        captured = node.attributes[f"{role}_captured"]
        for name, value in zip(function.captured, captured):
            if value.kind == "input":
                outer[name] = self.resolve(node, value)
                around = node.inputs[value.to][0]
            else:
                outer[name] = self.symbols[value.to, 0]
                around = value.to
            if around in self.changed:
                changed.add(name)
            if around in self.mapped:
                mapped.add(name)
        return self.function(function, outer, changed, mapped)

    def function(
        self,
        function: FunctionDefinition,
        outer: dict[str, Symbol | None],
        changed: set[str],
        mapped: set[str],
    ) -> Part:
        """A function as the graph of a part of this graph."""
        graph = self.graph._body()
        made = Builder(graph, function)
        made.outer, made.changed, made.tried = outer, changed, self.tried
        made.mapped = mapped
        # Where this thread builds another part, calls are of the innermost one.
        within = get_default_graph().is_body
        with graph.building() if within else nullcontext():
            made.add()
        inputs = [made.symbols[name, 0] for name in function.inputs]
        outputs = [made.symbols[edge] for edge in function.outputs]
        targets = [made.operations[name][-1] for name in function.targets]
        made_part: Part = graph.part(inputs, [*outputs, *targets])
        return made_part

    def try_gradients(self) -> None:
        """GraphDefError for a gradient that could not be built when it is asked for."""
        for gradient in self.definition.gradients:
            own = self.own(gradient, tried=False)
            grads = []
            for output in own.outputs:
                sizes = sizes_of(spec(output)["shape"])
                made = self.graph._handle.placeholder("", dtype_of(output), sizes, None)
                grads.append(self.graph._operation(made).outputs[0])
            try:
                with self.graph.as_default():
                    asked(own, grads)
            except GraphDefError:
                raise
            except (Exception, RecursionError) as error:
                node = self.definition.nodes[gradient.outputs[0][0]]
                raise node.error(f"its gradient: {brief(error)}") from error

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
                symbol = self.symbols[name, port]
            except KeyError:
                raise node.error(f"there is no output {name}:{port}") from None
            # Of a function that is called, what it takes may be of a graph around.
            return self.graph.as_graph_element(symbol) if self.outer else symbol
        if value.kind == "tensor":
            return self.definition.tensors[value.to]
        return value.to if value.kind == "number" else value

    def call(
        self, node: Node, function: core.Operator, arguments: dict[str, Any], name: str
    ) -> Operation:
        """A node that calls an op, which must be the one of the definition."""
        if not self.tried:
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
            # Of the graph itself it is the variable of the file that is assigned to.
            if self.outer and arguments["variable"].to in self.mapped:
                raise node.error(
                    f"it assigns to {shown(arguments['variable'].to)}, in whose place "
                    "input_map has another symbol, which a part of the graph only "
                    "reads. Hint: import it without, and assign to the variable that "
                    "was made"
                )
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
            object.__setattr__(variable, "__class__", self.graph._variables)
            trainable = node.attributes["trainable"]
            variable._more = (assign.inputs[0], assign, trainable)
            self.graph._kept.append(variable)
        for key, items in self.definition.collections.items():
            for item in items:
                found = self.find(item)
                node, port = element(self.definition, item, key)
                if node.op == "Variable" and port is not None:
                    # Whatever it is mapped to, its initializer is asked for here.
                    found = self.operations[node.name][0].outputs[0]
                self.graph.add_to_collection(key, found)
        for gradient in self.definition.gradients:
            self.graph._own.append(self.own(gradient))

    def own(self, gradient: Gradient, tried: bool = True) -> Own:
        """A gradient of one's own, whose operations a function of the file has."""
        inputs, outputs, captured = (
            [self.symbols[edge] for edge in edges]
            for edges in (gradient.inputs, gradient.outputs, gradient.captured)
        )
        function = self.definition.functions[gradient.function]
        results = gradient.results
        mapped = {
            place
            for place, (name, _) in zip(function.captured, gradient.captured)
            if name in self.mapped
        }

        def call(*grads: Any) -> list[Any]:
            made = _called(function, [*grads, *captured], mapped, tried)
            return [None if result is None else made[result] for result in results]

        return Own(inputs, outputs, call, gradient.cut, gradient.always)

    def find(self, text: str) -> Any:
        """The symbol of 'name:output', or the operation of 'name'."""
        node, port = element(self.definition, text, "find")
        if port is not None:
            return self.symbols[node.name, port]
        return self.operations[node.name][-1]


def _called(
    function: FunctionDefinition, given: list[Any], mapped: set[str], tried: bool
) -> list[Any]:
    """What a function gives, whose operations are added to the default graph: given
    what it takes, and then what it captured."""
    graph = get_default_graph()
    prefix = graph._scope().prefix
    places = [*function.inputs, *function.captured]
    there = set(function.inputs if graph.is_body else places)
    fresh = [name for name in function.nodes if name not in there]
    if taken_names(graph, prefix, fresh):
        prefix = free_prefix(graph, "gradient", fresh)
    made = Builder(graph, function, prefix)
    made.mapped, made.tried = mapped, tried
    for name, symbol in zip(places, given):
        made.changed.add(name)
        made.outer[name] = symbol
        if name in there:
            made.outer[name] = None
            made.symbols[name, 0] = symbol
            made.operations[name] = [symbol.op]
    made.add()
    return [graph.as_graph_element(made.symbols[edge]) for edge in function.outputs]


def taken_names(graph: Graph, prefix: str, names: Iterable[str]) -> list[str]:
    """Those that a node of the graph has, with the prefix."""
    return [n for n in names if graph._handle.find(prefix + n) is not None]


def free_prefix(graph: Graph, name: str, names: Iterable[str]) -> str:
    """A prefix under which no node of the graph has one of the names: what was imported
    has names in scopes that nobody has entered."""
    while True:
        prefix = graph.unique_name(name) + "/"
        if not taken_names(graph, prefix, names):
            return prefix
