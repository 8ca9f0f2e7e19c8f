# SPDX-License-Identifier: Apache-2.0
"""Datasets, samplers, collating and the DataLoader."""

import threading
import time
from collections import Counter, OrderedDict, defaultdict, namedtuple
from itertools import islice
from types import MappingProxyType

import numpy as np
import pytest

import pkg
from pkg import data
from pkg.data import DataLoader, TensorDataset


class Squares(data.Dataset):
    """Plain Python samples."""

    def __init__(self, count):
        self.count = count

    def __getitem__(self, index):
        if not 0 <= index < self.count:
            raise IndexError(index)
        return index * index

    def __len__(self):
        return self.count


class Stream(data.IterableDataset):
    """Samples without positions."""

    def __init__(self, count):
        self.count = count

    def __iter__(self):
        return iter(range(self.count))


def flat(loader):
    """All samples of a pass, as numbers."""
    return [number for batch in loader for number in batch.tolist()]


# --- datasets -------------------------------------------------------------------------


def test_tensor_dataset_gives_rows_and_checks_lengths():
    dataset = TensorDataset(pkg.arange(6).reshape([3, 2]), pkg.arange(3))
    assert len(dataset) == 3
    x, y = dataset[1]
    assert x.tolist() == [2, 3] and y.item() == 1
    assert dataset[-1][1].item() == 2
    with pytest.raises(IndexError):
        dataset[3]
    for wrong in ((), (pkg.ones([2]), pkg.ones([3])), (pkg.tensor(1.0),)):
        with pytest.raises(ValueError, match="TensorDataset"):
            TensorDataset(*wrong)


def test_subset_and_concat_map_positions():
    subset = data.Subset(Squares(10), [7, 3, 5])
    assert [subset[i] for i in range(3)] == [49, 9, 25] and len(subset) == 3
    joined = subset + Squares(2)
    assert isinstance(joined, data.ConcatDataset) and joined.cumulative_sizes == [3, 5]
    assert [joined[i] for i in range(5)] == [49, 9, 25, 0, 1]
    assert joined[-1] == 1 and joined[-5] == 49
    for index in (5, -6):
        with pytest.raises(IndexError, match="length=5"):
            joined[index]
    with pytest.raises(ValueError, match="empty"):
        data.ConcatDataset([])
    with pytest.raises(ValueError, match="IterableDataset"):
        data.ConcatDataset([Stream(3)])
    assert isinstance(Squares(1) + Squares(1), data.ConcatDataset)


def test_an_unfinished_dataset_says_what_to_define():
    with pytest.raises(NotImplementedError, match="__getitem__"):
        data.Dataset()[0]
    with pytest.raises(NotImplementedError, match="__iter__"):
        iter(data.IterableDataset())
    with pytest.raises(NotImplementedError, match="__iter__"):
        iter(data.Sampler())


def test_random_split_parts_are_disjoint_and_complete():
    parts = data.random_split(range(10), [7, 3], data.Generator().manual_seed(1))
    assert [len(p) for p in parts] == [7, 3]
    assert sorted([*parts[0].indices, *parts[1].indices]) == list(range(10))
    assert parts[0].indices != sorted(parts[0].indices)
    again = data.random_split(range(10), [7, 3], data.Generator().manual_seed(1))
    assert [p.indices for p in again] == [p.indices for p in parts]
    fractions = data.random_split(range(11), [0.5, 0.25, 0.25])
    assert [len(p) for p in fractions] == [6, 3, 2]
    for wrong in ([7, 4], [0.5, 0.4], [1.5, -0.5], [11, -1]):
        with pytest.raises(ValueError):
            data.random_split(range(10), wrong)


# --- generators and samplers ----------------------------------------------------------


def test_generators_repeat_and_are_apart_from_the_library_stream():
    g = data.Generator().manual_seed(3)
    assert g.initial_seed() == 3
    state = g.get_state()
    first = g.permutation(100)
    pkg.manual_seed(0)
    pkg.rand([10])
    g.set_state(state)
    assert g.permutation(100) == first and sorted(first) == list(range(100))
    assert g.permutation(100) != first
    assert g.seed() == g.initial_seed()
    assert data.Generator().initial_seed() != data.Generator().initial_seed()
    with pytest.raises(RuntimeError, match="device"):
        data.Generator("cuda")
    with pytest.raises(TypeError, match="Generator or None"):
        data.RandomSampler(range(3), generator=7)


