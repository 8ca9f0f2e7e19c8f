# SPDX-License-Identifier: Apache-2.0
"""Definitions of graphs, read with suspicion: all is checked, nothing is built."""

from __future__ import annotations

import re
from typing import Any, TypeGuard

from .._binding import core
from .bodies import ROLES
from .definition_values import (
    Definition,
    Node,
    Reference,
    a_dict,
    a_list,
    a_node,
    a_text,
    element,
    the_tensors,
)
from .graph_def import FORMAT, VERSION, GraphDefError, shown
from .reading_functions import check_parts, check_use, gradients_of, read_functions

__all__ = ["KINDS", "read"]

#: What is no call of an op, and the attributes that each must have or may have.
KINDS: dict[str, tuple[set[str], set[str]]] = {
    "Placeholder": (set(), set()),
    "PlaceholderWithDefault": ({"value"}, set()),
    "Const": ({"value"}, set()),
    "Variable": (set(), {"initializer", "trainable"}),
    "Assign": ({"variable", "value"}, set()),
    "Gradients": ({"ys", "grad_ys", "xs"}, {"stops"}),
    "NoOp": (set(), set()),
    **{
        kind: (
            {"values" if kind == "While" else "predicate"}
            | {name for role in roles for name in (role, f"{role}_captured")},
            set(),
        )
        for kind, roles in ROLES.items()
    },
}
_TYPE = re.compile(r"(?:(\w+)::)?(\w+(?:>\w+)*)(?:\.\w+)?", re.ASCII)


def read(data: Any) -> Definition:
    """Checks all that can be told without building; GraphDefError names the node."""
    may = {"collections", "tensors", "functions", "gradients"}
    a_dict(data, "a definition", {"format", "version", "nodes"}, may)
    if data["format"] != FORMAT:
        raise GraphDefError(
            f"expected the format {FORMAT!r}, got {shown(data['format'])}"
        )
    if type(data["version"]) is not int or data["version"] != VERSION:
        raise GraphDefError(
            f"expected version {VERSION}, got {shown(data['version'])}. Hint: a newer "
            "release of this package may read it."
        )
    made = Definition(tensors=the_tensors(data.get("tensors", {})))
    for i, item in enumerate(a_list(data["nodes"], "nodes")):
        node = a_node(i, item)
        if node.name in made.nodes:
            raise node.error("the name is there twice")
        made.nodes[node.name] = node
    read_functions(data.get("functions", {}), made)
    _find_ops(made)
    for part in [made, *made.functions.values()]:
        _check_references(part)
    made.gradients = gradients_of(made, data.get("gradients", []))
    check_use(made)
    made.collections = _collections(made, data.get("collections", {}))
    return made


def _find_ops(definition: Definition) -> None:
    unknown: dict[str, str] = {}  # and the first node of each
    parts = [definition, *definition.functions.values()]
    for node in (node for part in parts for node in part.nodes.values()):
        if node.op in KINDS:
            continue
        match = _TYPE.fullmatch(node.op)
        try:
            node.call = match and core.Operator(match[2], match[1] or "pkg")
        except (AttributeError, RuntimeError, TypeError, ValueError):
            node.call = None
        if node.call is None or not any(
            schema.startswith(node.op.rpartition("::")[2] + "(")
            for schema in node.call.schemas
        ):
            unknown.setdefault(node.op, node.name)
    if unknown:
        listed = ", ".join(
            f"{shown(op)} (node {shown(name)})"
            for op, name in list(unknown.items())[:50]
        )
        more = f" and {len(unknown) - 50} more" if len(unknown) > 50 else ""
        raise GraphDefError(
            f"expected ops that are registered, got {listed}{more}. Hint: those of a "
            "library are there once pkg.ops.load_library() has loaded it."
        )


def _check_references(definition: Definition) -> None:
    before: dict[str, Node] = {}
    for node in definition.nodes.values():
        for name in [name for name, _ in node.inputs] + node.controls:
            if name in before:
                continue
            if name == node.name:
                raise node.error("it is its own input: a cycle")
            if name in definition.nodes:
                raise node.error(
                    f"its input {shown(name)} stands behind it; nodes stand behind all "
                    "that they take, so there is a cycle or the order is wrong"
                )
            raise node.error(f"its input {shown(name)} does not exist")
        for name, port in node.inputs:
            if port >= len(before[name].outputs):
                raise node.error(
                    f"its input is the output {port} of {shown(name)}, which has only "
                    f"{len(before[name].outputs)}"
                )
        _check_attributes(definition, node, before)
        before[node.name] = node


