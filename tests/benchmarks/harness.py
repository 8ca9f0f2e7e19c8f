# SPDX-License-Identifier: Apache-2.0
"""What every benchmark shares: interleaved timing, peers that may be missing, tables.

A benchmark file defines ``main(table)`` and ends with ``run(main)``; it prints one row
per piece of work and, with ``--json FILE``, writes the rows as data.
"""

import argparse
import ctypes
import importlib
import itertools
import json
import os
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

HEADER = (
    f"{'work':42} {'ours us':>11} {'peer us':>11} {'peer':8} {'ratio':>6} {'target':>6}"
)


def peer(name):
    """The module, or None when it is not installed."""
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


def variant():
    """The same Python package over tests/bindings/, the pybind11 variant, or None.

    Both run in this process over one libpkg_core.so, so their calls can be interleaved.
    """
    if not peer("pybind11"):
        return None
    from bindings.build import build

    def loaded():
        return [n for n in sys.modules if n == "pkg" or n.startswith("pkg.")]

    environment = {"PKG_BINDING": "pybind11", "PKG_BINDING_PATH": str(build("-O3"))}
    ours = {name: sys.modules.pop(name) for name in loaded()}
    os.environ.update(environment)
    try:
        return importlib.import_module("pkg")
    finally:
        for name in environment:
            del os.environ[name]
        for name in loaded():
            del sys.modules[name]
        sys.modules.update(ours)


def set_threads(count):
    """The same number of threads for pkg, PyTorch and NumPy's BLAS."""
    import pkg

    pkg.set_num_threads(count)
    torch = sys.modules.get("torch")
    if torch:
        torch.set_num_threads(count)
    limit_numpys_blas(count)


def limit_numpys_blas(count):
    """The threads of NumPy's own copy of OpenBLAS, which lies beside its wheel."""
    numpy = peer("numpy")
    beside = Path(numpy.__file__).parents[1] / "numpy.libs" if numpy else Path()
    for path in beside.glob("*openblas*"):
        library = ctypes.CDLL(str(path))  # it is loaded: this is a handle of it
        for suffix in ("64_", ""):
            name = f"scipy_openblas_set_num_threads{suffix}"
            if hasattr(library, name):
                getattr(library, name)(ctypes.c_int(count))


def all_threads():
    """The processors this process may use."""
    return len(os.sched_getaffinity(0))


# What ran before leaves threads that spin (OpenMP's for 0.2 s after their last work),
# and threads that slept are often woken on one processor together.  Both are over after
# so long a run of what is timed next.
SETTLE_SECONDS = 0.3


def settled(function, count, quick):
    """`once`, with the processors to itself where several threads compute."""
    import pkg

    if not quick and pkg.get_num_threads() > 1:
        end = time.perf_counter() + SETTLE_SECONDS
        while time.perf_counter() < end:
            function()
    return once(function, count)


def once(function, count):
    """Seconds per call of one run of ``count`` calls."""
    start = time.perf_counter()
    for _ in itertools.repeat(None, count):  # unlike range() makes no numbers
        function()
    return (time.perf_counter() - start) / count


def calls_for(function, seconds):
    """How many calls take about this long."""
    once(function, 1)
    one = max(once(function, 3), 1e-8)
    return max(1, min(50000, int(seconds / one)))


class Table:
    """Prints rows as they are measured and keeps them as data."""

    def __init__(self, quick=False):
        self.rows = []
        self.quick = quick
        self.seconds = 0.005 if quick else 0.03
        self.repeats = 3 if quick else 9

    def compare(self, work, ours, peers, targets=None, per=1, floor=None):
        """The fastest of interleaved runs: ours against each peer (None: not
        installed).

        The fastest, as timeit advises: what other runs take more is the machine's other
        work.  ``targets`` maps a peer to the highest wanted ratio; ``per`` divides the
        times.  ``floor(ours)`` gives the seconds below which it cannot come.
        """
        there = {name: f for name, f in peers.items() if f is not None}
        functions = [ours, *there.values()]
        counts = [calls_for(f, self.seconds) for f in functions]
        rounds = [
            [settled(f, n, self.quick) for f, n in zip(functions, counts)]
            for _ in range(self.repeats)
        ]
        fastest = [min(times) / per * 1e6 for times in zip(*rounds)]
        least = None if floor is None else floor(ours) * 1e6
        for name in peers:
            target = (targets or {}).get(name)
            if name not in there:
                self.add(work, fastest[0], None, name, target, least)
            else:
                other = fastest[1 + list(there).index(name)]
                self.add(work, fastest[0], other, name, target, least)

    def add(self, work, ours, other, name, target, least=None):
        """One row, in microseconds; ``least`` is the floor, where it is known."""
        ratio = None if other is None else ours / other
        row = {"work": work, "ours_us": ours, "peer_us": other, "peer": name,
               "ratio": ratio, "target": target, "floor_us": least}  # fmt: skip
        self.rows.append(row)
        print(line(row), flush=True)


def line(row):
    """A row as text; * marks a target that was missed."""
    if row["ratio"] is None:
        left = f"{row['work']:42} {row['ours_us']:11.2f}"
        return f"{left} {'not installed':>11} {row['peer']}"
    target = "" if row["target"] is None else f"{row['target']:6.2f}"
    missed = row["target"] is not None and row["ratio"] > row["target"]
    least = row.get("floor_us")
    floor = (
        least and f"  floor {least:.0f} us, floor / peer {least / row['peer_us']:.2f}"
    )
    return (
        f"{row['work']:42} {row['ours_us']:11.2f} {row['peer_us']:11.2f} "
        f"{row['peer']:8} {row['ratio']:6.2f} {target:6}{' *' if missed else '  '}"
        f"{floor or ''}"
    ).rstrip()


def run(main):
    """Command line of one benchmark file."""
    parser = argparse.ArgumentParser(description=sys.modules["__main__"].__doc__)
    parser.add_argument("--json", metavar="FILE", help="write the rows here as well")
    parser.add_argument("--quick", action="store_true", help="few and short repeats")
    options = parser.parse_args()
    table = Table(options.quick)
    print(HEADER)
    main(table)
    if options.json:
        with open(options.json, "w") as file:
            json.dump(table.rows, file, indent=1)
