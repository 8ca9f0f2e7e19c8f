# SPDX-License-Identifier: Apache-2.0
"""Autograd look-alike with explicit Grad class (only mul op)

That is the article's text: here every operator and ``sin`` has a gradient, since a
Scalar is a 0-d float64 tensor and pkg.autograd does the work.
"""

from __future__ import annotations

import threading
from typing import Any, NamedTuple

from .. import autograd, ops
from .._binding import core
from ..tensor import Tensor
from ._numbers import Number, as_double
from ._protocol import Arithmetic, Op

_accumulating = threading.Lock()


class Edge(NamedTuple):
    """A parent of a Scalar and the local derivative with respect to it."""

    parent: Scalar
    grad: Grad


class Grad:
    """Grad(val=0.0): a derivative."""

    __slots__ = ("_val",)

    def __init__(self, val: Number = 0.0) -> None:
        self._val = as_double("Grad", "val", val)

    @property
    def val(self) -> float:
        """The number; it can be written."""
        return self._val

    @val.setter
    def val(self, value: Number) -> None:
        self._val = as_double("Grad", "val", value)

    def __repr__(self) -> str:
        """The shortest text that reads back."""
        return f"Grad({self.val!r})"

    def __eq__(self, other: object) -> bool:
        """By value."""
        return self.val == other.val if isinstance(other, Grad) else NotImplemented

    __hash__ = None  # type: ignore[assignment]  # can be written


class Scalar(Arithmetic):
    """Scalar(value=0.0): a number that remembers how it was made.

    Unlike the other Scalars it is compared by identity: it is a node of a graph.
    """

    __slots__ = ("_tensor", "_op", "_operands", "_grad", "__weakref__")

    def __init__(self, value: Number = 0.0) -> None:
        number = as_double("Scalar", "value", value)
        self._tensor = core.tensor(number, dtype=core.float64, requires_grad=True)
        self._op: Op | None = None
        self._operands: tuple[Any, ...] = ()
        self._grad = 0.0

    @classmethod
    def _apply(cls, op: Op, *operands: Any) -> Scalar:
        result = cls.__new__(cls)
        result._tensor = op(*[x if type(x) is float else x._tensor for x in operands])
        recorded = result._tensor.requires_grad
        result._op, result._operands = op, operands if recorded else ()
        result._grad = 0.0
        return result

    @property
    def v(self) -> float:
        """The value. Writing it after use makes backward() raise: the graph kept it."""
        value: float = self._tensor.item()
        return value

    @v.setter
    def v(self, value: Number) -> None:
        with autograd.no_grad():
            self._tensor.fill_(as_double("Scalar.v", "value", value))

    @property
    def grad(self) -> float:
        """The gradient that backward() accumulated, on every Scalar; can be written."""
        return self._grad

    @grad.setter
    def grad(self, value: Number) -> None:
        self._grad = as_double("Scalar.grad", "value", value)

    @property
    def tensor(self) -> Tensor:
        """The tensor inside: its grad_fn is the graph."""
        return self._tensor

    @property
    def edges(self) -> tuple[Edge, ...]:
        """A tuple of Edge(parent, Grad) to the Scalars this one was made of."""
        parents = self._parents()
        if self._op is None or not parents:
            return ()
        # Each operand becomes a leaf of its own, so that a * a has two local gradients.
        leaves: list[Any] = [
            x if type(x) is float else x._tensor.detach().requires_grad_()
            for x in self._operands
        ]
        with autograd.enable_grad():
            out = self._op(*leaves)
        inputs = [x for x in leaves if type(x) is not float]
        grads = autograd.grad(out, inputs)
        return tuple(Edge(p, Grad(g.item())) for p, g in zip(parents, grads))

    def _parents(self) -> list[Scalar]:
        return [x for x in self._operands if type(x) is not float]

    def sin(self) -> Scalar:
        """The sine; its derivative is the cosine."""
        return self._apply(ops.sin, self)

    def backward(self, grad_out: Number = 1.0) -> None:
        """Adds grad_out times the derivative to `grad` of this and all it was made of.

        Calls accumulate; every node is visited once.
        """
        upstream = as_double("backward", "grad_out", grad_out)
        nodes, todo = {id(self): self}, [self]
        while todo:
            for parent in todo.pop()._parents():
                if id(parent) not in nodes:
                    nodes[id(parent)] = parent
                    todo.append(parent)
        grads = autograd.grad(
            self._tensor,
            [node._tensor for node in nodes.values()],
            core.tensor(upstream, dtype=core.float64),
            retain_graph=True,
        )
        with _accumulating:
            for node, grad in zip(nodes.values(), grads):
                node._grad += grad.item()

    def zero_grad(self) -> None:
        """Sets `grad` of this and of all it was made of to 0."""
        todo = [self]
        seen = {id(self)}
        while todo:
            node = todo.pop()
            node._grad = 0.0
            fresh = [p for p in node._parents() if id(p) not in seen]
            seen.update(map(id, fresh))
            todo += fresh

    def __repr__(self) -> str:
        """Value and gradient."""
        return f"Scalar(v={self.v!r}, grad={self.grad!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickles value and gradient, not the graph."""
        return _rebuild, (type(self), self.v, self._grad)


def _rebuild(cls: type[Scalar], value: float, grad: float) -> Scalar:
    result = cls(value)
    result.grad = grad
    return result
