# SPDX-License-Identifier: Apache-2.0
"""Conv2d: a layer over images (batch, channels, height, width)."""

from __future__ import annotations

import math
import numbers
from collections.abc import Sequence
from typing import Any

from .. import ops
from ..tensor import Tensor
from . import functional as F, init
from .module import Module
from .parameter import Parameter

__all__ = ["Conv2d"]

Pair = int | Sequence[int]


def _pair(value: Pair, name: str) -> tuple[int, int]:
    one = isinstance(value, (int, numbers.Integral))
    pair: Sequence[Any] = (value, value) if one else tuple(value)  # type: ignore[arg-type]
    if len(pair) != 2:
        raise ValueError(
            f"[Conv2d] expected {name} of one or two numbers, got {len(pair)} "
            f"({name}={value!r})."
        )
    return (int(pair[0]), int(pair[1]))


class Conv2d(Module):
    """2-D convolution (cross-correlation, as everywhere in deep learning)."""

    weight: Parameter
    bias: Parameter | None

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Pair,
        stride: Pair = 1,
        padding: Pair | str = 0,
        dilation: Pair = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        """Create a layer with weight (out_channels, in_channels / groups, kh, kw).

        padding: zeros on each side, "valid" for none, or "same" for an output as large
        as the input (stride 1 only).  The only padding_mode is "zeros".
        """
        super().__init__()
        if groups < 1 or in_channels % groups or out_channels % groups:
            raise ValueError(
                "[Conv2d] expected in_channels and out_channels to be divisible by "
                f"groups, got {in_channels} and {out_channels} (groups={groups})."
            )
        if padding_mode != "zeros":
            raise NotImplementedError(
                f"[Conv2d] expected padding_mode 'zeros', got {padding_mode!r}."
            )
        self.in_channels = in_channels
        self.out_channels = out_channels
        self.kernel_size = _pair(kernel_size, "kernel_size")
        self.stride = _pair(stride, "stride")
        self.padding = _padding(padding, self.stride)
        self.dilation = _pair(dilation, "dilation")
        self.groups = groups
        shape = (out_channels, in_channels // groups, *self.kernel_size)
        options = {"device": device, "dtype": dtype}
        self.weight = Parameter(ops.empty(shape, **options))
        self.register_parameter("bias", None)
        if bias:
            self.bias = Parameter(ops.empty((out_channels,), **options))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw new values, uniform in +-1/sqrt(inputs of one output)."""
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            fan_in = math.prod(self.weight.shape[1:])
            bound = 1 / math.sqrt(fan_in) if fan_in > 0 else 0.0
            init.uniform_(self.bias, -bound, bound)

    def forward(self, input: Tensor) -> Tensor:
        """Apply the layer to (N, in_channels, H, W) or (in_channels, H, W)."""
        return F.conv2d(
            input,
            self.weight,
            self.bias,
            self.stride,
            self.padding,
            self.dilation,
            self.groups,
        )

    def extra_repr(self) -> str:
        """Sizes, and what differs from the defaults."""
        text = (
            f"{self.in_channels}, {self.out_channels}, "
            f"kernel_size={self.kernel_size}, stride={self.stride}"
        )
        if self.padding != (0, 0):
            text += f", padding={self.padding}"
        if self.dilation != (1, 1):
            text += f", dilation={self.dilation}"
        if self.groups != 1:
            text += f", groups={self.groups}"
        return text if self.bias is not None else text + ", bias=False"


def _padding(padding: Pair | str, stride: tuple[int, int]) -> tuple[int, int] | str:
    if not isinstance(padding, str):
        return _pair(padding, "padding")
    if padding not in ("valid", "same"):
        raise ValueError(
            f"[Conv2d] expected padding 'valid' or 'same', got {padding!r}."
        )
    if padding == "same" and stride != (1, 1):
        raise ValueError("padding='same' is not supported for strided convolutions")
    return padding
