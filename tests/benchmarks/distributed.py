# SPDX-License-Identifier: Apache-2.0
"""Collectives and a training step on ranks: ``python tests/benchmarks/distributed.py``.

Against torch.distributed with gloo, in the same processes and in turn, on as many
ranks of this machine as ``--ranks`` says (2).  Each row is the fastest
of the runs, and the row below it the one in the middle, which other work of the machine
makes longer.  Processor time, of rank 0, is what other work does not change.  The last
lines say how much of the communication hides behind backward.
"""

import os
import socket
import statistics
import subprocess
import sys
import time

from harness import all_threads, peer, run, set_threads

import pkg
import pkg.distributed as hvd
from pkg.distributed import mpi

torch = peer("torch")
SIZES = (784, 1024, 1024, 150)  # of the MLP: 2,007,190 parameters
BATCH = 64  # of each rank
MEGABYTES, SMALL, TENSORS = 64, 1024, 200  # of float32


def start_ranks():
    """This program again, on ranks; returns its exit code."""
    launcher = mpi.find_launcher()
    if launcher is None:
        raise SystemExit("found no mpiexec. Install MPI: pip install mpich")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = str(free.getsockname()[1])
    count = "2"
    if "--ranks" in sys.argv:  # the ranks do not know this option
        place = sys.argv.index("--ranks")
        count = sys.argv[place + 1]
        del sys.argv[place : place + 2]
    path = os.pathsep.join(os.path.abspath(p) for p in sys.path if p)
    where = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port, "PYTHONPATH": path}
    command = [launcher, "-n", count, sys.executable, *sys.argv]
    return subprocess.run(command, env={**os.environ, **where}).returncode


def in_turn(functions, rounds):
    """Seconds of each function's runs, which all ranks begin together, and the mean
    of processor time."""
    times, used = [[] for _ in functions], [0.0] * len(functions)
    for turn in range(rounds + 2):  # the first two find no memory yet
        for i, function in enumerate(functions):
            hvd.barrier()
            begin, before = time.perf_counter(), time.process_time()
            function()
            if turn > 1:
                times[i].append(time.perf_counter() - begin)
                used[i] += (time.process_time() - before) / rounds
    return times, used


def compare(table, work, ours, gloo, target, rounds):
    """Three rows, written by rank 0."""
    times, used = in_turn([ours, *([gloo] if torch else [])], rounds)
    if hvd.rank():
        return
    rows = {
        "": [min(each) for each in times],
        ", median": [statistics.median(each) for each in times],
        ", processor": used,
    }
    for kind, found in rows.items():
        mine, theirs = [*(1e6 * seconds for seconds in found), None][:2]
        table.add(work + kind, mine, theirs, "gloo", None if kind else target)


def collectives(table, rounds):
    big = pkg.ones(MEGABYTES << 18)
    small = [pkg.ones(SMALL) for _ in range(TENSORS)]

    def ours():
        handles = [
            hvd.allreduce_async(x, name=f"small.{i}", op=hvd.Sum)
            for i, x in enumerate(small)
        ]
        for handle in handles:
            hvd.synchronize(handle)

    def gloo():
        handles = [torch.distributed.all_reduce(x, async_op=True) for x in theirs]
        for handle in handles:
            handle.wait()

    whole = torch and torch.ones(MEGABYTES << 18)
    theirs = torch and [torch.ones(SMALL) for _ in range(TENSORS)]
    compare(
        table, f"allreduce of {MEGABYTES} MB", lambda: hvd.allreduce(big, op=hvd.Sum),
        lambda: torch.distributed.all_reduce(whole), 1.0, rounds,
    )  # fmt: skip
    compare(table, f"{TENSORS} allreduces of 4 KB", ours, gloo, 0.5, rounds)


def network(module):
    """The MLP, its optimizer and a batch."""
    nn = module.nn
    layers = [
        layer
        for fan_in, out in zip(SIZES, SIZES[1:])
        for layer in (nn.Linear(fan_in, out), nn.ReLU())
    ]
    model = nn.Sequential(*layers[:-1])
    optimizer = module.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    x = module.randn(BATCH, SIZES[0])
    return model, optimizer, x, module.randint(0, SIZES[-1], (BATCH,))


def step_of(module, model, optimizer, x, y, after_backward=None):
    """One step, to its end."""
    params = list(optimizer.param_groups[0]["params"])

    def step():
        optimizer.zero_grad()
        module.nn.functional.cross_entropy(model(x), y).backward()
        if after_backward:
            after_backward()
        optimizer.step()
        for p in params:
            p.detach().reshape(-1)[0].item()

    return step


def training(table, rounds):
    model, optimizer, x, y = network(pkg)
    alone = step_of(pkg, model, optimizer, x, y)
    (alone_times,), _ = in_turn([alone], rounds)  # before it is distributed
    optimizer = hvd.DistributedOptimizer(optimizer, model.named_parameters())
    ours, gloo = step_of(pkg, model, optimizer, x, y), None
    if torch:
        inner, theirs, x_torch, y_torch = network(torch)
        wrapped = torch.nn.parallel.DistributedDataParallel(inner)
        gloo = step_of(torch, wrapped, theirs, x_torch, y_torch)
    compare(table, "step of a 2M-parameter MLP", ours, gloo, 0.9, rounds)
    show_overlap(model, optimizer, x, y, min(alone_times), rounds)


def show_overlap(model, optimizer, x, y, alone, rounds):
    """What of the communication is done before backward is."""
    exchange, first = optimizer._exchange, next(model.parameters())
    done = []

    def look():  # when the gradient that backward makes last is there
        first.grad.wait()
        sent = exchange.under_way.values()
        done.append(sum(hvd.poll(handle) for handle, _ in sent))

    def exchange_alone():
        handles = [
            hvd.allreduce_async(p.detach(), name=f"alone.{i}")
            for i, p in enumerate(model.parameters())
        ]
        for handle in handles:
            hvd.synchronize(handle)

    watched = step_of(pkg, model, optimizer, x, y, look)
    both = step_of(pkg, model, optimizer, x, y)
    (_, sending, together), _ = in_turn([watched, exchange_alone, both], rounds)
    if hvd.rank():
        return
    print(
        f"gradients reduced before backward ended: {statistics.mean(done):.1f} of "
        f"{len(exchange.names)} on average, {max(done)} at most"
    )
    print(
        f"step alone {alone * 1e3:.1f} ms, exchange alone {min(sending) * 1e3:.1f} ms, "
        f"step with exchange {min(together) * 1e3:.1f} ms; "
        f"{hvd.size()} ranks on {all_threads()} processors"
    )


def main(table):
    if torch:
        torch.distributed.init_process_group(
            "gloo", rank=hvd.rank(), world_size=hvd.size()
        )
    set_threads(max(1, all_threads() // hvd.size()))
    rounds = 3 if table.quick else 15
    collectives(table, rounds)
    training(table, 5 if table.quick else 40)
    if torch:
        torch.distributed.destroy_process_group()
    hvd.shutdown()


if __name__ == "__main__":
    if not mpi.launched() and not {"-h", "--help"} & set(sys.argv):
        sys.exit(start_ranks())
    hvd.init()
    if hvd.rank():  # it measures, and says nothing
        sys.stdout = open(os.devnull, "w")
        sys.argv = [a for a in sys.argv if a == "--quick" or a.endswith(".py")]
    run(main)
