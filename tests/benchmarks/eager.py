# SPDX-License-Identifier: Apache-2.0
"""Small eager calls against PyTorch and NumPy: ``python tests/benchmarks/eager.py``.

Ours and the peer's runs are interleaved, on one thread but for matmul; the median of nine is shown.
"""

import os
import statistics
import time

import numpy as np

import pkg

try:
    import torch

    torch.set_num_threads(1)
except ImportError:
    torch = None
pkg.set_num_threads(1)


def once(function, count):
    """Nanoseconds per call of one run."""
    start = time.perf_counter()
    for _ in range(count):
        function()
    return (time.perf_counter() - start) / count * 1e9


def compare(work, ours, peer, peer_name, count, target, per=1):
    """One row: medians of interleaved runs and their ratio."""
    if peer is None:
        print(f"{work:34} {peer_name} is not installed")
        return
    once(ours, count), once(peer, count)
    pairs = [(once(ours, count), once(peer, count)) for _ in range(9)]
    a, b = (statistics.median(times) / per for times in zip(*pairs))
    print(f"{work:34} {a:10.0f} {b:10.0f} {peer_name:8} {a / b:6.2f}  target {target}")


def chain(module):
    """200 ops on 8x8, forward and backward."""
    x = module.ones(8, 8, requires_grad=True)
    y = x
    for _ in range(100):
        y = (y + x) * 0.5
    y.sum().backward()
    return x.grad


def main():
    """Prints the table."""
    print(f"{'work':34} {'ours ns':>10} {'peer ns':>10} peer      ratio")
    a, n = pkg.ones(2, 2), np.ones((2, 2), dtype=np.float32)
    t = torch.ones(2, 2) if torch else None
    compare("a + b, 2x2", lambda: a + a, t is not None and (lambda: t + t) or None,
            "torch", 20000, 0.2)  # fmt: skip
    compare("a + b, 2x2", lambda: a + a, lambda: n + n, "numpy", 20000, 0.5)
    if torch:
        assert np.allclose(chain(pkg).numpy(), chain(torch).numpy(), rtol=1e-5)
    compare("200-op chain 8x8, per op", lambda: chain(pkg),
            torch and (lambda: chain(torch)), "torch", 20, 0.2, per=200)  # fmt: skip
    pkg.set_num_threads(os.cpu_count() or 1)  # as NumPy's BLAS does
    for size in (64, 512):
        array = np.random.default_rng(0).normal(size=(size, size)).astype(np.float32)
        x = pkg.tensor(array)
        assert np.allclose((x @ x).numpy(), array @ array, atol=1e-2)
        compare(f"matmul {size} (all threads)", lambda: x @ x,
                lambda: array @ array, "numpy", 20, 1.1)  # fmt: skip


if __name__ == "__main__":
    main()
