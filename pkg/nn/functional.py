# SPDX-License-Identifier: Apache-2.0
"""Ops of networks as functions, in PyTorch's argument order.

Names whose op has that order already are the op itself; the rest adapt it.  Losses are
in losses.py and appear here too.
"""

from __future__ import annotations

import numbers
import operator
from collections.abc import Sequence
from typing import Any

from .. import ops
from ..tensor import Tensor
from .losses import (
    binary_cross_entropy_with_logits,
    cross_entropy,
    huber_loss,
    l1_loss,
    mse_loss,
    nll_loss,
    smooth_l1_loss,
)
from .padding import pad

__all__ = [
    "adaptive_avg_pool1d",
    "adaptive_avg_pool2d",
    "avg_pool1d",
    "avg_pool2d",
    "batch_norm",
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
    "celu",
    "conv1d",
    "conv2d",
    "cosine_similarity",
    "cross_entropy",
    "dropout",
    "elu",
    "embedding",
    "gelu",
    "glu",
    "group_norm",
    "hardsigmoid",
    "hardswish",
    "hardtanh",
    "hinge_embedding_loss",
    "huber_loss",
    "instance_norm",
    "kl_div",
    "l1_loss",
    "layer_norm",
    "leaky_relu",
    "linear",
    "log_softmax",
    "logsigmoid",
    "margin_ranking_loss",
    "max_pool1d",
    "max_pool2d",
    "mish",
    "mse_loss",
    "nll_loss",
    "normalize",
    "one_hot",
    "pad",
    "prelu",
    "relu",
    "relu6",
    "rms_norm",
    "selu",
    "sigmoid",
    "silu",
    "smooth_l1_loss",
    "softmax",
    "softmin",
    "softplus",
    "softsign",
    "tanh",
    "threshold",
]

Pair = int | Sequence[int]

adaptive_avg_pool1d = ops.adaptive_avg_pool1d
adaptive_avg_pool2d = ops.adaptive_avg_pool2d
avg_pool1d = ops.avg_pool1d
avg_pool2d = ops.avg_pool2d
batch_norm = ops.batch_norm
binary_cross_entropy = ops.binary_cross_entropy
celu = ops.celu
cosine_similarity = ops.cosine_similarity
glu = ops.glu
group_norm = ops.group_norm
hardswish = ops.hardswish
hardtanh = ops.hardtanh
hinge_embedding_loss = ops.hinge_embedding_loss
kl_div = ops.kl_div
logsigmoid = ops.logsigmoid
margin_ranking_loss = ops.margin_ranking_loss
normalize = ops.normalize
one_hot = ops.one_hot
prelu = ops.prelu
relu6 = ops.relu6
selu = ops.selu
sigmoid = ops.sigmoid
softplus = ops.softplus
softsign = ops.softsign
tanh = ops.tanh
threshold = ops.threshold


def relu(input: Tensor, inplace: bool = False) -> Tensor:
    """max(input, 0); ``inplace`` overwrites the input."""
    return ops.relu_(input) if inplace else ops.relu(input)


def leaky_relu(
    input: Tensor, negative_slope: float = 0.01, inplace: bool = False
) -> Tensor:
    """input where it is positive, else ``negative_slope`` times it."""
    run = ops.leaky_relu_ if inplace else ops.leaky_relu
    return run(input, negative_slope)


def elu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """input where it is positive, else ``alpha`` * (exp(input) - 1)."""
    return (ops.elu_ if inplace else ops.elu)(input, alpha)


def silu(input: Tensor, inplace: bool = False) -> Tensor:
    """input * sigmoid(input)."""
    return ops.silu_(input) if inplace else ops.silu(input)


def mish(input: Tensor, inplace: bool = False) -> Tensor:
    """input * tanh(softplus(input))."""
    return ops.mish_(input) if inplace else ops.mish(input)


def hardsigmoid(input: Tensor, inplace: bool = False) -> Tensor:
    """input / 6 + 1/2, limited to 0 and 1."""
    return ops.hardsigmoid_(input) if inplace else ops.hardsigmoid(input)


