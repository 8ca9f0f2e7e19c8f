# SPDX-License-Identifier: Apache-2.0
"""What a training step costs on many ranks: ``python docs/programs/step_time.py``.

Measures this machine with one and two ranks, predicts by the model of docs/scaling.md
what two and four take, measures that, and says what follows for 64 and 4,096 ranks.
``--alpha`` and ``--beta`` are those of a network where ranks are on several hosts.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
import time
from typing import NamedTuple

import numpy as np

import pkg
import pkg.distributed as hvd
from pkg.distributed import mpi

GATHERED = 32 << 10  # bytes of all ranks up to which each of them reduces all
RING = 512 << 10  # bytes from which MPICH's allgather is a ring
SIZES = (
    4 << 10,
    64 << 10,
    256 << 10,
    1 << 20,
    4 << 20,
    16 << 20,
)  # bytes that are measured
MODELS = {"2M parameters": (8 << 20, 0.015), "25M parameters": (100 << 20, 0.5)}


class Costs(NamedTuple):
    """Seconds: of deciding, of a request to rank 0, of a message, of a byte that is
    sent, and of one that is reduced."""

    decide: float
    ask: float
    alpha: float
    beta: float
    gamma: float


def allreduce(costs: Costs, ranks: int, size: int) -> float:
    """Of one buffer of so many bytes, as cpp/collectives/performer.cc makes it."""
    decided = costs.decide + costs.ask * max(0, ranks - 2)
    if ranks == 1:
        return decided + costs.gamma * size
    if size * ranks <= GATHERED:  # recursive doubling; each reduces all
        moved = (ranks - 1) * size * costs.beta
        return (
            decided + rounds(ranks) * costs.alpha + moved + ranks * size * costs.gamma
        )
    # To each its share, pairwise; then everybody's share to all.
    share = (ranks - 1) / ranks * size * costs.beta
    back = ranks - 1 if size >= RING else rounds(ranks)
    sent = (ranks - 1 + back) * costs.alpha + 2 * share
    return decided + sent + costs.gamma * size


def rounds(ranks: int) -> int:
    """Rounds in which a number of ranks doubles from one to all."""
    return math.ceil(math.log2(ranks))


def ring(costs: Costs, ranks: int, size: int) -> float:
    """Bandwidth-optimal; as many messages as ranks."""
    share = (ranks - 1) / ranks * size
    sent = 2 * (ranks - 1) * costs.alpha + 2 * share * costs.beta
    return sent + share * costs.gamma


def recursive_doubling(costs: Costs, ranks: int, size: int) -> float:
    """For short buffers: all of it in each round."""
    return rounds(ranks) * (costs.alpha + size * (costs.beta + costs.gamma))


def tree(costs: Costs, ranks: int, size: int) -> float:
    """A reduction to one rank and a broadcast, both binomial."""
    once = costs.alpha + size * costs.beta
    return rounds(ranks) * (2 * once + size * costs.gamma)


def halving_doubling(costs: Costs, ranks: int, size: int) -> float:
    """Rabenseifner's: as few bytes as the ring, as few rounds as a tree."""
    share = (ranks - 1) / ranks * size
    sent = 2 * rounds(ranks) * costs.alpha + 2 * share * costs.beta
    return sent + share * costs.gamma


def exchange(costs: Costs, ranks: int, size: int, fusion: int) -> float:
    """Of gradients of so many bytes, in buffers of at most ``fusion``."""
    whole, left = divmod(size, min(fusion, size))
    each = whole * allreduce(costs, ranks, min(fusion, size))
    return each + (allreduce(costs, ranks, left) if left else 0.0)


def step(compute: float, exchanged: float) -> tuple[float, float]:
    """Seconds of a step: where all of the exchange hides behind the backward pass,
    which is two thirds of the computing, and where none does."""
    return max(compute, compute / 3 + exchanged), compute + exchanged


def fit(alone: dict[str, float], two: dict[str, float]) -> Costs:
    """What one and two ranks took, "barrier" and by bytes, as costs: least squares of
    relative errors, as a model is asked for short and for long buffers."""
    decide = two["barrier"]
    rows, wanted = [], []
    for ranks, found, begin in ((1, alone, alone["barrier"]), (2, two, decide)):
        for size in SIZES:
            # The model is linear in its costs.
            ones = (Costs(*row) for row in np.eye(5))
            rows.append(
                [allreduce(one, ranks, size) / found[str(size)] for one in ones]
            )
            wanted.append((found[str(size)] - begin) / found[str(size)])
    solved = np.linalg.lstsq(np.array(rows)[:, 2:], np.array(wanted), rcond=None)[0]
    return Costs(decide, decide / 4, *(max(0.0, float(cost)) for cost in solved))


