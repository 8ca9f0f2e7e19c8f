# SPDX-License-Identifier: Apache-2.0
"""One call of an op that REGISTER_OP defined, by its name and those of its arguments.

Generated wrappers call the op itself where they can, and come here where a graph, a
gradient, a conversion or a mistake is involved.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from .._binding import core
from ..autograd.grad_mode import is_grad_enabled, set_grad_enabled
from ..graph import Symbol
from ..graph.building import get_default_graph
from ..graph.definitions import ArgumentDefinition, OpDefinition, definition_of
from ..graph.symbols import dtype_of
from ..tensor import Tensor
from .eager import EagerOperation, recorded
from .values import (
    attribute_value,
    check_types,
    dtype_name,
    dtype_of_name,
    stored_type,
)

__all__ = ["Applied", "Style", "apply_op", "check"]


class Applied(NamedTuple):
    """What a call gave.

    structure: for each output of the definition None, or how many tensors its list has.
    stateful: of the definition.  op: the operation of a graph, or what describes the
    call.  outputs: all tensors, in one list.
    """

    structure: list[int | None]
    stateful: bool
    op: Any
    outputs: list[Any]


class Style:
    """How calls read values, and when they become operations: as pkg does.

    Numbers and lists are tensors, of the dtype that the definition says; a call is an
    operation of a graph where an argument is a symbol.
    """

    #: The dtype that Python's int stands for.
    integers = "int64"

    def convert(self, value: Any, dtype: Any) -> Any:
        """A tensor or symbol of the value; ValueError and TypeError as tensor() has,
        and TypeError for floats where the dtype has none."""
        if isinstance(value, Tensor):
            return value
        made = core.tensor(value, dtype=dtype)
        if dtype is None or dtype.is_floating_point:
            return made
        # What is behind the point would be lost.  Without elements only an array says
        # of what kind they were to be: an empty list has none.
        own = getattr(value, "dtype", None)
        if getattr(own, "kind", "") in ("i", "u", "b"):
            return made
        if own is None and made.numel() == 0:
            return made
        if core.tensor(value).dtype.is_floating_point:
            raise TypeError(f"expected whole numbers, got {value!r}")
        return made

    def graph_of(self, op: OpDefinition, inputs: list[Any]) -> Any:
        """The graph that the call belongs to; None: it is computed now."""
        for value in inputs:
            for item in value if isinstance(value, list) else [value]:
                if isinstance(item, Symbol):
                    return item.graph
        return get_default_graph() if get_default_graph().is_body else None

    def record(self, graph: Any, op: OpDefinition, name: str | None, call: Any) -> Any:
        """What the call gives, as an operation of the graph."""
        with graph.as_default():
            return graph.record(op.name if name is None else name, call)


_PKG = Style()


def _argument(
    op: OpDefinition, argument: ArgumentDefinition, value: Any, style: Style,
    known: dict[str, Any],
) -> Any:  # fmt: skip
    # Tensors of what is given; attributes that are known say their dtype.
    if argument.type:
        dtype: Any = dtype_of_name(stored_type(argument.type))
    else:
        dtype = known.get(argument.type_attr)
    if isinstance(dtype, str):
        raise NotImplementedError(
            f"[{op.name}] there are no tensors of {dtype}, which the input "
            f"{argument.name!r} has to be."
        )

    def convert(item: Any, wanted: Any) -> Any:
        try:
            return style.convert(item, wanted)
        except (TypeError, ValueError) as error:
            words = "" if wanted is None else f" of {wanted}"
            raise type(error)(
                f"Tried to convert '{argument.name}' of the op '{op.name}' to a tensor"
                f"{words} and failed. Error: {error}"
            ) from None

    def first(item: Any) -> Any:
        # Of a value without a dtype of its own: one that the op takes, of its kind.
        made = convert(item, dtype)
        named = [a.allowed for a in op.attrs if a.name == argument.type_attr]
        allowed = named[0] if named else ()
        if dtype is None and allowed and not isinstance(item, Tensor):
            kind = dtype_of(made)
            near = [name for name in ("int32", "int64", "float32", "float64")
                    if name in allowed and dtype_of_name(name).is_floating_point
                    == kind.is_floating_point]  # fmt: skip
            if near and dtype_name(kind) not in allowed:
                return convert(item, dtype_of_name(near[0]))
        return made

    if not argument.is_list:
        made = first(value)
        if argument.type_attr:
            known.setdefault(argument.type_attr, dtype_of(made))
        return made
    if isinstance(value, Tensor) or not isinstance(value, (list, tuple)):
        raise TypeError(
            f"Expected list for '{argument.name}' argument to '{op.name}' Op, not "
            f"{value!r}."
        )
    items = []
    for item in value:
        items.append(first(item))
        if argument.type_attr:
            dtype = known.setdefault(argument.type_attr, dtype_of(items[-1]))
    return items


def _typed(value: Any, style: Style) -> Any:
    # The value of an attribute that is a type, or of several.
    if isinstance(value, (list, tuple)):
        return [_typed(item, style) for item in value]
    return style.integers if value is int else value


def _split(
    op: OpDefinition, keywords: dict[str, Any], style: Style
) -> tuple[list[Any], dict[str, Any]]:
    # The values of inputs, in their order, and of attributes; TypeError for others.
    inferred = [attr.name for attr in op.attrs if attr.inferred]
    given = dict(keywords)
    inputs = []
    for argument in op.inputs:
        key = argument.name if argument.name in given else f"{argument.name}_"
        if key not in given:
            raise TypeError(f"No argument for input {argument.name} of '{op.name}' Op.")
        inputs.append(given.pop(key))
    for name in inferred:
        if name in given:
            raise TypeError(
                f"Should not specify value for inferred attr '{name}'. It follows from "
                f"the inputs of '{op.name}' Op."
            )
    attrs = {}
    for attr in op.given:
        key = attr.name if attr.name in given else f"{attr.name}_"
        if key in given and (given[key] is not None or not attr.has_default):
            value = given.pop(key)
            if attr.type in ("type", "list(type)"):
                value = _typed(value, style)
            attrs[attr.name] = attribute_value(op, attr, value)
        elif attr.has_default:
            given.pop(key, None)
        else:
            raise TypeError(f"No argument for attr {attr.name} of '{op.name}' Op.")
    if given:
        raise TypeError(
            f"{op.name} got unexpected keyword arguments: {', '.join(sorted(given))}."
        )
    return inputs, attrs


def _structure(
    op: OpDefinition, attrs: dict[str, Any], outputs: int
) -> list[int | None]:
    # Of each output None, or how many tensors; what has no number takes the rest.
    made: list[int | None] = []
    for output in op.outputs:
        if not output.is_list:
            made.append(None)
            continue
        name = output.number_attr or output.type_list_attr
        value = attrs.get(name)
        if value is None:
            value = next(attr.default for attr in op.attrs if attr.name == name)
        made.append(value if output.number_attr else len(value))
    if sum(1 if count is None else count for count in made) != outputs:
        raise RuntimeError(
            f"[{op.name}] expected outputs as its definition has them, {made}, got "
            f"{outputs}."
        )
    return made


def _live(graph: Any, value: Any) -> Any:
    # Every input of an operation is a symbol: a tensor, which another run may find
    # changed, becomes one that reads it then.
    if isinstance(value, list):
        return [_live(graph, item) for item in value]
    if isinstance(value, Symbol):
        return value
    return graph.record("Const", core.Operator("clone"), value)


def _prepared(
    op_type_name: str, keywords: dict[str, Any], style: Style
) -> tuple[OpDefinition, list[Any], dict[str, Any], dict[str, Any]]:
    # The definition, the inputs as tensors, the attributes to give, and all attributes.
    op = definition_of(op_type_name)
    if op is None:
        raise RuntimeError(
            f"Unrecognized Op name {op_type_name}: load its library first."
        )
    values, attrs = _split(op, keywords, style)
    known = {attr.name: attrs[attr.name] for attr in op.given
             if attr.name in attrs and attr.type == "type"}  # fmt: skip
    inputs = [
        _argument(op, argument, value, style, known)
        for argument, value in zip(op.inputs, values)
    ]
    check_types(op, inputs, dtype_of)
    return op, inputs, attrs, {**attrs, **op.inferred(inputs, dtype_of)}


def check(op_type_name: str, keywords: dict[str, Any]) -> None:
    """Raises what ``apply_op`` would for wrong arguments, and calls nothing."""
    _prepared(op_type_name, keywords, _PKG)


def apply_op(
    op_type_name: str, name: str | None, keywords: dict[str, Any], style: Style = _PKG
) -> Applied:
    """Calls an op.

    op_type_name: "ZeroOut"; name: of the operation, where there is a graph; keywords:
    inputs and attributes by their names.

    RuntimeError for a name that no op has; TypeError and ValueError for arguments that
    the definition does not allow, in the words of the definition.
    """
    op, inputs, attrs, everything = _prepared(op_type_name, keywords, style)
    raw = core.Operator(op.name, op.qualified.partition("::")[0])
    graph = style.graph_of(op, inputs)
    if graph is not None:
        # A graph that keeps no history asks the registry for it: own_gradients.py.
        history = is_grad_enabled() and graph.keeps_history
        with set_grad_enabled(history):
            with graph.as_default():
                inputs = [_live(graph, value) for value in inputs]
            made = style.record(graph, op, name, lambda: raw(*inputs, **attrs))
        outputs = _flat(made)
        node = outputs[0].op if outputs else graph.get_operations()[-1]
        return Applied(_structure(op, everything, len(outputs)), op.stateful, node,
                       outputs)  # fmt: skip
    call = EagerOperation(op, name or op.name, inputs, (), everything)
    if is_grad_enabled() and any(tensor.requires_grad for tensor in call.inputs):
        outputs = recorded(call, lambda: _flat(raw(*inputs, **attrs)))
    else:
        outputs = _flat(raw(*inputs, **attrs))
    call.outputs = tuple(outputs)
    return Applied(_structure(op, everything, len(outputs)), op.stateful, call, outputs)


def _flat(made: Any) -> list[Any]:
    if made is None:
        return []
    return list(made) if isinstance(made, (list, tuple)) else [made]
