# SPDX-License-Identifier: Apache-2.0
"""Time of ``import pkg`` in a fresh process: ``python tests/benchmarks/imports.py``."""

import statistics
import subprocess
import sys
import time

from harness import peer, run


def seconds(code):
    """Wall time of one child process."""
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], check=True)
    return time.perf_counter() - start


def main(table):
    """The bare interpreter is subtracted from both sides."""
    names = ["pkg", "numpy", "torch"]
    times = {name: [] for name in ["", *names]}
    for _ in range(table.repeats):
        for name in times:
            if name in ("", "pkg") or peer(name):
                times[name].append(seconds(f"import {name}" if name else ""))
    bare = statistics.median(times[""])
    median = {n: (statistics.median(t) - bare) * 1e6 for n, t in times.items() if t}
    for name, target in (("numpy", 1.3), ("torch", None)):
        table.add("import", median["pkg"], median.get(name), name, target)


if __name__ == "__main__":
    run(main)
