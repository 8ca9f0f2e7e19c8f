# SPDX-License-Identifier: Apache-2.0
"""DataLoader: batches of a dataset, in order or shuffled.

Workers are threads, not processes: nothing is pickled, and what takes time in a dataset
(reading files, C++ code) lets other threads run.
"""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from ..generator import Generator
from .collate import default_collate
from .dataset import IterableDataset, Subset, TensorDataset
from .sampler import BatchSampler, RandomSampler, SequentialSampler

__all__ = ["DataLoader"]


class DataLoader:
    """Iterates over a dataset in batches; each ``iter`` is one pass."""

    def __init__(
        self,
        dataset: Any,
        batch_size: int | None = 1,
        shuffle: bool | None = None,
        sampler: Iterable[int] | None = None,
        batch_sampler: Iterable[list[int]] | None = None,
        num_workers: int = 0,
        collate_fn: Callable[[list[Any]], Any] | None = None,
        pin_memory: bool = False,
        drop_last: bool = False,
        worker_init_fn: Callable[[int], Any] | None = None,
        generator: Generator | None = None,
        *,
        prefetch_factor: int | None = None,
        persistent_workers: bool = False,
    ) -> None:
        """Take a dataset and how to cut it.

        batch_size: None yields single samples.  generator: makes shuffling repeatable
        (else the library's stream).  num_workers: threads that prepare
        ``prefetch_factor`` batches each ahead (None: 2), in the same order;
        worker_init_fn is called with its number in each, of an IterableDataset in none.
        pin_memory, persistent_workers: without effect, as threads share memory and
        start at once.
        """
        if num_workers < 0:
            raise ValueError(
                f"[DataLoader] expected num_workers >= 0, got {num_workers}."
            )
        prefetch_factor = 2 if prefetch_factor is None else prefetch_factor
        if prefetch_factor < 1:
            raise ValueError(
                f"[DataLoader] expected prefetch_factor >= 1, got {prefetch_factor}."
            )
        self.dataset = dataset
        self.num_workers = num_workers
        self.collate_fn = collate_fn
        self.pin_memory = pin_memory
        self.worker_init_fn = worker_init_fn
        self.generator = generator
        self.prefetch_factor = prefetch_factor
        self.persistent_workers = persistent_workers
        if sampler is not None and shuffle:
            raise ValueError("sampler option is mutually exclusive with shuffle")
        if batch_sampler is not None:
            if batch_size != 1 or shuffle or sampler is not None or drop_last:
                raise ValueError(
                    "batch_sampler option is mutually exclusive with batch_size, "
                    "shuffle, sampler, and drop_last"
                )
            batch_size = None
        elif batch_size is None and drop_last:
            raise ValueError("batch_size=None is mutually exclusive with drop_last")
        self.batch_size, self.drop_last = batch_size, drop_last
        if isinstance(dataset, IterableDataset):
            if shuffle or sampler is not None or batch_sampler is not None:
                raise ValueError(
                    "[DataLoader] expected no shuffle, sampler or batch_sampler for an "
                    "IterableDataset, which has its own order."
                )
            self.sampler: Iterable[Any] = itertools.repeat(None)
        elif sampler is not None:
            self.sampler = sampler
        elif shuffle:
            self.sampler = RandomSampler(dataset, generator=generator)
        else:
            self.sampler = SequentialSampler(dataset)
        self.batch_sampler = batch_sampler
        if batch_sampler is None and batch_size is not None:
            self.batch_sampler = BatchSampler(self.sampler, batch_size, drop_last)

    def __len__(self) -> int:
        """Return the number of batches of a pass; TypeError when it is not known."""
        if isinstance(self.dataset, IterableDataset):
            count = len(self.dataset)  # type: ignore[arg-type]
            if self.batch_size is None:
                return count
            return len(BatchSampler(range(count), self.batch_size, self.drop_last))
        batches: Any = self._order()
        return len(batches)

    def __iter__(self) -> Iterator[Any]:
        """Yield the batches of one pass."""
        if isinstance(self.dataset, IterableDataset):
            return self._stream()
        if self.num_workers == 0:
            return map(self._fetch, self._order())
        return self._prefetch(iter(self._order()))

    def _order(self) -> Iterable[Any]:
        # The indices of each batch, or of each sample when nothing is batched.
        return self.sampler if self.batch_sampler is None else self.batch_sampler

    def _stream(self) -> Iterator[Any]:
        # One after another, whatever num_workers: a stream has one reader.
        samples = iter(self.dataset)
        if self.batch_size is None:
            yield from map(self.collate_fn or _unchanged, samples)
            return
        while True:
            batch = list(itertools.islice(samples, self.batch_size))
            if not batch or (self.drop_last and len(batch) < self.batch_size):
                return
            yield (self.collate_fn or default_collate)(batch)

    def _prefetch(self, order: Iterator[Any]) -> Iterator[Any]:
        numbers = itertools.count()
        failed: list[BaseException] = []

        def start() -> None:
            number = next(numbers)
            try:
                if self.worker_init_fn is not None:
                    self.worker_init_fn(number)
            except BaseException as error:  # noqa: BLE001  (who waits gets it)
                failed.append(error)

        def fetch(indices: Any) -> Any:
            if failed:
                raise failed[0]
            return self._fetch(indices)

        pool = ThreadPoolExecutor(self.num_workers, "pkg-data", initializer=start)
        pending: deque[Future[Any]] = deque()
        try:
            ahead = itertools.islice(order, self.num_workers * self.prefetch_factor)
            pending.extend(pool.submit(fetch, indices) for indices in ahead)
            while pending:
                batch = pending.popleft().result()
                pending.extend(
                    pool.submit(fetch, indices)
                    for indices in itertools.islice(order, 1)
                )
                yield batch
        finally:  # also when the loop over the batches is left early
            pool.shutdown(wait=True, cancel_futures=True)

    def _fetch(self, indices: Any) -> Any:
        dataset = self.dataset
        if self.batch_sampler is None:
            return (self.collate_fn or _unchanged)(dataset[indices])
        if self.collate_fn is None and _takes_lists(dataset):
            return list(dataset[list(indices)])  # one gather per tensor of all rows
        if hasattr(dataset, "__getitems__"):
            samples = dataset.__getitems__(list(indices))
        else:
            samples = [dataset[i] for i in indices]
        return (self.collate_fn or default_collate)(samples)


def _takes_lists(dataset: Any) -> bool:
    # Whether indexing with a list gives what collating the samples would give.
    while type(dataset) is Subset:
        dataset = dataset.dataset
    return type(dataset) is TensorDataset


def _unchanged(sample: Any) -> Any:
    return sample
