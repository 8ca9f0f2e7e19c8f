# SPDX-License-Identifier: Apache-2.0
"""Definitions of graphs, read with suspicion: all is checked, nothing is built."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, TypeGuard

from .._binding import core
from ..tensor import Tensor
from .graph_def import FORMAT, VERSION, GraphDefError, shown

__all__ = ["KINDS", "Definition", "Node", "Reference", "element", "read"]

#: What is no call of an op, and the attributes that each must have or may have.
KINDS: dict[str, tuple[set[str], set[str]]] = {
    "Placeholder": (set(), set()),
    "PlaceholderWithDefault": ({"value"}, set()),
    "Const": ({"value"}, set()),
    "Variable": (set(), {"initializer", "trainable"}),
    "Assign": ({"variable", "value"}, set()),
    "Gradients": ({"ys", "grad_ys", "xs"}, {"stops"}),
    "NoOp": (set(), set()),
}
_FIELDS = {"name", "op", "inputs", "attributes", "device", "outputs"}
_TYPE = re.compile(r"(?:(\w+)::)?(\w+)(?:\.\w+)?", re.ASCII)
_FLOATS = ("inf", "-inf", "nan")
_LARGEST = (1 << 63) - 1


@dataclass(frozen=True)
class Reference:
    """An attribute that stands for something else.

    kind: "input", "tensor", "operation", or "number" in the place of a tensor.
    """

    kind: str
    to: Any


@dataclass
class Node:
    """A node whose values are known to be of the right types."""

    name: str
    op: str
    inputs: list[tuple[str, int]]
    controls: list[str]
    attributes: dict[str, Any]
    device: str
    #: dtype and shape of each.
    outputs: list[tuple[core.dtype, list[int | None] | None]]
    #: Added under no_grad().
    no_grad: bool = False
    #: The overloads to call; None for what is no call.
    call: core.Operator | None = None

    def error(self, message: str) -> GraphDefError:
        """The error that names this node."""
        return GraphDefError(message, self.name)

    def references(self, kind: str) -> Iterator[Any]:
        """What its attributes refer to."""
        for value in self.attributes.values():
            for item in value if isinstance(value, list) else [value]:
                if isinstance(item, Reference) and item.kind == kind:
                    yield item.to


@dataclass
class Definition:
    """A whole definition; nodes refer to nodes before them only."""

    nodes: dict[str, Node] = field(default_factory=dict)
    collections: dict[str, list[str]] = field(default_factory=dict)
    tensors: dict[str, Tensor] = field(default_factory=dict)


def read(data: Any) -> Definition:
    """Checks all that can be told without building; GraphDefError names the node."""
    _dict(
        data, "a definition", {"format", "version", "nodes"}, {"collections", "tensors"}
    )
    if data["format"] != FORMAT:
        raise GraphDefError(
            f"expected the format {FORMAT!r}, got {shown(data['format'])}"
        )
    if type(data["version"]) is not int or data["version"] != VERSION:
        raise GraphDefError(
            f"expected version {VERSION}, got {shown(data['version'])}. Hint: a newer "
            "release of this package may read it."
        )
    made = Definition(tensors=_tensors(data.get("tensors", {})))
    for i, item in enumerate(_list(data["nodes"], "nodes")):
        node = _node(i, item)
        if node.name in made.nodes:
            raise node.error("the name is there twice")
        made.nodes[node.name] = node
    _find_ops(made)
    _check_references(made)
    made.collections = _collections(made, data.get("collections", {}))
    return made


def _dict(value: Any, what: str, must: set[str], may: set[str]) -> None:
    if not isinstance(value, dict):
        raise GraphDefError(f"expected a dict for {what}, got {shown(value)}")
    for key in value:
        if not isinstance(key, str) or key not in must | may:
            raise GraphDefError(f"{what} has an entry that is not known: {shown(key)}")
    for key in sorted(must - set(value)):
        raise GraphDefError(f"{what} lacks the entry {key!r}")


def _list(value: Any, what: str) -> list[Any]:
    if not isinstance(value, list):
        raise GraphDefError(f"expected a list for {what}, got {shown(value)}")
    return value


def _text(value: Any, what: str, empty: bool = False) -> str:
    if not isinstance(value, str):
        raise GraphDefError(f"expected a string for {what}, got {shown(value)}")
    if not empty and not value:
        raise GraphDefError(f"expected {what}, got an empty string")
    if "\0" in value or not _is_unicode(value):
        raise GraphDefError(f"expected valid text for {what}, got {shown(value)}")
    return value


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:  # half of a surrogate pair
        return False
    return True


def _tensors(value: Any) -> dict[str, Tensor]:
    if not isinstance(value, dict):
        raise GraphDefError(f"expected a dict for tensors, got {shown(value)}")
    for name, tensor in value.items():
        _text(name, "the name of a tensor")
        # Not a symbol, which is a Tensor, too.
        if not isinstance(tensor, core.Tensor) or hasattr(tensor, "value_index"):
            raise GraphDefError(
                f"expected tensors with values, got {type(tensor).__name__} for "
                f"{shown(name)}"
            )
    return value


def _node(position: int, item: Any) -> Node:
    _dict(item, f"the node at position {position}", _FIELDS, {"no_grad"})
    name = _text(item["name"], f"the name of the node at position {position}")
    if name.startswith("^"):
        raise GraphDefError("expected a name that does not begin with '^'", name)
    try:
        inputs, controls = _inputs(item["inputs"])
        attributes = item["attributes"]
        if not isinstance(attributes, dict):
            raise GraphDefError(
                f"expected a dict of attributes, got {shown(attributes)}"
            )
        return Node(
            name,
            _text(item["op"], "the op"),
            inputs,
            controls,
            {
                _text(key, "the name of an attribute"): _attribute(key, value)
                for key, value in attributes.items()
            },
            _text(item["device"], "the device", empty=True),
            [_output(output) for output in _list(item["outputs"], "outputs")],
            _bool(item.get("no_grad", False), "no_grad"),
        )
    except GraphDefError as error:
        raise GraphDefError(str(error).removeprefix("[graph] "), name) from None


def _bool(value: Any, what: str) -> bool:
    if not isinstance(value, bool):
        raise GraphDefError(f"expected true or false as {what}, got {shown(value)}")
    return value


def _inputs(items: Any) -> tuple[list[tuple[str, int]], list[str]]:
    inputs, controls = [], []
    for item in _list(items, "inputs"):
        text = _text(item, "an input")
        if text.startswith("^"):
            controls.append(_text(text[1:], "the name behind '^'"))
            continue
        name, colon, number = text.rpartition(":")
        if not name or not re.fullmatch("[0-9]{1,9}", number):
            raise GraphDefError(f"expected an input 'name:output', got {shown(text)}")
        if controls:
            raise GraphDefError(f"the input {shown(text)} stands behind a '^name'")
        inputs.append((name, int(number)))
    return inputs, controls


def _output(item: Any) -> tuple[core.dtype, list[int | None] | None]:
    _dict(item, "an output", {"dtype", "shape"}, set())
    dtype = _dtype(item["dtype"])
    if item["shape"] is None:
        return dtype, None
    sizes = _list(item["shape"], "a shape")
    for size in sizes:
        if size is not None and (type(size) is not int or not 0 <= size <= _LARGEST):
            raise GraphDefError(f"expected sizes or None in a shape, got {shown(size)}")
    return dtype, sizes


def _dtype(name: Any) -> core.dtype:
    try:
        dtype = core.dtype(name) if isinstance(name, str) else None
    except (TypeError, ValueError):
        dtype = None
    if dtype is None or dtype.name != name:
        raise GraphDefError(f"expected the name of a dtype, got {shown(name)}")
    return dtype


def _attribute(name: str, value: Any) -> Any:
    try:
        if isinstance(value, list):
            return [_value(item) for item in value]
        return _value(value)
    except GraphDefError as error:
        text = str(error).removeprefix("[graph] ")
        raise GraphDefError(f"the attribute {shown(name)}: {text}") from None


def _value(value: Any) -> Any:
    if value is None or isinstance(value, (bool, float)):
        return value
    if isinstance(value, int):
        if not -_LARGEST - 1 <= value <= _LARGEST:
            raise GraphDefError(f"expected an int of 64 bits, got {shown(value)}")
        return value
    if isinstance(value, str):
        if not _is_unicode(value):
            raise GraphDefError(f"expected valid text, got {shown(value)}")
        return value
    if not isinstance(value, dict) or len(value) != 1:
        raise GraphDefError(f"expected a value, got {shown(value)}")
    ((tag, inner),) = value.items()
    if tag == "float" and isinstance(inner, str) and inner in _FLOATS:
        return float(inner)
    if tag == "dtype":
        return _dtype(inner)
    if tag == "device" and isinstance(inner, str):
        try:
            return core.device(inner)
        except (RuntimeError, ValueError, TypeError):
            raise GraphDefError(f"expected a device, got {shown(inner)}") from None
    if tag == "number" and (isinstance(inner, (int, float)) or _is_float(inner)):
        return Reference(tag, _value(inner))
    if tag == "input" and type(inner) is int and inner >= 0:
        return Reference(tag, inner)
    if tag in ("tensor", "operation"):
        return Reference(str(tag), _text(inner, f"the name of a {tag}"))
    raise GraphDefError(f"expected a value, got {{{shown(tag)}: {shown(inner)}}}")


def _is_float(value: Any) -> bool:
    return isinstance(value, dict) and list(value) == ["float"]


def _find_ops(definition: Definition) -> None:
    unknown: dict[str, str] = {}  # and the first node of each
    for node in definition.nodes.values():
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
        return
    must, may = KINDS[node.op]
    given = set(node.attributes)
    if not must <= given or not given <= must | may:
        raise node.error(
            f"expected the attributes {sorted(must | may)}, got "
            f"{shown(', '.join(sorted(given)))}"
        )
    count = {"NoOp": 0, "Gradients": None}.get(node.op, 1)
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
            raise node.error(
                f"expected ys, xs and stops of floats, got {name}:{port}"
            )
    for item in grad_ys:
        if item is not None and not _is_a(item, "input") and not _is_a(item, "tensor"):
            raise node.error(f"expected tensors or None for grad_ys, got {shown(item)}")
    if len(node.outputs) != len(xs):
        raise node.error(f"expected {len(xs)} outputs, got {len(node.outputs)}")


def _collections(definition: Definition, value: Any) -> dict[str, list[str]]:
    if not isinstance(value, dict):
        raise GraphDefError(f"expected a dict for collections, got {shown(value)}")
    for key, items in value.items():
        _text(key, "the name of a collection")
        for item in _list(items, f"the collection {shown(key)}"):
            text = _text(item, f"an element of the collection {shown(key)}")
            element(definition, text, f"the collection {shown(key)}")
    return value


def element(definition: Definition, text: str, where: str) -> tuple[Node, int | None]:
    """The node of 'name' or 'name:output', and the output; GraphDefError."""
    if text in definition.nodes:
        return definition.nodes[text], None
    name, _, number = text.rpartition(":")
    node = definition.nodes.get(name)
    if node is None or not re.fullmatch("[0-9]{1,9}", number):
        raise GraphDefError(f"{where}: there is no node {shown(text)}")
    if int(number) >= len(node.outputs):
        raise node.error(f"{where}: {shown(text)} of {len(node.outputs)} outputs")
    return node, int(number)
