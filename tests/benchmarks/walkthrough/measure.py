# SPDX-License-Identifier: Apache-2.0
"""What the naive code costs: ``python .../walkthrough/measure.py [--write]``.

Builds naive.cc with pybind11 and ours.cc, does each step's work its way and pkg's way,
and prints one table per page, or puts them into the pages with --write. What crashes or
is undefined runs in a process of its own.
"""

from __future__ import annotations

import argparse
import ctypes
import datetime
import importlib
import os
import platform
import re
import shlex
import statistics
import subprocess
import sys
import sysconfig
import textwrap
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pkg
from pkg import scheduler

ROOT = Path(__file__).resolve().parents[3]
sys.path.append(str(ROOT / "tests" / "walkthrough"))
import stages  # noqa: E402

from twins import QUICK, twin_command  # noqa: E402

PAGES = ROOT / "docs" / "walkthrough"
COMMAND = "python tests/benchmarks/walkthrough/measure.py --write"
MARKS = re.compile(r"(?<=<!-- measured -->\n).*?(?=<!-- end -->)", re.DOTALL)
Row = tuple[str, str, str]  # the work, the naive way, ours


def build(folder: Path, quick: bool) -> Path:
    """Compiles naive.cc into `folder`; returns the module's path. Needs pybind11."""
    import pybind11

    target = folder / f"naive{sysconfig.get_config_var('EXT_SUFFIX')}"
    if quick:  # as the tests' twins, with the headers that they have read already
        compile_shared(twin_command(), "naive.cc", target, [])
    else:
        includes = [pybind11.get_include(), sysconfig.get_path("include")]
        flags = [f"-I{path}" for path in includes]
        compile_shared(compiler("-O3"), "naive.cc", target, flags)
    return target


def build_ours(folder: Path, quick: bool) -> ctypes.CDLL:
    """The same for ours.cc, which is linked to the core."""
    target = folder / "ours.so"
    flags = [*pkg.sysconfig.get_compile_flags(), *pkg.sysconfig.get_link_flags()]
    compile_shared(compiler(QUICK if quick else "-O3"), "ours.cc", target, flags)
    library = ctypes.CDLL(str(target))
    library.empty_jobs.restype = ctypes.c_double
    return library


def compiler(optimise: str) -> list[str]:
    """Its command, and the flags of both."""
    command = shlex.split(os.environ.get("CXX", "g++")) + ["-std=c++20", optimise]
    return [*command, "-fPIC", "-fvisibility=hidden", "-pthread"]


def compile_shared(
    command: list[str], source: str, target: Path, flags: list[str]
) -> None:
    """One file of this folder as a library."""
    target.parent.mkdir(parents=True, exist_ok=True)
    path = Path(__file__).with_name(source)
    command = [*command, "-shared", str(path), *flags, "-o", str(target)]
    subprocess.run(command, check=True)


class Clock:
    """Medians of repeated runs; `quick` is for the tests."""

    def __init__(self, quick: bool) -> None:
        self.quick = quick
        self.squarings = (6, 9, 12) if quick else (18, 22, 26)
        # So many that the naive way, which goes down for each, has no stack left.
        self.products = 200_000 if quick else 1_000_000
        self.repeats = 3 if quick else 9
        self.calls = 200 if quick else 20000
        self.tasks = 50 if quick else 1000

    def per_call(self, function: Callable[[], object]) -> str:
        """Time of one of many calls."""
        return shown(self._median(function, self.calls) / self.calls)

    def once(self, function: Callable[[], object]) -> str:
        """Time of one call that takes long."""
        return shown(self._median(function, 1))

    def _median(self, function: Callable[[], object], calls: int) -> float:
        taken = []
        for _ in range(self.repeats if calls > 1 else 3):
            begin = time.perf_counter()
            for _ in range(calls):
                function()
            taken.append(time.perf_counter() - begin)
        return statistics.median(taken)


