# SPDX-License-Identifier: Apache-2.0
"""Definitions of ops: what REGISTER_OP said of them, as plain objects.

Such ops are in the namespace "tf", and graphs call them by their name alone.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from .._binding import core

__all__ = [
    "NAMESPACE", "ArgumentDefinition", "AttributeDefinition", "OpDefinition",
    "attributes_of", "definition_of", "plain_type",
]  # fmt: skip

NAMESPACE = "tf"


@dataclass(frozen=True)
class ArgumentDefinition:
    """An input or output: one tensor, or as many as an attribute says.

    type: of the tensors, where it is fixed; else type_attr is the attribute that says
    it.  number_attr: the attribute that counts the tensors of a list; type_list_attr:
    the one that has a type for each.
    """

    name: str
    type: str = ""
    type_attr: str = ""
    number_attr: str = ""
    type_list_attr: str = ""
    is_ref: bool = False

    @property
    def is_list(self) -> bool:
        """Whether it is a list of tensors."""
        return bool(self.number_attr or self.type_list_attr)


@dataclass(frozen=True)
class AttributeDefinition:
    """An attribute: its type ("int", "list(type)"), what it may be, and its default.

    inferred: it follows from the inputs, and no caller gives it.
    """

    name: str
    type: str
    allowed: tuple[Any, ...] = ()
    default: Any = None
    has_default: bool = False
    minimum: int | None = None
    inferred: bool = False


@dataclass(frozen=True)
class OpDefinition:
    """What an op takes and gives."""

    name: str
    inputs: tuple[ArgumentDefinition, ...]
    outputs: tuple[ArgumentDefinition, ...]
    attrs: tuple[AttributeDefinition, ...]
    doc: str
    stateful: bool
    one_list: bool  # a call gives its results as one list

    @property
    def qualified(self) -> str:
        """Its name in the registry: "tf::ZeroOut"."""
        return f"{NAMESPACE}::{self.name}"

    @property
    def given(self) -> tuple[AttributeDefinition, ...]:
        """The attributes that callers give."""
        return tuple(attr for attr in self.attrs if not attr.inferred)

    def inferred(self, inputs: Sequence[Any], dtype_of: Any) -> dict[str, Any]:
        """The attributes that follow from the inputs: dtypes and numbers of them.

        inputs: tensors, and lists of tensors where the definition says so.
        dtype_of: a function of a tensor.
        """
        found: dict[str, Any] = {}
        for argument, value in zip(self.inputs, inputs):
            several = list(value) if argument.is_list else [value]
            if argument.number_attr:
                found.setdefault(argument.number_attr, len(several))
            if argument.type_list_attr:
                found[argument.type_list_attr] = [dtype_of(item) for item in several]
            if argument.type_attr and several:
                found.setdefault(argument.type_attr, dtype_of(several[0]))
        return found


def _argument(plain: dict[str, Any]) -> ArgumentDefinition:
    return ArgumentDefinition(**plain)


def _attribute(plain: dict[str, Any]) -> AttributeDefinition:
    return AttributeDefinition(
        name=plain["name"],
        type=plain["type"],
        allowed=tuple(plain.get("allowed") or ()),
        default=plain.get("default"),
        has_default="default" in plain,
        minimum=plain.get("minimum"),
        inferred=bool(plain.get("inferred")),
    )


@cache
def _parsed(text: str) -> OpDefinition:
    plain = json.loads(text)
    outputs = tuple(map(_argument, plain["outputs"]))
    return OpDefinition(
        name=plain["name"],
        inputs=tuple(map(_argument, plain["inputs"])),
        outputs=outputs,
        attrs=tuple(map(_attribute, plain["attrs"])),
        doc=plain.get("doc") or "",
        stateful=bool(plain.get("stateful")),
        one_list=bool(plain.get("one_list", any(output.is_list for output in outputs))),
    )


def definition_of(name: str) -> OpDefinition | None:
    """The definition of an op, "ZeroOut" or "tf::ZeroOut"; None where it has none."""
    qualified = name if "::" in name else f"{NAMESPACE}::{name}"
    text = core.op_definition(qualified)
    return _parsed(text) if text else None


def plain_type(registered: str) -> str:
    """The type of an operation as programs know it: "ZeroOut" of "tf::ZeroOut"."""
    return registered.removeprefix(f"{NAMESPACE}::")


def attributes_of(
    registered: str, arguments: str, inputs: Sequence[Any]
) -> dict[str, Any]:
    """The attributes of an operation: its arguments that are no tensors, and what its
    definition says of its inputs.

    registered: the op's name in the registry; arguments: all of them, as the JSON of a
    handle has them; inputs: its symbols.
    """
    named = json.loads(arguments or "[]")
    found = {name: _plain(value) for name, value in named if not _holds_tensors(value)}
    definition = definition_of(registered) if "::" in registered else None
    if definition is not None:
        there = [_filled(value, inputs) for _, value in named]
        found.update(definition.inferred(there, lambda symbol: symbol.dtype))
    return found


def _holds_tensors(value: Any) -> bool:
    if isinstance(value, list):
        return any(map(_holds_tensors, value))
    return isinstance(value, dict) and not value.keys().isdisjoint(
        ("input", "tensor", "number")
    )


def _filled(value: Any, inputs: Sequence[Any]) -> Any:
    if isinstance(value, list):
        return [_filled(item, inputs) for item in value]
    if isinstance(value, dict) and "input" in value:
        return inputs[value["input"]]
    return value


def _plain(value: Any) -> Any:
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        ((kind, text),) = value.items()
        if kind == "dtype":
            return getattr(core, text)
        return float(text) if kind == "float" else text
    return value
