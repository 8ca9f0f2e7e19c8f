# SPDX-License-Identifier: Apache-2.0
"""The cost of small eager calls, one thread: ``python tests/benchmarks/eager.py``."""

import numpy as np
from harness import peer, run, set_threads

import pkg

torch = peer("torch")


def chain(module):
    """200 ops on 8x8, forward and backward."""
    x = module.ones(8, 8, requires_grad=True)
    y = x
    for _ in range(100):
        y = (y + x) * 0.5
    y.sum().backward()
    return x.grad


def main(table):
    """Additions with and without gradient, and a chain of ops."""
    set_threads(1)
    a, n = pkg.ones(2, 2), np.ones((2, 2), dtype=np.float32)
    g = pkg.ones(2, 2, requires_grad=True)
    t = torch and torch.ones(2, 2)
    tg = torch and torch.ones(2, 2, requires_grad=True)
    table.compare("a + b, 2x2", lambda: a + a,
                  {"torch": torch and (lambda: t + t), "numpy": lambda: n + n},
                  {"torch": 0.12, "numpy": 0.5})  # fmt: skip
    table.compare("a + 2, 2x2", lambda: a + 2,
                  {"torch": torch and (lambda: t + 2), "numpy": lambda: n + 2},
                  {"torch": 0.12, "numpy": 0.5})  # fmt: skip
    table.compare("a + b, 2x2, gradient recorded", lambda: g + a,
                  {"torch": torch and (lambda: tg + t)}, {"torch": 0.2})  # fmt: skip
    if torch:
        assert np.allclose(chain(pkg).numpy(), chain(torch).numpy(), rtol=1e-5)
    table.compare("200-op chain 8x8 fwd+bwd, per op", lambda: chain(pkg),
                  {"torch": torch and (lambda: chain(torch))}, {"torch": 0.10},
                  per=200)  # fmt: skip


if __name__ == "__main__":
    run(main)
