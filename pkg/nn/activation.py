# SPDX-License-Identifier: Apache-2.0
"""Activation functions as layers; Identity and Flatten."""

from __future__ import annotations

from typing import Any

from .. import ops
from ..tensor import Tensor
from . import functional as F
from .init import constant_
from .module import Module
from .parameter import Parameter

__all__ = [
    "ELU",
    "GELU",
    "Flatten",
    "Identity",
    "LeakyReLU",
    "LogSigmoid",
    "LogSoftmax",
    "PReLU",
    "ReLU",
    "SiLU",
    "Sigmoid",
    "Softmax",
    "Softmin",
    "Softplus",
    "Tanh",
]


def _in_place(inplace: bool) -> str:
    # For extra_repr, after other options.
    return ", inplace=True" if inplace else ""


class ReLU(Module):
    """max(x, 0)."""

    def __init__(self, inplace: bool = False) -> None:
        """``inplace`` overwrites the input."""
        super().__init__()
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        """Apply it to each element."""
        return F.relu(input, self.inplace)

    def extra_repr(self) -> str:
        """Whether it works in place."""
        return _in_place(self.inplace)[2:]


class LeakyReLU(Module):
    """x where it is positive, else a small multiple of it."""

    def __init__(self, negative_slope: float = 0.01, inplace: bool = False) -> None:
        """``negative_slope`` is the factor for negative elements."""
        super().__init__()
        self.negative_slope = negative_slope
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        """Apply it to each element."""
        return F.leaky_relu(input, self.negative_slope, self.inplace)

    def extra_repr(self) -> str:
        """The slope."""
        return f"negative_slope={self.negative_slope}" + _in_place(self.inplace)


class PReLU(Module):
    """x where it is positive, else a learnt multiple of it."""

    def __init__(
        self,
        num_parameters: int = 1,
        init: float = 0.25,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        """Begin at the slope ``init``: one, or one for each channel (dimension 1)."""
        super().__init__()
        self.num_parameters = num_parameters
        self.init = init
        slopes = ops.empty((num_parameters,), device=device, dtype=dtype)
        self.weight = Parameter(slopes)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Begin again at ``init``."""
        constant_(self.weight, self.init)

    def forward(self, input: Tensor) -> Tensor:
        """Apply it to each element."""
        return F.prelu(input, self.weight)

    def extra_repr(self) -> str:
        """How many slopes."""
        return f"num_parameters={self.num_parameters}"


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

    def __init__(self, inplace: bool = False) -> None:
        """``inplace`` overwrites the input."""
        super().__init__()
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        """Apply it to each element."""
        return F.silu(input, self.inplace)

    def extra_repr(self) -> str:
        """Whether it works in place."""
        return _in_place(self.inplace)[2:]


class ELU(Module):
    """x where it is positive, else alpha * (exp(x) - 1)."""

    def __init__(self, alpha: float = 1.0, inplace: bool = False) -> None:
        """``alpha`` is minus the limit for negative elements."""
        super().__init__()
        self.alpha = alpha
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        """Apply it to each element."""
        return F.elu(input, self.alpha, self.inplace)

    def extra_repr(self) -> str:
        """The limit."""
        return f"alpha={self.alpha}" + _in_place(self.inplace)


class Softplus(Module):
    """log(1 + exp(beta * x)) / beta: a smooth ReLU."""

    def __init__(self, beta: float = 1.0, threshold: float = 20.0) -> None:
        """``beta`` is the sharpness; above ``threshold`` / beta it is x itself."""
        super().__init__()
        self.beta = beta
        self.threshold = threshold

    def forward(self, input: Tensor) -> Tensor:
        """Apply it to each element."""
        return ops.softplus(input, self.beta, self.threshold)

    def extra_repr(self) -> str:
        """The options."""
        return f"beta={self.beta}, threshold={self.threshold}"


class LogSigmoid(Module):
    """log(1 / (1 + exp(-x)))."""

    def forward(self, input: Tensor) -> Tensor:
        """Apply it to each element."""
        return ops.logsigmoid(input)


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


class _AlongDim(Module):
    # PyTorch guesses a dimension when none is given, and warns; here it must be given.

    def __init__(self, dim: int) -> None:
        """Create a layer that normalises along ``dim``."""
        super().__init__()
        self.dim = dim

    def extra_repr(self) -> str:
        """The dimension."""
        return f"dim={self.dim}"


class Softmax(_AlongDim):
    """exp(x) divided by its sum along a dimension."""

    def forward(self, input: Tensor) -> Tensor:
        """Apply it along the dimension."""
        return F.softmax(input, self.dim)


class Softmin(_AlongDim):
    """The softmax of -x."""

    def forward(self, input: Tensor) -> Tensor:
        """Apply it along the dimension."""
        return F.softmin(input, self.dim)


class LogSoftmax(_AlongDim):
    """The logarithm of Softmax, computed without overflow."""

    def forward(self, input: Tensor) -> Tensor:
        """Apply it along the dimension."""
        return F.log_softmax(input, self.dim)


class Identity(Module):
    """Returns its input: a placeholder."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Take the arguments of whatever it stands for, and forget them."""
        super().__init__()

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
        return ops.flatten(input, self.start_dim, self.end_dim)

    def extra_repr(self) -> str:
        """The dimensions."""
        return f"start_dim={self.start_dim}, end_dim={self.end_dim}"
