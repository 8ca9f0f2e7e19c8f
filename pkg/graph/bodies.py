# SPDX-License-Identifier: Apache-2.0
"""The graphs of the parts of loops and choices, and the operations that run them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from .._binding import core
from .building import Graph
from .entering import building
from .shapes import TensorShape
from .symbols import Operation, Symbol

__all__ = ["ROLES", "BodyGraph", "Part", "add_parts", "more_general"]

#: What runs parts, by its type, and what each of them is.
ROLES = {"While": ("condition", "body"), "If": ("if_true", "if_false")}


class BodyGraph(Graph):
    """The graph of a part: what it uses of the graph around it is captured."""

    is_body = True

    def __init__(self, outer: Graph) -> None:
        super().__init__()
        self.outer = outer
        self.outer_controls: list[Operation] = []  # which the whole part waits for
        # Of a loop: what each variable is here, and what it begins with.
        self.begins: list[tuple[Symbol, Symbol]] = []

    @property
    def keeps_history(self) -> bool:  # type: ignore[override]
        """Unless it is written to a file, as operations of the graph around it."""
        return not self.is_gradient

    def _whole(self) -> Graph:
        return self.outer._whole()

    @contextmanager
    def building(self) -> Iterator[None]:
        """A context in which calls of this thread are operations of this graph."""
        with self.as_default(), building():
            self._handle.begin_body()
            try:
                yield
            finally:
                self._handle.end_trace()

    def inside(self, symbol: Any) -> Any:
        """What stands here for a symbol of the graph around."""
        return self._handle.capture(symbol)

    def symbol(self, value: Any) -> Any:
        """The same of a value: a tensor with values becomes a constant."""
        if isinstance(value, Symbol):
            return self.inside(value)
        return self._operation(self._handle.constant("Const", value)).outputs[0]

    @contextmanager
    def control_dependencies(
        self, control_inputs: Iterable[Any] | None
    ) -> Iterator[None]:
        """As of any graph; the whole part waits for what is outside of it."""
        mine: list[Any] | None = None
        if control_inputs is not None:
            mine = []
            for item in control_inputs:
                graph = getattr(item, "graph", self)
                if graph is self:
                    mine.append(item)
                else:
                    self.outer_controls.append(graph.as_graph_element(item))
        with super().control_dependencies(mine):
            yield

    def as_graph_element(
        self, obj: Any, allow_tensor: bool = True, allow_operation: bool = True
    ) -> Any:
        """As of any graph; symbols of the graph around are captured."""
        if isinstance(obj, Symbol) and obj.graph is not self and allow_tensor:
            return self.inside(obj)
        return super().as_graph_element(obj, allow_tensor, allow_operation)

    def part(self, inputs: list[Any], results: list[Any]) -> Part:
        """It is complete: these go in, these come out, operations run besides."""
        symbols = [self.inside(r) for r in results if not isinstance(r, Operation)]
        targets = [r for r in results if isinstance(r, Operation)]
        handle = core.BodyHandle(
            self._handle, inputs, symbols, [target._handle for target in targets]
        )
        return Part(self, inputs, symbols, targets, handle)


class Part(NamedTuple):
    """A part that is complete."""

    graph: BodyGraph
    inputs: list[Any]  # placeholders
    outputs: list[Any]
    targets: list[Operation]
    handle: core.BodyHandle


Graph._bodies = BodyGraph


def add_parts(
    graph: Graph, kind: str, name: str, parts: list[Part], values: list[Any]
) -> Operation:
    """The operation of a kind of ROLES; the values of a choice are its predicate."""
    one, other = (part.handle for part in parts)
    if kind == "While":
        made = graph._handle.while_loop(name, one, other, values)
    else:
        made = graph._handle.cond(name, *values, one, other)
    op = graph._operation(made)
    graph._parts[op.name] = parts
    return op


def more_general(shape: TensorShape, than: TensorShape) -> bool:
    """Whether whatever has the second shape has the first."""
    if shape.ndims is None:
        return True
    if than.ndims != shape.ndims:
        return False
    return all(a is None or a == b for a, b in zip(shape.as_list(), than.as_list()))
