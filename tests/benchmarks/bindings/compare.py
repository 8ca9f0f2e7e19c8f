# SPDX-License-Identifier: Apache-2.0
"""Nine bindings of one C++ surface, compared: ``python .../compare.py --write``.

Builds each binding of toy.h (variants.py) below build/bindings/, times the same calls
in interleaved rounds (calls.py), tries what each supports and what it says about
mistakes (probes.py), times small calls of the real package over both of its bindings,
and prints docs/bindings.md (report.py), or writes it with --write.  A tool that is not
installed is shown as missing.
"""

from __future__ import annotations

import argparse
import contextlib
import datetime
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
from pathlib import Path

from calls import ratio, time_calls
from probes import PROBES, WRONG, ask, ask_all
from report import measured_targets, page
from variants import (
    CXX,
    FLAGS,
    ROOT,
    Missing,
    Variant,
    all_variants,
    compile_quickly,
    cpu_seconds,
)

PAGE = ROOT / "docs" / "bindings.md"


def build(variant: Variant, folder: Path, times: int) -> dict:
    """Builds it `times` over; what is known of its products."""
    facts: dict = {"title": variant.title, "source": variant.source, "missing": ""}
    taken, once = [], []
    for _ in range(times):
        began = cpu_seconds()
        try:
            variant.build(folder)
        except Missing as err:
            return {**facts, "missing": f"missing: {err}"}
        once.append(variant.once_seconds)
        taken.append(cpu_seconds() - began - variant.once_seconds)
    size = 0
    for library in variant.libraries:
        stripped = folder / "stripped.tmp"
        shutil.copy(library, stripped)
        subprocess.run(["strip", "-s", stripped], check=True)
        size += stripped.stat().st_size
        stripped.unlink()
    return {
        **facts,
        "tool": variant.tool,
        "build_seconds": statistics.median(taken),
        "once_seconds": statistics.median(once),
        "library_bytes": size,
        "python_bytes": sum(face.stat().st_size for face in variant.faces),
    }


def time_imports(variants: list[Variant], rounds: int) -> dict[str, float]:
    """Milliseconds of a first import, median of interleaved rounds."""
    taken: dict[str, list[float]] = {v.name: [] for v in variants}
    for _ in range(rounds + 1):
        for v in variants:
            taken[v.name].append(float(ask(v.folder, v.module, "import")) * 1e3)
    # The first round has written the .pyc files.
    return {name: statistics.median(times[1:]) for name, times in taken.items()}


def machine() -> dict:
    cpuinfo = Path("/proc/cpuinfo").read_text(errors="replace")
    models = [s.split(":", 1)[1] for s in cpuinfo.splitlines() if "model name" in s]
    compiler = subprocess.run([*CXX, "--version"], capture_output=True, text=True)
    return {
        "processor": models[0].strip() if models else platform.machine(),
        "cores": len(os.sched_getaffinity(0)),
        "load": f"{os.getloadavg()[0]:.1f}",
        "system": platform.system() + " " + platform.release().split("-")[0],
        "python": platform.python_version(),
        "compiler": compiler.stdout.splitlines()[0],
        "flags": " ".join([CXX[0], *FLAGS]),
        "date": datetime.date.today().isoformat(),
    }


def time_tensors(quick: bool) -> list[dict]:
    """Rows of ../eager.py: the real core, over this binding, pybind11 and peers."""
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
    import eager
    from harness import Table, set_threads, variant

    table = Table(quick)
    set_threads(1)
    with contextlib.redirect_stdout(sys.stderr):
        pybind = variant()
        eager.additions(table, pybind)
        eager.surface(table, pybind)
    return table.rows


def gather(only: list[str], quick: bool) -> dict:
    """Everything the page shows."""
    rounds = 7 if quick else 45
    data: dict = {"machine": machine(), "rounds": rounds}
    chosen = [v for v in all_variants() if not only or v.name in only]
    data["variants"] = {}
    for variant in chosen:
        print(f"building {variant.title}", file=sys.stderr, flush=True)
        folder = ROOT / "build" / "bindings" / variant.name
        facts = build(variant, folder, 1 if quick else 3)
        data["variants"][variant.name] = facts
    there = [v for v in chosen if not data["variants"][v.name]["missing"]]

    print("imports, questions, calls", file=sys.stderr, flush=True)
    for name, ms in time_imports(there, 3 if quick else 11).items():
        data["variants"][name]["import_ms"] = ms
    questions = list(PROBES) + list(WRONG)
    data["answers"] = {v.name: ask_all(v.folder, v.module, questions) for v in there}
    modules = {v.name: (v.folder, v.module) for v in there}
    data["calls"] = time_calls(modules, rounds, 0.0005 if quick else 0.005)
    for result in data["calls"].values():
        result["ours by nanobind"] = ratio(result, "swig_ours", "nanobind")
        result["ours by pybind11"] = ratio(result, "swig_ours", "pybind11")
    data["tensors"] = [] if only else time_tensors(quick)
    return data


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="few, short rounds; -O0")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the data")
    parser.add_argument("--write", action="store_true", help=f"write {PAGE.name}")
    names = [v.name for v in all_variants()]
    parser.add_argument("--only", nargs="+", choices=names, default=[])
    arguments = parser.parse_args()
    if arguments.write and (arguments.quick or arguments.only):
        parser.error("--write needs the full run")
    if arguments.quick:
        compile_quickly()

    data = gather(arguments.only, arguments.quick)
    if arguments.json:
        arguments.json.write_text(json.dumps(data, indent=1), encoding="utf-8")
    if arguments.write:
        PAGE.write_text(page(data), encoding="utf-8")
    else:
        sys.stdout.reconfigure(encoding="utf-8")
        print(page(data))
    for call, peer, limit, found in measured_targets(data):
        if found is not None and found > limit:
            print(f"missed: {call}: {found:.2f} of {peer}, at most {limit}",
                  file=sys.stderr)  # fmt: skip
    return 0


if __name__ == "__main__":
    sys.exit(main())
