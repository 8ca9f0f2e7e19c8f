# SPDX-License-Identifier: Apache-2.0
"""Graphs of many nodes, used once: ``python tests/benchmarks/graphs.py``.

The time to record, walk and free a chain of 10^6 nodes, and the memory that a recorded
call keeps.  Each chain runs in a process of its own: its memory is fresh.
"""

import subprocess
import sys

from harness import peer, run

CHAINS = {
    "y + 1": "y = y + 1",
    "y * c": "y = y * c",
    "y + x": "y = y + x",
    "((y + 1) * c - c) * 0.5": "y = ((y + 1) * c - c) * 0.5",
    "y.tanh()": "y = y.tanh()",
    "y.reshape(2, 2).reshape(4)": "y = y.reshape(2, 2).reshape(4)",
}
NODES = {"((y + 1) * c - c) * 0.5": 4, "y.reshape(2, 2).reshape(4)": 2}

PROGRAM = """
import sys, time, resource
import {module} as T
T.set_num_threads(1)
def graph(steps):
    x, c = T.ones(4, requires_grad=True), T.ones(4) * 0.5
    y = x
    for _ in range(steps):
        {step}
    return y
def rss():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize()
graph(100).sum().backward()
before = rss()
begin = time.perf_counter()
y = graph({steps})
kept = rss() - before
y.sum().backward()
del y
print(time.perf_counter() - begin, kept)
"""


def measure(module, step, steps):
    """Seconds and bytes of one graph."""
    program = PROGRAM.format(module=module, step=step, steps=steps)
    done = subprocess.run(
        [sys.executable, "-c", program],
        stdout=subprocess.PIPE,
        check=True,
        encoding="utf-8",
    )
    return [float(word) for word in done.stdout.split()]


def main(table):
    """Ours and PyTorch's in turns; the fastest, and the least memory."""
    nodes, rounds = (20_000, 1) if table.quick else (1_000_000, 3)
    torch = peer("torch")
    for name, step in CHAINS.items():
        steps = nodes // NODES.get(name, 1)
        ours, other = [], []
        for _ in range(rounds):
            ours.append(measure("pkg", step, steps))
            if torch:
                other.append(measure("torch", step, steps))
        best = [min(column) for column in zip(*ours)]
        best_other = [min(column) for column in zip(*other)] or [None, None]
        for what, scale, index, target in (
            (f"{nodes:,} nodes of {name}", 1e6, 0, 0.15),
            (f"bytes kept by a node of {name}", 1 / nodes, 1, 1.0),
        ):
            theirs = None if best_other[index] is None else best_other[index] * scale
            table.add(what, best[index] * scale, theirs, "torch", target)


if __name__ == "__main__":
    run(main)
