# SPDX-License-Identifier: Apache-2.0
"""Graphs become plain data: see graph_def.py for what that looks like."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ..autograd.grad_mode import inference_mode, set_grad_enabled
from .bodies import ROLES, BodyGraph, Part
from .building import Graph
from .graph_def import DEEPEST, FORMAT, VERSION, GraphDefError, brief, spec
from .own_gradients import Own, asked
from .shapes import sizes_of
from .symbols import Operation, Symbol, dtype_of
from .variables import Variable

__all__ = ["describe"]


def describe(graph: Graph) -> dict[str, Any]:
    """The definition of a graph; see ``Graph.as_graph_def``."""
    # Other threads may add to it meanwhile.  What refers to operations is looked at
    # before these, so that they are there.
    own, collections = list(graph._own), _elements(graph)
    ops = _complete(graph)
    there = set(ops)
    writer = _Writer(there)
    data: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "nodes": writer.nodes(ops, ""),
        "collections": _names(collections, there),
        "tensors": writer.tensors,
    }
    gradients = [writer.gradient(part) for part in own if _is_in(part, there)]
    # Without any of them it is as it was before there were such, and older releases
    # read it.
    if gradients:
        data["gradients"] = gradients
    if writer.functions:
        data["functions"] = writer.functions
    return data


Graph._describe = staticmethod(describe)


class _Writer:
    """What the parts of one definition share: tensors, and graphs of parts."""

    def __init__(self, there: set[Operation]) -> None:
        self.there = there  # the operations of the graph that are written
        self.tensors: dict[str, Any] = {}
        self.names: dict[int, str] = {}  # of the tensors, which `tensors` keeps alive
        self.functions: dict[str, dict[str, Any]] = {}

    def nodes(self, ops: list[Operation], before: str) -> list[dict[str, Any]]:
        """These nodes; before: what the names of tensors and functions begin with,
        which no node's name has in it."""
        return [self.node(op, before) for op in ops]

    def node(self, op: Operation, before: str) -> dict[str, Any]:
        if op.name.startswith("^"):
            raise GraphDefError("expected a name that does not begin with '^'", op.name)
        kind = op._handle.type()  # also where the class of op has other words
        if kind in ROLES:
            attributes = self.parts(op, kind, before)
        else:
            attributes = self.arguments(op, kind, before)
        outputs = op.outputs
        if outputs and kind == "Variable" and isinstance(outputs[0], Variable):
            # Where another thread makes it just now it has none yet.
            made = getattr(outputs[0], "_more", None) is not None
            if made and outputs[0].initializer in self.there:
                attributes["initializer"] = {"operation": outputs[0].initializer.name}
                attributes["trainable"] = bool(outputs[0].trainable)
        plain = {
            "name": op.name,
            "op": kind,
            "inputs": [symbol.name for symbol in op.inputs]
            + [f"^{control.name}" for control in op.control_inputs],
            "attributes": attributes,
            "device": op.device,
            "outputs": [spec(symbol) for symbol in outputs],
        }
        if op._handle.no_grad():
            plain["no_grad"] = True
        registered = op.graph._gradient_names.get(op.name)
        if registered is not None:
            plain["gradient"] = registered
        return plain

    def arguments(self, op: Operation, kind: str, before: str) -> dict[str, Any]:
        stored = []
        for i, tensor in enumerate(op._handle.tensors()):
            name = self.names.setdefault(id(tensor), f"{before}{op.name}:{i}")
            self.tensors[name] = tensor
            stored.append(name)
        arguments = op._handle.arguments()
        if not arguments:
            raise GraphDefError(
                f"{kind} runs a function of Python, which is no plain data. Hint: "
                "write the graph without it, and feed what it gives; or write it with "
                "ops",
                op.name,
            )
        return {
            name: _named(value, stored)
            for name, value in json.loads(arguments)
            if name != "captured"  # the function that it is in says so
        }

    def parts(self, op: Operation, kind: str, before: str) -> dict[str, Any]:
        """The arguments of a loop or choice: its functions, and what each takes."""
        parts = op.graph._parts[op.name]
        values = [{"input": i} for i in range(len(parts[0].inputs))]
        attributes: dict[str, Any] = (
            {"values": values} if kind == "While" else {"predicate": {"input": 0}}
        )
        taken = len(values) if kind == "While" else 1
        for role, part in zip(ROLES[kind], parts):
            name = f"{before}{op.name}:{role}"
            captured: list[Any] = []
            for outer in self.function(name, part):
                if outer.op._handle.type() == "Variable":
                    captured.append({"operation": outer.op.name})
                else:
                    captured.append({"input": taken})
                    taken += 1
            attributes[role] = {"function": name}
            attributes[f"{role}_captured"] = captured
        return attributes

    def function(self, name: str, part: Part) -> list[Symbol]:
        """Writes a part; gives what it captured of the graph around it."""
        own = part.graph._own
        if own:
            raise GraphDefError(
                "a gradient of one's own in a part of another function is no data",
                own[0].outputs[0].op.name,
            )
        if name.count(":") >= 2 * DEEPEST:  # two for each function
            raise GraphDefError(
                f"expected at most {DEEPEST} loops and choices in each other",
                part.graph.get_operations()[0].name if part.graph.version else None,
            )
        captured = _captured(part.graph)
        made = self.functions[name] = {}  # stands before those that it has in it
        made.update(
            inputs=[symbol.op.name for symbol in part.inputs],
            captured=[op.name for op, _ in captured],
            outputs=[symbol.name for symbol in part.outputs],
            targets=[op.name for op in part.targets],
            nodes=self.nodes(part.graph.get_operations(), name + ":"),
        )
        return [outer for _, outer in captured]

    def gradient(self, own: Own) -> dict[str, Any]:
        """What a gradient of one's own does, as a function of a file: it is asked for
        its operations once more."""
        output = own.outputs[0]
        graph = output.graph
        part = graph._body()
        part.is_gradient = True
        try:
            with _alone(graph), part.building():
                grads = [
                    part._operation(
                        part._handle.placeholder(
                            "grad", dtype_of(symbol), sizes_of(symbol.shape)
                        )
                    ).outputs[0]
                    for symbol in own.outputs
                ]
                found = [
                    None if grad is None else part.symbol(grad)
                    for grad in asked(own, grads)
                ]
            name = f"{output.op.name}:gradient:{output.value_index}"
            given = [grad for grad in found if grad is not None]
            captured = self.function(name, part.part(grads, given))
            for outer in captured:
                if outer.op not in self.there:
                    raise ValueError(
                        f"it added {outer.op.name} to the graph itself, beside what "
                        "gives the gradient."
                    )
        except Exception as error:
            raise GraphDefError(
                f"its gradient is a function of Python, which cannot be written as "
                f"operations: {brief(error)} Hint: let that function only call ops, "
                "without gradients() of what is outside of it, with_gradient() and "
                "as_default(); or write the graph without this operation",
                output.op.name,
            ) from error
        places = iter(range(len(given)))
        return {
            "inputs": [symbol.name for symbol in own.inputs],
            "outputs": [symbol.name for symbol in own.outputs],
            "function": name,
            "captured": [symbol.name for symbol in captured],
            "results": [None if grad is None else next(places) for grad in found],
            "cut": own.cut,
            "always": own.always,
        }


