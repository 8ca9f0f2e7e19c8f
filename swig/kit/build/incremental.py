# SPDX-License-Identifier: Apache-2.0
"""Runs commands that make files, in parallel, and only where something changed.

Called by setup.py and by wrap.py beside it.  Knows nothing of pkg, Python extensions or
SWIG: a Step is a command with one output.  It is run again when its command changed or
when anything it read (its inputs and what the compiler wrote in its depfile) is newer
than its last run.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import time
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from pathlib import Path


class BuildError(Exception):
    """A command failed, or something that the build needs is missing."""


@dataclass
class Step:
    """One command.  `verb` and `label` are its line in the report."""

    verb: str
    label: str
    command: list[str]
    output: Path
    inputs: list[Path] = field(default_factory=list)
    depfile: Path | None = None
    identity: str = ""  # what the command line does not show, such as a tool's version
    environment: dict[str, str] = field(default_factory=dict)  # added to ours
    folder: Path | None = None  # where it is run, by default in the build's root
    ignored: str = ""  # lines of its output that nobody needs, a pattern
    refused: str = ""  # what in its output makes it a failure, a pattern

    @property
    def record(self) -> Path:
        """The file that remembers the command which made the output."""
        return self.output.with_name(self.output.name + ".cmd")


class Runner:
    """Runs lists of steps and counts what was done.

    `build_dir` may move (an sdist built with another tree's folder), and each isolated
    build has its tools elsewhere: such folders are left out of a command's identity.
    """

    def __init__(
        self, root: Path, build_dir: Path, jobs: int, verbose: bool = False
    ) -> None:
        self.root = root
        self.build_dir = build_dir
        self.jobs = max(1, jobs)
        self.verbose = verbose
        self.done: dict[str, int] = {}
        self.total = 0
        self.cpu_seconds: dict[str, float] = {}  # of the steps that ran, by label
        self._mtimes: dict[str, int] = {}

    def run(self, steps: list[Step]) -> None:
        """Runs the stale ones of `steps`, which must not depend on each other."""
        self._mtimes.clear()
        self.total += len(steps)
        stale = [(s, why) for s in steps if (why := self.why_stale(s))]
        # The largest first: the last ones to finish are then short.
        stale.sort(key=lambda item: -_size(item[0].inputs))
        with ThreadPoolExecutor(self.jobs) as pool:
            futures = [pool.submit(self._make, step, why) for step, why in stale]
            try:
                wait(futures, return_when=FIRST_EXCEPTION)
            finally:  # a failure or Ctrl-C: what runs may end, nothing more begins
                for future in futures:
                    future.cancel()
        for future in futures:
            if not future.cancelled():
                future.result()

    def why_stale(self, step: Step) -> str:
        """Why the step must run, in words; empty when it need not."""
        made = self._mtime(step.output)
        if made < 0:
            return "new"
        if _read(step.record) != self._identity(step):
            return "command changed"
        read = [str(path) for path in step.inputs]
        if step.depfile is not None:
            text = _read(step.depfile)
            if not text:
                return "depfile missing"
            read += parse_depfile(text)
        for name in read:
            when = self._mtime(self.root / name)
            if when < 0:
                return f"{name} is gone"
            if when > made:
                return f"{name} changed"
        return ""

    def changed_meanwhile(self, step: Step) -> bool:
        """Whether what the step read was saved since it began."""
        self._mtimes.clear()
        return bool(self.why_stale(step))

    def summary(self) -> str:
        """Such as 'compiled 1, linked 2 of 54 steps'."""
        done = ", ".join(f"{verb} {n}" for verb, n in sorted(self.done.items()))
        return f"{done or 'nothing to do'} of {self.total} steps"

    def timings(self) -> str:
        """CPU seconds of the steps that ran: a table of folders, the ten dearest."""
        folders: dict[str, list[float]] = {}
        for label, seconds in self.cpu_seconds.items():
            folder = "/".join(Path(label).parts[:-1][:3]) or "other"
            folders.setdefault(folder, []).append(seconds)
        rows = [
            f"{name:28}{len(all_):6}{sum(all_):9.1f}"
            for name, all_ in sorted(folders.items(), key=lambda row: -sum(row[1]))
        ]
        dearest = sorted(self.cpu_seconds.items(), key=lambda row: -row[1])[:10]
        rows += ["", *(f"{label:34}{seconds:9.1f}" for label, seconds in dearest)]
        return "\n".join([f"{'folder':28}{'steps':>6}{'CPU s':>9}", *rows])

    def _make(self, step: Step, why: str) -> None:
        step.output.parent.mkdir(parents=True, exist_ok=True)
        step.record.unlink(missing_ok=True)
        if self.verbose:
            print(f"  [{why}] {' '.join(step.command)}", flush=True)
        began = time.time_ns()
        status, text, self.cpu_seconds[step.label] = self._execute(step)
        if status != 0 or (step.refused and re.search(step.refused, text)):
            step.output.unlink(missing_ok=True)
            raise BuildError(
                f"{step.label}: the command failed ({status})\n"
                f"  {' '.join(step.command)}\n{text}"
            )
        # The output is as old as the moment its inputs began to be read, so that a file
        # saved while it was compiled counts as newer.
        os.utime(step.output, ns=(began, began))
        step.record.write_text(self._identity(step), encoding="utf-8")
        seconds = (time.time_ns() - began) / 1e9
        print(f"{step.verb} {step.label} ({seconds:.1f} s)", flush=True)
        if step.ignored:
            lines = text.splitlines()
            text = "\n".join(ln for ln in lines if not re.search(step.ignored, ln))
        if text.strip():
            print(text.rstrip(), flush=True)
        self.done[step.verb] = self.done.get(step.verb, 0) + 1

    def _execute(self, step: Step) -> tuple[int, str, float]:
        """Exit status, output and CPU seconds of the command and what it started."""
        with subprocess.Popen(
            step.command,
            cwd=step.folder or self.root,
            env={**os.environ, **step.environment},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
        ) as process:
            text = process.stdout.read() if process.stdout else ""
            _, status, used = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        return process.returncode, text, used.ru_utime + used.ru_stime

    def _identity(self, step: Step) -> str:
        tool = os.path.basename(step.command[0])
        text = "\n".join([step.identity, tool, *step.command[1:]])
        return text.replace(str(self.build_dir), "$BUILD").replace(
            str(self.root), "$ROOT"
        )

    def _mtime(self, path: Path | str) -> int:
        """In ns, -1 for a file that is not there; looked up once in each run()."""
        key = str(path)
        if key not in self._mtimes:
            try:
                self._mtimes[key] = os.stat(key).st_mtime_ns
            except OSError:
                self._mtimes[key] = -1
        return self._mtimes[key]


def parse_depfile(text: str) -> list[str]:
    """The files that a make rule written by gcc or swig depends on."""
    _, _, files = text.replace("\\\n", " ").partition(": ")
    return [re.sub(r"\\(.)", r"\1", f) for f in re.findall(r"(?:\\.|[^\\\s])+", files)]


def write_depfile(depfile: Path, output: Path, read: list[Path]) -> None:
    """The make rule that parse_depfile reads."""
    names = [re.sub(r"([ #\\])", r"\\\1", str(path)) for path in (output, *read)]
    depfile.write_text(f"{names[0]}: {' '.join(names[1:])}\n", encoding="utf-8")


def place(made: Path, target: Path) -> None:
    """Copies a file that differs; a process that has loaded the old one keeps it."""
    old = target.stat() if target.exists() else None
    new = made.stat()
    if old and (old.st_size, old.st_mtime_ns) == (new.st_size, new.st_mtime_ns):
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    temporary = target.with_name(f"{target.name}.{os.getpid()}.tmp")
    shutil.copy2(made, temporary)
    os.replace(temporary, target)


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError:
        return ""


def _size(paths: list[Path]) -> int:
    """Of the sources: what a step reads besides does not tell how long it takes."""
    sources = [path for path in paths if path.suffix in (".cc", ".i")]
    return sum(path.stat().st_size for path in sources if path.exists())