def measure(repeats: int) -> dict[str, float]:
    """The least seconds of a barrier and of allreduces, on each rank."""
    hvd.init()
    pkg.set_num_threads(1)
    calls = {"barrier": hvd.barrier}
    for size in SIZES:
        tensor = pkg.ones(size // 4)
        calls[str(size)] = lambda x=tensor, s=size: hvd.allreduce(x, name=f"x.{s}")
    found = {}
    for name, call in calls.items():
        least = math.inf
        for _ in range(repeats):
            hvd.barrier()
            begin = time.perf_counter()
            call()
            least = min(least, time.perf_counter() - begin)
        found[name] = least
    return found


def on_ranks(count: int, repeats: int) -> dict[str, float]:
    """What measure() finds on so many ranks of this machine."""
    command = [sys.executable, __file__, "--measure", str(repeats)]
    if count > 1:
        launcher = mpi.find_launcher()
        if launcher is None:
            raise SystemExit("found no mpiexec. Install MPI: pip install mpich")
        command = [launcher, "-n", str(count), *command]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True)
    found: dict[str, float] = json.loads(done.stdout)
    return found


def crowding(ranks: int) -> float:
    """How many ranks share a processor of this machine."""
    return max(1.0, ranks / len(os.sched_getaffinity(0)))


def turn_of(costs: Costs, ranks: int, seconds: float) -> float:
    """What a message waits where ranks share processors, if so many ranks take so long
    for the shortest buffer."""
    rest = crowding(ranks) * allreduce(costs._replace(alpha=0.0), ranks, SIZES[0])
    return max(0.0, seconds - rest) / rounds(ranks)


def predict(costs: Costs, ranks: int, size: int, turn: float) -> float:
    """Seconds of an allreduce on this machine."""
    if crowding(ranks) == 1:
        return allreduce(costs, ranks, size)
    worked = crowding(ranks) * allreduce(costs._replace(alpha=0.0), ranks, size)
    return worked + allreduce(Costs(0.0, 0.0, turn, 0.0, 0.0), ranks, size)


def report(costs: Costs, measured: dict[int, dict[str, float]]) -> None:
    """Print the costs, and prediction beside measurement."""
    turn = turn_of(costs, 4, measured[4][str(SIZES[0])])
    print(
        f"decide {costs.decide * 1e6:.0f} us, alpha {costs.alpha * 1e6:.0f} us, "
        f"beta {costs.beta * 1e9:.3f} ns, gamma {costs.gamma * 1e9:.3f} ns, "
        f"turn of four ranks {turn * 1e6:.0f} us"
    )
    print(f"{'ranks':>5} {'bytes':>10} {'model us':>10} {'measured':>10} {'ratio':>6}")
    for ranks, found in measured.items():
        for size in SIZES:
            model = predict(costs, ranks, size, turn)
            real = found[str(size)]
            print(
                f"{ranks:5} {size:10} {model * 1e6:10.0f} {real * 1e6:10.0f} "
                f"{model / real:6.2f}"
            )


def extrapolate(costs: Costs, fusions: list[int]) -> None:
    """Print what steps would take."""
    print(f"with alpha {costs.alpha * 1e6:.0f} us, beta {costs.beta * 1e9:.3f} ns:")
    print(
        f"{'model':>15} {'ranks':>5} {'fusion MB':>9} {'exchange ms':>11} "
        f"{'step ms':>15} {'ring':>7} {'halving':>7} {'tree':>7}"
    )
    for name, (size, compute) in MODELS.items():
        for ranks in (2, 4, 64, 4096):
            for fusion in fusions:
                sent = exchange(costs, ranks, size, fusion)
                low, high = step(compute, sent)
                others = (f(costs, ranks, size) for f in (ring, halving_doubling, tree))
                print(
                    f"{name:>15} {ranks:5} {fusion / 2**20:9.0f} {sent * 1e3:11.1f} "
                    f"{low * 1e3:7.1f}-{high * 1e3:7.1f} "
                    + " ".join(f"{other * 1e3:7.1f}" for other in others)
                )


def main() -> None:
    """Measure, compare and extrapolate."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=40)
    parser.add_argument("--alpha", type=float, help="seconds of a message")
    parser.add_argument("--beta", type=float, help="seconds of a byte that is sent")
    parser.add_argument("--fusion", type=int, nargs="+", default=[1 << 20, 128 << 20])
    parser.add_argument("--measure", type=int, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.measure:
        found = measure(args.measure)
        if hvd.rank() == 0:
            print(json.dumps(found))
        return
    alone, two, four = (on_ranks(count, args.repeats) for count in (1, 2, 4))
    costs = fit(alone, two)
    report(costs, {2: two, 4: four})
    given = {"alpha": args.alpha, "beta": args.beta}
    costs = costs._replace(**{k: v for k, v in given.items() if v is not None})
    extrapolate(costs, args.fusion)


if __name__ == "__main__":
    main()
