# SPDX-License-Identifier: Apache-2.0
"""The cost of small eager calls, one thread: ``python tests/benchmarks/eager.py``."""

import numpy as np
from harness import peer, run, set_threads, variant

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


def additions(table, pybind):
    """One small call: by operator, with a number, and what surrounds it."""
    a, n = pkg.ones(2, 2), np.ones((2, 2), dtype=np.float32)
    v, t = pybind and pybind.ones(2, 2), torch and torch.ones(2, 2)
    table.compare("a + b, 2x2", lambda: a + a,
                  {"pybind11": pybind and (lambda: v + v),
                   "numpy": lambda: n + n, "torch": torch and (lambda: t + t)},
                  {"pybind11": 0.5, "numpy": 0.5, "torch": 0.12})  # fmt: skip
    table.compare("a + 2, 2x2", lambda: a + 2,
                  {"pybind11": pybind and (lambda: v + 2),
                   "numpy": lambda: n + 2, "torch": torch and (lambda: t + 2)},
                  {"pybind11": 0.5, "numpy": 0.5, "torch": 0.12})  # fmt: skip


def surface(table, pybind):
    """Calls whose cost is the binding's: the same core through both."""
    a, v = pkg.ones(2, 2), pybind and pybind.ones(2, 2)
    calls = {
        "x.shape": lambda m, x: lambda: x.shape,
        "x.dim()": lambda m, x: lambda: x.dim(),
        "add(x, x)": lambda m, x: lambda: m.add(x, x),
        "add(x, other=x, alpha=2)": lambda m, x: lambda: m.add(x, other=x, alpha=2),
        "x.reshape(4)": lambda m, x: lambda: x.reshape(4),
        "x[0, 1].item()": lambda m, x: lambda: x[0, 1].item(),
    }
    for name, call in calls.items():
        other = {"pybind11": pybind and call(pybind, v)}
        table.compare(name, call(pkg, a), other)


def recorded(table):
    """What recording and running backward add to a call."""
    a, g = pkg.ones(2, 2), pkg.ones(2, 2, requires_grad=True)
    tg = torch and torch.ones(2, 2, requires_grad=True)
    t = torch and torch.ones(2, 2)
    table.compare("a + b, 2x2, gradient recorded", lambda: g + a,
                  {"torch": torch and (lambda: tg + t)}, {"torch": 0.2})  # fmt: skip
    if torch:
        assert np.allclose(chain(pkg).numpy(), chain(torch).numpy(), rtol=1e-5)
    table.compare("200-op chain 8x8 fwd+bwd, per op", lambda: chain(pkg),
                  {"torch": torch and (lambda: chain(torch))}, {"torch": 0.10},
                  per=200)  # fmt: skip


def main(table):
    """The variant comes last: with two bindings loaded both look for the call site."""
    set_threads(1)
    recorded(table)
    pybind = variant()
    additions(table, pybind)
    surface(table, pybind)


if __name__ == "__main__":
    run(main)
