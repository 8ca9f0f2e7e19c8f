# SPDX-License-Identifier: Apache-2.0
"""What MPI's launcher starts for each rank: it runs the program, puts the rank before
each line of output, and says how the program ended.

Run by its path, without pkg.  MPI's launcher ends all ranks as soon as one process of
its own ends badly; this one stays, so that the other ranks can find out and report it,
until ``pkg launch`` ends all.
"""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import threading
import time
from typing import IO

PR_SET_PDEATHSIG = 1
STAYS = 600.0  # seconds, if nobody ends us
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


def copy_lines(source: IO[bytes], descriptor: int, prefix: bytes) -> None:
    """Each line with its prefix, in one write, so that ranks do not mix within one."""
    for line in source:
        text = prefix + line if line.endswith(b"\n") else prefix + line + b"\n"
        while text:
            text = text[os.write(descriptor, text) :]


def main(token: str, command: list[str]) -> int:
    """Run the command; return its exit code, 128 + n after signal n."""
    rank = rank_of()
    prctl = ctypes.CDLL(None).prctl
    prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
    environment = {**os.environ, "PYTHONUNBUFFERED": "1", "PKG_LAUNCHED": "1"}
    inherited = [int(os.environ["PMI_FD"])] if "PMI_FD" in os.environ else []
    program = subprocess.Popen(
        command, env=environment, pass_fds=inherited, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=lambda: prctl(PR_SET_PDEATHSIG, signal.SIGKILL),
    )  # fmt: skip

    def end(*_: object) -> None:
        # MPI's launcher wants all to end.
        if program.poll() is not None:
            sys.exit(program.returncode)
        program.terminate()
        threading.Timer(OBEYS, program.kill).start()

    signal.signal(signal.SIGTERM, end)
    copies = []
    for source, descriptor, name in ((program.stdout, 1, "stdout"),
                                     (program.stderr, 2, "stderr")):  # fmt: skip
        prefix = f"[{rank}]<{name}>:".encode()
        arguments = (source, descriptor, prefix)
        copies.append(threading.Thread(target=copy_lines, args=arguments, daemon=True))
        copies[-1].start()
    code = program.wait()
    for copy in copies:
        copy.join(2)  # a process that the program left behind may keep it open
    code = 128 - code if code < 0 else code
    for descriptor in (1, 2):  # behind all that was written to either
        os.write(descriptor, f"\x1e{token} {rank} {code}\n".encode())
    time.sleep(STAYS)
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
