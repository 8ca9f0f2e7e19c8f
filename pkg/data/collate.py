# SPDX-License-Identifier: Apache-2.0
"""default_collate: a list of samples becomes one batch.  Called by DataLoader."""

from __future__ import annotations

import numbers
from collections.abc import Mapping, Sequence
from typing import Any

from .. import ops
from .._binding import core
from ..arrays import is_array, plain_array
from ..tensor import Tensor

__all__ = ["default_collate"]


def default_collate(batch: Sequence[Any]) -> Any:
    """Stack samples of equal structure.

    Tensors and arrays (NumPy's, rows of pandas ...) are stacked; Python numbers become
    an int64, float64 or bool tensor; strings stay a list; of dicts and sequences each
    entry is collated: a mapping of the first one's type (a dict where that takes no
    dict), a named tuple, or a list.  TypeError for anything else,
    RuntimeError for sequences of different lengths.
    """
    first = batch[0]
    if isinstance(first, Tensor):
        return ops.stack(list(batch))
    if is_array(first) or hasattr(first, "__dlpack__"):  # NumPy's scalars, too
        return _stack_arrays(batch)
    if isinstance(first, (bool, int, float)):
        if any(map(_is_fraction, batch)):
            return core.tensor(list(batch), dtype=core.float64)
        if isinstance(first, bool):
            return core.tensor(list(batch))
        return core.tensor(list(batch), dtype=core.int64)
    if isinstance(first, (str, bytes)):
        return list(batch)
    if isinstance(first, Mapping):
        made = {key: default_collate([s[key] for s in batch]) for key in first}
        kind: Any = type(first)
        try:
            return made if kind is dict else kind(made)
        except TypeError:
            return made
    if isinstance(first, Sequence):
        if any(len(sample) != len(first) for sample in batch):
            raise RuntimeError("each element in list of batch should be of equal size")
        columns = [default_collate(column) for column in zip(*batch)]
        if isinstance(first, tuple) and hasattr(first, "_fields"):
            return type(first)(*columns)
        return columns
    raise TypeError(
        "default_collate: batch must contain tensors, numpy arrays, numbers, dicts or "
        f"lists; found {type(first).__name__}"
    )


def _is_fraction(sample: Any) -> bool:
    real = isinstance(sample, (float, numbers.Real))
    return real and not isinstance(sample, (int, numbers.Integral))


def _stack_arrays(batch: Sequence[Any]) -> Tensor:
    import numpy

    def plain(sample: Any) -> Any:
        own = type(sample) is numpy.ndarray or isinstance(sample, numpy.generic)
        return sample if own else plain_array(sample)

    arrays = [plain(sample) for sample in batch]
    if any(isinstance(array, Tensor) for array in arrays):  # NumPy has no such dtype
        return ops.stack(
            [a if isinstance(a, Tensor) else core.tensor(a) for a in arrays]
        )
    stacked: Tensor = core.tensor(numpy.stack(arrays))
    return stacked
