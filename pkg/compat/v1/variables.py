# SPDX-License-Identifier: Apache-2.0
"""TensorFlow 1's variables and collections."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ... import graph as pg
from ...graph import Symbol, get_default_graph, variables as pv
from .convert import as_values, convert_to_tensor

__all__ = [
    "GraphKeys", "Variable", "add_to_collection", "all_variables", "assign",
    "assign_add", "assign_sub", "get_collection", "global_variables",
    "global_variables_initializer", "initialize_all_variables", "local_variables",
    "local_variables_initializer", "trainable_variables", "variables_initializer",
]  # fmt: skip


class GraphKeys:
    """Names of collections that every graph has."""

    GLOBAL_VARIABLES = pv.GLOBAL
    VARIABLES = pv.GLOBAL
    TRAINABLE_VARIABLES = pv.TRAINABLE
    LOCAL_VARIABLES = "local_variables"
    GLOBAL_STEP = "global_step"
    LOSSES = "losses"
    SUMMARIES = "summaries"


class Variable(pv.Variable):
    """A symbol whose value a session keeps."""

    __slots__ = ()

    def __new__(
        cls,
        initial_value: Any = None,
        trainable: bool = True,
        collections: Any = None,
        validate_shape: bool = True,
        caching_device: Any = None,
        name: str | None = None,
        dtype: Any = None,
        **_: Any,
    ) -> Variable:
        """Adds a variable and its initializer to the default graph."""
        if initial_value is not None and not callable(initial_value):
            if not isinstance(initial_value, Symbol):
                initial_value = as_values(initial_value, dtype)
        elif callable(initial_value) and not isinstance(initial_value, Symbol):
            make = initial_value
            initial_value = lambda: convert_to_tensor(make(), dtype)  # noqa: E731
        made = super().__new__(cls, initial_value, trainable, name, dtype, collections)
        assert isinstance(made, Variable)
        return made

    def initialized_value(self) -> Symbol:
        """What it begins with, also before it has begun."""
        value: Symbol = self.initial_value
        return value


def assign(ref: Any, value: Any, use_locking: bool = False, name: Any = None) -> Any:
    """Gives a variable a value when it runs."""
    return ref.assign(value, use_locking, name)


def assign_add(
    ref: Any, value: Any, use_locking: bool = False, name: Any = None
) -> Any:
    """Adds to a variable when it runs."""
    return ref.assign_add(value, use_locking, name)


def assign_sub(
    ref: Any, value: Any, use_locking: bool = False, name: Any = None
) -> Any:
    """Takes away from a variable when it runs."""
    return ref.assign_sub(value, use_locking, name)


def global_variables() -> list[Any]:
    """The variables of the default graph, local ones not."""
    return get_default_graph().get_collection(pv.GLOBAL)


all_variables = global_variables


def local_variables() -> list[Any]:
    """The variables of the collection LOCAL_VARIABLES."""
    return get_default_graph().get_collection(GraphKeys.LOCAL_VARIABLES)


def trainable_variables() -> list[Any]:
    """The variables that optimizers change."""
    return get_default_graph().get_collection(pv.TRAINABLE)


def variables_initializer(var_list: Iterable[Any], name: str = "init") -> Any:
    """An operation that gives these variables their initial values."""
    return pg.group(*(v.initializer for v in var_list), name=name)


def global_variables_initializer() -> Any:
    """The same for all global variables."""
    return variables_initializer(global_variables())


initialize_all_variables = global_variables_initializer


def local_variables_initializer() -> Any:
    """The same for all local variables."""
    return variables_initializer(local_variables(), "init_local")


def add_to_collection(name: Any, value: Any) -> None:
    """Graph.add_to_collection of the default graph."""
    get_default_graph().add_to_collection(name, value)


def get_collection(key: Any, scope: str | None = None) -> list[Any]:
    """Graph.get_collection of the default graph."""
    return get_default_graph().get_collection(key, scope)
