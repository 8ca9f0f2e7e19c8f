# SPDX-License-Identifier: Apache-2.0
"""Every benchmark, one table: ``python tests/benchmarks/summary.py [--quick]``.

Each file runs in a process of its own.  Rows end with * where a target is missed.  With
``--write README.md docs/measured.md`` the rows of SHOWN also replace the table of a
page, or those of TEN where its mark says so; ``--json`` keeps all rows, and ``--from
FILE`` takes them from there instead of measuring.
"""

import argparse
import datetime
import importlib.metadata
import json
import os
import platform
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from harness import HEADER, line

import pkg

HERE = Path(__file__).parent
SUBJECTS = (
    "imports", "eager", "training", "matmul", "elementwise", "tasks", "graphs",
)  # fmt: skip
# The rows of a page: from each subject what a user feels first.
SHOWN = (
    r"import",
    r"a \+ b, 2x2",
    r"a \+ b, 2x2, gradient recorded",
    r"200-op chain .*",
    r"digits .* step, .*",
    r"transformer layer, .*",
    r"matmul (64|512|2048), [1-9]\d* thread.*",
    r"(add|exp|gelu|sum|softmax|layer_norm) (1,000|100,000), 1 thread.*",
)
# Work and peer of the rows of the README.
TEN = (
    "import, numpy",
    "a + b, 2x2, torch",
    "a + b, 2x2, numpy",
    "200-op chain 8x8 fwd+bwd, per op, torch",
    "digits MLP step, 1 thread(s), torch",
    "digits CNN step, 2 thread(s), torch",
    "transformer layer, 2 thread(s), torch",
    "matmul 512, 2 thread(s), numpy",
    "sum 100,000, 1 thread(s), torch",
    "gelu 100,000, 1 thread(s), torch",
)
PLACE = re.compile(r"(<!-- measured(: ten)? -->\n).*?(?=<!-- end -->)", re.DOTALL)


def measure(quick):
    """The rows of all subjects, and the subjects that failed."""
    rows, failed = [], []
    for subject in SUBJECTS:
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "rows.json"
            command = [sys.executable, str(HERE / f"{subject}.py"), "--json", str(file)]
            command += ["--quick"] if quick else []
            done = subprocess.run(command, stdout=subprocess.DEVNULL)
            if done.returncode:
                failed.append(subject)
            else:
                rows += json.loads(file.read_text())
    return rows, failed


def machine():
    """Where and with what the numbers were taken."""
    lines = Path("/proc/cpuinfo").read_text(errors="replace").splitlines()
    facts = [[part.strip() for part in s.split(":", 1)] for s in lines if ":" in s]
    cpu = dict(reversed(facts))  # those of the first processor
    # A virtual machine may name the maker alone; products take half as long from one
    # generation to the next, so that ratios of two pages compare only on the same one.
    model = cpu.get("model name", platform.machine())
    if "cpu family" in cpu:
        model += f" (family {cpu['cpu family']}, model {cpu.get('model')})"
    versions = [f"Python {platform.python_version()}"]
    for name in ("torch", "numpy", "jax"):
        try:
            versions.append(f"{name} {importlib.metadata.version(name)}")
        except importlib.metadata.PackageNotFoundError:
            pass
    cores = len(os.sched_getaffinity(0))
    # The same processor shows one virtual machine more than another.
    sets = f"instruction set {pkg.config.info()['instruction set']}"
    if "torch" in sys.modules:
        theirs = sys.modules["torch"].backends.cpu.get_cpu_capability()
        sets += f" (PyTorch: {theirs})"
    where = f"{model}, {cores} cores, {sets}"
    return f"{where}; {', '.join(versions)}; {datetime.date.today().isoformat()}"


def shown_time(microseconds):
    """Three digits and a unit."""
    for unit, factor in (("ns", 1e3), ("us", 1), ("ms", 1e-3)):
        if microseconds * factor < 999.5:
            return f"{microseconds * factor:.3g} {unit}"
    return f"{microseconds / 1e6:.3g} s"


def markdown(rows, where, ten):
    """The table of a page: the rows of TEN or of SHOWN."""
    lines = [f"\n{where}\n", "| work | ours | peer | | ratio | target |"]
    lines.append("|---|---:|---:|---|---:|---:|")
    for row in rows:
        if ten and f"{row['work']}, {row['peer']}" not in TEN:
            continue
        if not any(re.fullmatch(pattern, row["work"]) for pattern in SHOWN):
            continue
        ours = shown_time(row["ours_us"])
        target = "" if row["target"] is None else f"{row['target']:g}"
        if row["ratio"] is None:
            cells = [row["work"], ours, "not installed", row["peer"], "", target]
        else:
            missed = row["target"] is not None and row["ratio"] > row["target"]
            ratio = f"{row['ratio']:.2f}"
            cells = [row["work"], ours, shown_time(row["peer_us"]), row["peer"],
                     f"**{ratio}**" if missed else ratio, target]  # fmt: skip
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join([*lines, "", "Bold: the target is missed.", "", ""])


def write(page, rows, where):
    """Puts the table into the page, between its marks."""
    content, count = PLACE.subn(
        lambda found: found[1] + markdown(rows, where, bool(found[2])),
        page.read_text(encoding="utf-8"),
    )
    assert count == 1, f"{page}: expected one <!-- measured --> ... <!-- end -->"
    page.write_text(content, encoding="utf-8")


def main():
    """Runs the subjects in turn; a failing one is named and makes the exit code 1."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="few and short repeats")
    parser.add_argument("--write", type=Path, metavar="PAGE", nargs="+", default=[],
                        help="and put them there")  # fmt: skip
    parser.add_argument("--json", type=Path, metavar="FILE", help="and keep the rows")
    parser.add_argument("--from", type=Path, metavar="FILE", dest="source",
                        help="rows that --json kept")  # fmt: skip
    options = parser.parse_args()
    if options.source:
        kept = json.loads(options.source.read_text())
        rows, where, failed = kept["rows"], kept["machine"], []
    else:
        where = machine()
        rows, failed = measure(options.quick)
    print(HEADER)
    for row in rows:
        print(line(row))
    measured = [r for r in rows if r["ratio"] and r["target"]]
    missed = [r for r in measured if r["ratio"] > r["target"]]
    print(f"{len(measured) - len(missed)} of {len(measured)} targets reached")
    if failed:
        sys.exit(f"failed: {', '.join(failed)}")
    if options.json:
        options.json.write_text(json.dumps({"machine": where, "rows": rows}, indent=1))
    for page in options.write:
        write(page, rows, where)


if __name__ == "__main__":
    main()
