# SPDX-License-Identifier: Apache-2.0
"""Graphs, their operations, and the symbols that stand for what these will give."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from .. import ops
from .._binding import core
from ..tensor import Tensor
from .collections import Collections
from .defaults import session_for
from .definitions import attributes_of, plain_type
from .pictures import Pictures
from .shapes import TensorShape

__all__ = [
    "Graph", "Operation", "Symbol", "building", "dtype_of", "entered_graph",
    "get_default_graph", "is_building", "outside", "reset_default_graph",
]  # fmt: skip


_dtype_of = core.Tensor.dtype.__get__  # type: ignore[attr-defined]


def dtype_of(tensor: Any) -> core.dtype:
    """The dtype of a tensor, also of a symbol whose class has other words for it."""
    found: core.dtype = _dtype_of(tensor)
    return found


class Symbol(Tensor):
    """What an operation of a graph will give: a dtype and a shape, and no values.

    Ops, operators and methods of Tensor take symbols and add operations to their graph.
    What needs values is a TypeError.
    """

    __slots__ = ("_graph", "_more")

    _graph: Graph
    _more: Any  # what a Variable has beside

    def _begin(self) -> None:
        # The binding calls it when it shows a symbol for the first time.
        self._graph = graph = Graph._of(core.OperationHandle.of(self).graph_id())
        if graph._symbols is not Symbol:
            object.__setattr__(self, "__class__", graph._symbols)

    @property
    def graph(self) -> Graph:
        """The graph that it belongs to."""
        return self._graph

    @property
    def op(self) -> Operation:
        """The operation that gives it."""
        return self._graph._operation(core.OperationHandle.of(self))

    @property
    def value_index(self) -> int:
        """Which output of the operation it is."""
        return int(core.OperationHandle.index_of(self))

    @property
    def name(self) -> str:
        """'operation:0'."""
        return f"{core.OperationHandle.of(self).name()}:{self.value_index}"

    @property
    def device(self) -> Any:  # type: ignore[override]
        """As it was written where the operation was made."""
        return core.OperationHandle.of(self).device()

    @property
    def shape(self) -> TensorShape:  # type: ignore[override]
        """The sizes that are known; others are None."""
        sizes = core.OperationHandle.of(self).shape(self.value_index)
        if sizes is None:
            return TensorShape(None)
        return TensorShape(None if size < 0 else size for size in sizes)

    def get_shape(self) -> TensorShape:
        """The same as `shape`."""
        return self.shape

    def size(self, dim: int | None = None) -> Any:
        """The shape, or one size of it, which may be None."""
        return self.shape if dim is None else self.shape[dim]

    @property
    def ndim(self) -> int | None:  # type: ignore[override]
        """How many dimensions it has, or None."""
        return self.shape.ndims

    def dim(self) -> int | None:  # type: ignore[override]
        """The same as `ndim`."""
        return self.shape.ndims

    def numel(self) -> int | None:  # type: ignore[override]
        """How many elements it has, or None."""
        return self.shape.num_elements()

    nelement = numel  # type: ignore[assignment]

    def eval(self, feed_dict: Any = None, session: Any = None) -> Any:
        """Its value, from a run of the session, or of the default one."""
        return session_for("eval", self, session).run(self, feed_dict)

    def detach(self) -> Any:
        """The same value, through which no gradient flows."""
        return ops.stop_gradient(self)

    def consumers(self) -> list[Operation]:
        """The operations that take it."""
        return [op for op in self._graph.get_operations() if any(
            self is taken for taken in op.inputs)]  # fmt: skip

    def _no_values(self, what: str) -> TypeError:
        return TypeError(
            f"[{what}] {self.name} is a symbol of a graph and has no value yet. Run it "
            "in a session first; for a choice inside of the graph there is where()."
        )

    def __bool__(self) -> bool:
        """TypeError: a program cannot branch on what is not known yet."""
        raise self._no_values("bool")

    def __len__(self) -> int:
        """The first size; TypeError if it is not known."""
        shape = self.shape
        if not shape or shape[0] is None:
            raise self._no_values("len")
        return int(shape[0])

    def __getitem__(self, key: Any) -> Any:
        """Its elements, as of a tensor; without a known rank: ints, slices and None."""
        if self.ndim is not None:
            return super().__getitem__(key)
        parts = key if isinstance(key, tuple) else (key,)
        value: Any = self
        dim = 0
        for part in parts:
            if isinstance(part, slice):
                value = ops.slice(value, dim, part.start, part.stop, part.step or 1)
            elif part is None:
                value = ops.unsqueeze(value, dim)
            elif type(part) is int:
                value, dim = ops.select(value, dim, part), dim - 1
            else:
                raise ValueError(
                    f"[index] expected ints, slices and None for {self.name}, whose "
                    f"number of dimensions is not known, got {part!r}. Give the "
                    "placeholder a shape."
                )
            dim += 1
        return value

    def __iter__(self) -> Iterator[Any]:
        """The items along the first dimension, whose size must be known."""
        return (self[i] for i in range(len(self)))

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        """NotImplementedError: there are no values for an array."""
        raise NotImplementedError(
            f"Cannot convert a symbolic Tensor ({self.name}) to a numpy array."
        )

    def __repr__(self) -> str:
        """Name, shape and dtype."""
        dtype = str(self.dtype).rsplit(".", 1)[-1]
        return f"<Symbol {self.name!r} shape={self.shape} dtype={dtype}>"

    __str__ = __repr__

    def __format__(self, spec: str) -> str:
        """As str() has it."""
        return format(str(self), spec)

    def __reduce_ex__(self, protocol: Any) -> Any:
        """TypeError: it is nothing without its graph."""
        raise self._no_values("pickle")

    def __deepcopy__(self, memo: Any) -> Any:
        """TypeError: it is nothing without its graph."""
        raise self._no_values("deepcopy")


core.register_symbol_class(Symbol)


class Operation:
    """One operation of a graph: a call of an op, a placeholder, a variable, ..."""

    def __init__(self, handle: core.OperationHandle, graph: Graph) -> None:
        self._handle = handle
        self._graph = graph

    graph = property(lambda self: self._graph, doc="The graph that it belongs to.")
    name = property(lambda self: self._handle.name(), doc="Unique in its graph.")
    type = property(
        lambda self: plain_type(self._handle.type()), doc="What it does: 'add.Tensor'."
    )
    device = property(lambda self: self._handle.device(), doc="As it was written.")

    @property
    def call_site(self) -> str:
        """'file:line' of the Python line that made it."""
        return str(self._handle.call_site())

    @property
    def outputs(self) -> list[Symbol]:
        """The symbols that it gives."""
        return [self._handle.output(i) for i in range(self._handle.n_outputs())]

    @property
    def inputs(self) -> tuple[Symbol, ...]:
        """The symbols that it takes."""
        return tuple(self._handle.inputs())

    @property
    def control_inputs(self) -> list[Operation]:
        """What runs before it."""
        return [self._graph._operation(handle) for handle in self._handle.controls()]

    @property
    def node_def(self) -> dict[str, Any]:
        """A plain description: name, op, input and device."""
        controls = [f"^{op.name}" for op in self.control_inputs]
        taken = [symbol.name.removesuffix(":0") for symbol in self.inputs]
        return {
            "name": self.name,
            "op": self.type,
            "input": taken + controls,
            "device": self.device,
        }

    def get_attr(self, name: str) -> Any:
        """An attribute of the op's definition, or an argument that is no tensor.

        ValueError if there is none of this name.
        """
        found = self._attributes()
        if name not in found:
            raise ValueError(
                f"Operation {self.name!r} has no attr named {name!r}: it has "
                f"{sorted(found)}."
            )
        return found[name]

    def _attributes(self) -> dict[str, Any]:
        handle = self._handle
        return attributes_of(handle.type(), handle.arguments(), self.inputs)

    def run(self, feed_dict: Any = None, session: Any = None) -> None:
        """Runs it in the session, or in the default one."""
        session_for("run", self, session).run(self, feed_dict)

    def __repr__(self) -> str:
        """Name and type."""
        return f"<Operation {self.name!r} type={self.type}>"


def _check_name(what: str, name: Any) -> None:
    if not isinstance(name, str):
        raise TypeError(
            f"{what} names are strings (or similar), not {type(name).__name__}."
        )


class _Stacks(threading.local):
    """What this thread has entered."""

    def __init__(self) -> None:
        self.graphs: list[Graph] = []
        self.building = 0  # how many functions it is making graphs of


_stacks = _Stacks()
_graphs: weakref.WeakValueDictionary[int, Graph] = weakref.WeakValueDictionary()
_global: list[Graph] = []  # the default graph where none was entered


class _Scope:
    """What the operations that a thread adds to a graph have in common."""

    prefix = ""
    controls: tuple[Operation, ...] = ()
    device = ""


class Graph(Collections, Pictures):
    """A graph of operations, which are only ever added.

    ``with graph.as_default():`` makes it the one that placeholders, constants and
    variables of this thread are added to.
    """

    # What its parts are, and what it says of names that are none; subclasses may have
    # a vocabulary of their own.
    _symbols: type[Symbol] = Symbol
    _operations: type[Operation] = Operation
    _malformed = "does not look like the name of a symbol, '<operation>:<number>'."

    def __init__(self) -> None:
        super().__init__()
        self._handle = core.GraphHandle()
        self._seen: dict[int, Operation] = {}
        self._scopes = threading.local()
        self._not_fed: set[str] = set()
        self._not_fetched: set[Operation] = set()
        self._functions: list[Any] = []  # of Python, which it calls
        self._own: list[Any] = []  # parts with gradients of their own
        # Of operations whose gradient is registered under another name than their type.
        self._gradient_names: dict[str, str] = {}
        self._kept: list[Any] = []  # variables: what they have beside is in Python
        _graphs[self._handle.id()] = self

    def _body(self) -> Any:
        """A new graph for a part of a loop or a choice of this one."""
        return self._bodies(self)

    _bodies: Any = None  # the class of graphs of parts: see control_flow.py
    is_body = False  # a part of a loop or a choice: see BodyGraph

    @staticmethod
    def _of(identity: int) -> Graph:
        return _graphs[identity]

    def _whole(self) -> Graph:
        """The graph that this one is a part of, in the end."""
        return self

    def _operation(self, handle: core.OperationHandle) -> Operation:
        found = self._seen.get(handle.id())
        if found is None:
            found = self._seen.setdefault(
                handle.id(), self._operations(handle, self)
            )
        return found

    def _scope(self) -> _Scope:
        try:
            scope: _Scope = self._scopes.now
        except AttributeError:
            scope = self._scopes.now = _Scope()
        return scope

    @contextmanager
    def _with(self, **changes: Any) -> Iterator[None]:
        before = self._scope()
        self._scopes.now = now = _Scope()
        now.__dict__.update({**before.__dict__, **changes})
        self._enter_scope()
        try:
            yield
        finally:
            self._scopes.now = before
            self._enter_scope()

    def _enter_scope(self) -> None:
        scope = self._scope()
        controls = [op._handle for op in scope.controls]
        self._handle.set_scope(scope.prefix, controls, scope.device)

    @contextmanager
    def as_default(self) -> Iterator[Graph]:
        """A context in which this graph is the default one of this thread."""
        _stacks.graphs.append(self)
        try:
            yield self
        finally:
            if not _stacks.graphs or _stacks.graphs[-1] is not self:
                raise AssertionError(
                    "Nesting violated for default stack of graphs: expected the one "
                    "that was entered last to be left first."
                )
            _stacks.graphs.pop()

    @contextmanager
    def name_scope(self, name: str | None) -> Iterator[str]:
        """A context in which names begin with ``name/``; gives what they begin with.

        None or "": names stand for themselves.  A name that ends with "/" is one that
        was given before.
        """
        if not name:
            prefix = ""
        elif name.endswith("/"):
            prefix = name
        else:
            prefix = self.unique_name(name) + "/"
        with self._with(prefix=prefix):
            yield prefix

    @contextmanager
    def control_dependencies(
        self, control_inputs: Iterable[Any] | None
    ) -> Iterator[None]:
        """A context in which operations run after these, if they run.

        None: after nothing, whatever contexts stand around this one.
        """
        controls: tuple[Operation, ...] = ()
        if control_inputs is not None:
            controls = self._scope().controls
            for item in control_inputs:
                op = self.as_graph_element(item)
                controls += (op if isinstance(op, Operation) else op.op,)
        with self._with(controls=tuple(dict.fromkeys(controls))):
            yield

    @contextmanager
    def device(self, name: Any) -> Iterator[None]:
        """A context in which operations get this device; all run on the CPU."""
        with self._with(device="" if name is None else str(name)):
            yield

    def record(self, name: str | None, function: Callable[..., Any], *args: Any,
               **options: Any) -> Any:  # fmt: skip
        """Adds a call of an op, whatever its arguments are; gives its symbols."""
        self._handle.begin_trace(name or "")
        try:
            return function(*args, **options)
        finally:
            self._handle.end_trace()

    def as_graph_def(self) -> dict[str, Any]:
        """It as plain data, with a dict of its tensors; ``import_graph`` reads it."""
        found: dict[str, Any] = self._describe(self)
        return found

    _describe: Any = None  # see graph_def.py

    def finalize(self) -> None:
        """From now on adding an operation is a RuntimeError."""
        self._handle.finalize()

    finalized = property(lambda self: self._handle.finalized())
    version = property(lambda self: self._handle.version(), doc="Counts its changes.")

    def get_name_scope(self) -> str:
        """The name scope that this thread has entered, without the slash at its end."""
        return self._scope().prefix.removesuffix("/")

    def unique_name(self, name: str, mark_as_used: bool = True) -> str:
        """A name that no operation has, behind the scope's."""
        return str(self._handle.unique_name(self._scope().prefix + name, mark_as_used))

    def get_operations(self) -> list[Operation]:
        """All operations, in the order in which they were added."""
        return [self._operation(handle) for handle in self._handle.operations()]

    def get_operation_by_name(self, name: str) -> Operation:
        """The operation; KeyError if there is none, ValueError for a tensor's name."""
        _check_name("Operation", name)
        found: Operation = self.as_graph_element(name, allow_tensor=False)
        return found

    def get_tensor_by_name(self, name: str) -> Symbol:
        """The symbol 'operation:0'; KeyError or ValueError if there is none."""
        _check_name("Tensor", name)
        found: Symbol = self.as_graph_element(name, allow_operation=False)
        return found

    def as_graph_element(
        self, obj: Any, allow_tensor: bool = True, allow_operation: bool = True
    ) -> Any:
        """The symbol or operation that an object or a name stands for.

        KeyError for a name that is not there; ValueError for an element of another
        graph or a malformed name; TypeError for anything else.
        """
        if not allow_tensor and not allow_operation:
            raise ValueError("allow_tensor and allow_operation can't both be False.")
        wanted = " or ".join(
            ["Tensor"] * allow_tensor + ["Operation"] * allow_operation
        )
        as_element = getattr(obj, "_as_graph_element", None)
        if as_element is not None:
            obj = as_element()
        if isinstance(obj, Symbol) and allow_tensor:
            if obj.graph is not self:
                raise ValueError(f"Tensor {obj} is not an element of this graph.")
            return obj
        if isinstance(obj, Operation) and allow_operation:
            if obj.graph is not self:
                raise ValueError(f"Operation {obj} is not an element of this graph.")
            return obj
        if isinstance(obj, bytes):
            obj = obj.decode()
        if isinstance(obj, str):
            return self._named(obj, allow_tensor, allow_operation)
        raise TypeError(f"Can not convert a {type(obj).__name__} into a {wanted}.")

    def _named(self, name: str, allow_tensor: bool, allow_operation: bool) -> Any:
        if ":" in name and allow_tensor:
            op_name, _, number = name.rpartition(":")
            if not number.isdigit() or not op_name or ":" in op_name:
                raise ValueError(f"The name {name!r} {self._malformed}")
            handle = self._handle.find(op_name)
            if handle is None:
                raise KeyError(
                    f"The name {name!r} refers to a Tensor which does not exist. The "
                    f"operation, {op_name!r}, does not exist in the graph."
                )
            if int(number) >= handle.n_outputs():
                raise KeyError(
                    f"The name {name!r} refers to a Tensor which does not exist. The "
                    f"operation, {op_name!r}, exists but only has "
                    f"{handle.n_outputs()} outputs."
                )
            return handle.output(int(number))
        if ":" in name:
            raise ValueError(
                f"Name {name!r} appears to refer to a Tensor, not a Operation."
            )
        handle = self._handle.find(name)
        if allow_operation:
            if handle is None:
                raise KeyError(
                    f"The name {name!r} refers to an Operation not in the graph."
                )
            return self._operation(handle)
        if handle is not None:
            raise ValueError(
                f"The name {name!r} refers to an Operation, not a Tensor. Tensor names "
                "must be of the form '<op_name>:<output_index>'."
            )
        raise ValueError(
            f"The name {name!r} looks like an (invalid) Operation name, not a Tensor. "
            "Tensor names must be of the form '<op_name>:<output_index>'."
        )

    # What a session has looked up before stays allowed.
    def is_feedable(self, tensor: Symbol) -> bool:
        """Whether a value may be given for it."""
        return (
            isinstance(tensor, Symbol)
            and tensor.graph is self
            and tensor.name not in self._not_fed
        )

    def is_fetchable(self, element: Symbol | Operation) -> bool:
        """Whether a session may be asked for it."""
        op = element.op if isinstance(element, Symbol) else element
        return op.graph is self and op not in self._not_fetched

    def prevent_feeding(self, tensor: Symbol) -> None:
        """From now on it is an error to give a value for it."""
        self._not_fed.add(self.as_graph_element(tensor, allow_operation=False).name)

    def prevent_fetching(self, op: Operation) -> None:
        """From now on it is an error to ask a session for it or its outputs."""
        self._not_fetched.add(self.as_graph_element(op, allow_tensor=False))


