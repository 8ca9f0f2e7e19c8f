# SPDX-License-Identifier: Apache-2.0
"""The launcher and its output: bytes come whole, and it ends when nobody reads, when it
is ended itself, and when a worker is."""

import os
import signal
import subprocess
import sys
import time

import pytest
from ranks import LIMIT, PROGRAMS, launch, needs_mpi

from child import child_environment
from pkg.cli import main
from pkg.distributed import mpi


def start(how, **env):
    needs_mpi()
    return subprocess.Popen(
        [sys.executable, "-m", "pkg", "launch", "-np", "2", "--",
         str(PROGRAMS / "writing.py"), how],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env={**child_environment(), **env},
        # Ctrl-C is ignored by what a shell runs in the background.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )  # fmt: skip


def test_lines_of_any_bytes_come_whole():
    """MPI's launcher mixes pieces of long lines; ours writes to an ASCII stream."""
    run = start("lines", PYTHONIOENCODING="ascii")
    out, err = run.communicate(timeout=LIMIT)
    assert run.returncode == 0, err[-2000:]
    assert sorted(out.splitlines()) == sorted(
        line
        for rank, letter in enumerate((b"A", b"B"))
        for line in (
            b"[%d]<stdout>:" % rank + letter * 1000000 + b"\xff",
            b"[%d]<stdout>:\xc3\xa4" % rank,
        )
    )
    assert sorted(err.split(b"\n")) == [b""] + [
        b"[%d]<stderr>:" % rank + letter * 100000 + b"\x1eend"
        for rank, letter in enumerate((b"a", b"b"))
    ]


def test_it_ends_when_nobody_reads():
    run = start("endless")
    assert run.stdout.readline()[3:] == b"<stdout>:" + b"x" * 100 + b"\n"
    run.stdout.close()
    _, err = run.communicate(timeout=LIMIT)
    assert run.returncode == 141 and err == b"", err[-2000:]


def wait_for_end(processes):
    deadline = time.monotonic() + 20  # twice what it takes, on a busy machine
    while left := [p for p in processes if alive(p)]:
        assert time.monotonic() < deadline, left
        time.sleep(0.05)


def alive(process):
    try:
        with open(f"/proc/{process}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.parametrize("sent", ["SIGINT", "SIGTERM", "SIGHUP", "SIGKILL", "worker"])
def test_ranks_end_with_their_launcher(sent):
    """Also one that ignores SIGTERM, and all when a worker is killed."""
    run = start("waits")
    lines = sorted(run.stdout.readline() for _ in range(2))
    processes = [[int(n) for n in line.split(b":")[1].split()] for line in lines]
    if sent == "worker":
        os.kill(processes[0][1], signal.SIGKILL)
    else:
        run.send_signal(signal.Signals[sent])
    _, err = run.communicate(timeout=LIMIT)
    code = {"SIGINT": 130, "SIGTERM": 143, "SIGHUP": 129, "SIGKILL": -9, "worker": 9}[
        sent
    ]
    assert run.returncode == code, err
    wait_for_end([p for pair in processes for p in pair])


def test_ranks_get_arguments_environment_folder_and_an_empty_stdin(
    tmp_path, monkeypatch
):
    """On two hosts, as far as one machine can be two."""
    monkeypatch.chdir(tmp_path)
    program = tmp_path / "tells.py"
    program.write_text(
        "import os, sys\n"
        "print(sys.argv[1:], os.environ['MINE'], os.getcwd(), repr(sys.stdin.read()))"
    )
    status, out, err, _ = launch(
        2, program, "-np", "a b", "--grace", MINE="yes",
        options=["-H", "localhost:1,127.0.0.1:1"],
    )  # fmt: skip
    assert status == 0, err
    told = f"['-np', 'a b', '--grace'] yes {tmp_path} ''"
    assert sorted(out.splitlines()) == [f"[{rank}]<stdout>:{told}" for rank in (0, 1)]


@pytest.mark.parametrize(
    "said, text",
    [
        (
            "mpiexec (OpenRTE) 4.1.4",
            "expected the mpiexec of MPICH, found that of Open",
        ),
        ("prterun (PRRTE) 3.0.2", "pip install mpich"),
    ],
)
def test_another_launcher_is_a_clear_error(said, text, tmp_path, monkeypatch, capsys):
    """Open MPI's has other options."""
    fake = tmp_path / "mpiexec"
    fake.write_text(f"#!/bin/sh\necho '{said}'\n")
    fake.chmod(0o755)
    monkeypatch.setattr(mpi, "find_launcher", lambda: str(fake))
    assert main(["launch", "-np", "2", "true"]) == 2
    err = capsys.readouterr().err
    assert text in err and said in err and err.count("\n") == 1


def test_a_launcher_that_fails_is_told(tmp_path, monkeypatch, capsys):
    """As one that cannot reach a host."""
    fake = tmp_path / "mpiexec"
    fake.write_text("#!/bin/sh\n[ $1 = --version ] || exit 9\n")
    fake.chmod(0o755)
    monkeypatch.setattr(mpi, "find_launcher", lambda: str(fake))
    with pytest.raises(SystemExit) as stop:
        main(["launch", "-np", "2", "true"])
    assert stop.value.code == 9
    assert "code 9, before 2 of 2 ranks had told" in capsys.readouterr().err
