# SPDX-License-Identifier: Apache-2.0
"""Tasks and loops in C++ beside oneTBB's: ``python tests/benchmarks/tasks.py``.

Compiles tasks.cc for each.  Debian has the peer as libtbb-dev; where it is not
installed the rows say so.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

from harness import all_threads, run

import pkg.sysconfig

SOURCE = Path(__file__).with_name("tasks.cc")
COMPILE = ["g++", "-std=c++20", "-O3", "-march=native", "-pthread", str(SOURCE)]
TARGETS = {"empty task, 10,000 then a wait": 1.2, "empty task, each submits two": 1.2}


def build(folder):
    """The two programs; None for the peer where its headers are not there."""
    ours, peer = folder / "ours", folder / "peer"
    flags = [*pkg.sysconfig.get_compile_flags(), *pkg.sysconfig.get_link_flags()]
    subprocess.run([*COMPILE, "-o", str(ours), *flags], check=True)
    command = [*COMPILE, "-DPEER", "-o", str(peer), "-ltbb"]
    done = subprocess.run(command, stderr=subprocess.PIPE, encoding="utf-8")
    if done.returncode:
        if "tbb" not in done.stderr:
            sys.exit(done.stderr)
        peer = None
    return ours, peer


def fastest(programs, threads, seconds, rounds):
    """Row to nanoseconds for each program, which run in turns."""
    best = [{} for _ in programs]
    for _ in range(rounds):
        for program, rows in zip(programs, best):
            if program is None:
                continue
            command = [str(program), str(threads), str(seconds)]
            text = subprocess.run(
                command, stdout=subprocess.PIPE, check=True, encoding="utf-8"
            ).stdout
            for name, took in (line.split("\t") for line in text.splitlines()):
                rows[name] = min(float(took), rows.get(name, float("inf")))
    return best


def main(table):
    """One thread and all, the programs in turns."""
    seconds, rounds = (0.02, 2) if table.quick else (0.2, 5)
    with tempfile.TemporaryDirectory() as folder:
        programs = build(Path(folder))
        for threads in sorted({1, all_threads()}):
            ours, peer = fastest(programs, threads, seconds, rounds)
            for name, took in ours.items():
                other = peer[name] / 1e3 if peer else None
                work = f"{name}, {threads} thread(s)"
                table.add(work, took / 1e3, other, "oneTBB", TARGETS.get(name))


if __name__ == "__main__":
    run(main)