def shown(seconds: float) -> str:
    """Three digits and a unit."""
    for unit, factor in (("ns", 1e9), ("us", 1e6), ("ms", 1e3)):
        if seconds * factor < 999.5:
            return f"{seconds * factor:.3g} {unit}"
    return f"{seconds:.3g} s"


def said(function: Callable[[], object]) -> str:
    """What a call answers, or its error."""
    try:
        return f"`{function()!r}`"
    except Exception as error:
        return f"{type(error).__name__}"


def threads() -> int:
    """Threads of this process now."""
    return len(os.listdir("/proc/self/task"))


def in_child(code: str, folder: Path) -> str:
    """What code prints in a process of its own, or the signal that ended it."""
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        env={**os.environ, **stages.path(folder, stages.folder_of("kit"))},
        stdout=subprocess.PIPE,
        text=True,
        timeout=120,
    )
    return (
        f"crash (signal {-done.returncode})" if done.returncode else done.stdout.strip()
    )


def step_1_add(naive: Any, clock: Clock) -> Iterator[Row]:
    pydemo = stages.load("pydemo", "kit")
    a, b = pkg.tensor(1.0, dtype=pkg.float64), pkg.tensor(2.0, dtype=pkg.float64)
    yield (
        "`add(1.0, 2.0)`",
        clock.per_call(lambda: naive.add(1.0, 2.0)),
        clock.per_call(lambda: pydemo.add(1.0, 2.0)),
    )
    yield "tensor + tensor, 0-d", "-", clock.per_call(lambda: a + b)
    n = clock.calls * 50
    xs = [float(i) for i in range(n)]
    x = pkg.tensor(xs, dtype=pkg.float64)
    yield (
        f"{n:,} additions: a call each, one call",
        clock.once(lambda: [naive.add(v, v) for v in xs]),
        clock.once(lambda: (x + x).wait()),
    )


def step_2_async_add(naive: Any, clock: Clock) -> Iterator[Row]:
    myops = stages.load("myops", "kit")

    def four(add: Callable[[float, float], object], wait: Callable[[], object]) -> None:
        for i in range(4):
            add(i, i * 10)
        assert wait() == [0.0, 11.0, 22.0, 33.0]

    yield (
        "four adds of 100 ms",
        clock.once(
            lambda: four(lambda a, b: naive.add_later(a, b, 100), naive.wait_all)
        ),
        clock.once(lambda: four(myops.add, myops.wait_all)),
    )
    results = []
    for add, wait in (
        (lambda: naive.add_later(1, 2, 300), naive.wait_all),
        (lambda: myops.add(1, 2), myops.wait_all),
    ):
        myops.set_delay(300)
        before, begin = threads(), time.perf_counter()
        for _ in range(clock.tasks):
            add()
        took = (time.perf_counter() - begin) / clock.tasks
        results.append((str(threads() - before), shown(took)))
        wait()
    myops.set_delay(100)
    yield f"threads for {clock.tasks:,} adds in flight", results[0][0], results[1][0]
    yield "to submit one of them", results[0][1], results[1][1]


def step_3_dispatcher(naive: Any, clock: Clock) -> Iterator[Row]:
    ops = stages.load("myops_dispatch_cpu", "kit")
    a, b = pkg.tensor(1.0), pkg.tensor(2.0)
    with_python_kernel = ops.register_op("measured", float.__add__)
    yield (
        '`run_op("add", 1.0, 2.0)`',
        clock.per_call(lambda: naive.run_op("add", 1.0, 2.0)),
        clock.per_call(lambda: ops.run_op("measured", 1.0, 2.0)),
    )
    with_python_kernel.remove()
    yield "`pkg.add(tensor, tensor)`, 0-d", "-", clock.per_call(lambda: pkg.add(a, b))
    yield (
        "ops and signatures",
        "1, all alike",
        f"{len(pkg.ops.functions())}, each its own",
    )