@contextmanager
def _alone(graph: Graph) -> Iterator[None]:
    # What the caller has entered, or builds a part of, does not count in what is
    # written.
    with inference_mode(False), set_grad_enabled(True), graph.as_default():
        graph._handle.begin_body()
        try:
            yield
        finally:
            graph._handle.end_trace()


def _complete(graph: Graph) -> list[Operation]:
    """The operations, but for those from a loop or choice on that another thread is
    just adding."""
    ops = graph.get_operations()
    for i, op in enumerate(ops):
        if op._handle.type() in ROLES and op.name not in graph._parts:
            return ops[:i]
    return ops


def _is_in(own: Own, there: set[Operation]) -> bool:
    return all(symbol.op in there for symbol in [*own.inputs, *own.outputs])


def _captured(part: BodyGraph) -> list[tuple[Operation, Symbol]]:
    # What stands in a part for symbols of the graph around it, with these.
    found = []
    for op in part.get_operations():
        if op._handle.type() in ("Placeholder", "Variable"):
            for name, value in json.loads(op._handle.arguments()):
                if name == "captured":
                    outer = part.outer._named(value["symbol"], True, False)
                    found.append((op, outer))
    return found


def _named(value: Any, stored: list[str]) -> Any:
    # C++ says the number of a tensor, a definition its name.
    if isinstance(value, list):
        return [_named(item, stored) for item in value]
    if isinstance(value, dict) and "tensor" in value:
        return {"tensor": stored[value["tensor"]]}
    return value


def _elements(graph: Graph) -> dict[str, list[Any]]:
    # Symbols and operations; other things have no name that a file could hold.
    found: dict[str, list[Any]] = {}
    for key in graph.get_all_collection_keys():
        elements = [
            item
            for item in graph.get_collection(key)
            if isinstance(item, (Symbol, Operation)) and item.graph is graph
        ]
        if isinstance(key, str) and elements:
            found[key] = elements
    return found


def _names(
    collections: dict[str, list[Any]], there: set[Operation]
) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for key, items in collections.items():
        names = [
            item.name
            for item in items
            if (item if isinstance(item, Operation) else item.op) in there
        ]
        if names:
            found[key] = names
    return found
