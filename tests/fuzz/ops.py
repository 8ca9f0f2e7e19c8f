# SPDX-License-Identifier: Apache-2.0
"""Fuzzes every op of the registry: random calls, compared with PyTorch.

    python tests/fuzz/ops.py [--calls 1000000] [--seed 1] [--jobs 2] [--op PATTERNS]
                             [--no-torch] [--shrink] [--report FILE]
    python tests/fuzz/ops.py --case add:1.37 [--shrink]

Arguments are made from the schemas (generate.py, families/); most calls make sense,
some are bent, some wild.  They run in children with limits of time and memory.
Findings are grouped by what is seen; docs/differences.md lists what is known and why.
Without PyTorch, or with --no-torch, calls are compared with themselves (selfcheck.py).
--case makes one call again and prints it as a line of Python.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import mmap
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
if str(TESTS) not in sys.path:
    sys.path.insert(0, str(TESTS))
sys.path.append(str(TESTS.parent))  # behind what PYTHONPATH says
if sys.path[0] == str(Path(__file__).parent):
    del sys.path[0]

from fuzz.report import Report  # noqa: E402
from fuzz.run import (  # noqa: E402
    NOTE,
    NOTE_SIZE,
    case_of,
    chosen,
    limit_memory,
    main as run_child,
)

CHUNK = 25_000  # calls of one child
TIME_LIMIT = 10  # seconds for one call; `--time-limit` gives sanitizers more
TOO_OFTEN = 6  # crashes of one op, then it is left out
TO_START = 300  # seconds until the first call: imports are slow on a busy machine
STARTING = (b"\0", b"w")  # stages before it
RETRIES = 3  # of a child that ends before its first call
STAGES = {"t": "PyTorch", "h": "PyTorch"}


def death(status: int | None, stderr: str, hung: bool) -> tuple[str, str]:
    """Kind and text of a child's end."""
    summary = re.search(r"SUMMARY: (\w+Sanitizer: .*)", stderr)
    if summary:
        return "sanitizer", re.sub(r"/\S*/", "", summary[1])[:110]
    runtime = re.search(r"([\w./]+:\d+):\d+: runtime error: (.*)", stderr)
    if runtime:
        return "sanitizer", f"{Path(runtime[1]).name} {runtime[2]}"[:110]
    if hung:
        return "hang", "no answer within the limit"
    if status is not None and status < 0:
        said = re.findall(
            r"^(?!Fatal|  File|Current|Thread|Extension).*\S.*$", stderr, re.M
        )
        text = said[0][:80] if said and status == -signal.SIGABRT else ""
        return "crash", f"{signal.Signals(-status).name} {text}".strip()
    lines = [text for text in stderr.splitlines() if text.strip()]
    return "crash", f"status {status}: {(lines or [''])[-1][:90]}"


class Job(threading.Thread):
    """Takes ranges of calls and gives them to children, one after another."""

    def __init__(self, run: Run) -> None:
        super().__init__(daemon=True)
        self.owner = run
        self.failures = 0  # children in a row that did not start

    def run(self) -> None:
        while (part := self.owner.next_part()) is not None:
            start, end = part
            while start < end:
                start = self.child(start, end)

    def child(self, start: int, end: int) -> int:
        """One child; where the next one goes on."""
        run, options = self.owner, self.owner.options
        with tempfile.TemporaryDirectory() as folder:
            journal, errors = Path(folder, "journal"), Path(folder, "stderr")
            journal.write_bytes(bytes(NOTE_SIZE))
            command = [
                sys.executable,
                __file__,
                "--start",
                str(start),
                "--end",
                str(end),
            ]
            command += ["--journal", str(journal), "--seed", str(options.seed)]
            command += ["--op", options.op, "--skip", ",".join(run.report.skipped)]
            command += ["--no-torch"] * options.no_torch
            with errors.open("wb") as stderr:
                process = subprocess.Popen(
                    command, stdout=subprocess.PIPE, stderr=stderr, cwd=folder
                )
            reader = threading.Thread(target=run.read, args=(process.stdout,))
            reader.start()
            with journal.open("r+b") as file:
                note = mmap.mmap(file.fileno(), NOTE_SIZE)
            hung = watch(process, note, options.time_limit)
            reader.join()
            index, stage = NOTE.unpack_from(note, 0)
            if process.returncode == 0 and not hung:
                self.failures = 0
                return end
            text = errors.read_text(errors="replace")
        kind, what = death(process.returncode, text, hung)
        if stage in STARTING:
            self.failures += 1
            if self.failures <= RETRIES:
                return start
            with run.lock:
                said = f"a child did not start: {kind} {what}"
                run.report.add("-", "fuzzer", f"{said} | calls from {start} to {end}")
            return end
        self.failures = 0
        op, number = case_of(run.names, options.seed, index)
        run.died(op, f"{op}:{number}", kind, what, stage.decode())
        return index + 1


def watch(process: subprocess.Popen[bytes], note: mmap.mmap, limit: float) -> bool:
    """Waits for the child; ends it when it stays at one call, which is True."""
    before, since = b"", time.monotonic()
    while True:
        try:
            process.wait(0.2)
            return False
        except subprocess.TimeoutExpired:
            pass
        now = bytes(note[: NOTE.size])
        if now != before:
            before, since = now, time.monotonic()
        elif time.monotonic() - since > (TO_START if now[-1:] in STARTING else limit):
            process.kill()
            process.wait()
            return True


