# SPDX-License-Identifier: Apache-2.0
"""Long runs of ranks, each rank of which prints what it saw; not part of pytest.

    python -m pkg launch -np 2 tests/distributed/programs/soak.py memory [CALLS]
    python -m pkg launch -np 4 tests/distributed/programs/soak.py orders [TIMES]
    python -m pkg launch -np 2 tests/distributed/programs/soak.py training [TIMES]
    python -m pkg launch -np 2 tests/distributed/programs/soak.py counts

memory: 100,000 allreduces, after which the process is as large as before.  orders: 100
times 1,000 allreduces, in another order on each rank each time: the same bits.
training: 100 runs of 20 steps: the same bits, and equal to one rank with the whole
batch to 1e-6.  counts: more than 2**31 bytes in each collective, which takes 5 GB for
each rank.
"""

import random
import sys
import time

import numpy as np

import pkg
import pkg.distributed as hvd
from pkg import nn, optim

hvd.init()
RANK, SIZE = hvd.rank(), hvd.size()
PAGE = 4096


def resident():
    """Bytes of memory that the process has."""
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * PAGE


def memory(calls):
    """Growth after the first tenth: named and nameless ones, of several sizes."""

    def some(count):
        for begin in range(0, count, 50):
            handles = []
            for i in range(begin, min(begin + 50, count)):
                x = pkg.full((1 + 37 * (i % 64),), 1.0)
                name = f"soak.{i % 64}" if i % 2 else None
                handles.append(hvd.allreduce_async(x, name=name, op=hvd.Sum))
            for handle in handles:
                hvd.synchronize(handle)
            if begin % 1000 == 0:
                hvd.allgather(pkg.ones(RANK + 1), name="rows")

    some(max(calls // 10, 1))
    before = resident()
    some(calls)
    grown = resident() - before
    print(f"{calls} allreduces: {grown / 1024:.0f} KiB more than before", flush=True)
    assert grown < 2 << 20, grown


def orders(times):
    """Values whose sum depends on its order."""
    values = [
        np.random.default_rng([r, 5]).standard_normal(64_000) for r in range(SIZE)
    ]
    scaled = [(v * 10.0 ** (np.arange(64_000) % 9)).astype(np.float32) for v in values]
    tensors = [pkg.tensor(scaled[RANK][64 * i : 64 * i + 1 + i % 64])
               for i in range(1000)]  # fmt: skip
    first = None
    for turn in range(times):
        names = list(range(1000))
        random.Random(turn * SIZE + RANK).shuffle(names)
        handles = {
            i: hvd.allreduce_async(tensors[i], name=f"order.{i}", op=hvd.Sum)
            for i in names
        }
        bits = b"".join(
            hvd.synchronize(handles[i]).numpy().tobytes() for i in range(1000)
        )
        first = first or bits
        assert bits == first, turn
    total = np.zeros(64_000)
    for each in scaled:
        total += each
    wanted = b"".join(
        total[64 * i : 64 * i + 1 + i % 64].astype(np.float32).tobytes()
        for i in range(1000)
    )
    assert first == wanted
    print(f"{times} times 1000 allreduces, the same bits", flush=True)


def trained(batches, average):
    """The parameters after a step for each batch."""
    pkg.manual_seed(5)
    model = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 1)).to(pkg.float64)
    optimizer = optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    if average:
        optimizer = hvd.DistributedOptimizer(optimizer, model.named_parameters())
    for batch in batches:
        optimizer.zero_grad()
        model(pkg.tensor(batch)).square().mean().backward()
        optimizer.step()
    return np.concatenate([p.detach().numpy().ravel() for p in model.parameters()])


def training(times):
    data = np.random.default_rng(0).standard_normal((20, 8 * SIZE, 4))
    alone = trained(data, False)
    mine = np.array_split(data, SIZE, axis=1)[RANK]
    first = trained(mine, True)
    worst = abs(first - alone).max()
    assert worst < 1e-6, worst
    for _ in range(times - 1):
        time.sleep(random.random() / 1000)  # ranks come in another order
        assert trained(mine, True).tobytes() == first.tobytes()
    print(f"{times} runs, the same bits; from one rank {worst:.1e}", flush=True)


def counts():
    """Whole results are looked at, by sums that do not round."""
    count = 2**31 + 8
    x = pkg.full((count,), RANK + 1, dtype=pkg.uint8)
    total = sum(r + 1 for r in range(SIZE))

    def right(y, value, length):
        array = y.numpy()
        assert array.shape == (length,) and (array[:: 2**20] == value).all()
        assert array[-1] == value and int(array.sum(dtype=np.int64)) == value * length

    right(hvd.allreduce(x, op=hvd.Sum), total, count)
    right(hvd.broadcast(x, SIZE - 1), SIZE, count)
    whole = hvd.allgather(x[: count // SIZE + 8])
    assert whole.numel() > 2**31 and int(whole[-1].item()) == SIZE
    del whole
    got, _ = hvd.alltoall(x, pkg.tensor([count if r == 0 else 0 for r in range(SIZE)]))
    if RANK == 0:
        assert got.numel() == count * SIZE and int(got[-1].item()) == SIZE
    del got
    print("counts beyond 2**31 are right", flush=True)


if __name__ == "__main__":
    what, *numbers = sys.argv[1:]
    usual = {"memory": 100_000, "orders": 100, "training": 100}
    if what == "counts":
        counts()
    else:
        globals()[what](int(numbers[0]) if numbers else usual[what])
    hvd.shutdown()  # not at exit, which waits three seconds for what others still get