def get_default_graph() -> Graph:
    """The graph that this thread has entered last, or that of the process."""
    if _stacks.graphs:
        return _stacks.graphs[-1]
    if not _global:
        _global.append(Graph())
    return _global[0]


@contextmanager
def building() -> Iterator[None]:
    """A context in which this thread makes a graph of a function."""
    _stacks.building += 1
    try:
        yield
    finally:
        _stacks.building -= 1


@contextmanager
def outside() -> Iterator[Graph]:
    """A context in which calls of this thread are operations of the whole graph, also
    where it builds a part of it; gives that graph."""
    graph = get_default_graph()
    if not graph.is_body:
        yield graph
        return
    whole = graph._whole()
    with whole.as_default(), whole.control_dependencies(None):
        whole._handle.begin_body()
        try:
            yield whole
        finally:
            whole._handle.end_trace()


def is_building() -> bool:
    """Whether this thread makes a graph of a function."""
    return _stacks.building > 0


def reset_default_graph() -> None:
    """Begins a new default graph; RuntimeError inside of ``as_default()``."""
    if _stacks.graphs:
        raise AssertionError(
            "Do not use reset_default_graph() inside of `with graph.as_default():`."
        )
    _global[:] = [Graph()]


def entered_graph() -> Graph | None:
    """The graph that this thread has entered last, or None."""
    return _stacks.graphs[-1] if _stacks.graphs else None
