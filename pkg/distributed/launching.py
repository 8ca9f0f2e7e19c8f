# SPDX-License-Identifier: Apache-2.0
"""Starting a program on N ranks over MPI's own launcher, and ending all of them."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO

from . import mpi, worker
from .channel import VARIABLE, Channel

__all__ = ["launch", "parse_hosts"]

GRACE = 10.0  # seconds that the others have after the first rank has failed
PATIENCE = 8.0  # seconds until what does not end is made to; a worker needs 4


def parse_hosts(text: str) -> dict[str, int]:
    """Slots of each host in "host1:2,host2:4"; a host alone has one.

    ValueError for anything else."""
    hosts: dict[str, int] = {}
    for item in text.split(","):
        found = re.fullmatch(r"([A-Za-z0-9][A-Za-z0-9._-]*)(?::(\d+))?", item.strip())
        if not found or found[2] is not None and int(found[2]) < 1:
            raise ValueError(f"expected HOST:SLOTS,..., got {item!r} in {text!r}")
        if found[1] in hosts:
            raise ValueError(f"expected each host once, got {found[1]!r} twice")
        hosts[found[1]] = int(found[2] or 1)
    return hosts


def _command(program: list[str]) -> list[str]:
    # A Python file, or a command that there is; "--" may stand before it.
    if program[:1] == ["--"]:
        program = program[1:]
    if not program:
        raise ValueError("expected a program, got none")
    name = program[0]
    if name.endswith(".py"):
        if not os.path.isfile(name):
            raise ValueError(f"expected a program, found no file {name!r}")
        return [sys.executable, *program]
    if name in ("python", "python3"):
        return [sys.executable, *program[1:]]
    if shutil.which(name) is None:
        raise ValueError(f"expected a program, found no command {name!r}")
    return program


def _checked_launcher() -> str:
    launcher = mpi.find_launcher()
    if launcher is None:
        raise ValueError("found no mpiexec. Install MPI: pip install mpich")
    asked = [launcher, "--version"]
    try:
        said = subprocess.run(
            asked, capture_output=True, stdin=subprocess.DEVNULL, timeout=PATIENCE
        ).stdout.decode("utf-8", "replace")
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ValueError(f"cannot run {' '.join(asked)}: {error}") from error
    if re.search("open.?(mpi|rte)|prrte", said, re.IGNORECASE):
        raise ValueError(
            f"expected the mpiexec of MPICH, found that of Open MPI, {launcher} "
            f"({said.splitlines()[0]}), which has other options. Install MPICH: pip "
            "install mpich; or start the ranks yourself: mpiexec -n N python PROGRAM"
        )
    return launcher


class _Run:
    """MPI's launcher while it runs, and what its ranks have said."""

    def __init__(self, command: list[str], count: int, elsewhere: bool) -> None:
        self.count = count
        self.channel = Channel(count, elsewhere)
        self.codes = self.channel.codes
        self.changed = self.channel.changed
        self.ending = False
        self.process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, start_new_session=True,
            env={**os.environ, VARIABLE: self.channel.address},
        )  # fmt: skip
        streams = ((self.process.stdout, "stdout"), (self.process.stderr, "stderr"))
        self._copies = [
            threading.Thread(target=self._copy, args=pair, daemon=True)
            for pair in streams
        ]
        for copy in self._copies:
            copy.start()
        threading.Thread(target=self._wait, daemon=True).start()

    def _copy(self, source: IO[bytes], name: str) -> None:
        # What MPI's launcher itself says: of its own end nothing is new.
        for line in source:
            if not self.ending:
                self.channel.write(name, line)

    def _wait(self) -> None:
        self.process.wait()
        with self.changed:
            self.changed.notify_all()

    def over(self) -> bool:
        return (
            self.channel.error is not None
            or self.process.poll() is not None
            or len(self.codes) == self.count
        )

    def failed(self) -> bool:
        return any(self.codes.values())

    def end(self) -> None:
        """End it and its ranks, in bounded time."""
        self.ending = True
        self.channel.close()  # the workers end their programs, and themselves
        for ask in (self.process.terminate, self.process.kill):
            try:
                self.process.wait(PATIENCE)
                break
            except subprocess.TimeoutExpired:
                ask()
        self.process.wait()
        self.channel.finish(PATIENCE)
        for copy in self._copies:
            copy.join(PATIENCE)


@contextmanager
def _signals_raise() -> Iterator[None]:
    # SystemExit where we are, as for Ctrl-C: so the ranks are ended before us.
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    numbers = (signal.SIGTERM, signal.SIGHUP)
    before = {n: signal.getsignal(n) for n in numbers}
    taken = [n for n in numbers if before[n] == signal.SIG_DFL]  # not under nohup

    def stop(number: int, _: object) -> None:
        for n in taken:
            signal.signal(n, signal.SIG_IGN)  # while the ranks are ended
        raise SystemExit(128 + number)

    for n in taken:
        signal.signal(n, stop)
    try:
        yield
    finally:
        for n in taken:
            signal.signal(n, before[n])


def launch(
    program: list[str], count: int, hosts: dict[str, int] | None = None,
    grace: float = GRACE,
) -> int:  # fmt: skip
    """Run the program on ``count`` ranks; return 0, or the exit code of the rank that
    failed first.

    program: a Python file or a command, with its arguments.
    hosts: slots by name; by default all ranks are here.
    grace: seconds until the other ranks are ended after one has failed.
    Each line of output has its rank before it: ``[1]<stderr>:``.  OSError where it
    cannot be written; all ranks are ended then, as after SIGTERM and SIGHUP.
    ValueError for a program that is not there, too few slots, or where MPICH is not
    installed.  The ranks have an empty stdin.
    """
    command = _command(program)
    if hosts is not None and count > sum(hosts.values()):
        raise ValueError(
            f"expected at most {sum(hosts.values())} processes, the slots of "
            f"{', '.join(hosts)}, got {count}"
        )
    whole = [_checked_launcher(), "-n", str(count)]
    if hosts:
        whole += ["-hosts", ",".join(f"{name}:{n}" for name, n in hosts.items())]
    whole += [sys.executable, os.path.abspath(worker.__file__), *command]
    with _signals_raise():
        run = _Run(whole, count, bool(hosts))
        try:
            with run.changed:
                run.changed.wait_for(lambda: run.over() or run.failed())
                if run.failed():
                    run.changed.wait_for(run.over, grace)
        finally:
            run.end()
    if run.channel.error is not None:
        raise run.channel.error
    first = next((code for code in run.codes.values() if code), None)
    if first is not None:
        rank = next(rank for rank, code in run.codes.items() if code)
        print(f"pkg: rank {rank} ended with exit code {first}", file=sys.stderr)
        return first
    if len(run.codes) == count:
        return 0
    code = run.process.returncode or 1
    print(
        f"pkg: MPI's launcher ended with exit code {code}, before "
        f"{count - len(run.codes)} of {count} ranks had told how they ended",
        file=sys.stderr,
    )
    return code
