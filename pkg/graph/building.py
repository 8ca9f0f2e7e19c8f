# SPDX-License-Identifier: Apache-2.0
"""Graphs, to which operations are only ever added, and the default ones."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from .._binding import core
from .collections import Collections
from .elements import Elements
from .entering import stacks
from .pictures import Pictures
from .symbols import Operation, Symbol, graphs

__all__ = ["Graph", "get_default_graph", "outside", "reset_default_graph"]


_global: list[Graph] = []  # the default graph where none was entered


class _Scope:
    """What the operations that a thread adds to a graph have in common."""

    prefix = ""
    controls: tuple[Operation, ...] = ()
    device = ""


class Graph(Elements, Collections, Pictures):
    """A graph of operations, which are only ever added.

    ``with graph.as_default():`` makes it the one that placeholders, constants and
    variables of this thread are added to.
    """

    # What its parts are, and what it says of names that are none; subclasses may have
    # a vocabulary of their own.
    _symbols: type[Symbol] = Symbol
    _operations: type[Operation] = Operation
    _variables: Any = None  # see variables.py

    def __init__(self) -> None:
        super().__init__()
        self._handle = core.GraphHandle()
        self._seen: dict[int, Operation] = {}
        self._scopes = threading.local()
        self._functions: list[Any] = []  # of Python, which it calls
        self._applied: list[Any] = []  # autograd.Functions, where a function is traced
        self._parts: dict[str, list[Any]] = {}  # of loops and choices, by their names
        self._own: list[Any] = []  # parts with gradients of their own
        # Of operations whose gradient is registered under another name than their type.
        self._gradient_names: dict[str, str] = {}
        self._kept: list[Any] = []  # variables: what they have beside is in Python
        graphs[self._handle.id()] = self

    def _body(self) -> Any:
        """A new graph for a part of a loop or a choice of this one."""
        return self._bodies(self)

    _bodies: Any = None  # the class of graphs of parts: see bodies.py
    is_body = False  # a part of a loop or a choice: see BodyGraph
    is_gradient = False  # what a gradient of one's own adds, to be written
    # Whether operations of REGISTER_OP keep their history, as others do, for gradients
    # that runs take.  Elsewhere gradients() asks the registry, and adds operations.
    keeps_history = False

    def _whole(self) -> Graph:
        """The graph that this one is a part of, in the end."""
        return self

    def _operation(self, handle: core.OperationHandle) -> Operation:
        found = self._seen.get(handle.id())
        if found is None:
            found = self._seen.setdefault(handle.id(), self._operations(handle, self))
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
        stacks.graphs.append(self)
        try:
            yield self
        finally:
            if not stacks.graphs or stacks.graphs[-1] is not self:
                raise AssertionError(
                    "Nesting violated for default stack of graphs: expected the one "
                    "that was entered last to be left first."
                )
            stacks.graphs.pop()

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


def get_default_graph() -> Graph:
    """The graph that this thread has entered last, or that of the process."""
    if stacks.graphs:
        entered: Graph = stacks.graphs[-1]
        return entered
    if not _global:
        _global.append(Graph())
    return _global[0]


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


def reset_default_graph() -> None:
    """Begins a new default graph; RuntimeError inside of ``as_default()``."""
    if stacks.graphs:
        raise AssertionError(
            "Do not use reset_default_graph() inside of `with graph.as_default():`."
        )
    _global[:] = [Graph()]
