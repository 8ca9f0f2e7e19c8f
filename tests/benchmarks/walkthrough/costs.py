# SPDX-License-Identifier: Apache-2.0
"""What the stages cost by each binding: ``python .../walkthrough/costs.py [--write]``.

Builds every stage of docs/walkthrough/stages by the kit, pybind11 and nanobind, with
one set of flags and the same objects of the stage itself, times the same calls in
interleaved rounds and prints one table per page, or puts them into the pages with
--write.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
import sysconfig
from collections.abc import Callable, Iterable
from pathlib import Path

# Work is done in the call that submits it: else who gets the processor when is timed.
os.environ["PKG_ASYNC"] = "0"

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "walkthrough")]
sys.path.append(str(HERE.parent / "bindings"))

import stages  # noqa: E402
from calls import Call, ratio, time_calls  # noqa: E402
from measure import PAGES, machine  # noqa: E402
from variants import (  # noqa: E402
    CXX,
    FLAGS,
    Missing,
    compile_quickly,
    includes,
    nanobind_support,
    need,
    run,
)

from pkg import sysconfig as core  # noqa: E402

COMMAND = "python tests/benchmarks/walkthrough/costs.py --write"
MARKS = re.compile(r"(?<=<!-- costs -->\n).*?(?=<!-- end -->)", re.DOTALL)
SUFFIX = sysconfig.get_config_var("EXT_SUFFIX")
BINDINGS = {"kit": "SWIG, the kit", "pybind11": "pybind11", "nanobind": "nanobind"}
COMMON = [f"-I{stages.STAGES}", f"-I{core.get_include()}"]
COMMON += [f"-I{sysconfig.get_path('include')}"]

PAIR = "a = m.Scalar(1.5); b = m.Scalar(2.0)"
NODES = "a = m.Scalar(2.0); b = m.Scalar(3.0)"
LATER = f"m.set_delay(0); {PAIR}"
JOBS = "q = m.JobQueue()"
# Those of a Scalar that is a value.
VALUE = [
    Call("Scalar(1.5)", "f(1.5)", "f(1.5).v == 1.5", "f = m.Scalar"),
    Call("a + b", "a + b", "(a + b).v == 3.5", PAIR),
    Call("a + 3.0", "a + 3.0", "(a + 3.0).v == 4.5", PAIR),
    Call("3.0 + a", "3.0 + a", "(3.0 + a).v == 4.5", PAIR),
    Call("a == b", "a == b", "not a == b", PAIR),
    Call("a < 3.0", "a < 3.0", "a < 3.0", PAIR),
    Call("a.v", "a.v", "a.v == 1.5", PAIR),
    Call("repr(a)", "repr(a)", "repr(a) == 'Scalar(1.5)'", PAIR),
]
CALLS = {
    "pydemo": [
        Call("pydemo.add(1.0, 2.0)", "f(1.0, 2.0)", "f(1.0, 2.0) == 3.0", "f = m.add"),
        Call("pydemo.add(a=1.0, b=2.0)", "f(a=1.0, b=2.0)", "f(a=1.0, b=2.0) == 3.0",
             "f = m.add"),
    ],
    "pydemo_int": [
        Call("pydemo_int.add(1, 2)", "f(1, 2)", "f(1, 2) == 3", "f = m.add"),
    ],
    "myops": [
        Call("add(1.0, 2.0); wait_all()", "f(1.0, 2.0); w()",
             "f(1.0, 2.0) == 0 and w() == [3.0]",
             "m.set_delay(0); f = m.add; w = m.wait_all"),
        Call("submit(python_function); wait_all()", "f(g); w()",
             "f(g) == 0 and w() == [3.0]",
             "f = m.submit; w = m.wait_all; g = lambda: 3.0"),
        Call("group.result(0)", "f(0)", "f(0) == 3.0",
             "p = m.TaskGroup(); m.set_delay(0); p.add(1.0, 2.0); f = p.result"),
    ],
    "myops_dispatch_cpu": [
        Call("run_op(name, 1.0, 2.0), a kernel in Python", "f('x', 1.0, 2.0)",
             "f('x', 1.0, 2.0) == 3.0",
             "f = m.run_op; m.register_op('x', float.__add__, overwrite=True)"),
        Call("register_op(name, f).remove()", "f('y', g).remove()",
             "f('y', g).remove() is None", "f = m.register_op; g = float.__add__"),
    ],
    "overload_ops_sync": [
        *VALUE,
        Call("a.v = 2.0", "a.v = 2.0", "a.v == 1.5", PAIR),
    ],
    "overload_ops_async": [
        Call("a + b, later", "a + b", "(a + b).v == 3.5", LATER),
        Call("(a + 3.0).v", "(a + 3.0).v", "(a + 3.0).v == 4.5", LATER),
        Call("a.v", "a.v", "a.v == 1.5", LATER),
        Call("a.done()", "a.done()", "a.done()", LATER),
        Call("a.result(1.0)", "a.result(1.0)", "a.result(1.0) == 1.5", LATER),
    ],
    "overload_ops_queue": [
        Call("queue: a + b, flush()", "a + b; f()", "f() is None",
             f"{LATER}; f = m.flush"),
        Call("queue.submit(python_function)", "q.submit(int)",
             "q.submit(int).result() is None", JOBS),
        Call("queue.pending()", "q.pending()", "q.pending() == 0", JOBS),
        Call("queue.stats()", "q.stats()", "q.stats() == (0, 0)", JOBS),
    ],
    "overload_ops_pool": [
        Call("pool: a + b, flush()", "a + b; f()", "f() is None",
             f"{LATER}; f = m.flush"),
        Call("pool.submit(python_function)", "q.submit(int)",
             "q.submit(int).result() is None", "q = m.JobQueue(ordered=False)"),
    ],
    "scalar_mul_grad_class": [
        Call("Scalar(2.0)", "f(2.0)", "f(2.0).v == 2.0", "f = m.Scalar"),
        Call("a * b", "a * b", "(a * b).v == 6.0", NODES),
        Call("a * 2.0", "a * 2.0", "(a * 2.0).v == 4.0", NODES),
        Call("2.0 * a", "2.0 * a", "(2.0 * a).v == 4.0", NODES),
        Call("a.grad", "a.grad", "a.grad == 0.0", NODES),
        Call("y.edges", "y.edges", "y.edges[0].grad.val == 3.0", f"{NODES}; y = a * b"),
        Call("y.backward()", "y.backward()", "y.backward() is None",
             f"{NODES}; y = a * b"),
    ],
}  # fmt: skip
PAGE_OF = {
    "1_add.md": ["pydemo", "pydemo_int"],
    "2_async_add.md": ["myops"],
    "3_dispatcher.md": ["myops_dispatch_cpu"],
    "4_operators.md": ["overload_ops_sync"],
    "5_async_scalar.md": ["overload_ops_async"],
    "6_queue_and_pool.md": ["overload_ops_queue", "overload_ops_pool"],
    "7_autograd.md": ["scalar_mul_grad_class"],
}


class Builder:
    """The modules of some bindings, below one folder."""

    def __init__(self, folder: Path, bindings: Iterable[str]) -> None:
        self.folder = folder
        self.found: dict[str, tuple[list[Path], list[str]]] = {}
        self.missing: dict[str, str] = {}
        for binding in bindings:
            (folder / binding).mkdir(parents=True, exist_ok=True)
            try:
                self.found[binding] = getattr(self, binding)()
            except Missing as error:
                self.missing[binding] = str(error)

    # Each: what its modules are linked with, and their flags.
    def kit(self) -> tuple[list[Path], list[str]]:
        return [], [f"-I{path}" for path in includes()]

    def pybind11(self) -> tuple[list[Path], list[str]]:
        return [], [f"-I{need('pybind11').get_include()}"]

    def nanobind(self) -> tuple[list[Path], list[str]]:
        support, flags = nanobind_support(self.folder / "nanobind")
        return [support], flags

    def modules(self, name: str) -> dict[str, tuple[Path, str]]:
        """Where a stage is, by each binding: its own C++ is compiled once."""
        objects = []
        for source in stages.sources(name):
            objects.append(self.folder / f"{name}.{Path(source).stem}.o")
            run(*CXX, *FLAGS, *COMMON, "-c", ROOT / source, "-o", objects[-1])
        return {
            binding: self.module(name, binding, [*objects, *linked], flags)
            for binding, (linked, flags) in self.found.items()
        }

    def module(
        self, name: str, binding: str, objects: list[Path], flags: list[str]
    ) -> tuple[Path, str]:
        folder = self.folder / binding
        if binding == "kit":
            source = folder / f"{name}_wrap.cc"
            wrap = [sys.executable, "-m", "pkg", "wrap", "--generate"]
            where = ["--out", folder, "--keep", folder, "-I", stages.STAGES]
            run(*wrap, stages.STAGES / name / f"{name}.i", *where)
        else:
            source = ROOT / "tests/walkthrough/twins" / binding / f"{name}.cc"
        target = folder / f"{name}{SUFFIX}"
        # nanobind has one table of classes for the modules of a domain.
        flags = [*flags, f"-DNB_DOMAIN={name}", f"-I{stages.STAGES / name}"]
        command = [*CXX, *FLAGS, *COMMON, *flags, "-shared", source, *objects]
        run(*command, "-o", target, *core.get_link_flags())
        return folder, name


def shown(ns: float) -> str:
    """Three digits, or all before the point."""
    return f"{ns:.0f}" if ns >= 100 else f"{ns:.3g}"


def rows_of(
    name: str, builder: Builder, rounds: int, sample: float, progress: Callable
) -> list[str]:
    """One line for each call."""
    results = time_calls(builder.modules(name), rounds, sample, CALLS[name])
    rows = []
    for call in CALLS[name]:
        result = results[call.name]
        cells = [f"`{call.name}`"]
        for binding in BINDINGS:
            text = builder.missing.get(binding) or result["unsupported"].get(binding)
            cells.append(text or shown(result["ns"][binding]))
        for peer in ("pybind11", "nanobind"):
            value = ratio(result, "kit", peer)
            cells.append("-" if value is None else f"{value:.2f}")
        rows.append(f"| {' | '.join(cells)} |")
        progress(rows[-1])
    return rows


def main() -> None:
    """All pages, or those of some stages."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="few, short repeats; -O0")
    parser.add_argument("--write", action="store_true", help="put them into the pages")
    parser.add_argument("--only", nargs="+", choices=CALLS, metavar="STAGE")
    parser.add_argument("--bindings", nargs="+", choices=BINDINGS, default=BINDINGS)
    options = parser.parse_args()
    less = options.quick or options.only or len(options.bindings) < len(BINDINGS)
    if options.write and less:
        parser.error("--write needs the full run")
    if options.quick:
        compile_quickly()
    rounds, sample = (3, 0.0005) if options.quick else (45, 0.004)
    builder = Builder(ROOT / "build" / "costs", options.bindings)
    for binding in set(BINDINGS) - set(options.bindings):
        builder.missing[binding] = "-"
    for page, all_names in PAGE_OF.items():
        names = [n for n in all_names if not options.only or n in options.only]
        if not names:
            continue
        head = f"| ns | {' | '.join(BINDINGS.values())} | of pybind11 | of nanobind |"
        lines = [head, "|---|---:|---:|---:|---:|---:|"]
        print(f"{page}\n\n" + "\n".join(lines))
        for name in names:
            lines += rows_of(
                name, builder, rounds, sample, lambda row: print(row, flush=True)
            )
        print(flush=True)
        if options.write:
            table = "\n".join(lines)
            block = f"\n`{COMMAND}`\n({machine()}, `PKG_ASYNC=0`):\n\n{table}\n\n"
            path = PAGES / page
            text, count = MARKS.subn(lambda _, b=block: b, path.read_text("utf-8"))
            assert count == 1, f"{page}: expected one place between the marks"
            path.write_text(text, "utf-8")


if __name__ == "__main__":
    main()
