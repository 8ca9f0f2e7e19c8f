# SPDX-License-Identifier: Apache-2.0
"""TensorFlow 1's functions that make tensors: of one value, of a range, at random."""

from __future__ import annotations

import builtins
from typing import TYPE_CHECKING, Any

from ... import ops
from ..._binding import core
from ...graph import Symbol
from . import dtypes
from .dtypes import as_dtype, core_dtype
from .exporting import exported
from .record import last, recorded
from .sizes import filled, known_sizes, zeros_of


@recorded("zeros")
def zeros(shape: Any, dtype: Any = dtypes.float32) -> Any:
    """Zeros."""
    return filled(shape, 0, core_dtype(dtype))


@recorded("ones")
def ones(shape: Any, dtype: Any = dtypes.float32) -> Any:
    """Ones."""
    return filled(shape, 1, core_dtype(dtype))


@recorded("Fill")
def fill(dims: Any, value: Any) -> Any:
    """One value everywhere."""
    if isinstance(value, Symbol):
        sizes = known_sizes(dims)
        kind = as_dtype(value.dtype).core
        if sizes is not None:
            return ops.clone(ops.expand(value, sizes))
        return zeros_of(dims, kind) + value
    if hasattr(value, "dtype"):
        return filled(dims, value.item(), core_dtype(value.dtype))
    kinds = {builtins.bool: core.bool, int: core.int32}
    return filled(dims, value, kinds.get(type(value), core.float32))


@recorded("range")
def range(start: Any, limit: Any = None, delta: Any = 1, dtype: Any = None) -> Any:  # noqa: A001
    """Numbers from start up to limit, by delta."""
    if limit is None:
        start, limit = 0, start
    if isinstance(start, Symbol) or isinstance(delta, Symbol):
        raise NotImplementedError("[range] expected numbers for start and delta.")
    if isinstance(limit, Symbol):
        count = (limit - start + (delta - (1 if delta > 0 else -1))) // delta
        along = zeros_of([count], core.int64) + 1
        made = (ops.cumsum(along, 0) - 1) * delta + start
        return made.to(core_dtype(dtype) or as_dtype(limit.dtype).core)
    if dtype is None:
        given = [v.dtype for v in (start, limit, delta) if hasattr(v, "dtype")]
        whole = all(isinstance(value, int) for value in (start, limit, delta))
        dtype = given[0] if given else dtypes.int32 if whole else dtypes.float32
    numbers = [v.item() if hasattr(v, "item") else v for v in (start, limit, delta)]
    return ops.arange(*numbers, dtype=core_dtype(dtype))


@recorded("LinSpace")
def linspace(start: Any, stop: Any, num: int) -> Any:
    """So many numbers from start to stop, both of them among these."""
    return ops.linspace(start, stop, int(num), dtype=core.float32)


lin_space = linspace


@recorded("eye")
def eye(
    num_rows: int, num_columns: int | None = None, batch_shape: Any = None,
    dtype: Any = dtypes.float32,
) -> Any:  # fmt: skip
    """A matrix with ones on its diagonal, as often as batch_shape says."""
    columns = num_rows if num_columns is None else num_columns
    made = ops.eye(int(num_rows), int(columns), dtype=core_dtype(dtype))
    if batch_shape is None:
        return made
    return ops.clone(ops.expand(made, [*batch_shape, num_rows, columns]))


def _random(op: Any, like: Any, shape: Any, kind: Any) -> Any:
    sizes = known_sizes(shape)
    return op(sizes, dtype=kind) if sizes is not None else like(zeros_of(shape, kind))


def _normal(shape: Any, dtype: Any) -> Any:
    return _random(ops.randn, ops.randn_like, shape, core_dtype(dtype))


@recorded("random_normal", scope=True)
def random_normal(
    shape: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = dtypes.float32,
    seed: int | None = None,
) -> Any:  # fmt: skip
    """Normal random numbers, others in each run; set_random_seed() is the seed."""
    return last(ops.add, _normal(shape, dtype) * stddev, mean)


@recorded("random_uniform", scope=True)
def random_uniform(
    shape: Any, minval: Any = 0, maxval: Any = None, dtype: Any = dtypes.float32,
    seed: int | None = None,
) -> Any:  # fmt: skip
    """Uniform random numbers from minval up to maxval, others in each run."""
    kind = core_dtype(dtype)
    if not kind.is_floating_point:
        if maxval is None:
            raise ValueError(f"Must specify maxval for integer dtype {dtype!r}")
        sizes = known_sizes(shape)
        if sizes is None:
            raise NotImplementedError("[random_uniform] integers need a known shape.")
        return last(ops.randint, minval, maxval, sizes, dtype=kind)
    z = _random(ops.rand, ops.rand_like, shape, kind)
    return last(ops.add, z * ((1 if maxval is None else maxval) - minval), minval)


@recorded("truncated_normal", scope=True)
def truncated_normal(
    shape: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = dtypes.float32,
    seed: int | None = None,
) -> Any:  # fmt: skip
    """Normal random numbers within two deviations: others are drawn again.

    Of five draws all are outside with a chance of 2e-7; the last is then cut.
    """
    z = _normal(shape, dtype)
    for _ in builtins.range(4):
        z = ops.where(ops.abs(z) > 2, ops.randn_like(z), z)
    return last(ops.add, ops.clamp(z, -2, 2) * stddev, mean)


if not TYPE_CHECKING:
    __all__ = exported(globals())
