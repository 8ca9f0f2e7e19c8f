# SPDX-License-Identifier: Apache-2.0
"""Ops of networks as functions, in PyTorch's argument order.

Names whose op has that order already are the op itself; the rest adapt it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Union

from .. import ops
from ..tensor import Tensor

__all__ = [
    "conv2d",
    "cross_entropy",
    "dropout",
    "embedding",
    "gelu",
    "layer_norm",
    "linear",
    "log_softmax",
    "max_pool2d",
    "mse_loss",
    "nll_loss",
    "one_hot",
    "relu",
    "rms_norm",
    "sigmoid",
    "silu",
    "softmax",
    "tanh",
]

Pair = Union[int, Sequence[int]]

relu = ops.relu
sigmoid = ops.sigmoid
silu = ops.silu
tanh = ops.tanh


def gelu(input: Tensor, approximate: str = "none") -> Tensor:
    """x times the normal distribution's probability of being below x.

    ``approximate="tanh"`` is the cheaper formula of the first GPT models.
    """
    if approximate == "none":
        return ops.gelu(input)
    if approximate != "tanh":
        raise RuntimeError(
            f"[gelu] expected approximate 'none' or 'tanh', got {approximate!r}."
        )
    inner = 0.7978845608028654 * (input + 0.044715 * input * input * input)
    return 0.5 * input * (1 + ops.tanh(inner))


def softmax(input: Tensor, dim: int = -1) -> Tensor:
    """exp(input) divided by its sum along ``dim``."""
    return ops.softmax(input, dim)


def log_softmax(input: Tensor, dim: int = -1) -> Tensor:
    """The logarithm of ``softmax``, computed without overflow."""
    return ops.log_softmax(input, dim)


def linear(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """``input @ weight.T + bias``; weight is (out_features, in_features)."""
    return ops.linear(input, weight, bias)


def embedding(input: Tensor, weight: Tensor) -> Tensor:
    """Rows of ``weight`` chosen by the integers of ``input``."""
    return ops.embedding(weight, input)


def conv2d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Pair = 1,
    padding: Pair = 0,
    dilation: Pair = 1,
    groups: int = 1,
) -> Tensor:
    """2-D convolution of (N, C, H, W) with weight (O, C / groups, kh, kw)."""
    return ops.conv2d(input, weight, bias, stride, padding, dilation, groups)


def max_pool2d(
    input: Tensor, kernel_size: Pair, stride: Pair | None = None, padding: Pair = 0
) -> Tensor:
    """The maximum of each window; ``stride`` is ``kernel_size`` unless given."""
    stride = kernel_size if stride is None else stride
    return ops.max_pool2d(input, kernel_size, stride, padding)


def layer_norm(
    input: Tensor,
    normalized_shape: Sequence[int],
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
) -> Tensor:
    """(x - mean) / sqrt(variance + eps) over the last dimensions, times weight + bias."""
    return ops.layer_norm(input, normalized_shape, weight, bias, eps)


def rms_norm(
    input: Tensor,
    normalized_shape: Sequence[int],
    weight: Tensor | None = None,
    eps: float | None = None,
) -> Tensor:
    """x / sqrt(mean(x * x) + eps) over the last dimensions, times weight."""
    return ops.rms_norm(input, normalized_shape, weight, eps)


def dropout(input: Tensor, p: float = 0.5, training: bool = True) -> Tensor:
    """Zeroes elements with probability ``p`` and divides the rest by ``1 - p``."""
    if not 0.0 <= p <= 1.0:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
    if not training or p == 0.0:
        return input
    return ops.dropout(input, p, True)


def _reduce(loss: Tensor, reduction: str) -> Tensor:
    if reduction == "mean":
        return loss.mean()
    if reduction == "sum":
        return loss.sum()
    if reduction == "none":
        return loss
    raise ValueError(f"{reduction} is not a valid value for reduction")


def mse_loss(input: Tensor, target: Tensor, reduction: str = "mean") -> Tensor:
    """(input - target) squared, reduced by "mean", "sum" or "none"."""
    difference = input - target
    return _reduce(difference * difference, reduction)


def nll_loss(input: Tensor, target: Tensor, reduction: str = "mean") -> Tensor:
    """Minus the log-probability (N, C) at the class numbers (N)."""
    return _reduce(-input.gather(1, target.unsqueeze(1)).squeeze(1), reduction)


def cross_entropy(input: Tensor, target: Tensor, reduction: str = "mean") -> Tensor:
    """-log softmax(input)[target]: scores (N, C) against class numbers (N)."""
    if reduction == "mean":
        return ops.cross_entropy(input, target)
    return nll_loss(ops.log_softmax(input, 1), target, reduction)


def one_hot(tensor: Tensor, num_classes: int = -1) -> Tensor:
    """Integers as rows of 0 and a single 1; -1 takes the largest integer plus one."""
    if num_classes < 0:
        num_classes = int(tensor.max().item()) + 1
    classes = ops.arange(num_classes)
    return (tensor.unsqueeze(-1) == classes).long()