def gelu(input: Tensor, approximate: str = "none") -> Tensor:
    """x times the normal distribution's probability of being below x.

    ``approximate="tanh"`` is the cheaper formula of the first GPT models.
    """
    return ops.gelu(input, approximate=approximate)


def softmax(input: Tensor, dim: int, dtype: Any = None) -> Tensor:
    """exp(input) divided by its sum along ``dim``, computed in ``dtype`` if given."""
    return ops.softmax(input, dim, dtype)


def log_softmax(input: Tensor, dim: int, dtype: Any = None) -> Tensor:
    """The logarithm of ``softmax``, computed without overflow."""
    return ops.log_softmax(input, dim, dtype)


def softmin(input: Tensor, dim: int, dtype: Any = None) -> Tensor:
    """The ``softmax`` of -input."""
    return softmax(-input, dim, dtype)


def linear(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """``input @ weight.T + bias``; weight is (out_features, in_features).

    A bias of more dimensions than one is expanded to the product: (1, out_features).
    """
    if bias is not None and bias.dim() > 1:
        product = ops.linear(input, weight)
        return product + bias.expand_as(product)
    return ops.linear(input, weight, bias)


def embedding(input: Tensor, weight: Tensor, padding_idx: int | None = None) -> Tensor:
    """Rows of ``weight`` (num, dim) chosen by integers of any shape: (*shape, dim).

    The row ``padding_idx`` gets no gradient.
    """
    rows = ops.embedding(weight, input)
    if padding_idx is None:
        return rows
    if not -weight.shape[0] <= padding_idx < weight.shape[0]:
        raise RuntimeError(
            "[embedding] expected padding_idx to be within num_embeddings, got "
            f"{padding_idx} (num_embeddings={weight.shape[0]})."
        )
    # Of tensors % has the sign of the divisor, as in Python.
    padding = ops.unsqueeze(
        ops.remainder(input, weight.shape[0]) == padding_idx % weight.shape[0], -1
    )
    return ops.where(padding, rows.detach(), rows)


def conv1d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Pair = 1,
    padding: Pair | str = 0,
    dilation: Pair = 1,
    groups: int = 1,
) -> Tensor:
    """1-D convolution of (N, C, L) or (C, L) with weight (O, C / groups, k).

    padding: as in ``conv2d``.
    """
    return _conv(ops.conv1d, input, weight, bias, stride, padding, dilation, groups)


def conv2d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Pair = 1,
    padding: Pair | str = 0,
    dilation: Pair = 1,
    groups: int = 1,
) -> Tensor:
    """2-D convolution of (N, C, H, W) or (C, H, W) with weight (O, C / groups, kh, kw).

    padding: zeros on each side, "valid" for none, or "same" for an output as large as
    the input (stride 1 only).
    """
    return _conv(ops.conv2d, input, weight, bias, stride, padding, dilation, groups)


def _with_batch(run: Any, input: Tensor, ndim: int) -> Tensor:
    """run(input); what lacks the first of `ndim` dimensions gets it for the call."""
    if input.ndim == ndim - 1:
        return ops.squeeze(run(ops.unsqueeze(input, 0)), 0)
    output: Tensor = run(input)
    return output


def _conv(
    op: Any,
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: Pair,
    padding: Pair | str,
    dilation: Pair,
    groups: int,
) -> Tensor:
    if padding == "valid":
        padding = 0
    elif padding == "same":
        input = _pad_same(op.__name__, input, weight, stride, dilation)
        padding = 0
    elif isinstance(padding, str):
        raise ValueError(
            f"[{op.__name__}] expected padding 'valid' or 'same', got {padding!r}."
        )
    return _with_batch(
        lambda x: op(x, weight, bias, stride, padding, dilation, groups),
        input,
        weight.ndim,
    )


def _sides(op: str, value: Pair, count: int, name: str) -> tuple[int, ...]:
    """A number for each of ``count`` sides, of one for all or one for each."""
    if isinstance(value, (int, numbers.Integral)):
        return (int(value),) * count
    found = tuple(operator.index(number) for number in value)
    if len(found) == 1:
        return found * count
    if len(found) != count:
        raise TypeError(
            f"[{op}] expected an int or a list of {count} ints for '{name}', got a "
            f"list of {len(found)} ({name}={value!r})."
        )
    return found