def test_samplers_yield_what_they_promise():
    seeded = data.Generator().manual_seed
    assert list(data.SequentialSampler("abc")) == [0, 1, 2]
    order = data.RandomSampler(range(50), generator=seeded(0))
    first, second = list(order), list(order)
    assert sorted(first) == sorted(second) == list(range(50)) and first != second
    assert len(list(data.RandomSampler(range(4), num_samples=10))) == 10
    assert list(data.RandomSampler([])) == []
    drawn = list(data.RandomSampler(range(5), replacement=True, num_samples=200))
    assert len(drawn) == 200 and set(drawn) == set(range(5))
    some = data.SubsetRandomSampler([5, 7, 9], seeded(0))
    assert sorted(some) == [5, 7, 9] and len(some) == 3
    batches = data.BatchSampler(range(5), 2, drop_last=False)
    assert list(batches) == [[0, 1], [2, 3], [4]] and len(batches) == 3
    batches = data.BatchSampler(range(5), 2, drop_last=True)
    assert list(batches) == [[0, 1], [2, 3]] and len(batches) == 2
    for wrong in (0, -1, True, 2.0):
        with pytest.raises(ValueError, match="positive integer"):
            data.BatchSampler(range(3), wrong)
    with pytest.raises(ValueError, match="num_samples"):
        data.RandomSampler(range(3), num_samples=0)


@pytest.mark.parametrize("own", [False, True])
def test_draws_with_replacement_are_made_on_the_way(own, monkeypatch):
    """Of ten thousand million, only what is taken; in chunks, with the same numbers."""
    monkeypatch.setattr("pkg.random._CHUNK", 8)

    def drawn(count, make):
        g = data.Generator() if own else None
        (pkg if g is None else g).manual_seed(3)
        sampler = make(count, g)
        assert len(sampler) == count
        loader = data.DataLoader(range(1000), 10, sampler=sampler)
        return list(islice(sampler, 20)), next(iter(loader)).shape

    def uniform(count, g):
        return data.RandomSampler(range(1000), True, count, g)

    def weighted(count, g):
        return data.WeightedRandomSampler([1.0, 2.0, 3.0], count, g)

    for make in (uniform, weighted):
        assert drawn(20, make) == drawn(10**10, make)
    if not own:
        found = drawn(20, uniform)[0]
        pkg.manual_seed(3)
        assert found == pkg.randint(1000, (20,)).tolist()  # as one draw
    for wrong in (0, True, 2.5, "3"):
        with pytest.raises(ValueError, match="num_samples should be a positive"):
            data.RandomSampler(range(3), True, wrong)


@pytest.mark.parametrize("generator", [None, data.Generator().manual_seed(0)])
def test_weighted_sampling_follows_the_weights(generator):
    pkg.manual_seed(0)
    n, weights = 8000, [0.0, 1.0, 3.0, 0.0]
    sampler = data.WeightedRandomSampler(weights, n, generator)
    counts = Counter(sampler)
    assert len(sampler) == n and set(counts) == {1, 2}
    assert abs(counts[2] / n - 0.75) < 6 * (0.75 * 0.25 / n) ** 0.5
    for wrong in ([], [0.0], [-1.0, 2.0]):
        with pytest.raises(ValueError, match="weights"):
            data.WeightedRandomSampler(wrong, 1)


# --- collating ------------------------------------------------------------------------


def test_collate_makes_batches_of_every_structure():
    collate = data.default_collate
    tensors = collate([pkg.tensor([1.0, 2.0]), pkg.tensor([3.0, 4.0])])
    assert tensors.tolist() == [[1.0, 2.0], [3.0, 4.0]]
    for batch, dtype in [
        ([1, 2], pkg.int64), ([1.0, 2.0], pkg.float64), ([True, False], pkg.bool),
        ([np.float32(1), np.float32(2)], pkg.float32),
        ([np.float64(1), np.float64(2)], pkg.float64),
        ([np.zeros(3, np.uint8)] * 2, pkg.uint8),
    ]:  # fmt: skip
        got = collate(batch)
        assert got.dtype == dtype and got.shape[0] == 2
        np.testing.assert_array_equal(got.numpy(), np.array(batch))
    assert collate(["a", "b"]) == ["a", "b"] and collate([b"a"]) == [b"a"]
    got = collate([{"x": 1, "y": (2, "a")}, {"x": 3, "y": (4, "b")}])
    assert got["x"].tolist() == [1, 3]
    assert got["y"][0].tolist() == [2, 4] and got["y"][1] == ["a", "b"]
    assert isinstance(collate([(1, 2.0)]), list)
    Point = namedtuple("Point", "x y")
    point = collate([Point(1, 2), Point(3, 4)])
    assert isinstance(point, Point) and point.y.tolist() == [2, 4]


def test_collate_keeps_the_type_of_mappings_that_take_a_dict():
    collate = pkg.data.default_collate
    got = collate([OrderedDict(b=1, a=2.5), OrderedDict(b=3, a=4.5)])
    assert type(got) is OrderedDict and list(got) == ["b", "a"]
    assert got["b"].tolist() == [1, 3]
    assert type(collate([MappingProxyType({"a": 1})])) is MappingProxyType
    assert type(collate([defaultdict(int, a=1)])) is dict


