# SPDX-License-Identifier: Apache-2.0
"""Calls outside of graphs, as what gradient functions are told of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .. import ops
from .._binding import core
from ..autograd.grad_mode import no_grad
from ..graph.definitions import NAMESPACE, OpDefinition
from ..graph.gradient_registry import gradient_of
from ..tensor import Tensor

__all__ = ["EagerOperation", "give_history", "recorded"]


def _flat(values: Sequence[Any]) -> tuple[Any, ...]:
    found: list[Any] = []
    for value in values:
        found.extend(value if isinstance(value, (list, tuple)) else [value])
    return tuple(found)


class EagerOperation:
    """One call of an op: type, name, inputs and outputs, and its attributes.

    inputs, outputs: all tensors, those of lists one by one.
    """

    def __init__(
        self, definition: OpDefinition, name: str, inputs: Sequence[Any],
        outputs: Sequence[Any], attributes: dict[str, Any],
    ) -> None:  # fmt: skip
        self._definition = definition
        self._attributes = attributes
        self.name = name
        self.inputs = _flat(inputs)
        self.outputs = _flat(outputs)

    @property
    def type(self) -> str:
        """The name of the op: "ZeroOut"."""
        return self._definition.name

    def get_attr(self, name: str) -> Any:
        """An attribute; ValueError if there is none of this name."""
        if name in self._attributes:
            return self._attributes[name]
        for attr in self._definition.attrs:
            if attr.name == name and attr.has_default:
                return attr.default
        known = sorted(attr.name for attr in self._definition.attrs)
        raise ValueError(
            f"Operation {self.name!r} has no attr named {name!r}: it has {known}."
        )

    def with_tensors(
        self, inputs: Sequence[Any], outputs: Sequence[Any]
    ) -> EagerOperation:
        """The same call with other tensors."""
        return EagerOperation(
            self._definition, self.name, inputs, outputs, self._attributes
        )

    def __repr__(self) -> str:
        """Name and type."""
        return f"<EagerOperation {self.name!r} type={self.type}>"


def _checked(op: EagerOperation, made: Any) -> tuple[Any, ...]:
    # One gradient for each input, of its dtype and shape.
    grads = tuple(made) if isinstance(made, (list, tuple)) else (made,)
    if len(grads) != len(op.inputs):
        raise ValueError(
            f"[{op.type}] expected {len(op.inputs)} gradients, one for each input, of "
            f"the function that is registered for it, got {len(grads)}."
        )
    for place, (grad, tensor) in enumerate(zip(grads, op.inputs)):
        if grad is None or not tensor.is_floating_point():
            continue
        if not isinstance(grad, Tensor):
            raise TypeError(
                f"[{op.type}] expected a tensor as the gradient of input {place}, got "
                f"{type(grad).__name__}."
            )
        if grad.dtype != tensor.dtype or grad.shape != tensor.shape:
            raise ValueError(
                f"[{op.type}] expected a gradient of {tensor.dtype.name} and shape "
                f"{tuple(tensor.shape)} for input {place}, got {grad.dtype.name} and "
                f"{tuple(grad.shape)}."
            )
    return tuple(
        grad if tensor.is_floating_point() else None
        for grad, tensor in zip(grads, op.inputs)
    )


def recorded(op: EagerOperation, call: Callable[[], list[Tensor]]) -> list[Tensor]:
    """The outputs of a call, whose history is what is registered for the op.

    The registry is asked in the backward pass, as for graphs: LookupError there.
    """
    with no_grad():
        # What comes back must be no input, which has a history of its own.
        outputs = [t._share() if any(t is x for x in op.inputs) else t for t in call()]
    count = len(op.inputs)
    inputs, described = op.inputs, op.with_tensors((), ())  # which keeps no tensor

    def run(node: core.Node, grads: tuple[Any, ...]) -> tuple[Any, ...]:
        found = gradient_of(op_type, described.name, op_type)
        if found.eager is None:
            return (None,) * count
        saved = core._saved_tensors(node)
        there = described.with_tensors(saved[:count], saved[count:])
        # One for each output, as in graphs, also of those that have no gradient.
        filled = [
            ops.zeros_like(output) if grad is None else grad
            for grad, output in zip(grads, there.outputs)
        ]
        return _checked(there, found.eager(there, *filled))

    op_type = op.type
    floating = [t if t.is_floating_point() else None for t in outputs]
    if any(t is not None for t in floating):
        core._record_function(
            op_type, inputs, tuple(floating), run, True, (*inputs, *outputs)
        )
    return outputs


_with_history: set[str] = set()


def give_history(op: OpDefinition) -> None:
    """Lets calls of the op itself, too, have the history of ``recorded``: those of
    parts of graphs and of traced functions, which the engine makes at each run."""
    if op.qualified in _with_history or not op.outputs:
        return
    _with_history.add(op.qualified)
    raw = core.Operator(op.name, NAMESPACE)
    names = [attr.name for attr in op.given]
    count = len(op.inputs)

    def kernel(*args: Any, **options: Any) -> Any:
        inputs = args[:count]
        attributes = {**dict(zip(names, args[count:])), **options}
        attributes.update(op.inferred(inputs, lambda tensor: tensor.dtype))
        call = EagerOperation(op, op.name, inputs, (), attributes)
        several = False

        def below() -> list[Tensor]:
            nonlocal several
            made = raw(*args, **options)
            several = isinstance(made, (list, tuple))
            return list(made) if several else [made]

        outputs = recorded(call, below)
        return outputs if several else outputs[0]

    core._set_kernel(op.qualified, "Autograd", kernel, __name__)
