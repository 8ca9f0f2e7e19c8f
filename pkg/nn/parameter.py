# SPDX-License-Identifier: Apache-2.0
"""Parameter: a tensor that a Module registers and an optimiser changes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .. import ops
from ..autograd import no_grad
from ..printing import tensor_text
from ..tensor import Tensor

__all__ = ["Parameter", "clear_gradients"]


class Parameter(Tensor):
    """A tensor that counts among the parameters of the Module it is assigned to.

    It shares the memory of ``data`` and requires gradients unless told otherwise.
    It takes attributes, which pickles and ``copy.copy`` keep and deep copies do not.
    """

    def __new__(
        cls, data: Tensor | None = None, requires_grad: bool = True
    ) -> Parameter:
        """Return a Parameter over the memory of ``data`` (an empty one without it).

        RuntimeError when an integer or bool tensor shall require gradients.
        """
        if data is None:
            data = ops.empty((0,))
        if not isinstance(data, Tensor):
            raise TypeError(
                f"[Parameter] expected a Tensor, got {type(data).__name__}. "
                "Use pkg.tensor(data)."
            )
        made: Parameter = Tensor._make_subclass(cls, data.detach(), requires_grad)
        return made

    def __init__(self, data: Tensor | None = None, requires_grad: bool = True) -> None:
        """Everything happened in ``__new__``; the base class must not run again."""

    def __repr__(self) -> str:
        """PyTorch's words: the tensor below a heading."""
        return "Parameter containing:\n" + tensor_text(self)

    def __deepcopy__(self, memo: dict[int, Any]) -> Parameter:
        """A Parameter with memory of its own and no gradient."""
        copy = type(self)(self.detach().clone(), self.requires_grad)
        memo[id(self)] = copy
        return copy


def clear_gradients(parameters: Iterable[Tensor], set_to_none: bool) -> None:
    """Drop the gradients, or fill them with zeros in place.

    Called by Module.zero_grad and Optimizer.zero_grad.  A gradient that has a graph of
    its own is detached first.
    """
    for parameter in parameters:
        grad = parameter.grad
        if grad is None:
            continue
        if set_to_none:
            parameter.grad = None
            continue
        if grad.requires_grad:
            grad = parameter.grad = grad.detach()
        with no_grad():
            grad.zero_()
