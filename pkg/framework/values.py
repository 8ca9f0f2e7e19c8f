# SPDX-License-Identifier: Apache-2.0
"""What callers give for the attributes and inputs of an op, checked and converted."""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from typing import Any

from .._binding import core
from ..graph.definitions import ArgumentDefinition, AttributeDefinition, OpDefinition

__all__ = [
    "attribute_value", "check_types", "dtype_name", "dtype_of_name", "stored_type",
]  # fmt: skip


def dtype_name(dtype: Any) -> str:
    """The name of a dtype of ours, of TensorFlow's names, of NumPy's or of Python's."""
    if isinstance(dtype, str):
        return dtype
    name = getattr(dtype, "name", None)
    if isinstance(name, str):
        return name
    known = {float: "float32", bool: "bool", str: "string"}
    if dtype in known:
        return known[dtype]
    return str(getattr(dtype, "__name__", dtype))


def dtype_of_name(name: str) -> Any:
    """Our dtype of this name; the name itself where there are no such tensors."""
    return getattr(core, name, name)


def stored_type(name: str) -> str:
    """The dtype of the tensors that an op has for a type: handles are int64."""
    return "int64" if name in ("resource", "variant") else name


def _expected(what: str, attr: AttributeDefinition, value: Any) -> TypeError:
    return TypeError(f"Expected {what} for argument '{attr.name}' not {value!r}.")


def _shape_text(value: Any, attr: AttributeDefinition) -> str:
    if value is None:
        return "<unknown>"
    if isinstance(value, str):
        return value
    as_list = getattr(value, "as_list", None)
    if as_list is not None:
        return "<unknown>" if value.ndims is None else _shape_text(as_list(), attr)
    try:
        sizes = [None if size is None else int(size) for size in value]
    except (TypeError, ValueError):
        raise _expected("shape", attr, value) from None
    if any(size is not None and size < -1 for size in sizes):
        raise ValueError(
            f"Expected sizes of at least 0, and None or -1 for what is not known, in "
            f"the shape for argument '{attr.name}', not {value!r}."
        )
    texts = ["?" if size in (None, -1) else str(size) for size in sizes]
    return f"[{','.join(texts)}]"


def _one(kind: str, attr: AttributeDefinition, value: Any) -> Any:
    if kind == "int":
        if isinstance(value, bool) or not isinstance(value, numbers.Integral):
            raise _expected("int", attr, value)
        return int(value)
    if kind == "float":
        if isinstance(value, bool) or not isinstance(value, numbers.Real):
            raise _expected("float", attr, value)
        return float(value)
    if kind == "bool":
        if type(value).__name__ not in ("bool", "bool_"):  # NumPy's, too
            raise _expected("bool", attr, value)
        return bool(value)
    if kind == "string":
        if not isinstance(value, (str, bytes)):
            raise _expected("string", attr, value)
        return value.decode() if isinstance(value, bytes) else value
    if kind == "type":
        return dtype_name(value)
    if kind == "shape":
        return _shape_text(value, attr)
    if not isinstance(value, str):
        raise _expected(f"the text of a {kind}", attr, value)
    return value


def attribute_value(op: OpDefinition, attr: AttributeDefinition, value: Any) -> Any:
    """The value as the op takes it.

    TypeError for a value of another type, and for a type that is not allowed;
    ValueError for one that is too small, or a text that is not allowed.
    """
    kind = attr.type.removeprefix("list(").removesuffix(")")
    if attr.type.startswith("list("):
        if isinstance(value, (str, bytes)) or not isinstance(value, Sequence):
            raise _expected(f"list({kind})", attr, value)
        made: Any = [_one(kind, attr, item) for item in value]
        _check_minimum(op, attr, len(made), "Length of attr")
    else:
        made = _one(kind, attr, value)
        if kind == "int":
            _check_minimum(op, attr, made, "Attr")
    for item in made if isinstance(made, list) else [made]:
        _check_allowed(op, attr, kind, item)
    if attr.type == "type":
        return dtype_of_name(made)
    return made


