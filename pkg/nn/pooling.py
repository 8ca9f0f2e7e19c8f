# SPDX-License-Identifier: Apache-2.0
"""Layers that shrink images: MaxPool2d, AvgPool2d, AdaptiveAvgPool2d."""

from __future__ import annotations

from collections.abc import Sequence

from ..tensor import Tensor
from . import functional as F
from .module import Module

__all__ = ["AdaptiveAvgPool2d", "AvgPool2d", "MaxPool2d"]

Pair = int | Sequence[int]


class MaxPool2d(Module):
    """The maximum of each window."""

    def __init__(
        self, kernel_size: Pair, stride: Pair | None = None, padding: Pair = 0
    ) -> None:
        """Create a layer; ``stride`` is ``kernel_size`` unless given."""
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = kernel_size if stride is None else stride
        self.padding = padding

    def forward(self, input: Tensor) -> Tensor:
        """Apply the layer to (N, C, H, W) or (C, H, W)."""
        return F.max_pool2d(input, self.kernel_size, self.stride, self.padding)

    def extra_repr(self) -> str:
        """The window."""
        return (
            f"kernel_size={self.kernel_size}, stride={self.stride}, "
            f"padding={self.padding}"
        )


class AvgPool2d(Module):
    """The mean of each window."""

    def __init__(
        self, kernel_size: Pair, stride: Pair | None = None, padding: Pair = 0
    ) -> None:
        """Create a layer; ``stride`` is ``kernel_size`` unless given."""
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = kernel_size if stride is None else stride
        self.padding = padding

    def forward(self, input: Tensor) -> Tensor:
        """Apply the layer to (N, C, H, W); zeros of the padding count."""
        return F.avg_pool2d(input, self.kernel_size, self.stride, self.padding)

    def extra_repr(self) -> str:
        """The window."""
        return (
            f"kernel_size={self.kernel_size}, stride={self.stride}, "
            f"padding={self.padding}"
        )


class AdaptiveAvgPool2d(Module):
    """Means over windows that divide the image into ``output_size``."""

    def __init__(self, output_size: Pair) -> None:
        """Create a layer with images of this size as output."""
        super().__init__()
        self.output_size = output_size

    def forward(self, input: Tensor) -> Tensor:
        """Apply the layer to (N, C, H, W) or (C, H, W)."""
        return F.adaptive_avg_pool2d(input, self.output_size)

    def extra_repr(self) -> str:
        """The size of the output."""
        return f"output_size={self.output_size}"
