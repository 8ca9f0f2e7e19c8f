# SPDX-License-Identifier: Apache-2.0
"""Generated functions as callables of the binding.

Nearly every call of a wrapper is one of plain tensors, and a Python function costs
more than a small op does.  So the binding is what is called; it has the function for
all other calls, and shows its signature, documentation and source.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

from .._binding import core
from ..graph.definitions import OpDefinition, definition_of

__all__ = ["direct", "may_be_direct"]

Function = TypeVar("Function", bound=Callable[..., Any])


def may_be_direct(op: OpDefinition) -> bool:
    """Whether plain values of Python's are all that calls of it have."""
    lists = op.one_list or any(item.is_list for item in op.inputs)
    others = any("type" in attr.type or "shape" in attr.type for attr in op.given)
    return bool(op.inputs and op.outputs) and not lists and not others


def direct(
    qualified: str, result: Any = None, /, **renamed: str
) -> Callable[[Function], Function]:
    """A decorator of the wrapper of an op.

    qualified: "tf::ZeroOut"; result: the class of its results, where there are several;
    renamed: what the op calls a parameter that has another name.
    The function has a parameter for each input and each attribute that is given, and at
    last one for the name.  It is called with the error in the place of the name where
    the op has refused a call.  A function that was written for another version of the
    op stays what it is: it goes by names.  OpLookupError if there is no such op.
    """

    def made(function: Any) -> Any:
        code = function.__code__
        parameters = code.co_varnames[: code.co_argcount - 1]
        places = {name: renamed.get(name, name) for name in parameters}
        op = definition_of(qualified)
        if op is None:
            space, _, name = qualified.partition("::")
            core.Operator(name, space)  # says that there is none, and why
            return function
        if not may_be_direct(op) or not _is_of(op, function, places, result):
            return function
        wrapper = core.OpWrapper(function, qualified, places, result)
        functools.update_wrapper(wrapper, function)
        # What `inspect` knows functions by.
        known = ("__code__", "__defaults__", "__kwdefaults__")
        vars(wrapper).update((name, getattr(function, name)) for name in known)
        return wrapper

    return made


def _is_of(
    op: OpDefinition, function: Any, places: dict[str, str], result: Any
) -> bool:
    # Whether the op has these parameters, defaults and results.
    names = [item.name for item in op.inputs] + [attr.name for attr in op.given]
    if sorted(places.values()) != sorted(names):
        return False
    if len(getattr(result, "_fields", [1])) != len(op.outputs):
        return False
    values = function.__defaults__[:-1]  # but for that of the name
    given = dict(zip(list(places.values())[len(places) - len(values) :], values))
    wanted = {attr.name: attr.default for attr in op.given if attr.has_default}
    return given == {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in wanted.items()
    }
