# SPDX-License-Identifier: Apache-2.0
"""Gradients of one's own: RegisterGradient, gradient_override_map, custom_gradient."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from ...graph import Symbol
from ...graph.definitions import NAMESPACE
from ...graph.gradient_registry import (
    NoGradient,
    NotDifferentiable,
    RegisterGradient as _RegisterGradient,
    gradient_of,
    place_of,
    register,
)
from ...graph.own_gradients import replace_gradient, with_gradient
from ...graph.structures import flatten, pack
from .by_graph import by_graph
from .convert import convert_to_tensor
from .creating import takes
from .elements import Graph, get_default_graph
from .math import identity
from .variables import Variable

__all__ = ["NoGradient", "NotDifferentiable", "RegisterGradient", "custom_gradient"]

class RegisterGradient(_RegisterGradient):
    __doc__ = _RegisterGradient.__doc__

    def __call__(self, f: Callable[..., Any]) -> Callable[..., Any]:
        """The function, which is registered."""
        # It is written with this module's functions, which make graphs.
        register(self._name, f, functools.partial(by_graph, f), place_of(f))
        return f


def _names(graph: Any) -> dict[str, str]:
    # What the maps say that hold here; around a part those of the graph around it.
    around = _names(graph.outer) if graph.is_body else {}
    return {**around, **getattr(graph, "_override", {})}


def _overridden(graph: Any, made: Any) -> Any:
    # What an operation gives, with the gradient that the graph's map has for it.
    tensors = list(made) if isinstance(made, (list, tuple)) else [made]
    if not tensors or not all(isinstance(tensor, Symbol) for tensor in tensors):
        return made
    op = tensors[0].op
    names = _names(graph)
    name = names.get(op.type, names.get(op.type.removesuffix("V2")))
    if name is None or any(tensor.op is not op for tensor in tensors):
        return made
    if graph.is_body:
        raise NotImplementedError(
            f"[gradient_override_map] expected no operation of type {op.type!r}, whose "
            f"gradient would be {name!r}, in a part of a loop or choice, got "
            f"{op.name!r}: a part has the gradients of its operations."
        )

    if op._handle.type().startswith(f"{NAMESPACE}::"):  # it asks the registry itself
        graph._gradient_names[op.name] = name
        return made

    def gradient(*grads: Any) -> Any:
        function = gradient_of(name, op.name, op.type).function
        return [None] * len(op.inputs) if function is None else function(op, *grads)

    replace_gradient(op.inputs, op.outputs, gradient)
    return made


Graph._overridden = staticmethod(_overridden)


def _variables_of(outputs: list[Any], inputs: list[Any]) -> list[Any]:
    # Those that the outputs are made of, but for what comes with the inputs.
    seen = {tensor.name for tensor in inputs}
    found: dict[str, Any] = {}
    todo = list(outputs)
    while todo:
        tensor = todo.pop()
        if tensor.name in seen:
            continue
        seen.add(tensor.name)
        if tensor.op._handle.type() == "Variable":
            found[tensor.name] = tensor
        todo.extend(tensor.op.inputs)
    graph = get_default_graph()
    for key in graph.get_all_collection_keys() if found else ():
        for item in graph.get_collection(key):
            if isinstance(item, Variable) and item.name in found:
                found[item.name] = item
    return list(found.values())


def _with_variables(gradient: Any, variables: list[Any]) -> Any:
    # A function that gives the gradients of the inputs and then of the variables.
    if not takes(gradient, "variables"):
        raise TypeError(
            "If using @custom_gradient with a function that uses variables, then "
            "grad_fn must accept a 'variables' keyword argument. The function uses "
            f"{[variable.name for variable in variables]}."
        )

    def both(*grads: Any) -> list[Any]:
        made = gradient(*grads, variables=variables)
        if not isinstance(made, (list, tuple)) or len(made) != 2:
            raise TypeError(
                "[custom_gradient] expected grad_fn to give the gradients of the "
                f"inputs and a list of those of the variables, got {made!r}."
            )
        first, rest = made
        if len(rest) != len(variables):
            raise ValueError(
                "Must return gradient for each variable from @custom_gradient "
                f"grad_fn: expected {len(variables)}, got {len(rest)}."
            )
        one = not isinstance(first, (list, tuple))
        return [*([first] if one else first), *rest]

    return both


def custom_gradient(f: Callable[..., Any]) -> Callable[..., Any]:
    """A function of tensors that has its own gradient.

    f: takes tensors, gives the result and a function of the gradients of the result
    that gives one for each argument.  Where f uses variables, this function takes
    ``variables=``, too, and gives a pair: those gradients, and a list with one for each
    variable.  TypeError where it does not, or if f gives no such pair.
    """

    @functools.wraps(f)
    def call(*args: Any, **options: Any) -> Any:
        inputs = [identity(convert_to_tensor(arg)) for arg in args]
        made = f(*inputs, **options)
        if not isinstance(made, (list, tuple)) or len(made) != 2:
            raise TypeError(
                "[custom_gradient] expected f to give a result and a function of "
                f"gradients, got {made!r}."
            )
        result, gradient = made
        if not callable(gradient):
            raise TypeError(
                f"[custom_gradient] expected f to give a result and a function, got "
                f"{gradient!r}."
            )
        outputs = [convert_to_tensor(value) for value in flatten(result)]
        variables = _variables_of(outputs, inputs)
        if variables:
            gradient = _with_variables(gradient, variables)
        with get_default_graph().as_default():
            return pack(result, with_gradient(inputs + variables, outputs, gradient))

    return call
