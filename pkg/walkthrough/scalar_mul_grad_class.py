# SPDX-License-Identifier: Apache-2.0
"""Autograd look-alike with explicit Grad class (only mul op)

That is the article's text: here every operator and ``sin`` has a gradient, since a Scalar
is a 0-d float64 tensor and pkg.autograd does the work.
"""

import collections
import threading

from .. import autograd, ops
from .._binding import core
from ._numbers import as_double
from ._protocol import Arithmetic

Edge = collections.namedtuple("Edge", ["parent", "grad"])
Edge.__doc__ = "A parent of a Scalar and the local derivative with respect to it."

_accumulating = threading.Lock()


class Grad:
    """Grad(val=0.0): a derivative."""

    __slots__ = ("_val",)

    def __init__(self, val=0.0):
        self.val = val

    @property
    def val(self):
        """The number; it can be written."""
        return self._val

    @val.setter
    def val(self, value):
        self._val = as_double("Grad", "val", value)

    def __repr__(self):
        """The shortest text that reads back."""
        return f"Grad({self.val!r})"

    def __eq__(self, other):
        """By value."""
        return self.val == other.val if isinstance(other, Grad) else NotImplemented

    __hash__ = None  # can be written


class Scalar(Arithmetic):
    """Scalar(value=0.0): a number that remembers how it was made.

    Unlike the other Scalars it is compared by identity: it is a node of a graph.
    """

    __slots__ = ("_tensor", "_op", "_operands", "_grad", "__weakref__")

    def __init__(self, value=0.0):
        number = as_double("Scalar", "value", value)
        self._tensor = core.tensor(number, dtype=core.float64, requires_grad=True)
        self._op, self._operands, self._grad = None, (), 0.0

    @classmethod
    def _apply(cls, op, *operands):
        result = cls.__new__(cls)
        result._tensor = op(*[x if type(x) is float else x._tensor for x in operands])
        recorded = result._tensor.requires_grad
        result._op, result._operands = op, operands if recorded else ()
        result._grad = 0.0
        return result

    @property
    def v(self):
        """The value. Writing it after use makes backward() raise: the graph kept it."""
        return self._tensor.item()

    @v.setter
    def v(self, value):
        with autograd.no_grad():
            self._tensor.fill_(as_double("Scalar.v", "value", value))

    @property
    def grad(self):
        """The gradient that backward() accumulated, on every Scalar; can be written."""
        return self._grad

    @grad.setter
    def grad(self, value):
        self._grad = as_double("Scalar.grad", "value", value)

    @property
    def tensor(self):
        """The tensor inside: its grad_fn is the graph."""
        return self._tensor

    @property
    def edges(self):
        """A tuple of Edge(parent, Grad) to the Scalars this one was made of."""
        parents = self._parents()
        if not parents:
            return ()
        # Each operand becomes a leaf of its own, so that a * a has two local gradients.
        leaves = [
            x if type(x) is float else x._tensor.detach().requires_grad_()
            for x in self._operands
        ]
        with autograd.enable_grad():
            out = self._op(*leaves)
        inputs = [x for x in leaves if type(x) is not float]
        grads = autograd.grad(out, inputs)
        return tuple(Edge(p, Grad(g.item())) for p, g in zip(parents, grads))

    def _parents(self):
        return [x for x in self._operands if type(x) is not float]

    def sin(self):
        """The sine; its derivative is the cosine."""
        return self._apply(ops.sin, self)

    def backward(self, grad_out=1.0):
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

    def zero_grad(self):
        """Sets `grad` of this and of all it was made of to 0."""
        todo = [self]
        seen = {id(self)}
        while todo:
            node = todo.pop()
            node._grad = 0.0
            fresh = [p for p in node._parents() if id(p) not in seen]
            seen.update(map(id, fresh))
            todo += fresh

    def __repr__(self):
        """Value and gradient."""
        return f"Scalar(v={self.v!r}, grad={self.grad!r})"

    def __reduce__(self):
        """Pickles value and gradient, not the graph."""
        return _rebuild, (type(self), self.v, self._grad)


def _rebuild(cls, value, grad):
    result = cls(value)
    result.grad = grad
    return result
