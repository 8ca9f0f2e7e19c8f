# SPDX-License-Identifier: Apache-2.0
"""Starting a program on N ranks over MPI's own launcher, and ending all of them."""

from __future__ import annotations

import os
import re
import secrets
import shutil
import subprocess
import sys
import threading

from . import mpi, worker

__all__ = ["launch", "parse_hosts"]

GRACE = 10.0  # seconds that the others have after the first rank has failed
KILL = 5.0  # seconds between asking MPI's launcher to end and making it


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
    # A Python file, or a command that there is.
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


class _Run:
    """MPI's launcher while it runs, and what its ranks have said."""

    def __init__(self, command: list[str], token: str, count: int) -> None:
        self.codes: dict[int, int] = {}  # of ranks that have ended, in that order
        self._ends = 0  # of streams: two for each rank
        self.count = count
        self.changed = threading.Condition()
        self.ending = False
        self._mark = f"\x1e{token} ".encode()
        self.process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, start_new_session=True,
        )  # fmt: skip
        streams = (
            (self.process.stdout, sys.stdout),
            (self.process.stderr, sys.stderr),
        )
        self._copies = [
            threading.Thread(target=self._copy, args=pair, daemon=True)
            for pair in streams
        ]
        for copy in self._copies:
            copy.start()
        threading.Thread(target=self._wait, daemon=True).start()

    def _copy(self, source, target) -> None:  # type: ignore[no-untyped-def]
        for line in source:
            if line.startswith(self._mark):
                rank, code = line[len(self._mark) :].split()
                with self.changed:
                    self.codes.setdefault(int(rank), int(code))
                    self._ends += 1
                    self.changed.notify_all()
            elif not self.ending or re.match(rb"\[\d+\]<", line):
                # Of what MPI's launcher says of its own end nothing is new.
                target.write(line.decode("utf-8", "replace"))
                target.flush()

    def _wait(self) -> None:
        self.process.wait()
        with self.changed:
            self.changed.notify_all()

    def over(self) -> bool:
        return self.process.poll() is not None or self._ends == 2 * self.count

    def failed(self) -> bool:
        return any(self.codes.values())

    def end(self) -> None:
        """End it and its ranks, in bounded time."""
        self.ending = True
        if self.process.poll() is None:
            self.process.terminate()
        try:
            self.process.wait(KILL)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        for copy in self._copies:
            copy.join(KILL)


def launch(
    program: list[str], count: int, hosts: dict[str, int] | None = None,
    grace: float = GRACE,
) -> int:  # fmt: skip
    """Run the program on ``count`` ranks; return 0, or the exit code of the rank that
    failed first.

    program: a Python file or a command, with its arguments.
    hosts: slots by name; by default all ranks are here.
    grace: seconds until the other ranks are ended after one has failed.
    Each line of output has its rank before it: ``[1]<stderr>:``.  ValueError for a
    program that is not there, too few slots, or where MPI is not installed.
    """
    command = _command(program)
    if hosts is not None and count > sum(hosts.values()):
        raise ValueError(
            f"expected at most {sum(hosts.values())} processes, the slots of "
            f"{', '.join(hosts)}, got {count}"
        )
    launcher = mpi.find_launcher()
    if launcher is None:
        raise ValueError("found no mpiexec. Install MPI: pip install mpich")
    token = secrets.token_hex(8)
    whole = [launcher, "-n", str(count)]
    if hosts:
        whole += ["-hosts", ",".join(f"{name}:{n}" for name, n in hosts.items())]
    whole += [sys.executable, os.path.abspath(worker.__file__), token, *command]
    run = _Run(whole, token, count)
    try:
        with run.changed:
            run.changed.wait_for(lambda: run.over() or run.failed())
            if run.failed():
                run.changed.wait_for(run.over, grace)
    finally:
        run.end()
    first = next((code for code in run.codes.values() if code), None)
    if first is not None:
        rank = next(rank for rank, code in run.codes.items() if code)
        print(f"pkg: rank {rank} ended with exit code {first}", file=sys.stderr)
        return first
    return 0 if len(run.codes) == count else run.process.returncode or 1