def _check_minimum(
    op: OpDefinition, attr: AttributeDefinition, number: int, what: str
) -> None:
    if attr.minimum is not None and number < attr.minimum:
        raise ValueError(
            f"{what} {attr.name!r} of {op.name!r} Op passed {number} less than minimum "
            f"{attr.minimum}."
        )


def _check_allowed(
    op: OpDefinition, attr: AttributeDefinition, kind: str, value: Any
) -> None:
    if not attr.allowed or value in attr.allowed:
        return
    if kind == "type":
        raise TypeError(
            f"Value for attr {attr.name!r} of {value} is not in the list of allowed "
            f"values: {', '.join(attr.allowed)} (of the op {op.name})."
        )
    allowed = ", ".join(f'"{text}"' for text in attr.allowed)
    raise ValueError(
        f"Attr {attr.name!r} of {op.name!r} Op passed string {value!r} not in: "
        f"{allowed}."
    )


class _Known:
    """What the inputs so far say of attributes, and which of them said it first."""

    def __init__(self) -> None:
        self.values: dict[str, Any] = {}
        self.source: dict[str, str] = {}

    def take(self, attr: str, value: Any, argument: str) -> None:
        self.values[attr] = value
        self.source[attr] = argument


def check_types(
    op: OpDefinition, inputs: Sequence[Any], dtype_of: Any
) -> None:
    """Whether the inputs, which are tensors and lists of such, fit each other.

    TypeError for tensors of another dtype than the definition or another input says;
    ValueError for a list of another length.
    """
    known = _Known()
    attrs = {attr.name: attr for attr in op.attrs}
    for argument, value in zip(op.inputs, inputs):
        several = list(value) if argument.is_list else [value]
        if argument.number_attr:
            _check_length(op, argument, len(several), known)
            _check_minimum(op, attrs[argument.number_attr], len(several), "Attr")
        names = [dtype_name(dtype_of(item)) for item in several]
        if argument.type_list_attr:
            known.take(argument.type_list_attr, names, argument.name)
            continue
        for place, name in enumerate(names):
            _check_type(op, argument, place, name, known)
    for name, value in known.values.items():
        attr = attrs[name]
        for item in value if isinstance(value, list) else [value]:
            if attr.type in ("type", "list(type)"):
                _check_allowed(op, attr, "type", item)


def _check_length(
    op: OpDefinition, argument: ArgumentDefinition, length: int, known: _Known
) -> None:
    attr = argument.number_attr
    wanted = known.values.get(attr)
    if wanted is None:
        known.take(attr, length, argument.name)
    elif length != wanted:
        raise ValueError(
            f"List argument '{argument.name}' to '{op.name}' Op with length {length} "
            f"must match length {wanted} of argument '{known.source[attr]}'."
        )


def _check_type(
    op: OpDefinition, argument: ArgumentDefinition, place: int, name: str, known: _Known
) -> None:
    if not argument.type_attr:
        if stored_type(argument.type) != name:
            raise TypeError(
                f"Input '{argument.name}' of '{op.name}' Op has type {name} that does "
                f"not match expected type of {argument.type}."
            )
        return
    wanted = known.values.get(argument.type_attr)
    if wanted is None:
        known.take(argument.type_attr, name, argument.name)
    elif wanted != name and place and known.source[argument.type_attr] == argument.name:
        raise TypeError(
            f"Tensors in list passed to '{argument.name}' of '{op.name}' Op have types "
            f"that don't all match: the first is {wanted}, that at {place} is {name}."
        )
    elif wanted != name:
        raise TypeError(
            f"Input '{argument.name}' of '{op.name}' Op has type {name} that does not "
            f"match type {wanted} of argument '{known.source[argument.type_attr]}'."
        )
