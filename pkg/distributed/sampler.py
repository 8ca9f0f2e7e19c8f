# SPDX-License-Identifier: Apache-2.0
"""DistributedSampler: each rank's share of a dataset."""

from __future__ import annotations

from collections.abc import Iterator, Sized

import numpy as np

from ..data import Sampler
from . import session

__all__ = ["DistributedSampler"]


class DistributedSampler(Sampler[int]):
    """Every ``num_replicas``-th position, from ``rank`` on, of an order that all ranks
    have in common; PyTorch's parameters.

    The shares are equally long: positions from the beginning fill up, or with
    ``drop_last`` those at the end are left out.
    """

    def __init__(
        self, dataset: Sized, num_replicas: int | None = None, rank: int | None = None,
        shuffle: bool = True, seed: int = 0, drop_last: bool = False,
    ) -> None:  # fmt: skip
        """Take a dataset; by default the ranks are those of init()."""
        self.dataset = dataset
        self.num_replicas = session.size() if num_replicas is None else num_replicas
        self.rank = session.rank() if rank is None else rank
        if not 0 <= self.rank < self.num_replicas:
            raise ValueError(
                f"Invalid rank {self.rank}, rank should be in the interval "
                f"[0, {self.num_replicas - 1}]"
            )
        self.shuffle, self.seed, self.drop_last = shuffle, seed, drop_last
        self.epoch = 0
        count, ranks = len(dataset), self.num_replicas
        self.num_samples = count // ranks if drop_last else -(-count // ranks)
        self.total_size = self.num_samples * ranks

    def set_epoch(self, epoch: int) -> None:
        """Shuffle anew: the order follows from seed and epoch."""
        self.epoch = epoch

    def __iter__(self) -> Iterator[int]:
        """Yield this rank's positions."""
        order = np.arange(len(self.dataset))
        if self.shuffle:
            np.random.default_rng([self.seed, self.epoch]).shuffle(order)
        share = np.resize(order, self.total_size)[self.rank :: self.num_replicas]
        return iter(share.tolist())

    def __len__(self) -> int:
        """Return how many they are."""
        return self.num_samples
