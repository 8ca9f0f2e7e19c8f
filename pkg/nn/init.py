# SPDX-License-Identifier: Apache-2.0
"""First values of parameters, drawn in place from the library's generator."""

from __future__ import annotations

import math

from .. import ops
from ..autograd import no_grad
from ..tensor import Tensor

__all__ = [
    "calculate_gain",
    "constant_",
    "eye_",
    "kaiming_normal_",
    "kaiming_uniform_",
    "normal_",
    "ones_",
    "trunc_normal_",
    "uniform_",
    "xavier_normal_",
    "xavier_uniform_",
    "zeros_",
]


def uniform_(tensor: Tensor, a: float = 0.0, b: float = 1.0) -> Tensor:
    """Fill with values spread evenly over [a, b)."""
    with no_grad():
        tensor.uniform_(a, b)
    return tensor


def normal_(tensor: Tensor, mean: float = 0.0, std: float = 1.0) -> Tensor:
    """Fill with values of a normal distribution."""
    with no_grad():
        tensor.normal_(mean, std)
    return tensor


def constant_(tensor: Tensor, val: float) -> Tensor:
    """Fill with one value."""
    with no_grad():
        tensor.fill_(val)
    return tensor


def zeros_(tensor: Tensor) -> Tensor:
    """Fill with 0."""
    return constant_(tensor, 0.0)


def ones_(tensor: Tensor) -> Tensor:
    """Fill with 1."""
    return constant_(tensor, 1.0)


def eye_(tensor: Tensor) -> Tensor:
    """Make a matrix the identity."""
    if tensor.ndim != 2:
        raise ValueError(f"[eye_] expected a matrix, got shape {tuple(tensor.shape)}.")
    with no_grad():
        tensor.copy_(ops.eye(*tensor.shape, dtype=tensor.dtype))
    return tensor


def trunc_normal_(
    tensor: Tensor, mean: float = 0.0, std: float = 1.0, a: float = -2.0, b: float = 2.0
) -> Tensor:
    """Fill with normally distributed values, drawn again until they lie in [a, b].

    ValueError when that interval holds almost nothing of the distribution.
    """
    low, high = (0.5 * (1 + math.erf((x - mean) / std / 2**0.5)) for x in (a, b))
    if not high - low > 1e-3:
        raise ValueError(
            "[trunc_normal_] expected an interval with at least 0.1 % of the "
            f"distribution, got {a} to {b} (mean={mean}, std={std})."
        )
    with no_grad():
        tensor.normal_(mean, std)
        outside = ops.logical_or(tensor < a, tensor > b)
        while bool(ops.any(outside).item()):
            again = ops.normal(tensor.detach(), mean, std)
            tensor.copy_(ops.where(outside, again, tensor))
            outside = ops.logical_or(tensor < a, tensor > b)
    return tensor


def _fans(tensor: Tensor) -> tuple[int, int]:
    if tensor.ndim < 2:
        raise ValueError(
            "Fan in and fan out can not be computed for tensor with fewer than 2 "
            f"dimensions (shape={tuple(tensor.shape)})"
        )
    field = math.prod(tensor.shape[2:])
    return tensor.shape[1] * field, tensor.shape[0] * field


def calculate_gain(nonlinearity: str, param: float | None = None) -> float:
    """Return the factor that keeps the variance through ``nonlinearity``."""
    if nonlinearity == "leaky_relu":
        slope = 0.01 if param is None else param
        return math.sqrt(2.0 / (1 + slope**2))
    gains = {"linear": 1.0, "conv2d": 1.0, "sigmoid": 1.0, "selu": 0.75}
    gains.update({"tanh": 5.0 / 3, "relu": math.sqrt(2.0)})
    if nonlinearity not in gains:
        raise ValueError(f"Unsupported nonlinearity {nonlinearity}")
    return gains[nonlinearity]


def _kaiming_std(tensor: Tensor, a: float, mode: str, nonlinearity: str) -> float:
    if mode not in ("fan_in", "fan_out"):
        raise ValueError(
            f"[kaiming] expected mode 'fan_in' or 'fan_out', got {mode!r}."
        )
    fan = _fans(tensor)[mode == "fan_out"]
    return calculate_gain(nonlinearity, a) / math.sqrt(max(fan, 1))


def kaiming_uniform_(
    tensor: Tensor,
    a: float = 0.0,
    mode: str = "fan_in",
    nonlinearity: str = "leaky_relu",
) -> Tensor:
    """Fill as He et al. (2015) advise for rectifiers, uniform."""
    bound = math.sqrt(3.0) * _kaiming_std(tensor, a, mode, nonlinearity)
    return uniform_(tensor, -bound, bound)


def kaiming_normal_(
    tensor: Tensor,
    a: float = 0.0,
    mode: str = "fan_in",
    nonlinearity: str = "leaky_relu",
) -> Tensor:
    """Fill as He et al. (2015) advise for rectifiers, normal."""
    return normal_(tensor, 0.0, _kaiming_std(tensor, a, mode, nonlinearity))


def xavier_uniform_(tensor: Tensor, gain: float = 1.0) -> Tensor:
    """Fill as Glorot and Bengio (2010) advise for saturating units, uniform."""
    bound = gain * math.sqrt(6.0 / max(sum(_fans(tensor)), 1))
    return uniform_(tensor, -bound, bound)


def xavier_normal_(tensor: Tensor, gain: float = 1.0) -> Tensor:
    """Fill as Glorot and Bengio (2010) advise for saturating units, normal."""
    return normal_(tensor, 0.0, gain * math.sqrt(2.0 / max(sum(_fans(tensor)), 1)))
