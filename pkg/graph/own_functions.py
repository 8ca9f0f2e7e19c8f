# SPDX-License-Identifier: Apache-2.0
"""autograd.Function in graphs: gradients() calls its backward."""

from __future__ import annotations

import sys
import weakref
from collections.abc import Sequence
from typing import Any

from .. import ops
from ..autograd import function
from ..tensor import Tensor
from .entering import is_building as is_building
from .own_gradients import with_gradient
from .symbols import Symbol, dtype_of

__all__ = ["Applied", "in_graph", "is_building", "is_symbol"]


class Applied:
    """A Function in a traced function, whose history has no backward for it.

    symbols, tensors: those among its arguments that gradients may be wanted of.
    """

    def __init__(self, name: str, symbols: list[Symbol], tensors: list[Tensor]) -> None:
        self.name = name
        self._symbols = symbols
        self._places: list[int] = []
        self._tensors = [weakref.ref(tensor) for tensor in tensors]

    def find(self, inputs: Sequence[Symbol]) -> None:
        """Finds out which inputs of the graph lead here, and which tensors."""
        operations, seen = [symbol.op for symbol in self._symbols], set()
        found = []
        for op in operations:
            if op.name in seen or op.type == "stop_gradient":
                continue
            seen.add(op.name)
            found += op._handle.tensors()
            operations += [symbol.op for symbol in op.inputs]
        self._places = [k for k, one in enumerate(inputs) if one.op.name in seen]
        parts = {symbol.graph for symbol in self._symbols if symbol.graph.is_body}
        if parts:  # what a loop or a choice begins with may be anything
            self._places = list(range(len(inputs)))
        while parts:
            part = parts.pop()
            for handle in part._handle.operations():
                found += handle.tensors()
            if part.is_body:
                parts.add(part.outer)
        self._symbols = []  # which would keep the graph
        self._tensors += [weakref.ref(tensor) for tensor in found]

    def is_asked(self, values: Sequence[Tensor]) -> bool:
        """Whether a gradient would have to go through it, for these inputs."""
        if any(values[place].requires_grad for place in self._places):
            return True
        tensors = [ref() for ref in self._tensors]
        return any(tensor is not None and tensor.requires_grad for tensor in tensors)


def is_symbol(value: Any) -> bool:
    """Whether it is a symbol that gradients may be asked of."""
    return isinstance(value, Symbol) and dtype_of(value).is_floating_point


def in_graph(
    cls: Any, ctx: Any, args: tuple[Any, ...], results: tuple[Any, ...]
) -> tuple[Any, ...] | None:
    """Function.apply() in a graph: its results, by whose gradients backward is called;
    None where they are what they are."""
    plain = {id(one) for one in ctx._non_differentiable}
    given = [
        place for place, one in enumerate(results)
        if is_symbol(one) and id(one) not in plain
    ]  # fmt: skip
    taken = [place for place, one in enumerate(args) if is_symbol(one)]
    if not given:
        return None
    graph = results[given[0]].graph
    if graph._whole().keeps_history:  # a function is traced
        tensors = [
            one for one in args
            if isinstance(one, Tensor) and not isinstance(one, Symbol)
        ]  # fmt: skip
        symbols = [args[place] for place in taken]
        graph._whole()._applied.append(Applied(cls.__name__, symbols, tensors))
        return None
    if not taken or graph.is_body:  # no gradients there
        return None

    def gradient(*grads: Any) -> list[Any]:
        every: list[Any] = [None] * len(results)
        for place, grad in zip(given, grads):
            every[place] = grad
        if ctx._materialize:
            for place, one in enumerate(results):
                if every[place] is None and isinstance(one, Tensor):
                    every[place] = ops.zeros_like(one)
        made = cls.backward(ctx, *every)
        made = list(made) if isinstance(made, (tuple, list)) else [made]
        if len(made) < len(args) or any(one is not None for one in made[len(args) :]):
            raise RuntimeError(
                f"[{cls.__name__}] expected {len(args)} gradients of backward, one for "
                f"each argument of forward, got {len(made)}."
            )
        return [made[place] for place in taken]

    with graph.as_default():
        outputs = with_gradient(
            [args[place] for place in taken],
            [results[place] for place in given],
            gradient,
        )
    found = list(results)
    for place, output in zip(given, outputs):
        found[place] = output
    # What was saved of the results is what the caller gets, with its history.
    history = {id(results[place]): found[place] for place in given}
    if ctx._to_save:
        ctx._to_save = tuple(history.get(id(one), one) for one in ctx._to_save)
    return tuple(found)


function.graphs = sys.modules[__name__]