class Run:
    """The parent."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.names = chosen(options.op)
        self.report = Report()
        self.lock = threading.Lock()
        self.crashes: Counter[str] = Counter()
        self.next = 0
        self.began = time.monotonic()

    def next_part(self) -> tuple[int, int] | None:
        """The next range of calls."""
        with self.lock:
            start = self.next
            self.next = min(start + self.chunk, self.options.calls)
            return (start, self.next) if start < self.next else None

    @property
    def chunk(self) -> int:
        return max(1, min(CHUNK, -(-self.options.calls // self.options.jobs)))

    def read(self, stdout: object) -> None:
        """What a child says."""
        for line in stdout:  # type: ignore[attr-defined]
            if not line.startswith(b"{"):
                continue  # libraries print, too
            with self.lock:
                self.hear(json.loads(line))

    def hear(self, said: dict) -> None:
        if "case" in said:
            op = said["case"].partition(":")[0]
            self.report.add(op, said["kind"], said["text"], said["case"])
        for key, count in said.get("more", {}).items():
            op, kind, text = key.split("\t")
            self.report.add(op, kind, text, count=count)
        for key, count in said.get("stats", {}).items():
            self.report.stats[key] += count
            self.report.calls += count * key.endswith("calls")
        if "at" in said and self.options.verbose:
            seconds = time.monotonic() - self.began
            rate = self.report.calls / seconds
            kinds = len(self.report.new)
            print(f"{self.report.calls} calls, {rate:.0f}/s, {kinds} kinds",
                  file=sys.stderr, flush=True)  # fmt: skip

    def died(self, op: str, case: str, kind: str, text: str, stage: str) -> None:
        """A child did."""
        with self.lock:
            owner = STAGES.get(stage)
            if owner:
                self.report.add(op, owner, f"{kind} {text}", case)
            else:
                self.report.add(op, kind, text, case)
            self.crashes[op] += 0 if owner else 1
            if self.crashes[op] >= TOO_OFTEN:
                self.report.skipped.add(op)

    def all(self) -> int:
        """Exit status: 0 when there are no findings but known ones."""
        jobs = [Job(self) for _ in range(self.options.jobs)]
        for job in jobs:
            job.start()
        try:
            for job in jobs:
                job.join()
        except KeyboardInterrupt:
            self.next = self.options.calls  # the report of what there is
        if self.options.shrink:
            from fuzz.shrink import shrink_all

            shrink_all(self.report, not self.options.no_torch)
        lines = self.report.lines()
        lines.append(f"seed {self.options.seed}, {time.monotonic() - self.began:.0f} s")
        print("\n".join(lines))
        if self.options.report:
            Path(self.options.report).write_text("\n".join(lines) + "\n")
        return 1 if self.report.new else 0


def one_case(options: argparse.Namespace) -> int:
    """Makes one call again."""
    from fuzz.check import Checker
    from fuzz.generate import generate
    from fuzz.text import line

    op, _, number = options.case.partition(":")
    call = generate(op, number)
    print(line(call), flush=True)
    if options.shrink:
        from fuzz.shrink import shrink_case

        print("shrunk:", shrink_case(options.case, not options.no_torch), flush=True)
    checker = Checker(not options.no_torch)
    limit_memory()
    found = checker.check(call, thorough=True)[1]
    ours = checker.run_ours(call)
    print("pkg:    ", shown(ours))
    if checker.torch and (theirs := checker.run_torch(call)) is not None:
        print("PyTorch:", shown(theirs))
    for kind, text in found:
        print(f"{kind}: {text}")
    return 1 if found else 0


def shown(outcome: object) -> str:
    """An outcome in one line."""
    error = outcome.error  # type: ignore[attr-defined]
    if error is not None:
        return f"{type(error).__name__}: {str(error)[:300]}"
    results = outcome.results  # type: ignore[attr-defined]
    return "; ".join(
        r.head()
        + (f" {r.array.tolist()}" if r.array is not None and r.array.size < 40 else "")
        for r in results
    )


def options_of(arguments: list[str]) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--calls", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--op", default="*", help="patterns of names, with commas")
    parser.add_argument("--case", help="one call: OP:NUMBER as a report names it")
    parser.add_argument("--no-torch", action="store_true")
    parser.add_argument("--shrink", action="store_true", help="make examples short")
    parser.add_argument("--report", help="a file for the report")
    parser.add_argument("--time-limit", type=float, default=TIME_LIMIT)
    parser.add_argument("--verbose", action="store_true")
    for hidden in ("--start", "--end"):
        parser.add_argument(hidden, type=int, default=0, help=argparse.SUPPRESS)
    for hidden in ("--journal", "--skip"):
        parser.add_argument(hidden, default="", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    options.no_torch |= importlib.util.find_spec("torch") is None
    return options


def main(arguments: list[str]) -> int:
    """Exit status."""
    options = options_of(arguments)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    if options.journal:
        run_child(options)
        return 0
    if options.case:
        return one_case(options)
    return Run(options).all()


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