def test_collate_of_ints_and_floats_keeps_the_fractions():
    collate = pkg.data.default_collate
    for batch in ([1, 2.5], [2.5, 1], [True, 2.5], [1, np.float32(2.5)]):
        made = collate(batch)
        assert made.dtype == pkg.float64 and made.tolist() == batch
    for batch in ([True, 2], [1, np.int64(2)], [1, pkg.tensor(2)], [1, True]):
        assert collate(batch).dtype == pkg.int64
    assert collate([True, np.bool_(False)]).dtype == pkg.bool
    assert collate([{"a": 1}, {"a": 0.5}])["a"].tolist() == [1, 0.5]


def test_random_split_loses_no_sample():
    with pytest.raises(ValueError, match="whole and at least 0"):
        data.random_split(range(10), [2.5, 7.5])
    with pytest.raises(ValueError, match="whole and at least 0"):
        data.random_split(range(10), [-1, 11])
    assert data.random_split(range(0), []) == []


def test_an_error_of_worker_init_fn_reaches_who_waits():
    def begin(number):
        raise ZeroDivisionError(f"worker {number}")

    loader = DataLoader(range(4), num_workers=2, worker_init_fn=begin)
    with pytest.raises(ZeroDivisionError, match="worker"):
        list(loader)
    plain = DataLoader(range(4), num_workers=2, prefetch_factor=None)
    assert len(list(plain)) == 4


def test_collate_refuses_uneven_and_unknown_samples():
    with pytest.raises(RuntimeError, match="equal size"):
        data.default_collate([(1, 2), (3,)])
    with pytest.raises(TypeError, match="found object"):
        data.default_collate([object()])
    with pytest.raises(RuntimeError):
        data.default_collate([pkg.ones([2]), pkg.ones([3])])


# --- DataLoader -----------------------------------------------------------------------


def test_batches_come_in_order_and_the_last_may_be_dropped():
    loader = DataLoader(Squares(5), batch_size=2)
    assert [b.tolist() for b in loader] == [[0, 1], [4, 9], [16]] and len(loader) == 3
    loader = DataLoader(Squares(5), batch_size=2, drop_last=True)
    assert [b.tolist() for b in loader] == [[0, 1], [4, 9]] and len(loader) == 2
    assert [s for s in DataLoader(Squares(3), batch_size=None)] == [0, 1, 4]
    assert len(DataLoader(Squares(3), batch_size=None)) == 3
    assert list(DataLoader(Squares(0), batch_size=2, shuffle=True)) == []
    loader = DataLoader(Squares(5), batch_size=9, drop_last=True)
    assert list(loader) == [] and len(loader) == 0


def test_shuffling_visits_all_differently_each_pass_and_repeats_with_the_seed():
    def loader():
        return DataLoader(Squares(50), 8, shuffle=True,
                          generator=data.Generator().manual_seed(5))  # fmt: skip

    one = loader()
    first, second = flat(one), flat(one)
    assert sorted(first) == sorted(second) == [i * i for i in range(50)]
    assert first != second and first != sorted(first) and flat(loader()) == first
    orders = []
    for _ in range(2):
        pkg.manual_seed(9)
        orders.append(flat(DataLoader(Squares(50), 8, shuffle=True)))
    assert orders[0] == orders[1] != sorted(orders[0])


def test_tensor_datasets_are_gathered_at_once_and_equal_the_slow_way():
    x, y = pkg.arange(20).reshape([10, 2]), pkg.arange(10)
    dataset = TensorDataset(x, y)
    nested = data.Subset(data.Subset(dataset, range(9, -1, -1)), [1, 3, 5])

    class Plain(TensorDataset):
        """Not the class itself: goes through collate."""

    for fast, slow in [
        (dataset, Plain(x, y)),
        (nested, data.Subset(data.Subset(Plain(x, y), range(9, -1, -1)), [1, 3, 5])),
    ]:
        a, b = list(DataLoader(fast, 2)), list(DataLoader(slow, 2))
        assert len(a) == len(b) and isinstance(a[0], list) and isinstance(b[0], list)
        for p, q in zip(a, b):
            assert [t.tolist() for t in p] == [t.tolist() for t in q]
    assert [b[1].tolist() for b in DataLoader(nested, 2)] == [[8, 6], [4]]


def test_whole_batches_can_come_from_the_dataset():
    class Bulk(Squares):
        def __getitems__(self, indices):
            return [-self[i] for i in indices]

    assert flat(DataLoader(Bulk(3), 2)) == [0, -1, -4]
    assert flat(DataLoader(data.Subset(Bulk(3), [2]), 2)) == [-4]


