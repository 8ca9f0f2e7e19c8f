# SPDX-License-Identifier: Apache-2.0
"""Symbols, which stand for what the operations of a graph will give, and these."""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from typing import Any, cast

from .. import ops
from .._binding import core
from ..tensor import Tensor
from .defaults import session_for
from .definitions import attributes_of, plain_type
from .shapes import TensorShape

__all__ = ["Operation", "Symbol", "dtype_of", "graphs"]

#: The graphs that there are, by the number that the core has for each.
graphs: weakref.WeakValueDictionary[int, Any] = weakref.WeakValueDictionary()

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

    _graph: Any
    _more: Any  # what a Variable has beside

    def _begin(self) -> None:
        # The binding calls it when it shows a symbol for the first time.
        self._graph = graph = graphs[core.OperationHandle.of(self).graph_id()]
        if graph._symbols is not Symbol:
            object.__setattr__(self, "__class__", graph._symbols)

    @property
    def graph(self) -> Any:
        """The graph that it belongs to."""
        try:
            return self._graph
        except AttributeError:  # another thread is just showing it for the first time
            return graphs[core.OperationHandle.of(self).graph_id()]

    @property
    def op(self) -> Operation:
        """The operation that gives it."""
        found: Operation = self.graph._operation(core.OperationHandle.of(self))
        return found

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
        """As it was written where the operation was made; where a function is traced
        that of its tensors."""
        written = core.OperationHandle.of(self).device()
        traced = not written and self.graph._whole().keeps_history
        return core.device("cpu") if traced else written

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
        return [op for op in self.graph.get_operations() if any(
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
        """As str() has it; TypeError for a format of numbers."""
        try:
            return format(str(self), spec)
        except ValueError:
            raise self._no_values("format") from None

    def __reduce_ex__(self, protocol: Any) -> Any:
        """TypeError: it is nothing without its graph."""
        raise self._no_values("pickle")

    def __deepcopy__(self, memo: Any) -> Any:
        """TypeError: it is nothing without its graph."""
        raise self._no_values("deepcopy")


core.register_symbol_class(Symbol)


class Operation:
    """One operation of a graph: a call of an op, a placeholder, a variable, ..."""

    def __init__(self, handle: core.OperationHandle, graph: Any) -> None:
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
        found = [self._handle.output(i) for i in range(self._handle.n_outputs())]
        return cast("list[Symbol]", found)

    @property
    def inputs(self) -> tuple[Symbol, ...]:
        """The symbols that it takes."""
        return tuple(cast("list[Symbol]", self._handle.inputs()))

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
