# SPDX-License-Identifier: Apache-2.0
"""Schemas from the annotations of Python functions."""

from __future__ import annotations

import inspect
import types
import typing
from collections.abc import Callable, Iterable, Sequence
from numbers import Number
from typing import Any

from .._binding import core
from ..tensor import Tensor

_NAMES = {
    Tensor: "Tensor",
    int: "int",
    float: "float",
    bool: "bool",
    str: "str",
    core.dtype: "DType",
    core.device: "Device",
    Number: "Scalar",
    int | float: "Scalar",
    int | float | bool: "Scalar",
}
_LISTS = (list, Sequence)


def _spelled(annotation: Any) -> str | None:
    """The schema's word for a parameter's type; None for one that it has not."""
    if annotation in _NAMES:
        return _NAMES[annotation]
    origin, items = typing.get_origin(annotation), typing.get_args(annotation)
    if origin in (typing.Union, types.UnionType):
        inner = [item for item in items if item is not type(None)]
        if len(inner) == len(items):
            return None
        rest = inner[0] if len(inner) == 1 else typing.Union[tuple(inner)]  # noqa: UP007
        word = "Scalar" if set(inner) <= {int, float, bool} and inner[1:] else None
        word = word or _spelled(rest)
        return f"{word}?" if word else None
    if origin in _LISTS and len(items) == 1:
        word = _spelled(items[0])
        return f"{word}[]" if word and not word.endswith("]") else None
    return None


def _results(annotation: Any) -> str | None:
    if annotation is None or annotation is type(None):
        return "()"
    if typing.get_origin(annotation) is tuple:
        words = [_spelled(item) for item in typing.get_args(annotation)]
        return f"({', '.join(map(str, words))})" if all(words) else None
    return _spelled(annotation)


def _default(value: Any) -> str:
    if isinstance(value, str):
        return repr(value)
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(_default, value)) + "]"
    return str(value).removeprefix("pkg.")


def parameters_of(schema: str) -> list[str]:
    """The parameters of an op's schema as it spells them, "*" being one of them."""
    found, begin, depth, quote = [], schema.index("(") + 1, 1, ""
    for i in range(begin, len(schema)):
        char = schema[i]
        if quote:
            quote = "" if char == quote else quote  # schemas know no escapes
        elif char in "\"'":
            quote = char
        elif char in "([":
            depth += 1
        elif char in ")]":
            depth -= 1
        if not quote and (not depth or (char == "," and depth == 1)):
            found.append(schema[begin:i].strip())
            begin = i + 1
            if not depth:
                break
    return [parameter for parameter in found if parameter]


def infer_schema(
    function: Callable[..., Any],
    /,
    *,
    mutates_args: str | Iterable[str] = (),
    op_name: str | None = None,
) -> str:
    """The schema that annotations say: "(Tensor x, int n=1) -> Tensor".

    mutates_args: the names of the arguments that it writes to, or "unknown" for every
    tensor.  op_name: goes in front.  ValueError for a parameter without an annotation,
    one of a type that schemas have not, and a name in mutates_args that it has not.
    """

    def refuse(what: str) -> typing.NoReturn:
        raise ValueError(
            f"infer_schema({getattr(function, '__name__', function)!s}): {what}. "
            "Schemas have Tensor, int, float, bool, str, pkg.dtype, pkg.device, "
            "int | float, list[...] of them and ... | None; results are tensors, "
            "numbers, a list or a tuple of them, or None."
        )

    try:
        hints = typing.get_type_hints(function)
    except (NameError, TypeError) as error:
        refuse(f"expected annotations that can be read, got {error}")
    parameters = inspect.signature(function).parameters
    everything = mutates_args == "unknown"
    written = set() if isinstance(mutates_args, str) else set(mutates_args)
    if isinstance(mutates_args, str) and not everything:
        refuse(f"expected names in mutates_args or 'unknown', got {mutates_args!r}")
    if unknown := written - set(parameters):
        refuse(f"expected names of parameters in mutates_args, got {sorted(unknown)}")
    words: list[str] = []
    starred = False
    for name, parameter in parameters.items():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            refuse(f"expected parameters by name, got *{name}")
        if name not in hints:
            refuse(f"expected an annotation of parameter {name!r}, got none")
        word = _spelled(hints[name])
        if word is None:
            refuse(f"expected a type that schemas have for {name!r}, got {hints[name]}")
        if word.startswith("Tensor") and (everything or name in written):
            word = word.replace("Tensor", f"Tensor(a{len(words)}!)", 1)
        elif name in written:
            refuse(f"expected tensors in mutates_args, got {name!r}, which is {word}")
        if parameter.kind is parameter.KEYWORD_ONLY and not starred:
            words.append("*")
            starred = True
        text = f"{word} {name}"
        if parameter.default is not parameter.empty:
            text += f"={_default(parameter.default)}"
        words.append(text)
    if "return" not in hints:
        refuse("expected an annotation of what it returns, got none")
    results = _results(hints["return"])
    if results is None:
        refuse(f"expected results that schemas have, got {hints['return']}")
    return f"{op_name or ''}({', '.join(words)}) -> {results}"
