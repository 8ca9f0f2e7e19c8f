# SPDX-License-Identifier: Apache-2.0
"""Gradients by the type of operations, registered in Python.

They count for ops without a gradient of their own, such as those of libraries, in
graphs and outside; and under a graph's ``gradient_override_map``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

__all__ = [
    "NoGradient", "NotDifferentiable", "RegisterGradient", "Registered",
    "gradient_of", "is_registered", "place_of", "register",
]  # fmt: skip

Function = Callable[..., Any]


class Registered(NamedTuple):
    """What is registered under a name.

    function: of an operation and the gradients of its outputs, for symbols; None: no
    gradient flows.  eager: the same for tensors.
    """

    function: Function | None
    eager: Function | None
    where: str


_registered: dict[str, Registered] = {}


def place_of(function: Any) -> str:
    """Name, file and line of a function."""
    code = getattr(function, "__code__", None)
    if code is None:
        return repr(function)
    return f"{function.__qualname__} at {code.co_filename}:{code.co_firstlineno}"


def register(
    name: str, function: Function | None, eager: Function | None, where: str
) -> None:
    """Enters it; TypeError for a name that is no string, KeyError for one that is
    taken."""
    if not isinstance(name, str):
        raise TypeError("op_type must be a string")
    before = _registered.setdefault(name, made := Registered(function, eager, where))
    if before is not made:
        raise KeyError(
            f"Registering two gradient with name {name!r}! (Previous registration: "
            f"{before.where}; this one: {where})"
        )


class RegisterGradient:
    """A decorator of functions of an operation and the gradients of its outputs, that
    give the gradients of its inputs, in their order: one, or a list; None where there
    is none.

    ``op.inputs``, ``op.outputs`` and ``op.get_attr(name)`` are what the function needs
    of the operation.  It is called with symbols for a graph, when ``gradients`` is, and
    with tensors in a backward pass.

    TypeError for a name that is no string; KeyError, with both places, for a name that
    is taken.
    """

    def __init__(self, op_type: str) -> None:
        if not isinstance(op_type, str):
            raise TypeError("op_type must be a string")
        self._name = op_type

    def __call__(self, f: Function) -> Function:
        """The function, which is registered."""
        register(self._name, f, f, place_of(f))
        return f


def NotDifferentiable(op_type: str) -> None:  # noqa: N802
    """Registers that no gradient flows through operations of a type."""
    register(op_type, None, None, f"NotDifferentiable({op_type!r})")


NoGradient = NotDifferentiable


def is_registered(name: str) -> bool:
    """Whether something is registered under the name."""
    return name in _registered


def gradient_of(name: str, op_name: str, op_type: str) -> Registered:
    """What is registered under a name; LookupError, which says for which operation it
    was wanted, if nothing is."""
    found = _registered.get(name)
    if found is None:
        text = f"No gradient defined for operation '{op_name}' (op type: {op_type})"
        if name != op_type:
            text += f": gradient registry has no entry for: {name}"
        raise LookupError(
            f"{text}. Hint: @RegisterGradient({name!r}) registers a function, "
            f"NotDifferentiable({name!r}) says that there is none."
        )
    return found
