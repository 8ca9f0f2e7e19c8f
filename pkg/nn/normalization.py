# SPDX-License-Identifier: Apache-2.0
"""Layers that normalise or thin out: LayerNorm, RMSNorm, Dropout."""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from typing import Any

from .. import ops
from ..tensor import Tensor
from . import functional as F, init
from .module import Module
from .parameter import Parameter

__all__ = ["Dropout", "LayerNorm", "RMSNorm"]


def _shape(shape: int | Sequence[int]) -> tuple[int, ...]:
    one = isinstance(shape, (int, numbers.Integral))
    sizes: Any = (shape,) if one else shape
    return tuple(int(size) for size in sizes)


class LayerNorm(Module):
    """Subtracts the mean and divides by the deviation of the last dimensions."""

    weight: Parameter | None
    bias: Parameter | None

    def __init__(
        self,
        normalized_shape: int | Sequence[int],
        eps: float = 1e-5,
        elementwise_affine: bool = True,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        """Create a layer over the trailing dimensions ``normalized_shape``."""
        super().__init__()
        self.normalized_shape = _shape(normalized_shape)
        self.eps = eps
        self.elementwise_affine = elementwise_affine
        self.register_parameter("weight", None)
        self.register_parameter("bias", None)
        if elementwise_affine:
            shape = self.normalized_shape
            self.weight = Parameter(ops.empty(shape, device=device, dtype=dtype))
            if bias:
                self.bias = Parameter(ops.empty(shape, device=device, dtype=dtype))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Make it the plain normalisation: weight 1, bias 0."""
        if self.weight is not None:
            init.ones_(self.weight)
        if self.bias is not None:
            init.zeros_(self.bias)

    def forward(self, input: Tensor) -> Tensor:
        """Apply the layer to (..., *normalized_shape)."""
        return F.layer_norm(
            input, self.normalized_shape, self.weight, self.bias, self.eps
        )

    def extra_repr(self) -> str:
        """Shape and options."""
        return (
            f"{self.normalized_shape}, eps={self.eps}, "
            f"elementwise_affine={self.elementwise_affine}, "
            f"bias={self.bias is not None}"
        )


class RMSNorm(Module):
    """Divides by the root mean square of the last dimensions."""

    weight: Parameter | None

    def __init__(
        self,
        normalized_shape: int | Sequence[int],
        eps: float | None = None,
        elementwise_affine: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        """Create a layer; ``eps`` None is the smallest step of the dtype at 1."""
        super().__init__()
        self.normalized_shape = _shape(normalized_shape)
        self.eps = eps
        self.elementwise_affine = elementwise_affine
        self.register_parameter("weight", None)
        if elementwise_affine:
            shape = self.normalized_shape
            self.weight = Parameter(ops.empty(shape, device=device, dtype=dtype))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Make it the plain normalisation: weight 1."""
        if self.weight is not None:
            init.ones_(self.weight)

    def forward(self, input: Tensor) -> Tensor:
        """Apply the layer to (..., *normalized_shape)."""
        return F.rms_norm(input, self.normalized_shape, self.weight, self.eps)

    def extra_repr(self) -> str:
        """Shape and options."""
        return (
            f"{self.normalized_shape}, eps={self.eps}, "
            f"elementwise_affine={self.elementwise_affine}"
        )


class Dropout(Module):
    """Zeroes elements with probability ``p`` while training, and scales the rest."""

    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        """Create a layer that drops with probability ``p``; may overwrite its input."""
        super().__init__()
        if not 0.0 <= p <= 1.0:
            raise ValueError(
                f"dropout probability has to be between 0 and 1, but got {p}"
            )
        self.p = p
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        """Apply the layer; the identity in evaluation mode."""
        return F.dropout(input, self.p, self.training, self.inplace)

    def extra_repr(self) -> str:
        """The options."""
        return f"p={self.p}, inplace={self.inplace}"