def _check_attributes(
    definition: Definition, node: Node, before: dict[str, Node]
) -> None:
    for name in node.references("tensor"):
        if name not in definition.tensors:
            raise node.error(f"there is no tensor {shown(name)}")
    used = list(node.references("input"))
    if sorted(used) != list(range(len(node.inputs))):
        raise node.error(
            f"expected each of its {len(node.inputs)} inputs once among the "
            f"attributes, got {shown(str(used))}"
        )
    for name in node.references("operation"):
        if name not in definition.nodes:
            raise node.error(f"there is no operation {shown(name)}")
    if node.op not in KINDS:
        if any(node.references("operation")):
            raise node.error("only an Assign and a Variable refer to operations")
        if any(node.references("function")):
            raise node.error("only loops and choices refer to functions")
        return
    must, may = KINDS[node.op]
    given = set(node.attributes)
    if not must <= given or not given <= must | may:
        raise node.error(
            f"expected the attributes {sorted(must | may)}, got "
            f"{shown(', '.join(sorted(given)))}"
        )
    several = {"NoOp": 0, "Gradients": None, **dict.fromkeys(ROLES)}
    count = several.get(node.op, 1)
    if count is not None and len(node.outputs) != count:
        raise node.error(f"expected {count} outputs, got {len(node.outputs)}")
    _check_kind(definition, node, before)


def _is_a(value: Any, kind: str) -> TypeGuard[Reference]:
    return isinstance(value, Reference) and value.kind == kind


def _check_kind(definition: Definition, node: Node, before: dict[str, Node]) -> None:
    values = node.attributes
    if node.op in ("Const", "PlaceholderWithDefault") and not _is_a(
        values["value"], "tensor"
    ):
        raise node.error(f"expected a tensor as value, got {shown(values['value'])}")
    if node.op == "Variable" and values:
        _check_variable(definition, node)
    if node.op == "Assign":
        target = values["variable"]
        if not _is_a(target, "operation") or target.to not in before:
            raise node.error("expected a variable that stands before it")
        if before[target.to].op != "Variable":
            raise node.error(f"{shown(target.to)} is no variable")
        value = values["value"]
        if not _is_a(value, "input") and not _is_a(value, "tensor"):
            raise node.error(
                f"expected a tensor or symbol as value, got {shown(value)}"
            )
    if node.op == "Gradients":
        _check_gradients(node, before)
    if node.op in ROLES:
        check_parts(definition, node, before)
    elif any(node.references("function")):
        raise node.error("only loops and choices refer to functions")


def _check_variable(definition: Definition, node: Node) -> None:
    made_by = node.attributes.get("initializer")
    if not _is_a(made_by, "operation"):
        raise node.error(f"expected an operation as initializer, got {shown(made_by)}")
    assign = definition.nodes[made_by.to]
    if assign.op != "Assign" or assign.attributes.get("variable") != Reference(
        "operation", node.name
    ):
        raise node.error(f"its initializer {shown(assign.name)} does not assign to it")
    if not _is_a(assign.attributes.get("value"), "input"):
        raise node.error("expected an initializer that assigns a symbol")
    if type(node.attributes.get("trainable")) is not bool:
        raise node.error("expected a bool for trainable")


def _check_gradients(node: Node, before: dict[str, Node]) -> None:
    lists = [node.attributes[name] for name in ("ys", "grad_ys", "xs")]
    lists.append(node.attributes.get("stops", []))
    if not all(isinstance(items, list) for items in lists):
        raise node.error("expected lists for ys, grad_ys, xs and stops")
    ys, grad_ys, xs, stops = lists
    if len(grad_ys) != len(ys) or not ys or not xs:
        raise node.error(
            f"expected ys, as many grad_ys, and xs, got {len(ys)}, {len(grad_ys)} and "
            f"{len(xs)}"
        )
    for item in ys + xs + stops:
        if not _is_a(item, "input"):
            raise node.error(
                f"expected symbols for ys, xs and stops, got {shown(item)}"
            )
        name, port = node.inputs[item.to]
        if not before[name].outputs[port][0].is_floating_point:
            raise node.error(f"expected ys, xs and stops of floats, got {name}:{port}")
    for item in grad_ys:
        if item is not None and not _is_a(item, "input") and not _is_a(item, "tensor"):
            raise node.error(f"expected tensors or None for grad_ys, got {shown(item)}")
    if len(node.outputs) != len(xs):
        raise node.error(f"expected {len(xs)} outputs, got {len(node.outputs)}")


def _collections(definition: Definition, value: Any) -> dict[str, list[str]]:
    if not isinstance(value, dict):
        raise GraphDefError(f"expected a dict for collections, got {shown(value)}")
    for key, items in value.items():
        a_text(key, "the name of a collection")
        for item in a_list(items, f"the collection {shown(key)}"):
            text = a_text(item, f"an element of the collection {shown(key)}")
            element(definition, text, f"the collection {shown(key)}")
    return value
