# SPDX-License-Identifier: Apache-2.0
"""What MPI's launcher starts for each rank: it runs the program, puts the rank before
each line of output, and tells ``pkg launch`` both that and how the program ended.

Run by its path, without pkg.  MPI's launcher ends all ranks as soon as one process of
its own ends badly; this one stays, so that the other ranks can find out and report it,
until ``pkg launch`` ends all, or is gone.
"""

from __future__ import annotations

import ctypes
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import suppress
from typing import IO

PR_SET_PDEATHSIG = 1
CONNECTS = 30.0  # seconds that it may take to reach ``pkg launch``
LEFT = 2.0  # seconds for output that a process left behind by the program keeps open
OBEYS = 2.0  # seconds that a program may take to end when it is asked to


def rank_of() -> int:
    """Our rank, from what MPI's launcher has set."""
    for rank in (
        os.environ.get("PMI_RANK"),
        os.environ.get("PMIX_RANK"),
        os.environ.get("OMPI_COMM_WORLD_RANK"),
    ):
        if rank is not None:
            return int(rank)
    raise SystemExit("pkg: error: expected to be started by MPI's launcher")


def connect() -> socket.socket:
    """The connection to ``pkg launch``; the program does not hear of it."""
    host, port, token = os.environ.pop("PKG_LAUNCH_CHANNEL").split()
    try:
        channel = socket.create_connection((host, int(port)), CONNECTS)
    except OSError as error:
        text = f"pkg: error: cannot reach pkg launch on {host}: {error}"
        raise SystemExit(text) from None
    channel.settimeout(None)
    channel.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    channel.sendall(f"{token} {rank_of()}\n".encode())
    return channel


class Copies:
    """Copies each line of what the program writes, behind its kind and its prefix."""

    def __init__(self, channel: socket.socket, program: subprocess.Popen[bytes]):
        self.channel = channel
        self.lock = threading.Lock()
        rank = rank_of()
        sources = (
            (program.stdout, f"1[{rank}]<stdout>:"),
            (program.stderr, f"2[{rank}]<stderr>:"),
        )
        self.threads = [
            threading.Thread(target=self.copy, args=pair, daemon=True)
            for pair in sources
        ]
        for thread in self.threads:
            thread.start()

    def copy(self, source: IO[bytes], prefix: str) -> None:
        """All lines of the source, until its end."""
        for line in source:
            self.send(prefix.encode() + line.removesuffix(b"\n"))

    def send(self, line: bytes) -> None:
        """In one piece.  Nothing where ``pkg launch`` is gone."""
        with self.lock, suppress(OSError):
            self.channel.sendall(line + b"\n")

    def finish(self) -> None:
        """Wait for the end of both, for LEFT seconds at most."""
        deadline = time.monotonic() + LEFT
        for thread in self.threads:
            thread.join(max(0.0, deadline - time.monotonic()))


def main(command: list[str]) -> int:
    """Run the command; ``pkg launch`` is told its exit code, 128 + n after signal n."""
    prctl = ctypes.CDLL(None).prctl
    prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
    channel = connect()
    environment = {**os.environ, "PYTHONUNBUFFERED": "1", "PKG_LAUNCHED": "1"}
    inherited = [int(os.environ["PMI_FD"])] if "PMI_FD" in os.environ else []
    program = subprocess.Popen(
        command, env=environment, pass_fds=inherited, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        preexec_fn=lambda: prctl(PR_SET_PDEATHSIG, signal.SIGKILL),
    )  # fmt: skip

    def end_program() -> None:
        if program.poll() is None:
            program.terminate()
            killing = threading.Timer(OBEYS, program.kill)
            killing.daemon = True
            killing.start()

    def obey(*_: object) -> None:
        # MPI's launcher wants all to end.
        if program.poll() is not None:
            sys.exit(0)
        end_program()

    def watch() -> None:
        # Until ``pkg launch`` says that all is over, or was killed.
        with suppress(OSError):
            while channel.recv(1024):
                pass
        end_program()

    signal.signal(signal.SIGTERM, obey)
    copies = Copies(channel, program)
    watching = threading.Thread(target=watch, daemon=True)
    watching.start()
    code = program.wait()
    copies.finish()
    copies.send(f"x{128 - code if code < 0 else code}".encode())
    watching.join()
    return 0  # MPI's launcher would end those that are still about to


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
