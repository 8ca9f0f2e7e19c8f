# SPDX-License-Identifier: Apache-2.0
"""What variables begin with: functions of a shape and a dtype."""

from __future__ import annotations

import math
from typing import Any

from . import dtypes, make
from .convert import constant

__all__ = [
    "constant_initializer", "glorot_normal_initializer", "glorot_uniform_initializer",
    "ones_initializer", "random_normal_initializer", "random_uniform_initializer",
    "truncated_normal_initializer", "uniform_unit_scaling_initializer",
    "variance_scaling_initializer", "zeros_initializer",
]  # fmt: skip


class _Initializer:
    def __init__(self, dtype: Any = dtypes.float32) -> None:
        self.dtype = dtype

    def __call__(
        self, shape: Any, dtype: Any = None, partition_info: Any = None
    ) -> Any:
        """A tensor of the shape."""
        return self._make(list(shape), self.dtype if dtype is None else dtype)

    def _make(self, shape: list[int], dtype: Any) -> Any:
        raise NotImplementedError


class zeros_initializer(_Initializer):  # noqa: N801
    """Zeros."""

    def _make(self, shape: list[int], dtype: Any) -> Any:
        return make.zeros(shape, dtype)


class ones_initializer(_Initializer):  # noqa: N801
    """Ones."""

    def _make(self, shape: list[int], dtype: Any) -> Any:
        return make.ones(shape, dtype)


class constant_initializer(_Initializer):  # noqa: N801
    """One value everywhere, or the values of an array."""

    def __init__(
        self, value: Any = 0, dtype: Any = dtypes.float32, verify_shape: bool = False
    ) -> None:
        super().__init__(dtype)
        self.value = value

    def _make(self, shape: list[int], dtype: Any) -> Any:
        return constant(self.value, dtype, shape)


class random_normal_initializer(_Initializer):  # noqa: N801
    """Normal random numbers."""

    def __init__(
        self, mean: float = 0.0, stddev: float = 1.0, seed: int | None = None,
        dtype: Any = dtypes.float32,
    ) -> None:  # fmt: skip
        super().__init__(dtype)
        self.mean, self.stddev, self.seed = mean, stddev, seed

    def _make(self, shape: list[int], dtype: Any) -> Any:
        return make.random_normal(shape, self.mean, self.stddev, dtype, self.seed)


class truncated_normal_initializer(random_normal_initializer):  # noqa: N801
    """Normal random numbers within two deviations."""

    def _make(self, shape: list[int], dtype: Any) -> Any:
        return make.truncated_normal(shape, self.mean, self.stddev, dtype, self.seed)


class random_uniform_initializer(_Initializer):  # noqa: N801
    """Uniform random numbers."""

    def __init__(
        self, minval: Any = 0, maxval: Any = None, seed: int | None = None,
        dtype: Any = dtypes.float32,
    ) -> None:  # fmt: skip
        super().__init__(dtype)
        self.minval, self.maxval, self.seed = minval, maxval, seed

    def _make(self, shape: list[int], dtype: Any) -> Any:
        return make.random_uniform(shape, self.minval, self.maxval, dtype, self.seed)


def _fans(shape: list[int]) -> tuple[int, int]:
    if not shape:
        return 1, 1
    if len(shape) == 1:
        return shape[0], shape[0]
    field = math.prod(shape[:-2])
    return shape[-2] * field, shape[-1] * field


class variance_scaling_initializer(_Initializer):  # noqa: N801
    """Random numbers whose variance is ``scale`` over how many inputs ("fan_in"),
    outputs ("fan_out"), or half of both ("fan_avg") there are."""

    def __init__(
        self, scale: float = 1.0, mode: str = "fan_in",
        distribution: str = "truncated_normal", seed: int | None = None,
        dtype: Any = dtypes.float32,
    ) -> None:  # fmt: skip
        if scale <= 0:
            raise ValueError(f"`scale` must be positive float, got {scale}.")
        if mode not in ("fan_in", "fan_out", "fan_avg"):
            raise ValueError(f"Invalid `mode` argument: {mode!r}")
        if distribution == "normal":
            distribution = "truncated_normal"
        if distribution not in ("uniform", "truncated_normal", "untruncated_normal"):
            raise ValueError(f"Invalid `distribution` argument: {distribution!r}")
        super().__init__(dtype)
        self.scale, self.mode, self.seed = scale, mode, seed
        self.distribution = distribution

    def _make(self, shape: list[int], dtype: Any) -> Any:
        into, out = _fans(shape)
        count = {"fan_in": into, "fan_out": out, "fan_avg": (into + out) / 2}
        variance = self.scale / max(1.0, count[self.mode])
        if self.distribution == "uniform":
            limit = math.sqrt(3 * variance)
            return make.random_uniform(shape, -limit, limit, dtype, self.seed)
        if self.distribution == "untruncated_normal":
            return make.random_normal(shape, 0.0, math.sqrt(variance), dtype, self.seed)
        # What is cut off has taken this part of the deviation.
        deviation = math.sqrt(variance) / 0.87962566103423978
        return make.truncated_normal(shape, 0.0, deviation, dtype, self.seed)


class uniform_unit_scaling_initializer(variance_scaling_initializer):  # noqa: N801
    """Uniform random numbers that keep the size of what is multiplied."""

    def __init__(
        self, factor: float = 1.0, seed: int | None = None, dtype: Any = dtypes.float32
    ) -> None:
        super().__init__(factor * factor, "fan_in", "uniform", seed, dtype)


class glorot_uniform_initializer(variance_scaling_initializer):  # noqa: N801
    """Glorot and Bengio, 2010: uniform, by inputs and outputs."""

    def __init__(self, seed: int | None = None, dtype: Any = dtypes.float32) -> None:
        super().__init__(1.0, "fan_avg", "uniform", seed, dtype)


class glorot_normal_initializer(variance_scaling_initializer):  # noqa: N801
    """Glorot and Bengio, 2010: normal, by inputs and outputs."""

    def __init__(self, seed: int | None = None, dtype: Any = dtypes.float32) -> None:
        super().__init__(1.0, "fan_avg", "truncated_normal", seed, dtype)