def step_4_operators(naive: Any, clock: Clock) -> Iterator[Row]:
    sync = stages.load("overload_ops_sync", "kit")
    n, s, t = naive.Number(1.5), sync.Scalar(1.5), pkg.tensor(1.5, dtype=pkg.float64)
    yield "`a + a`", clock.per_call(lambda: n + n), clock.per_call(lambda: s + s)
    yield "the same, of tensors", "-", clock.per_call(lambda: t + t)
    yield "`3.0 + a`", clock.per_call(lambda: 3.0 + n), clock.per_call(lambda: 3.0 + s)
    yield "`a + 3.0`", said(lambda: n + 3.0), said(lambda: s + 3.0)
    yield "`None + a`", said(lambda: None + n), said(lambda: None + s)
    yield (
        "`repr` of 1e-9",
        said(lambda: naive.Number(1e-9)),
        said(lambda: sync.Scalar(1e-9)),
    )


def step_5_async_scalar(naive: Any, clock: Clock) -> Iterator[Row]:
    async_ = stages.load("overload_ops_async", "kit")
    n, s = naive.Later(1.5), async_.Scalar(1.5)

    def dropping(make: Callable[[], object]) -> str:
        value = make()
        begin = time.perf_counter()
        del value
        return shown(time.perf_counter() - begin)

    yield (
        "to drop a result that takes 50 ms",
        dropping(lambda: n.plus(n, 50)),
        dropping(lambda: s + s),
    )
    async_.set_delay(0.5)
    sums = []
    for total, add in ((n, lambda x: x.plus(n, 1)), (s, lambda x: x + s)):
        before, keep = threads(), [total]
        for _ in range(clock.tasks):
            keep.append(add(keep[-1]))
        sums.append(str(threads() - before))
        del keep
    async_.set_delay(50)
    yield f"threads for a sum of {clock.tasks:,} terms", *sums


def step_6_queue_and_pool(naive: Any, clock: Clock) -> Iterator[Row]:
    pool = stages.load("overload_ops_pool", "kit")
    workers = scheduler.num_threads()
    theirs, ours = naive.Pool(workers), pool.JobQueue(ordered=False)
    n = naive.Later(1.0)

    def behind_a_chain(add: Callable[[Any], Any], first: Any, last: Callable) -> str:
        begin, value = time.perf_counter(), first
        for _ in range(20):
            value = add(value)
        last()
        took = shown(time.perf_counter() - begin)
        return took

    pool.set_delay(20)
    yield (
        f"an independent job behind 20 dependent ones of 20 ms, {workers} workers",
        behind_a_chain(
            lambda x: theirs.plus(x, n, 20), n, lambda: theirs.plus(n, n, 0).get()
        ),
        behind_a_chain(
            lambda x: x + x,
            pool.Scalar(1.0),
            lambda: pool.default_queue().submit(int).result(),
        ),
    )
    theirs.flush()
    pool.flush()
    pool.set_delay(40)

    def through(submit: Callable[[], object], flush: Callable[[], object]) -> None:
        submit()
        flush()

    yield (
        "submit `int`, a Python callable, and flush",
        clock.per_call(lambda: through(lambda: theirs.call(int), theirs.flush)),
        clock.per_call(lambda: through(lambda: ours.submit(int), ours.flush)),
    )
    yield (
        "the same by `pkg.scheduler`",
        "-",
        clock.per_call(lambda: scheduler.submit(int).wait()),
    )
    library = build_ours(Path(naive.__file__).parent, clock.quick)
    jobs = clock.calls * 5
    for count in (1, 2, 4):
        crowd = naive.Pool(count)
        scheduler.set_num_threads(count)
        fastest = [
            min(run(count, jobs) for _ in range(clock.repeats))
            for run in (crowd.empty_jobs, library.empty_jobs)
        ]
        yield (
            f"an empty job in C++, {count} submitting, {count} working",
            *(shown(seconds / jobs) for seconds in fastest),
        )
    scheduler.set_num_threads(workers)


