# SPDX-License-Identifier: Apache-2.0
"""Parameter: a tensor that a Module registers and an optimiser changes."""

from __future__ import annotations

from typing import Any

from ..tensor import Tensor

__all__ = ["Parameter"]


class Parameter(Tensor):
    """A tensor that counts among the parameters of the Module it is assigned to.

    It shares the memory of ``data`` and requires gradients unless told otherwise.
    """

    __slots__ = ()

    def __new__(cls, data: Tensor, requires_grad: bool = True) -> Parameter:
        """Return a Parameter over the memory of ``data``."""
        if not isinstance(data, Tensor):
            raise TypeError(
                f"[Parameter] expected a Tensor, got {type(data).__name__}. "
                "Use pkg.tensor(data)."
            )
        return Tensor._make_subclass(cls, data.detach(), requires_grad)

    def __init__(self, data: Tensor, requires_grad: bool = True) -> None:
        """Everything happened in ``__new__``; the base class must not run again."""

    def __repr__(self) -> str:
        """PyTorch's words: the tensor below a heading."""
        return "Parameter containing:\n" + super().__repr__()

    def __deepcopy__(self, memo: dict[int, Any]) -> Parameter:
        """A Parameter with memory of its own."""
        copy = type(self)(self.detach().clone(), self.requires_grad)
        memo[id(self)] = copy
        return copy
