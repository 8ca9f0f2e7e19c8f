# SPDX-License-Identifier: Apache-2.0
"""TensorFlow 1's variables."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ... import graph as pg, ops
from ..._binding import core
from ...graph import Symbol, variables as pv
from ...graph.building import outside
from ...graph.defaults import get_default_session
from ...graph.symbols import dtype_of
from .collections import global_variables, local_variables
from .convert import convert_to_tensor
from .elements import Graph, Tensor, get_default_graph
from .shapes import TensorShape, as_shape

__all__ = [
    "Variable", "VariableV1", "assign", "assign_add", "assign_sub",
    "global_variables_initializer", "initialize_all_variables",
    "initialize_local_variables", "initialize_variables",
    "local_variables_initializer", "variables_initializer",
]  # fmt: skip


class Variable(Tensor, pv.Variable):
    """A tensor whose value a session keeps.

    ValueError without an initial value, or for one whose shape is not known, unless
    ``validate_shape`` is false: then values of every shape may be assigned.
    """

    __slots__ = ()

    def __new__(
        cls,
        initial_value: Any = None,
        trainable: bool = True,
        collections: Any = None,
        validate_shape: bool = True,
        caching_device: Any = None,
        name: str | None = None,
        variable_def: Any = None,
        dtype: Any = None,
        expected_shape: Any = None,
        import_scope: str | None = None,
        constraint: Any = None,
        **_: Any,
    ) -> Variable:
        """Adds a variable and its initializer to the default graph."""
        if initial_value is None:
            raise ValueError("initial_value must be specified.")
        if constraint is not None and not callable(constraint):
            raise ValueError("The `constraint` argument must be a callable.")
        graph = get_default_graph()
        if graph.is_body:
            with outside() as graph:
                pv.check_initial(initial_value, graph, name)
        if hasattr(graph, "check"):
            graph.check(name)

        def make() -> Any:
            plain = isinstance(initial_value, Symbol) or not callable(initial_value)
            given = initial_value if plain else initial_value()
            value = convert_to_tensor(given, dtype, name="initial_value")
            if validate_shape and not value.shape.is_fully_defined():
                raise ValueError(
                    f"initial_value must have a shape specified: {value!s}"
                )
            return value

        shape = ... if validate_shape else None
        with get_default_graph().as_default():
            made = super().__new__(
                cls, make, trainable, name, None, collections, shape
            )
        assert isinstance(made, Variable)
        made._more += (constraint,)
        return made

    constraint = property(
        lambda self: self._more[3] if len(self._more) > 3 else None,
        doc="What optimizers make of each new value, or None.",
    )

    def __repr__(self) -> str:
        """Name, shape and dtype."""
        return (
            f"<tf.Variable {self.name!r} shape={self.shape} "
            f"dtype={self.dtype.name}_ref>"
        )

    def initialized_value(self) -> Symbol:
        """What it begins with, also before it has begun."""
        value: Symbol = self.initial_value
        return value

    def value(self) -> Symbol:
        """A tensor of its value."""
        graph: Any = self.graph
        reads = graph.__dict__.setdefault("reads", {})
        if self.name not in reads:
            self._find_read(reads)
        if self.name not in reads:
            with graph.control_dependencies(None), graph.name_scope(None):
                name = f"{self.op.name}/read/"
                reads[self.name] = pg.Graph.record(graph, name, ops.clone, self)
        found: Symbol = reads[self.name]
        return found

    def _find_read(self, reads: dict[str, Any]) -> None:
        # That of a graph that came from a file.
        handle = self.graph._handle.find(f"{self.op.name}/read")
        if handle is None or handle.type() != "clone":
            return
        op = self.graph._operation(handle)
        if op.inputs[0].name == self.name:
            reads[self.name] = op.outputs[0]

    def read_value(self) -> Any:
        """Its value at this place of the program, after what this waits for."""
        return place_of(self)[0].record("Identity", ops.clone, self)

    def count_up_to(self, limit: int) -> Any:
        """Its value, to which 1 is added; an OutOfRangeError at the limit."""
        from .checks import count_up_to

        return count_up_to(self, limit)

    def eval(  # type: ignore[override]
        self, session: Any = None, feed_dict: Any = None
    ) -> Any:
        """Its value in the session, or in the default one."""
        return super().eval(feed_dict, session)

    def load(self, value: Any, session: Any = None) -> None:
        """Gives it a value in a session, without a run.

        ValueError without a session, and for a value of another shape.
        """
        if session is None and get_default_session() is None:
            raise ValueError(
                "Either session argument should be provided or default session should "
                "be established"
            )
        values = core.tensor(value, dtype=dtype_of(self))
        if not self.shape.is_compatible_with(list(values.shape)):
            raise ValueError(
                f"Cannot feed value of shape {tuple(values.shape)} for Tensor "
                f"{self.name!r}, which has shape '{self.shape}'"
            )
        super().load(values, session)

    def _new(self, value: Any, function: str, validate_shape: bool = True) -> Any:
        value = convert_to_tensor(
            value, None if isinstance(value, Symbol) else self.dtype
        )
        if dtype_of(value) != dtype_of(self):
            raise TypeError(
                f"Input 'value' of '{function}' Op has type {value.dtype.name} that "
                f"does not match type {self.dtype.name} of argument 'ref'."
            )
        if validate_shape:
            _check_same(self.shape, as_shape(value.shape), function)
        return value

    def _assigned(self, value: Any, name: str, read_value: bool) -> Any:
        graph, variable = place_of(self)
        graph.check(name)
        value = graph.as_graph_element(value)
        made = graph._handle.assign(name, variable._handle, value)
        op = graph._operation(made)
        return op.outputs[0] if read_value else op

    def assign(
        self, value: Any, use_locking: bool = False, name: str | None = None,
        read_value: bool = True, validate_shape: bool = True,
    ) -> Any:  # fmt: skip
        """A tensor of the value that the variable has after it was assigned; with
        ``read_value=False`` an operation."""
        with place_of(self)[0].as_default():
            new = self._new(value, "Assign", validate_shape)
            return self._assigned(new, name or "Assign", read_value)

    def assign_add(
        self, delta: Any, use_locking: bool = False, name: Any = None,
        read_value: bool = True,
    ) -> Any:  # fmt: skip
        """Adds to it."""
        return self._changed(ops.add, delta, name or "AssignAdd", read_value)

    def assign_sub(
        self, delta: Any, use_locking: bool = False, name: Any = None,
        read_value: bool = True,
    ) -> Any:  # fmt: skip
        """Takes away from it."""
        return self._changed(ops.sub, delta, name or "AssignSub", read_value)

    def _changed(self, op: Any, delta: Any, name: str, read_value: bool) -> Any:
        with place_of(self)[0].as_default():
            delta = self._new(delta, name)
            graph = get_default_graph()
            new = pg.Graph.record(graph, f"{name}/change", op, self, delta)
            return self._assigned(new, name, read_value)


Graph._variables = Variable
VariableV1 = Variable


def place_of(variable: Variable) -> tuple[Any, Any]:
    """The graph that a step of the variable stands in, and the operation there."""
    graph = get_default_graph()
    if graph.is_body:
        return graph, graph.as_graph_element(variable).op
    return variable.graph, variable.op


def _check_same(old: TensorShape, new: TensorShape, function: str) -> None:
    if old.ndims is None or new.ndims is None:
        return
    if old.ndims != new.ndims:
        raise ValueError(
            f"Shapes must be equal rank, but are {old.ndims} and {new.ndims} for "
            f"'{function}' with input shapes: {old}, {new}."
        )
    for place, (a, b) in enumerate(zip(old.as_list(), new.as_list())):
        if a is not None and b is not None and a != b:
            raise ValueError(
                f"Dimension {place} in both shapes must be equal, but are {a} and {b} "
                f"for '{function}' with input shapes: {old}, {new}."
            )


def assign(
    ref: Any, value: Any, validate_shape: bool = True, use_locking: bool = False,
    name: Any = None,
) -> Any:  # fmt: skip
    """Gives a variable a value when it runs."""
    return ref.assign(value, use_locking, name, validate_shape=validate_shape)


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


def variables_initializer(var_list: Iterable[Any], name: str = "init") -> Any:
    """An operation that gives these variables their initial values."""
    with get_default_graph().as_default():
        return pg.group(*(v.initializer for v in var_list), name=name)


initialize_variables = variables_initializer


def global_variables_initializer() -> Any:
    """The same for all global variables."""
    return variables_initializer(global_variables())


initialize_all_variables = global_variables_initializer


def local_variables_initializer() -> Any:
    """The same for all local variables."""
    return variables_initializer(local_variables(), "init_local")


initialize_local_variables = local_variables_initializer