def step_7_autograd(naive: Any, clock: Clock) -> Iterator[Row]:
    folder = Path(naive.__file__).parent
    node = stages.load("scalar_mul_grad_class", "kit").Scalar
    sample = """
        import naive
        from scalar_mul_grad_class import Scalar
        a, b, c = map({}, (2.0, 3.0, 4.0))
        y = a * b * c
        y.backward(1.0)
        print(*(f"{{x.grad:g}}" for x in (a, b, c)), sep=", ")
    """
    yield (
        "gradients of a, b, c in a * b * c at 2, 3, 4",
        in_child(sample.format("naive.Node"), folder),
        in_child(sample.format("Scalar"), folder),
    )
    for levels in clock.squarings:
        naive_time = squarings(naive.Node(1.0), levels)
        ours = squarings(node(1.0), levels)
        yield f"backward through {levels} squarings", shown(naive_time), shown(ours)
    ours = squarings(node(1.0), 60)
    yield "backward through 60 squarings", "(2^60 steps)", shown(ours)
    chain = """
        import time, naive, pkg
        x = naive.Node(1.0) if {} else pkg.tensor(1.0, requires_grad=True)
        keep = [x]
        for _ in range({}):
            keep.append(keep[-1] * x)
        if {}:
            keep[-1].backward(1.0)
        y = keep.pop()
        del keep
        begin = time.perf_counter()
        y.backward()
        print(f"{{time.perf_counter() - begin:.2g}} s")
    """
    yield (
        f"a chain of {clock.products:,} products (ours: tensors)",
        in_child(chain.format(True, clock.products, True), folder),
        in_child(chain.format(False, clock.products, False), folder),
    )


def squarings(start: Any, levels: int) -> float:
    """Seconds of backward() through y = y * y, `levels` times."""
    keep = [start]
    for _ in range(levels):
        keep.append(keep[-1] * keep[-1])
    begin = time.perf_counter()
    keep[-1].backward(1.0)
    return time.perf_counter() - begin


STEPS = {
    "1_add.md": step_1_add,
    "2_async_add.md": step_2_async_add,
    "3_dispatcher.md": step_3_dispatcher,
    "4_operators.md": step_4_operators,
    "5_async_scalar.md": step_5_async_scalar,
    "6_queue_and_pool.md": step_6_queue_and_pool,
    "7_autograd.md": step_7_autograd,
}


def machine() -> str:
    """Where the numbers are from."""
    lines = Path("/proc/cpuinfo").read_text(errors="replace").splitlines()
    models = [line.split(":", 1)[1].strip() for line in lines if "model name" in line]
    cores = scheduler.num_threads()
    return (
        f"{models[0] if models else platform.machine()}, "
        f"{cores} core{'s' * (cores > 1)}, "
        f"Python {platform.python_version()}, {datetime.date.today().isoformat()}"
    )


def as_table(rows: list[Row]) -> str:
    """Rows with a head, as a page shows them."""
    lines = ["| | naive | pkg |", "|---|---:|---:|"]
    lines += [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join(lines) + "\n"


def main() -> None:
    """All steps; one page after the other."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="few, short repeats; -O0")
    parser.add_argument("--write", action="store_true", help="put them into the pages")
    options = parser.parse_args()
    if options.write and options.quick:
        parser.error("--write needs the full run")
    stages.quick = options.quick
    folder = "walkthrough-quick" if options.quick else "walkthrough"
    path = build(ROOT / "build" / folder, options.quick)
    sys.path.insert(0, str(path.parent))
    naive = importlib.import_module("naive")
    for name, step in STEPS.items():
        table = as_table(list(step(naive, Clock(options.quick))))
        print(f"{name}\n\n{table}", flush=True)
        if options.write:
            page = PAGES / name
            block = f"\n`{COMMAND}`\n({machine()}):\n\n{table}\n"
            text, count = MARKS.subn(lambda _, b=block: b, page.read_text("utf-8"))
            assert count == 1, f"{name}: expected one place between the marks"
            page.write_text(text, "utf-8")


if __name__ == "__main__":
    main()
