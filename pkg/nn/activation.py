# SPDX-License-Identifier: Apache-2.0
"""Layers without parameters: activation functions and Flatten."""

from __future__ import annotations

from ..tensor import Tensor
from . import functional as F
from .module import Module

__all__ = ["GELU", "Flatten", "Identity", "ReLU", "SiLU", "Sigmoid", "Softmax", "Tanh"]


class ReLU(Module):
    """max(x, 0)."""

    def forward(self, input: Tensor) -> Tensor:
        """Apply it to each element."""
        return F.relu(input)


class GELU(Module):
    """x times the normal distribution's probability of being below x."""

    def __init__(self, approximate: str = "none") -> None:
        """``approximate`` is "none" or "tanh"."""
        super().__init__()
        self.approximate = approximate

    def forward(self, input: Tensor) -> Tensor:
        """Apply it to each element."""
        return F.gelu(input, approximate=self.approximate)

    def extra_repr(self) -> str:
        """The formula in use."""
        return f"approximate={self.approximate!r}"


class SiLU(Module):
    """x * sigmoid(x)."""

    def forward(self, input: Tensor) -> Tensor:
        """Apply it to each element."""
        return F.silu(input)


class Sigmoid(Module):
    """1 / (1 + exp(-x))."""

    def forward(self, input: Tensor) -> Tensor:
        """Apply it to each element."""
        return F.sigmoid(input)


class Tanh(Module):
    """The hyperbolic tangent."""

    def forward(self, input: Tensor) -> Tensor:
        """Apply it to each element."""
        return F.tanh(input)


class Softmax(Module):
    """exp(x) divided by its sum along a dimension."""

    def __init__(self, dim: int = -1) -> None:
        """Create a layer that normalises along ``dim``."""
        super().__init__()
        self.dim = dim

    def forward(self, input: Tensor) -> Tensor:
        """Apply it along the dimension."""
        return F.softmax(input, self.dim)

    def extra_repr(self) -> str:
        """The dimension."""
        return f"dim={self.dim}"


class Identity(Module):
    """Returns its input: a placeholder."""

    def forward(self, input: Tensor) -> Tensor:
        """Return the input."""
        return input


class Flatten(Module):
    """Makes one dimension of several."""

    def __init__(self, start_dim: int = 1, end_dim: int = -1) -> None:
        """Flatten the dimensions from ``start_dim`` to ``end_dim``, both included."""
        super().__init__()
        self.start_dim = start_dim
        self.end_dim = end_dim

    def forward(self, input: Tensor) -> Tensor:
        """Apply it to a tensor of any shape."""
        return input.flatten(self.start_dim, self.end_dim)

    def extra_repr(self) -> str:
        """The dimensions."""
        return f"start_dim={self.start_dim}, end_dim={self.end_dim}"