def test_collate_fn_samplers_and_batch_samplers_are_used():
    assert list(DataLoader(Squares(4), 2, collate_fn=sum)) == [1, 13]
    assert list(DataLoader(Squares(3), None, collate_fn=str)) == ["0", "1", "4"]
    assert flat(DataLoader(Squares(4), 3, sampler=[3, 0])) == [9, 0]
    loader = DataLoader(Squares(4), batch_sampler=[[3], [0, 1]])
    assert [b.tolist() for b in loader] == [[9], [0, 1]] and len(loader) == 2


def test_contradictions_are_refused():
    for options in [
        {"batch_size": 0}, {"num_workers": -1}, {"prefetch_factor": 0},
        {"sampler": [0], "shuffle": True}, {"batch_sampler": [[0]], "batch_size": 2},
        {"batch_sampler": [[0]], "shuffle": True},
        {"batch_size": None, "drop_last": True},
    ]:  # fmt: skip
        with pytest.raises(ValueError):
            DataLoader(Squares(3), **options)
    with pytest.raises(ValueError, match="IterableDataset"):
        DataLoader(Stream(3), shuffle=True)


def test_streams_are_batched_without_a_length():
    loader = DataLoader(Stream(5), batch_size=2)
    assert [b.tolist() for b in loader] == [[0, 1], [2, 3], [4]]
    assert [b.tolist() for b in DataLoader(Stream(5), 2, drop_last=True)][-1] == [2, 3]
    assert list(DataLoader(Stream(2), batch_size=None)) == [0, 1]
    assert list(DataLoader(Stream(4), 2, collate_fn=sum)) == [1, 5]
    with pytest.raises(TypeError):
        len(loader)


def test_workers_run_at_once_and_keep_the_order():
    class Meeting(Squares):
        """Every batch waits for another one to be fetched at the same time."""

        barrier = threading.Barrier(2)

        def __getitem__(self, index):
            self.barrier.wait(timeout=30)
            return super().__getitem__(index)

    assert flat(DataLoader(Meeting(8), 1, num_workers=2)) == [i * i for i in range(8)]
    numbers = []
    loader = DataLoader(Squares(9), 2, num_workers=3, worker_init_fn=numbers.append)
    assert flat(loader) == flat(loader) == [i * i for i in range(9)]
    assert set(numbers) <= {0, 1, 2} and 0 in numbers


def test_workers_hand_on_exceptions_and_end_with_the_loop():
    class Broken(Squares):
        def __getitem__(self, index):
            if index == 3:
                raise OSError("bad sector")
            return super().__getitem__(index)

    loader = DataLoader(Broken(8), 1, num_workers=2)
    seen = []
    with pytest.raises(OSError, match="bad sector"):
        for batch in loader:
            seen.append(batch.item())
    assert seen == [0, 1, 4]
    for _ in DataLoader(Squares(100), 1, num_workers=2):
        break
    deadline = time.monotonic() + 30
    while any(t.name.startswith("pkg-data") for t in threading.enumerate()):
        assert time.monotonic() < deadline, "workers outlive their loop"
        time.sleep(0.01)


def test_workers_prefetch_no_further_than_asked():
    fetched = []

    class Watched(Squares):
        def __getitem__(self, index):
            fetched.append(index)
            return super().__getitem__(index)

    loader = iter(DataLoader(Watched(100), 1, num_workers=1, prefetch_factor=3))
    next(loader)
    time.sleep(0.05)
    assert max(fetched) <= 3
    loader.close()


def test_digits_are_split_once_and_for_all():
    from pkg.datasets import digits

    train, held_out = digits(train=True), digits(train=False)
    assert len(train) == 1437 and len(held_out) == 360
    images, labels = held_out.tensors
    assert images.shape == (360, 1, 8, 8) and images.dtype == pkg.float32
    assert images.min().item() == 0.0 and images.max().item() == 1.0
    assert set(labels.tolist()) == set(range(10))
    rows = {tuple(i) for i in images.reshape([360, 64]).tolist()}
    others = {tuple(i) for i in train.tensors[0].reshape([1437, 64]).tolist()}
    assert not rows & others


def test_collating_agrees_with_pytorch():
    torch = pytest.importorskip("torch")
    from torch.utils.data import default_collate

    for batch in ([1, 2], [1.5, 2.5], [True, False], [np.float32(1), np.float32(2)],
                  [np.arange(3), np.arange(3)]):  # fmt: skip
        ours, theirs = data.default_collate(batch), default_collate(batch)
        assert str(ours.dtype).split(".")[1] == str(theirs.dtype).split(".")[1]
        assert ours.tolist() == theirs.tolist()
    lengths = [0.34, 0.33, 0.33]
    theirs = torch.utils.data.random_split(range(100), lengths)
    assert [len(p) for p in data.random_split(range(100), lengths)] == [
        len(p) for p in theirs
    ]
