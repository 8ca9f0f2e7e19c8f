# SPDX-License-Identifier: Apache-2.0
"""Checkpointing: trade time for memory by computing a part again in backward.

Forward records the part once to see which tensors it closes over, and drops that graph.
Arguments and those tensors are the inputs of one node, so gradients of both leave it
through the graph: ``backward``, ``grad`` and hooks see them like any others.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .._binding import core
from ..random import get_rng_state, set_rng_state
from ..tensor import Tensor
from . import function as own
from .function import Function, FunctionCtx
from .grad_mode import enable_grad, is_grad_enabled


class _Part:
    """A call that can be made again: tensors are given, the rest is kept."""

    def __init__(
        self,
        function: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> None:
        values = [*args, *kwargs.values()]
        self.function = function
        self.n_args, self.names = len(args), tuple(kwargs)
        self.places = [i for i, v in enumerate(values) if isinstance(v, Tensor)]
        self.others = [None if isinstance(v, Tensor) else v for v in values]

    def __call__(self, tensors: list[Tensor]) -> Any:
        values = list(self.others)
        for place, tensor in zip(self.places, tensors):
            values[place] = tensor
        named = dict(zip(self.names, values[self.n_args :]))
        with enable_grad():
            return self.function(*values[: self.n_args], **named)


class _Gate(Function):
    """The identity, whose gradient stays out of the graph before it while closed."""

    @staticmethod
    def forward(ctx: FunctionCtx, tensor: Tensor, gate: dict[str, bool]) -> Tensor:
        ctx.gate = gate
        return tensor

    @staticmethod
    def backward(ctx: FunctionCtx, grad: Tensor) -> Any:
        return (grad if ctx.gate["open"] else None), None


class _Checkpoint(Function):
    """Keeps the inputs only; backward runs the part again and differentiates it."""

    @staticmethod
    def forward(
        ctx: FunctionCtx, part: _Part, state: Any, made: list[Any], *tensors: Tensor
    ) -> Any:
        ctx.part, ctx.state = part, state
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(*tensors)
        outputs = tuple(made)
        made.clear()  # an argument of the node must not keep its outputs
        detached = tuple(t.detach() if isinstance(t, Tensor) else t for t in outputs)
        constant = [
            d for d, t in zip(detached, outputs)
            if isinstance(t, Tensor) and not t.requires_grad
        ]  # fmt: skip
        ctx.mark_non_differentiable(*constant)
        return detached

    @staticmethod
    def backward(ctx: FunctionCtx, *grads: Any) -> Any:
        saved = ctx.saved_tensors
        count = len(ctx.part.places)
        gate = {"open": False}
        if is_grad_enabled():  # the result must depend on the arguments' own history
            tensors = [_Gate.apply(t, gate) for t in saved[:count]]
        else:
            tensors = [
                t.detach().requires_grad_(t.requires_grad) for t in saved[:count]
            ]
        outputs = _as_tuple(_with_rng_state(ctx.state, lambda: ctx.part(tensors)))
        pairs = [
            (o, g) for o, g in zip(outputs, grads)
            if g is not None and isinstance(o, Tensor) and o.requires_grad
        ]  # fmt: skip
        inputs = [*tensors, *saved[count:]]
        wanted = [i for i, t in enumerate(inputs) if t.requires_grad]
        found: list[Any] = [None] * len(inputs)
        if pairs:
            outs, seeds = zip(*pairs)
            create = is_grad_enabled()
            given = tuple(inputs[i] for i in wanted)
            results = core._grad(outs, given, seeds, create, create, True)
            for i, result in zip(wanted, results):
                found[i] = result
        gate["open"] = True
        return (None, None, None, *found)


def _as_tuple(result: Any) -> tuple[Any, ...]:
    return tuple(result) if isinstance(result, (tuple, list)) else (result,)


def _with_rng_state(state: Any, call: Callable[[], Any]) -> Any:
    """call() with the generator at `state` (None: as it is), and then back."""
    if state is None:
        return call()
    now = get_rng_state()
    set_rng_state(state)
    try:
        return call()
    finally:
        set_rng_state(now)


def _closed_over(
    outputs: tuple[Any, ...], given: list[Tensor], start: int
) -> list[Tensor]:
    """The leaves behind `outputs` that are not `given`; nodes start after `start`."""
    stack = [
        t.grad_fn for t in outputs if isinstance(t, Tensor) and t.grad_fn is not None
    ]
    known = {id(t) for t in given}
    seen = set(stack)
    found: list[Tensor] = []
    found += [
        t for t in outputs
        if isinstance(t, Tensor) and t.requires_grad and t.is_leaf
        and id(t) not in known
    ]  # fmt: skip
    known |= {id(t) for t in found}
    while stack:
        node = stack.pop()
        leaf = node.variable
        if leaf is not None:
            if id(leaf) not in known:
                known.add(id(leaf))
                found.append(leaf)
            continue
        if node._sequence_nr() <= start:
            raise RuntimeError(
                "[checkpoint] expected a function that closes over leaves only, got a "
                f"tensor made by {node.name()}, recorded at {node.call_site or '?'}. "
                "Pass it as an argument."
            )
        before = [n for n, _ in node.next_functions if n is not None and n not in seen]
        seen.update(before)
        stack += before
    return found


def checkpoint(
    function: Callable[..., Any],
    *args: Any,
    preserve_rng_state: bool = True,
    use_reentrant: bool | None = None,
    **kwargs: Any,
) -> Any:
    """function(*args, **kwargs) without keeping what it saves; backward computes it
    again.

    function: returns a Tensor, or a tuple or list of them.  Its arguments and the
    leaves that it closes over (the weights of a layer) get gradients; a closed-over
    tensor with
    a history of its own is a RuntimeError: pass it as an argument.
    preserve_rng_state: random ops (dropout) draw the same numbers the second time.
    A hook on a closed-over leaf also sees the gradient of the inner pass, so a hook
    that changes gradients should be on an argument instead.
    use_reentrant: taken for PyTorch's sake; either value gives the same gradients.
    In a compiled function all is kept.
    """
    # A compiled function has a history of its own, call by call.
    traced = own.graphs is not None and own.graphs.is_building()
    if not is_grad_enabled() or traced:
        return function(*args, **kwargs)
    part = _Part(function, args, kwargs)
    state = get_rng_state() if preserve_rng_state else None
    values = [*args, *kwargs.values()]
    given = [values[i] for i in part.places]
    shadows = [t.detach().requires_grad_(t.requires_grad) for t in given]
    mark = core.tensor(0.0, requires_grad=True) * 1  # nodes of the part come after it
    result = part(shadows)
    made = list(_as_tuple(result))
    closed = _closed_over(tuple(made), shadows, mark.grad_fn._sequence_nr())
    outputs = _Checkpoint.apply(part, state, made, *given, *closed)
    if isinstance(result, (tuple, list)):
        return type(result)(outputs) if type(result) in (tuple, list) else outputs
    return outputs[0]
