# SPDX-License-Identifier: Apache-2.0
"""Variables: symbols whose values sessions keep from run to run."""

from __future__ import annotations

from typing import Any

from .._binding import core
from ..ops import clone
from ..tensor import Tensor
from .building import Graph, get_default_graph, outside
from .defaults import session_for
from .functions import constant, group
from .shapes import sizes_of
from .symbols import Operation, Symbol, dtype_of

__all__ = ["Variable", "global_variables_initializer", "variables"]

GLOBAL = "variables"
TRAINABLE = "trainable_variables"


class Variable(Symbol):
    """A symbol whose value a session keeps.

    initial_value: a value, a symbol, or a function that gives one; of it are dtype and
    shape.  ``initializer`` is the operation that assigns it: until a session has run it
    the variable has no value there.  shape: what may be assigned, if not only what has
    the initial value's; None: anything.

    Made in a part of a loop or choice it belongs to the whole graph, where a function
    is called, too; a symbol of the part is a ValueError.
    """

    __slots__ = ()

    def __new__(
        cls,
        initial_value: Any = None,
        trainable: bool = True,
        name: str | None = None,
        dtype: core.dtype | None = None,
        collections: Any = None,
        shape: Any = ...,
    ) -> Variable:
        """Adds a variable and its initializer to the default graph."""
        if initial_value is None:
            raise ValueError("initial_value must be specified.")
        if get_default_graph().is_body:
            with outside() as whole:
                check_initial(initial_value, whole, name)
                return Variable.__new__(
                    cls, initial_value, trainable, name, dtype, collections, shape
                )
        graph = get_default_graph()
        scope = graph.unique_name(name or "Variable")
        with graph.control_dependencies(None):
            with graph.name_scope(f"{scope}/"):
                if callable(initial_value) and not isinstance(initial_value, Tensor):
                    initial_value = initial_value()
                if not isinstance(initial_value, Symbol):
                    initial_value = constant(initial_value, dtype, "initial_value")
            sizes = sizes_of(initial_value.shape if shape is ... else shape)
            kind = dtype_of(initial_value)
            handle = graph._handle.variable(f"{scope}/", kind, sizes)
            self: Variable = handle.output(0)
            object.__setattr__(self, "__class__", cls)
            assign = graph._handle.assign(f"{scope}/Assign/", handle, initial_value)
            self._more = (initial_value, graph._operation(assign), trainable)
        named = [GLOBAL] if collections is None else list(collections)
        if trainable and TRAINABLE not in named:
            named.append(TRAINABLE)
        for key in named:
            graph.add_to_collection(key, self)
        graph._kept.append(self)
        return self

    initial_value = property(lambda self: self._more[0], doc="What it begins with.")
    initializer = property(lambda self: self._more[1], doc="Gives it this value.")
    trainable = property(
        lambda self: self._more[2], doc="Whether optimizers change it."
    )

    def value(self) -> Symbol:
        """The variable itself: using it reads it."""
        return self

    def read_value(self) -> Any:
        """Its value at this place of the program, after what this waits for."""
        return clone(self)

    def assign(
        self, value: Any, use_locking: bool = False, name: str | None = None
    ) -> Any:
        """A symbol of the value that the variable has after it was assigned."""
        graph, variable = self.graph, self.op
        if get_default_graph().is_body:  # it happens within that part
            graph = get_default_graph()
            variable = graph.as_graph_element(self).op
        if not isinstance(value, Symbol):
            with graph.as_default():
                value = constant(value, dtype_of(self))
        value = graph.as_graph_element(value)
        handle = graph._handle.assign(name or "Assign", variable._handle, value)
        return graph._operation(handle).outputs[0]

    def assign_add(
        self, delta: Any, use_locking: bool = False, name: Any = None
    ) -> Any:
        """Adds to it."""
        return self.assign(self + self._like(delta), name=name or "AssignAdd")

    def assign_sub(
        self, delta: Any, use_locking: bool = False, name: Any = None
    ) -> Any:
        """Takes away from it."""
        return self.assign(self - self._like(delta), name=name or "AssignSub")

    def _like(self, value: Any) -> Any:
        if isinstance(value, Symbol):
            return value
        return core.tensor(value, dtype=dtype_of(self))

    def load(self, value: Any, session: Any = None) -> None:
        """Gives it a value in a session, without a run."""
        session_for("load", self, session).swap_weights({self: value})


Graph._variables = Variable


def check_initial(value: Any, whole: Any, name: str | None) -> None:
    """ValueError for a symbol that the whole graph does not have."""
    if isinstance(value, Symbol) and value.graph is not whole:
        raise ValueError(
            f"Initializer for variable {name or 'Variable'} is from inside a "
            "control-flow "
            "construct, such as a loop or conditional. When creating a variable inside "
            "a loop or conditional, use a lambda as the initializer."
        )


def variables() -> list[Variable]:
    """The variables of the default graph."""
    return get_default_graph().get_collection(GLOBAL)


def global_variables_initializer() -> Operation:
    """An operation that gives every variable of the default graph its initial value."""
    return group(*(v.initializer for v in variables()), name="init")
