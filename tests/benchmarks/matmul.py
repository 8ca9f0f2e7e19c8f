# SPDX-License-Identifier: Apache-2.0
"""Products of square float32 matrices: ``python tests/benchmarks/matmul.py``."""

import numpy as np
from harness import all_threads, peer, run, set_threads

import pkg

torch = peer("torch")


def main(table):
    """32 to 2048, on one thread and on all."""
    rng = np.random.default_rng(0)
    for threads in sorted({1, all_threads()}):
        set_threads(threads)
        for size in (32, 64, 128, 256, 512, 1024, 2048):
            array = rng.normal(size=(size, size)).astype(np.float32)
            x, t = pkg.tensor(array), torch and torch.tensor(array)
            np.testing.assert_allclose((x @ x).numpy(), array @ array, atol=1e-2)
            x = pkg.tensor(array)  # not seen by NumPy: may be scheduled
            table.compare(f"matmul {size}, {threads} thread(s)",
                          lambda x=x: (x @ x).wait(),
                          {"numpy": lambda a=array: a @ a,
                           "torch": torch and (lambda t=t: t @ t)},
                          {"numpy": 1.0, "torch": 1.0})  # fmt: skip


if __name__ == "__main__":
    run(main)
