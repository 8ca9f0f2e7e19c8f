# SPDX-License-Identifier: Apache-2.0
"""Kernels at Autograd: a backward of the user's behind an op."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

from ..autograd import Function
from .schemas import parameters_of

Backward = Callable[..., Any]


class _Layout:
    """Which of a call's arguments are lists, of how many items.

    A Function sees a list's tensors one by one.
    """

    def __init__(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self.counts = [self._count(value) for value in args]
        self.names = list(kwargs)

    @staticmethod
    def _count(value: Any) -> int:
        return len(value) if isinstance(value, (list, tuple)) else -1

    def flat(self, values: Any) -> list[Any]:
        """The values of positional arguments, lists taken apart."""
        found: list[Any] = []
        for count, value in zip(self.counts, values):
            if count < 0:
                found.append(value)
            else:
                found += [None] * count if value is None else list(value)
        return found

    def nested(self, flat: Iterator[Any]) -> tuple[Any, ...]:
        """The reverse of flat()."""
        return tuple(
            next(flat) if count < 0 else tuple(islice(flat, count))
            for count in self.counts
        )


def autograd_kernel(
    op: Any, backward: Backward, setup_context: Callable[..., Any] | None
) -> Callable[..., Any]:
    """What an op runs where an input requires grad: itself below, and a node."""
    parameters = parameters_of(op._schema)
    behind = parameters[parameters.index("*") :] if "*" in parameters else []
    if tensors := [p for p in behind if p.startswith("Tensor")]:
        raise NotImplementedError(
            f"[register_autograd] {op._schema}: expected tensors by position, since "
            f"backward gives gradients of those alone, got {', '.join(tensors)} behind "
            "the *. Write them in front of it."
        )
    returns_list = op._schema.endswith("[]")

    class Generated(Function):
        @staticmethod
        def forward(ctx: Any, layout: _Layout, kwargs: Any, *flat: Any) -> Any:
            inputs = layout.nested(iter(flat))
            output = op(*inputs, **kwargs)
            ctx._layout = layout
            if setup_context is not None:
                needs = ctx.needs_input_grad
                ctx.needs_input_grad = layout.nested(iter(needs[2:]))
                more = {"keyword_only_inputs": kwargs} if kwargs else {}
                setup_context(ctx=ctx, inputs=inputs, output=output, **more)
                ctx.needs_input_grad = needs
            return tuple(output) if isinstance(output, list) else output

        @staticmethod
        def backward(ctx: Any, *grads: Any) -> Any:
            layout: _Layout = ctx._layout
            flat = ctx.needs_input_grad
            ctx.needs_input_grad = layout.nested(iter(flat[2:]))
            given = (list(grads),) if returns_list else grads
            try:
                found = backward(ctx, *given)
            finally:
                ctx.needs_input_grad = flat
            if not isinstance(found, tuple):
                found = (found,)
            if len(found) != len(layout.counts):
                raise RuntimeError(
                    f"[register_autograd] {op._schema}: expected a backward that "
                    f"returns {len(layout.counts)} gradients, one for each argument "
                    f"(None where there is none), got {len(found)}."
                )
            return None, None, *layout.flat(found)

    words = op.__name__.strip("_").split("_")
    Generated.__name__ = "".join(word.capitalize() for word in words)

    def kernel(*args: Any, **kwargs: Any) -> Any:
        layout = _Layout(args, kwargs)
        return Generated.apply(layout, kwargs, *layout.flat(args))

    return kernel