def _pad_same(
    op: str, input: Tensor, weight: Tensor, stride: Pair, dilation: Pair
) -> Tensor:
    kernel = weight.shape[2:]
    if any(step != 1 for step in _sides(op, stride, len(kernel), "stride")):
        raise ValueError("padding='same' is not supported for strided convolutions")
    gaps = _sides(op, dilation, len(kernel), "dilation")
    # The last dimension first; an odd total leaves one more behind than before.
    borders: list[int] = []
    for gap, size in zip(reversed(gaps), reversed(kernel)):
        total = gap * (size - 1)
        borders += [total // 2, total - total // 2]
    return pad(input, borders)


def max_pool1d(
    input: Tensor, kernel_size: Pair, stride: Pair | None = None, padding: Pair = 0
) -> Tensor:
    """The maximum of each window of (N, C, L) or (C, L).

    stride and padding: as in ``max_pool2d``.
    """
    return _max_pool(ops.max_pool1d, 3, input, kernel_size, stride, padding)


def max_pool2d(
    input: Tensor, kernel_size: Pair, stride: Pair | None = None, padding: Pair = 0
) -> Tensor:
    """The maximum of each window of (N, C, H, W) or (C, H, W).

    ``stride`` is ``kernel_size`` unless given; padding is at most half the kernel.
    """
    return _max_pool(ops.max_pool2d, 4, input, kernel_size, stride, padding)


def _max_pool(
    op: Any,
    ndim: int,
    input: Tensor,
    kernel_size: Pair,
    stride: Pair | None,
    padding: Pair,
) -> Tensor:
    kernel = _sides(op.__name__, kernel_size, ndim - 2, "kernel_size")
    border = _sides(op.__name__, padding, ndim - 2, "padding")
    if any(2 * edge > size for edge, size in zip(border, kernel)):
        raise RuntimeError(
            f"[{op.__name__}] expected padding of at most half the kernel size, got "
            f"{padding} (kernel_size={kernel_size})."
        )
    step = kernel if stride is None else _sides(op.__name__, stride, ndim - 2, "stride")
    return _with_batch(lambda x: op(x, kernel, step, border), input, ndim)


def instance_norm(
    input: Tensor,
    running_mean: Tensor | None = None,
    running_var: Tensor | None = None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    use_input_stats: bool = True,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Tensor:
    """Each channel of each sample of (N, C, ...) by its own mean and variance.

    With ``use_input_stats=False`` by the running ones.  NotImplementedError where they
    would have to be updated: both.
    """
    if not use_input_stats:
        return ops.batch_norm(
            input, running_mean, running_var, weight, bias, False, momentum, eps
        )
    if running_mean is not None or running_var is not None:
        raise NotImplementedError(
            "[instance_norm] expected no running statistics with use_input_stats."
        )
    return ops.instance_norm(input, weight, bias, eps)


def layer_norm(
    input: Tensor,
    normalized_shape: Sequence[int],
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
) -> Tensor:
    """(x - mean) / sqrt(variance + eps) over the last dimensions, * weight + bias."""
    return ops.layer_norm(input, normalized_shape, weight, bias, eps)


def rms_norm(
    input: Tensor,
    normalized_shape: Sequence[int],
    weight: Tensor | None = None,
    eps: float | None = None,
) -> Tensor:
    """x / sqrt(mean(x * x) + eps) over the last dimensions, times weight."""
    return ops.rms_norm(input, normalized_shape, weight, eps)


def dropout(
    input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False
) -> Tensor:
    """Zeroes elements with probability ``p`` and divides the rest by ``1 - p``."""
    if not 0.0 <= p <= 1.0:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
    if not training or p == 0.0:
        return input
    if inplace:
        return ops.mul_(input, ops.dropout(ops.ones_like(input.detach()), p, True))
    return ops.dropout(input, p, True)
