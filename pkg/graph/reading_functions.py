# SPDX-License-Identifier: Apache-2.0
"""Functions of definitions, and who uses them: each is used once, none by itself."""

from __future__ import annotations

from typing import Any

from .._binding import core
from .bodies import ROLES
from .definition_values import (
    Definition,
    FunctionDefinition,
    Gradient,
    Node,
    Reference,
    a_bool,
    a_dict,
    a_list,
    a_node,
    a_text,
    element,
)
from .graph_def import DEEPEST, GraphDefError, shown

__all__ = ["check_parts", "check_use", "gradients_of", "read_functions"]

_FIELDS = {"inputs", "captured", "outputs", "targets", "nodes"}
_OF_GRADIENTS = {
    "inputs", "outputs", "function", "captured", "results", "cut", "always",
}  # fmt: skip


def read_functions(data: Any, whole: Definition) -> None:
    """Enters the functions into the definition, without looking at what nodes take."""
    if not isinstance(data, dict):
        raise GraphDefError(f"expected a dict for functions, got {shown(data)}")
    for name, item in data.items():
        a_text(name, "the name of a function")
        what = f"the function {shown(name)}"
        a_dict(item, what, _FIELDS, set())
        made = FunctionDefinition(
            tensors=whole.tensors, functions=whole.functions, name=name
        )
        for i, plain in enumerate(a_list(item["nodes"], f"the nodes of {what}")):
            node = a_node(i, plain, name)
            if node.name in made.nodes:
                raise node.error("the name is there twice")
            made.nodes[node.name] = node
        made.inputs = _places(made, item["inputs"], f"the inputs of {what}")
        made.captured = _places(made, item["captured"], f"the captured of {what}")
        places = [*made.inputs, *made.captured]
        if len(set(places)) < len(places):
            raise GraphDefError(f"{what}: an input or captured node is there twice")
        for place in places:
            _check_place(made, made.nodes[place], place in made.inputs)
        for node in made.nodes.values():
            if node.op == "Variable" and node.name not in made.captured:
                raise node.error("expected it among what is captured, as a variable")
        made.outputs = _edges(made, item["outputs"], f"the outputs of {what}")
        made.targets = _places(made, item["targets"], f"the targets of {what}")
        whole.functions[name] = made


def _places(definition: FunctionDefinition, items: Any, what: str) -> list[str]:
    # Names of nodes.
    for item in a_list(items, what):
        if a_text(item, f"one of {what}") not in definition.nodes:
            raise GraphDefError(f"{what}: there is no node {shown(item)}")
    return list(items)


def _edges(definition: Definition, items: Any, what: str) -> list[tuple[str, int]]:
    # Outputs of nodes, "name:output" each.
    found = []
    for item in a_list(items, what):
        node, port = element(definition, a_text(item, f"one of {what}"), what)
        if port is None:
            raise GraphDefError(f"{what}: expected 'name:output', got {shown(item)}")
        found.append((node.name, port))
    return found


def _check_place(definition: Definition, node: Node, is_input: bool) -> None:
    kinds = ("Placeholder",) if is_input else ("Placeholder", "Variable")
    if node.op not in kinds or node.attributes or len(node.outputs) != 1:
        raise node.error(
            f"expected a {' or '.join(kinds)} without attributes and with one output, "
            f"got {shown(node.op)}"
        )


def _dtypes(function: FunctionDefinition, names: list[str]) -> list[core.dtype]:
    return [function.nodes[name].outputs[0][0] for name in names]


def _results(function: FunctionDefinition) -> list[core.dtype]:
    return [function.output(i)[0] for i in range(len(function.outputs))]


def check_parts(definition: Definition, node: Node, before: dict[str, Node]) -> None:
    """Of a loop or choice: that its functions take and give what they must."""
    first = node.attributes["values" if node.op == "While" else "predicate"]
    if isinstance(first, list) != (node.op == "While"):
        what = "a list of symbols" if node.op == "While" else "one symbol"
        raise node.error(f"expected {what} as what it takes, got {shown(first)}")
    values = first if isinstance(first, list) else [first]
    for value in values:
        if not isinstance(value, Reference) or value.kind != "input":
            raise node.error(f"expected symbols as what it takes, got {shown(value)}")
    taken = [_dtype_of(node, value, before) for value in values]
    parts = [_part(definition, node, role, before) for role in ROLES[node.op]]
    one, other = parts
    for part in parts:
        given = taken if node.op == "While" else []
        if _dtypes(part, part.inputs) != given:
            raise node.error(
                f"expected the function {shown(part.name)} to take "
                f"{_names(given)}, got {_names(_dtypes(part, part.inputs))}"
            )
    if node.op == "While":
        if _results(one) != [core.bool]:
            raise node.error(
                f"expected one bool of its condition, got {_names(_results(one))}"
            )
        if _results(other)[: len(taken)] != taken:
            raise node.error(
                f"expected {_names(taken)} of its body, and then what is collected, "
                f"got {_names(_results(other))}"
            )
    else:
        if taken != [core.bool]:
            raise node.error(f"expected one bool as predicate, got {_names(taken)}")
        if _results(one) != _results(other):
            raise node.error(
                f"expected the same of both functions, got {_names(_results(one))} "
                f"and {_names(_results(other))}"
            )
    if len(node.outputs) != len(other.outputs):
        raise node.error(
            f"expected {len(other.outputs)} outputs, as its functions have, got "
            f"{len(node.outputs)}"
        )


def _names(dtypes: list[core.dtype]) -> str:
    names = ", ".join(dtype.name for dtype in dtypes)
    return f"({names if len(names) < 200 else names[:197] + '...'})"


