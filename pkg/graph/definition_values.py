# SPDX-License-Identifier: Apache-2.0
"""The parts of definitions of graphs, and their values, read with suspicion."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from .._binding import core
from ..tensor import Tensor
from .graph_def import GraphDefError, shown

__all__ = [
    "Definition", "FunctionDefinition", "Gradient", "Node", "Reference", "a_bool",
    "a_dict", "a_list", "a_node", "a_text", "element", "the_tensors",
]  # fmt: skip

_FIELDS = {"name", "op", "inputs", "attributes", "device", "outputs"}
_FLOATS = ("inf", "-inf", "nan")
_LARGEST = (1 << 63) - 1


@dataclass(frozen=True)
class Reference:
    """An attribute that stands for something else.

    kind: "input", "tensor", "operation", "function", or "number" in the place of a
    tensor.
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
    #: The name under which its gradient is registered, where that is not its type.
    gradient: str | None = None
    #: The function that it is in.
    function: str | None = None
    #: The overloads to call; None for what is no call.
    call: core.Operator | None = None

    def error(self, message: str) -> GraphDefError:
        """The error that names this node."""
        return GraphDefError(message, self.name, self.function)

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
    #: These two are shared with the functions.
    tensors: dict[str, Tensor] = field(default_factory=dict)
    functions: dict[str, FunctionDefinition] = field(default_factory=dict)
    gradients: list[Gradient] = field(default_factory=list)


@dataclass
class FunctionDefinition(Definition):
    """A part of a loop or choice, or a gradient: see graph_def.py."""

    name: str = ""
    inputs: list[str] = field(default_factory=list)
    captured: list[str] = field(default_factory=list)
    outputs: list[tuple[str, int]] = field(default_factory=list)
    targets: list[str] = field(default_factory=list)

    def output(self, index: int) -> tuple[core.dtype, list[int | None] | None]:
        """dtype and shape of an output."""
        name, port = self.outputs[index]
        return self.nodes[name].outputs[port]


@dataclass
class Gradient:
    """A gradient of one's own: see graph_def.py."""

    inputs: list[tuple[str, int]]
    outputs: list[tuple[str, int]]
    function: str
    captured: list[tuple[str, int]]
    results: list[int | None]
    cut: bool
    always: bool


def a_dict(value: Any, what: str, must: set[str], may: set[str]) -> None:
    """A dict with these entries. GraphDefError for anything else."""
    if not isinstance(value, dict):
        raise GraphDefError(f"expected a dict for {what}, got {shown(value)}")
    for key in value:
        if not isinstance(key, str) or key not in must | may:
            raise GraphDefError(f"{what} has an entry that is not known: {shown(key)}")
    for key in sorted(must - set(value)):
        raise GraphDefError(f"{what} lacks the entry {key!r}")


def a_list(value: Any, what: str) -> list[Any]:
    """A list. GraphDefError for anything else."""
    if not isinstance(value, list):
        raise GraphDefError(f"expected a list for {what}, got {shown(value)}")
    return value


def a_text(value: Any, what: str, empty: bool = False) -> str:
    """A string that is text. GraphDefError for anything else."""
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


def the_tensors(value: Any) -> dict[str, Tensor]:
    """Tensors with values, by name. GraphDefError for anything else."""
    if not isinstance(value, dict):
        raise GraphDefError(f"expected a dict for tensors, got {shown(value)}")
    for name, tensor in value.items():
        a_text(name, "the name of a tensor")
        # Not a symbol, which is a Tensor, too.
        if not isinstance(tensor, core.Tensor) or hasattr(tensor, "value_index"):
            raise GraphDefError(
                f"expected tensors with values, got {type(tensor).__name__} for "
                f"{shown(name)}"
            )
    return value


def a_node(position: int, item: Any, function: str | None = None) -> Node:
    """One of the nodes of a definition, or of a function in it."""
    a_dict(item, f"the node at position {position}", _FIELDS, {"no_grad", "gradient"})
    name = a_text(item["name"], f"the name of the node at position {position}")
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
            a_text(item["op"], "the op"),
            inputs,
            controls,
            {
                a_text(key, "the name of an attribute"): _attribute(key, value)
                for key, value in attributes.items()
            },
            a_text(item["device"], "the device", empty=True),
            [_output(output) for output in a_list(item["outputs"], "outputs")],
            a_bool(item.get("no_grad", False), "no_grad"),
            a_text(item["gradient"], "the gradient") if "gradient" in item else None,
            function,
        )
    except GraphDefError as error:
        text = str(error).removeprefix("[graph] ")
        raise GraphDefError(text, name, function) from None


def a_bool(value: Any, what: str) -> bool:
    """A bool. GraphDefError for anything else."""
    if not isinstance(value, bool):
        raise GraphDefError(f"expected true or false as {what}, got {shown(value)}")
    return value


def _inputs(items: Any) -> tuple[list[tuple[str, int]], list[str]]:
    inputs, controls = [], []
    for item in a_list(items, "inputs"):
        text = a_text(item, "an input")
        if text.startswith("^"):
            controls.append(a_text(text[1:], "the name behind '^'"))
            continue
        name, colon, number = text.rpartition(":")
        if not name or not re.fullmatch("[0-9]{1,9}", number):
            raise GraphDefError(f"expected an input 'name:output', got {shown(text)}")
        if controls:
            raise GraphDefError(f"the input {shown(text)} stands behind a '^name'")
        inputs.append((name, int(number)))
    return inputs, controls


def _output(item: Any) -> tuple[core.dtype, list[int | None] | None]:
    a_dict(item, "an output", {"dtype", "shape"}, set())
    dtype = _dtype(item["dtype"])
    if item["shape"] is None:
        return dtype, None
    sizes = a_list(item["shape"], "a shape")
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
    if tag in ("tensor", "operation", "function"):
        return Reference(str(tag), a_text(inner, f"the name of a {tag}"))
    raise GraphDefError(f"expected a value, got {{{shown(tag)}: {shown(inner)}}}")


def _is_float(value: Any) -> bool:
    return isinstance(value, dict) and list(value) == ["float"]


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
