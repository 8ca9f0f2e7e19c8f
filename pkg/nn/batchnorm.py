# SPDX-License-Identifier: Apache-2.0
"""Layers that normalise channels: BatchNorm1d, BatchNorm2d, GroupNorm."""

from __future__ import annotations

from typing import Any

from .. import ops
from .._binding import core
from ..tensor import Tensor
from . import functional as F, init
from .module import Module
from .parameter import Parameter

__all__ = ["BatchNorm1d", "BatchNorm2d", "GroupNorm"]


class _Affine(Module):
    # One weight and, where wanted, one bias per channel, or neither.

    weight: Parameter | None
    bias: Parameter | None

    def __init__(
        self, channels: int, affine: bool, bias: bool, device: Any, dtype: Any
    ) -> None:
        super().__init__()
        self.affine = affine
        self.register_parameter("weight", None)
        self.register_parameter("bias", None)
        if affine:
            self.weight = Parameter(ops.empty((channels,), device=device, dtype=dtype))
            init.ones_(self.weight)
        if affine and bias:
            self.bias = Parameter(ops.empty((channels,), device=device, dtype=dtype))
            init.zeros_(self.bias)


class _BatchNorm(_Affine):
    _dims: tuple[int, ...] = ()
    running_mean: Tensor | None
    running_var: Tensor | None
    num_batches_tracked: Tensor | None

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        """Create a layer for ``num_features`` channels.

        momentum: the share of each new batch in the running statistics; None averages
        all batches.  Without ``track_running_stats`` evaluation uses the batch too.
        """
        super().__init__(num_features, affine, bias, device, dtype)
        self.num_features = num_features
        self.eps = eps
        self.momentum = momentum
        self.track_running_stats = track_running_stats
        options = {"device": device, "dtype": dtype}
        size = (num_features,)
        mean = ops.zeros(size, **options) if track_running_stats else None
        var = ops.ones(size, **options) if track_running_stats else None
        count = ops.zeros((), dtype=core.int64) if track_running_stats else None
        self.register_buffer("running_mean", mean)
        self.register_buffer("running_var", var)
        self.register_buffer("num_batches_tracked", count)

    def forward(self, input: Tensor) -> Tensor:
        """Apply the layer; in training mode the running statistics move."""
        if input.ndim not in self._dims:
            raise ValueError(
                f"expected {' or '.join(f'{n}D' for n in self._dims)} input (got "
                f"{input.ndim}D input)"
            )
        share = 0.0 if self.momentum is None else self.momentum
        counts = self.training and self.track_running_stats
        if counts and self.num_batches_tracked is not None:
            self.num_batches_tracked.add_(1)
            if self.momentum is None:
                share = 1.0 / self.num_batches_tracked.item()
        # Who switches tracking off later still has the statistics for eval().
        tracked = not self.training or self.track_running_stats
        return F.batch_norm(
            input,
            self.running_mean if tracked else None,
            self.running_var if tracked else None,
            self.weight,
            self.bias,
            self.training or self.running_mean is None,
            share,
            self.eps,
        )

    def extra_repr(self) -> str:
        """The options."""
        return (
            f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, "
            f"affine={self.affine}, bias={self.bias is not None}, "
            f"track_running_stats={self.track_running_stats}"
        )


class BatchNorm1d(_BatchNorm):
    """Zero mean and unit variance of each channel of (N, C) or (N, C, L)."""

    _dims = (2, 3)


class BatchNorm2d(_BatchNorm):
    """Zero mean and unit variance of each channel of (N, C, H, W)."""

    _dims = (4,)


class GroupNorm(_Affine):
    """Zero mean and unit variance within groups of channels of each sample."""

    def __init__(
        self,
        num_groups: int,
        num_channels: int,
        eps: float = 1e-5,
        affine: bool = True,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        """Create a layer; ValueError unless the groups divide the channels."""
        if num_channels % num_groups:
            raise ValueError(
                f"num_channels ({num_channels}) must be divisible by num_groups "
                f"({num_groups})"
            )
        super().__init__(num_channels, affine, bias, device, dtype)
        self.num_groups = num_groups
        self.num_channels = num_channels
        self.eps = eps

    def forward(self, input: Tensor) -> Tensor:
        """Apply the layer to (N, C, ...)."""
        return F.group_norm(input, self.num_groups, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        """The options."""
        return (
            f"{self.num_groups}, {self.num_channels}, eps={self.eps}, "
            f"affine={self.affine}, bias={self.bias is not None}"
        )
