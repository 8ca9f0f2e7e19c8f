# SPDX-License-Identifier: Apache-2.0
"""DataLoader: batches of a dataset, in order or shuffled.

Batches are made in the calling thread.  ``num_workers`` exists for PyTorch's sake and
must be 0: what takes time here is C++ code that uses all cores already.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from .. import ops
from ..tensor import Tensor
from .dataset import TensorDataset, _permutation

__all__ = ["DataLoader", "default_collate"]


def default_collate(batch: list[Any]) -> Any:
    """Stack samples: tensors and numbers to tensors, tuples and dicts by entry."""
    first = batch[0]
    if isinstance(first, Tensor):
        return ops.stack(batch)
    if isinstance(first, (bool, int, float)):
        from .. import tensor

        return tensor(batch)
    if isinstance(first, str):
        return batch
    if isinstance(first, dict):
        return {key: default_collate([s[key] for s in batch]) for key in first}
    if isinstance(first, (tuple, list)):
        if len({len(sample) for sample in batch}) != 1:
            raise RuntimeError("each element in list of batch should be of equal size")
        columns = [default_collate(list(column)) for column in zip(*batch)]
        return tuple(columns) if isinstance(first, tuple) else columns
    if hasattr(first, "__array_interface__"):
        import numpy

        from .. import from_numpy

        return from_numpy(numpy.stack(batch))
    raise TypeError(
        "default_collate: batch must contain tensors, numpy arrays, numbers, dicts or "
        f"lists; found {type(first).__name__}"
    )


class DataLoader:
    """Iterates over a dataset in batches; each ``iter`` is one pass."""

    def __init__(
        self,
        dataset: Any,
        batch_size: int = 1,
        shuffle: bool = False,
        num_workers: int = 0,
        collate_fn: Callable[[list[Any]], Any] | None = None,
        drop_last: bool = False,
        generator: Any = None,
    ) -> None:
        """Take a dataset; ``generator`` makes the shuffling repeatable."""
        if num_workers != 0:
            raise ValueError(
                f"[DataLoader] expected num_workers=0, got {num_workers}. "
                "Batches are made in the calling thread."
            )
        if not isinstance(batch_size, int) or batch_size < 1:
            raise ValueError(
                "batch_size should be a positive integer value, but got "
                f"batch_size={batch_size}"
            )
        self.dataset = dataset
        self.batch_size = batch_size
        self.shuffle = shuffle
        self.drop_last = drop_last
        self.generator = generator
        self.collate_fn = collate_fn

    def __len__(self) -> int:
        """Return the number of batches of a pass."""
        count = len(self.dataset)
        whole, rest = divmod(count, self.batch_size)
        return whole + (1 if rest and not self.drop_last else 0)

    def __iter__(self) -> Iterator[Any]:
        """Yield the batches of one pass."""
        count = len(self.dataset)
        order = (
            _permutation(count, self.generator) if self.shuffle else list(range(count))
        )
        for batch in range(len(self)):
            start = batch * self.batch_size
            yield self._fetch(order[start : start + self.batch_size])

    def _fetch(self, indices: list[int]) -> Any:
        dataset = self.dataset
        if self.collate_fn is None and type(dataset) is TensorDataset:
            return list(dataset[indices])  # one gather per tensor, not one per sample
        if hasattr(dataset, "__getitems__"):
            samples = dataset.__getitems__(indices)
        else:
            samples = [dataset[i] for i in indices]
        return (self.collate_fn or default_collate)(samples)
