# SPDX-License-Identifier: Apache-2.0
"""Collections of samples by position: Dataset and what is made of one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import ops
from ..tensor import Tensor

__all__ = ["Dataset", "Subset", "TensorDataset", "random_split"]


class Dataset:
    """Base class: define ``__getitem__`` and ``__len__``.

    ``__getitems__(indices)``, where defined, returns a whole batch of samples at once.
    """

    def __getitem__(self, index: int) -> Any:
        """Return one sample."""
        raise NotImplementedError("Subclasses of Dataset should implement __getitem__.")


class TensorDataset(Dataset):
    """Samples are rows of tensors of equal length."""

    def __init__(self, *tensors: Tensor) -> None:
        """Create it from one or more tensors with the same first size."""
        if not tensors:
            raise ValueError("[TensorDataset] expected at least one tensor, got none.")
        sizes = [tensor.shape[0] for tensor in tensors]
        if len(set(sizes)) != 1:
            raise ValueError(
                f"[TensorDataset] expected tensors of the same length, got {sizes}."
            )
        self.tensors = tensors

    def __getitem__(self, index: Any) -> tuple[Tensor, ...]:
        """Return the row ``index`` of each tensor."""
        return tuple(tensor[index] for tensor in self.tensors)

    def __len__(self) -> int:
        """Return the number of rows."""
        return int(self.tensors[0].shape[0])


class Subset(Dataset):
    """Chosen samples of another dataset."""

    def __init__(self, dataset: Any, indices: Sequence[int]) -> None:
        """Create it from a dataset and positions in it."""
        self.dataset = dataset
        self.indices = indices

    def __getitem__(self, index: int) -> Any:
        """Return the sample at the chosen position ``index``."""
        return self.dataset[self.indices[index]]

    def __len__(self) -> int:
        """Return how many are chosen."""
        return len(self.indices)


def random_split(
    dataset: Any, lengths: Sequence[int | float], generator: Any = None
) -> list[Subset]:
    """Split into parts of the given lengths (or fractions that sum to 1), at random."""
    total = len(dataset)
    sizes = list(lengths)
    if abs(sum(sizes) - 1) < 1e-9 and not all(isinstance(n, int) for n in sizes):
        sizes = [int(total * fraction) for fraction in sizes]
        for i in range(total - sum(sizes)):
            sizes[i % len(sizes)] += 1
    if sum(sizes) != total:
        raise ValueError(
            "Sum of input lengths does not equal the length of the input dataset! "
            f"({sum(sizes)} and {total})"
        )
    order = _permutation(total, generator)
    parts, start = [], 0
    for size in sizes:
        parts.append(Subset(dataset, order[start : start + int(size)]))
        start += int(size)
    return parts


def _permutation(n: int, generator: Any) -> list[int]:
    if generator is None:
        return ops.randperm(n).tolist()
    return ops.randperm(n, generator=generator).tolist()