def _dtype_of(node: Node, value: Reference, before: dict[str, Node]) -> core.dtype:
    if value.kind == "input":
        name, port = node.inputs[value.to]
    else:
        name, port = value.to, 0
    dtype: core.dtype = before[name].outputs[port][0]
    return dtype


def _part(
    definition: Definition, node: Node, role: str, before: dict[str, Node]
) -> FunctionDefinition:
    found = node.attributes[role]
    if not isinstance(found, Reference) or found.kind != "function":
        raise node.error(f"expected a function as {role}, got {shown(found)}")
    if found.to not in definition.functions:
        raise node.error(f"there is no function {shown(found.to)}")
    part = definition.functions[found.to]
    captured = node.attributes[f"{role}_captured"]
    if not isinstance(captured, list) or len(captured) != len(part.captured):
        raise node.error(
            f"expected a list of {len(part.captured)} as {role}_captured, as the "
            f"function {shown(part.name)} has, got {shown(captured)}"
        )
    for value, name in zip(captured, part.captured):
        kind = "operation" if part.nodes[name].op == "Variable" else "input"
        if not isinstance(value, Reference) or value.kind != kind:
            raise node.error(
                f"{role}_captured: expected an {kind} for {shown(name)}, got "
                f"{shown(value)}"
            )
        if kind == "operation":
            outer = before.get(value.to)
            if outer is None or outer.op != "Variable":
                raise node.error(
                    f"{role}_captured: expected a variable that stands before it, got "
                    f"{shown(value.to)}"
                )
        _check_same(node, _dtype_of(node, value, before), part, name)
    return part


def _check_same(
    node: Node, dtype: core.dtype, function: FunctionDefinition, name: str
) -> None:
    (wanted,) = _dtypes(function, [name])
    if dtype != wanted:
        raise node.error(
            f"expected {wanted.name} for {shown(name)} of the function "
            f"{shown(function.name)}, got {dtype.name}"
        )


def gradients_of(definition: Definition, data: Any) -> list[Gradient]:
    """The gradients of one's own of a definition."""
    return [
        _gradient(definition, i, item)
        for i, item in enumerate(a_list(data, "gradients"))
    ]


def _gradient(definition: Definition, position: int, item: Any) -> Gradient:
    what = f"the gradient at position {position}"
    a_dict(item, what, _OF_GRADIENTS, set())
    made = Gradient(
        _edges(definition, item["inputs"], f"{what}: inputs"),
        _edges(definition, item["outputs"], f"{what}: outputs"),
        a_text(item["function"], f"{what}: the function"),
        _edges(definition, item["captured"], f"{what}: captured"),
        a_list(item["results"], f"{what}: results"),
        a_bool(item["cut"], f"{what}: cut"),
        a_bool(item["always"], f"{what}: always"),
    )
    if not made.outputs:
        raise GraphDefError(f"{what}: expected an output at least")
    node = definition.nodes[made.outputs[0][0]]
    function = definition.functions.get(made.function)
    if function is None:
        raise node.error(f"{what}: there is no function {shown(made.function)}")
    if function.targets:
        raise node.error(f"{what}: its function has targets, which nothing would run")
    counts = len(function.inputs), len(function.captured), len(made.inputs)
    if counts != (len(made.outputs), len(made.captured), len(made.results)):
        raise node.error(
            f"{what}: expected a function of {len(made.outputs)} inputs and "
            f"{len(made.captured)} captured, and {len(made.inputs)} results, got "
            f"{counts[0]}, {counts[1]} and {len(made.results)}"
        )
    given = [*made.outputs, *made.captured]
    for (name, port), place in zip(given, [*function.inputs, *function.captured]):
        outer = definition.nodes[name]
        if (function.nodes[place].op == "Variable") != (outer.op == "Variable"):
            raise node.error(f"{what}: {shown(place)} cannot stand for {shown(name)}")
        _check_same(node, outer.outputs[port][0], function, place)
    used = [result for result in made.results if result is not None]
    if any(type(n) is not int for n in used) or sorted(used) != list(
        range(len(function.outputs))
    ):
        raise node.error(
            f"{what}: expected each of the {len(function.outputs)} outputs of its "
            f"function once among the results, got {shown(str(used))}"
        )
    for (name, port), result in zip(made.inputs, made.results):
        dtype = definition.nodes[name].outputs[port][0]
        if result is not None and (
            not dtype.is_floating_point or function.output(result)[0] != dtype
        ):
            raise node.error(
                f"{what}: expected a gradient of {dtype.name}, if it is floating, for "
                f"{name}:{port}, got {function.output(result)[0].name}"
            )
    return made


def check_use(definition: Definition) -> None:
    """That each function is used once, and not within itself."""
    users: dict[str, str | None] = {}  # the function that uses it; None: the graph
    asked = [
        (reference, node.function, node)
        for part in [definition, *definition.functions.values()]
        for node in part.nodes.values()
        for reference in node.references("function")
    ]
    asked += [
        (gradient.function, None, definition.nodes[gradient.outputs[0][0]])
        for gradient in definition.gradients
    ]
    for name, user, node in asked:
        if name in users:
            raise node.error(f"the function {shown(name)} is used twice")
        users[name] = user
    for name in definition.functions:
        if name not in users:
            raise GraphDefError(f"nothing uses the function {shown(name)}")
        inner = name
        for _ in range(DEEPEST):
            around = users[inner]
            if around is None:
                break
            inner = around
            if inner == name:
                raise GraphDefError(f"the function {shown(name)} uses itself")
        else:
            raise GraphDefError(
                f"the function {shown(name)} is {DEEPEST} functions deep, or deeper"
            )
