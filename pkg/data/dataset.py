# SPDX-License-Identifier: Apache-2.0
"""Collections of samples by position: Dataset and what is made of one."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from typing import Any, Generic, TypeVar

from ..generator import Generator
from ..random import stream
from ..tensor import Tensor

__all__ = [
    "ConcatDataset",
    "Dataset",
    "IterableDataset",
    "Subset",
    "TensorDataset",
    "random_split",
]

T = TypeVar("T", covariant=True)


class Dataset(Generic[T]):
    """Base class: define ``__getitem__`` and ``__len__``.

    ``__getitems__(indices)``, where defined, returns a list of samples at once.
    """

    def __getitem__(self, index: Any) -> T:
        """Return one sample."""
        raise NotImplementedError("Subclasses of Dataset should implement __getitem__.")

    def __add__(self, other: Dataset[Any]) -> ConcatDataset:
        """Return this dataset followed by another."""
        return ConcatDataset([self, other])


class IterableDataset(Dataset[T]):
    """Base class of samples that come one after another: define ``__iter__``."""

    def __iter__(self) -> Iterator[T]:
        """Yield the samples."""
        raise NotImplementedError(
            "Subclasses of IterableDataset should implement __iter__."
        )


class TensorDataset(Dataset[tuple[Tensor, ...]]):
    """Samples are rows of tensors of equal length."""

    def __init__(self, *tensors: Tensor) -> None:
        """Create it from one or more tensors with the same first size."""
        if not tensors:
            raise ValueError("[TensorDataset] expected at least one tensor, got none.")
        shapes = [tuple(tensor.shape) for tensor in tensors]
        if not all(shapes) or len({shape[0] for shape in shapes}) != 1:
            raise ValueError(
                f"[TensorDataset] expected tensors of the same length, got {shapes}."
            )
        self.tensors = tensors

    def __getitem__(self, index: Any) -> tuple[Tensor, ...]:
        """Return the row ``index`` of each tensor."""
        return tuple(tensor[index] for tensor in self.tensors)

    def __len__(self) -> int:
        """Return the number of rows."""
        return int(self.tensors[0].shape[0])


class Subset(Dataset[T]):
    """Chosen samples of another dataset."""

    def __init__(self, dataset: Any, indices: Sequence[int]) -> None:
        """Create it from a dataset and positions in it."""
        self.dataset = dataset
        self.indices = indices

    def __getitem__(self, index: Any) -> Any:
        """Return the sample at the chosen position ``index``, or several of a list."""
        if isinstance(index, list):
            return self.dataset[[self.indices[i] for i in index]]
        return self.dataset[self.indices[index]]

    def __getitems__(self, indices: list[int]) -> list[Any]:
        """Return several samples."""
        places = [self.indices[i] for i in indices]
        if hasattr(self.dataset, "__getitems__"):
            samples: list[Any] = self.dataset.__getitems__(places)
            return samples
        return [self.dataset[place] for place in places]

    def __len__(self) -> int:
        """Return how many are chosen."""
        return len(self.indices)


class ConcatDataset(Dataset[Any]):
    """Datasets one after another."""

    def __init__(self, datasets: Iterable[Any]) -> None:
        """Create it from one or more datasets with a length."""
        self.datasets = list(datasets)
        if not self.datasets:
            raise ValueError("datasets should not be an empty iterable")
        if any(isinstance(dataset, IterableDataset) for dataset in self.datasets):
            raise ValueError("ConcatDataset does not support IterableDataset")
        self.cumulative_sizes = list(accumulate(len(d) for d in self.datasets))

    def __getitem__(self, index: int) -> Any:
        """Return the sample at ``index`` of all; negative ones count from the end."""
        count = len(self)
        if not -count <= index < count:
            raise IndexError(f"index {index} is out of range (length={count})")
        index %= count
        which = bisect_right(self.cumulative_sizes, index)
        before = self.cumulative_sizes[which - 1] if which else 0
        return self.datasets[which][index - before]

    def __len__(self) -> int:
        """Return the number of samples of all."""
        return self.cumulative_sizes[-1]


def random_split(
    dataset: Any, lengths: Sequence[int | float], generator: Generator | None = None
) -> list[Subset[Any]]:
    """Split into parts of the given lengths (or fractions that sum to 1), at random.

    Samples left over by fractions go to the first parts, one each.  ValueError when the
    lengths do not sum to that of the dataset.
    """
    total = len(dataset)
    if abs(sum(lengths) - 1) < 1e-9:
        if any(not 0 <= fraction <= 1 for fraction in lengths):
            raise ValueError(f"[random_split] fractions from 0 to 1, got {lengths}.")
        sizes = [int(total * fraction) for fraction in lengths]
        for i in range(total - sum(sizes)):
            sizes[i % len(sizes)] += 1
    else:
        sizes = [int(length) for length in lengths]
        if any(size != length or size < 0 for size, length in zip(sizes, lengths)):
            raise ValueError(
                "[random_split] expected lengths that are whole and at least 0, or "
                f"fractions that sum to 1, got {lengths}."
            )
        if sum(sizes) != total:
            raise ValueError(
                "Sum of input lengths does not equal the length of the input dataset! "
                f"({sum(sizes)} and {total})"
            )
    order = stream(generator).permutation(total)
    ends = list(accumulate(sizes))
    return [Subset(dataset, order[end - size : end]) for size, end in zip(sizes, ends)]
