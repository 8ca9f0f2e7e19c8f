# SPDX-License-Identifier: Apache-2.0
"""Elementwise ops, reductions and norms: ``python tests/benchmarks/elementwise.py``."""

import numpy as np
from harness import all_threads, peer, run, set_threads

import pkg

torch = peer("torch")
SIZES = (1_000, 100_000, 10_000_000)


def functions(module):
    """The work by name, on a 1-d tensor (and a 2-d view of it)."""
    F = module.nn.functional
    return {
        "add": lambda x, m: x + x,
        "mul scalar": lambda x, m: x * 2.0,
        "exp": lambda x, m: x.exp(),
        "tanh": lambda x, m: x.tanh(),
        "gelu": lambda x, m: F.gelu(x),
        "relu": lambda x, m: x.relu(),
        "sum": lambda x, m: x.sum(),
        "sum dim 0": lambda x, m: m.sum(0),
        "max dim 1": lambda x, m: m.amax(1),
        "softmax": lambda x, m: m.softmax(1),
        "layer_norm": lambda x, m: F.layer_norm(m, (100,)),
    }


NUMPY = {
    "add": lambda x, m: x + x,
    "mul scalar": lambda x, m: x * np.float32(2),
    "exp": lambda x, m: np.exp(x),
    "tanh": lambda x, m: np.tanh(x),
    "relu": lambda x, m: np.maximum(x, 0),
    "sum": lambda x, m: x.sum(),
    "sum dim 0": lambda x, m: m.sum(0),
    "max dim 1": lambda x, m: m.max(1),
}


def main(table):
    """Three sizes, one thread and all; rows of 100 for what works by rows."""
    rng = np.random.default_rng(0)
    for threads in sorted({1, all_threads()}):
        set_threads(threads)
        for size in SIZES:
            array = rng.normal(size=size).astype(np.float32)
            x, t = pkg.tensor(array), torch and torch.tensor(array)
            m, tm = x.reshape(-1, 100), torch and t.reshape(-1, 100)
            am = array.reshape(-1, 100)
            theirs = functions(torch) if torch else {}
            for name, f in functions(pkg).items():
                g, n = theirs.get(name), NUMPY.get(name)
                peers = {"torch": g and (lambda g=g, t=t, tm=tm: g(t, tm))}
                targets = {"torch": 0.5}
                if n:
                    peers["numpy"] = lambda n=n, a=array, am=am: n(a, am)
                    targets["numpy"] = 1.0
                table.compare(f"{name} {size:,}, {threads} thread(s)",
                              lambda f=f, x=x, m=m: f(x, m).wait(), peers,
                              targets)  # fmt: skip


if __name__ == "__main__":
    run(main)
