# SPDX-License-Identifier: Apache-2.0
"""Every op against PyTorch and NumPy: ``python tests/benchmarks/generated.py``.

Cells are generated: each public op x its calls x sizes x dtypes x layouts x passes x
threads, from the recipes of cells/.  There are too many for one run, so ``--cells N``
of them are drawn by ``--seed``, from every op as many.  A cell is run again by its
name: ``--only TEXT`` takes all whose name has the text.  ``--sizes drawn`` takes sizes
that nobody chose, between those of the recipes.  ``--page FILE`` writes the page.
"""

import argparse
import json
import random
import resource
import sys
import time
import warnings
from collections import Counter
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS), str(TESTS / "support")]

from cells import cover, report, timing  # noqa: E402
from harness import peer, set_threads  # noqa: E402

#: Cells whose ratio is above are timed again: most such ratios are the machine's.
AGAIN = 1.1


def drawn(cells, seed):
    """All cells in random order, one of each op in turn."""
    rng = random.Random(seed)
    order = sorted(cells)
    rng.shuffle(order)
    piles = {}
    for op in order:
        piles[op] = list(cells[op])
        rng.shuffle(piles[op])
    while any(piles.values()):
        for op in order:
            if piles[op]:
                yield piles[op].pop()


class Run:
    """Cells that were timed, and why others were not."""

    def __init__(self, torch, options):
        self.torch, self.options = torch, options
        self.rows, self.refused = [], {}
        self.said = Counter()
        self.lock = timing.Lock(options.lock)

    def cell(self, cell):
        """Times one; whether it counts."""
        if cell.key in self.refused:
            return False
        try:
            sides = timing.prepare(cell, self.torch)
        except timing.Refused as error:
            both = len(error.sides) == 2
            self.note(cell, "both" if both else f"refused by {error.sides[0]}", error)
            return False
        except (timing.Wrong, MemoryError) as error:
            self.note(cell, type(error).__name__, error)
            return False
        fastest = timing.glance(sides) if self.options.glance else None
        if fastest is None:
            fastest = timing.measure(sides, cell.threads, self.options.thorough)
        if fastest[0] > AGAIN * min(fastest[1:]):  # or did the machine do other work?
            more = timing.measure(sides, cell.threads, thorough=True)
            fastest = [min(pair) for pair in zip(fastest, more)]
        row = {
            "name": cell.name, "op": cell.op, "family": cell.family, "size": cell.size,
            "dtype": cell.dtype, "layout": cell.layout, "pass": cell.way,
            "threads": cell.threads, "ours_us": fastest[0] * 1e6,
            "torch_us": fastest[1] * 1e6, "ratio": fastest[0] / fastest[1],
            "numpy_us": fastest[2] * 1e6 if len(fastest) > 2 else None,
            "setup": cell.setup, "call": cell.call,
        }  # fmt: skip
        self.rows.append(row)
        return True

    def note(self, cell, what, error):
        self.refused[cell.key] = (what, str(error))
        self.said[what] += 1
        if what != "both" and self.options.verbose:
            print(f"{what}: {cell.name}: {error}", flush=True)

    def sample(self, cells, count, seed, threads):
        """Times so many cells, drawing on until they are found; threads in turn."""
        for number in threads:
            set_threads(number)
            pool = {
                op: [c for c in those if c.threads == number]
                for op, those in cells.items()
            }
            source = drawn(pool, f"{seed}.{number}")
            wanted = count // len(threads)
            start = len(self.rows)
            exhausted = False
            while len(self.rows) - start < wanted and not exhausted:
                with self.lock.held():
                    end = time.perf_counter() + 20
                    while len(self.rows) - start < wanted:
                        cell = next(source, None)
                        if cell is None:
                            exhausted = True
                            break
                        if self.cell(cell) and self.options.verbose:
                            print(report.line(self.rows[-1]), flush=True)
                        if time.perf_counter() > end:
                            break


def selected(cells, options):
    """Those whose names have the texts."""
    found = {}
    for op, those in cells.items():
        kept = [
            c for c in those
            if all(text in c.name or text == c.op for text in options.only)
        ]  # fmt: skip
        if kept:
            found[op] = kept
    return found


def parsed():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cells", type=int, default=3000, help="how many are drawn")
    parser.add_argument("--seed", default="1")
    parser.add_argument(
        "--only",
        action="append",
        default=[],
        metavar="TEXT",
        help="cells whose names have the text, or of this op",
    )
    parser.add_argument(
        "--sizes",
        choices=("listed", "drawn"),
        default="listed",
        help="those of the recipes, or drawn by the seed from between them",
    )
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--worst", type=int, default=30, help="how many are printed")
    parser.add_argument("--json", type=Path, metavar="FILE", help="keep the rows")
    parser.add_argument("--page", type=Path, metavar="FILE", help="write the page")
    parser.add_argument(
        "--from", type=Path, metavar="FILE", dest="source", help="rows that --json kept"
    )
    parser.add_argument("--list", action="store_true", help="print names, time nothing")
    parser.add_argument("--verbose", action="store_true", help="each cell as it comes")
    parser.add_argument(
        "--glance",
        action="store_true",
        help="four times as many cells a minute: a short look at each, and only those"
        " that it does not clear are timed; for finding what is behind, not for a page",
    )
    parser.add_argument("--thorough", action="store_true", help="twice the rounds")
    parser.add_argument(
        "--lock", metavar="FILE", help="hold this file's lock meanwhile"
    )
    parser.add_argument("--memory", type=float, default=10, help="limit, GB")
    return parser.parse_args()


def main():
    """Draws, times, reports; 1 if a cell's results differ."""
    options = parsed()
    threads = tuple(int(n) for n in options.threads.split(","))
    if options.source:
        kept = json.loads(options.source.read_text())
        report.show(kept, options)
        return 0
    drawn_by = options.seed if options.sizes == "drawn" else ""
    cells = selected(cover.population(threads, drawn_by), options)
    if options.list:
        for those in cells.values():
            print(*(c.name for c in those), sep="\n")
        return 0
    torch = peer("torch")
    if torch is None:
        sys.exit("[generated] expected PyTorch to compare with, it is not installed")
    limit = int(options.memory * 1e9)
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    warnings.simplefilter("ignore")  # of slow paths, and of numbers out of range
    start = time.perf_counter()
    run = Run(torch, options)
    run.sample(cells, options.cells, options.seed, threads)
    refused = [
        {"name": key[0], "dtype": key[1], "what": what, "said": said}
        for key, (what, said) in run.refused.items()
    ]
    kept = {
        "seed": options.seed, "sizes": options.sizes, "threads": threads,
        "rows": run.rows, "refused": refused,
        "seconds": time.perf_counter() - start,
        "population": sum(map(len, cells.values())), "machine": report.machine(),
        "without": cover.reasons(),
    }  # fmt: skip
    report.show(kept, options)
    if options.json:
        options.json.write_text(json.dumps(kept, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
