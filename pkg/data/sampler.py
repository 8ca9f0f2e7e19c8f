# SPDX-License-Identifier: Apache-2.0
"""Orders in which a DataLoader visits a dataset: samplers yield positions."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from typing import Any, Generic, TypeVar

from ..generator import Generator
from ..random import stream

__all__ = [
    "BatchSampler",
    "RandomSampler",
    "Sampler",
    "SequentialSampler",
    "SubsetRandomSampler",
    "WeightedRandomSampler",
]

T = TypeVar("T", covariant=True)


class Sampler(Generic[T]):
    """Base class: define ``__iter__``, and ``__len__`` where it is known."""

    def __iter__(self) -> Iterator[T]:
        """Yield positions, or lists of them for a batch sampler."""
        raise NotImplementedError("Subclasses of Sampler should implement __iter__.")


class SequentialSampler(Sampler[int]):
    """0, 1, 2, ..."""

    def __init__(self, data_source: Any) -> None:
        """Take a dataset with a length."""
        self.data_source = data_source

    def __iter__(self) -> Iterator[int]:
        """Yield the positions in order."""
        return iter(range(len(self.data_source)))

    def __len__(self) -> int:
        """Return the length of the dataset."""
        return len(self.data_source)


class RandomSampler(Sampler[int]):
    """Positions in random order, or drawn with replacement."""

    def __init__(
        self,
        data_source: Any,
        replacement: bool = False,
        num_samples: int | None = None,
        generator: Generator | None = None,
    ) -> None:
        """Take a dataset; ``num_samples`` to draw are by default its length."""
        if num_samples is not None:
            _check_positive("num_samples", num_samples)
        self.data_source = data_source
        self.replacement = replacement
        self._num_samples = num_samples
        self._stream = stream(generator)

    def __iter__(self) -> Iterator[int]:
        """Yield positions; with replacement they are drawn on the way."""
        size, count = len(self.data_source), len(self)
        if self.replacement:
            yield from self._stream.integers(size, count)
            return
        while size and count > 0:
            yield from self._stream.permutation(size)[:count]
            count -= size

    def __len__(self) -> int:
        """Return how many are drawn."""
        if self._num_samples is None:
            return len(self.data_source)
        return self._num_samples


class SubsetRandomSampler(Sampler[int]):
    """Given positions in random order."""

    def __init__(
        self, indices: Sequence[int], generator: Generator | None = None
    ) -> None:
        """Take the positions."""
        self.indices = indices
        self._stream = stream(generator)

    def __iter__(self) -> Iterator[int]:
        """Yield the positions; the order is drawn now."""
        return (self.indices[i] for i in self._stream.permutation(len(self.indices)))

    def __len__(self) -> int:
        """Return the number of positions."""
        return len(self.indices)


class WeightedRandomSampler(Sampler[int]):
    """Positions drawn with replacement, each as often as its weight says."""

    def __init__(
        self,
        weights: Sequence[float],
        num_samples: int,
        generator: Generator | None = None,
    ) -> None:
        """Take weights that need not sum to 1, and how many positions to draw."""
        self.weights = [float(weight) for weight in weights]
        if not self.weights or min(self.weights) < 0 or not sum(self.weights) > 0:
            raise ValueError(
                "[WeightedRandomSampler] expected weights >= 0 with a positive sum, "
                f"got {len(self.weights)} of sum {sum(self.weights)}."
            )
        _check_positive("num_samples", num_samples)
        self.num_samples = num_samples
        self._stream = stream(generator)

    def __iter__(self) -> Iterator[int]:
        """Yield positions, drawn on the way."""
        bounds = list(accumulate(self.weights))
        last = max(i for i, weight in enumerate(self.weights) if weight > 0)
        for u in self._stream.uniform(self.num_samples):
            # Rounding may bring u * sum up to the sum itself.
            yield min(bisect_right(bounds, u * bounds[-1]), last)

    def __len__(self) -> int:
        """Return how many are drawn."""
        return self.num_samples


class BatchSampler(Sampler[list[int]]):
    """Lists of ``batch_size`` positions of another sampler."""

    def __init__(
        self, sampler: Iterable[int], batch_size: int, drop_last: bool = False
    ) -> None:
        """Take a sampler; ``drop_last`` leaves out a last batch that is not full."""
        _check_positive("batch_size", batch_size)
        self.sampler = sampler
        self.batch_size = batch_size
        self.drop_last = drop_last

    def __iter__(self) -> Iterator[list[int]]:
        """Yield the batches."""
        batch: list[int] = []
        for index in self.sampler:
            batch.append(index)
            if len(batch) == self.batch_size:
                yield batch
                batch = []
        if batch and not self.drop_last:
            yield batch

    def __len__(self) -> int:
        """Return the number of batches."""
        whole, rest = divmod(len(self.sampler), self.batch_size)  # type: ignore[arg-type]
        return whole + (1 if rest and not self.drop_last else 0)


def _check_positive(name: str, value: Any) -> None:
    if isinstance(value, bool) or not hasattr(value, "__index__") or value < 1:
        raise ValueError(
            f"{name} should be a positive integer value, but got {name}={value}"
        )
