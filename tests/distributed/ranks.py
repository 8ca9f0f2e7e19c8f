# SPDX-License-Identifier: Apache-2.0
"""Runs programs on ranks, with our launcher over MPI's."""

import ast
import sys
from pathlib import Path

import pytest

from child import run_command
from pkg.distributed import mpi

PROGRAMS = Path(__file__).parent / "programs"
LIMIT = 100  # seconds; what hangs fails, a busy machine does not


def needs_mpi():
    """Skips where there is no MPI with the standard ABI, or no launcher."""
    if not mpi.on_disk() or mpi.find_launcher() is None:
        pytest.skip("no MPI with the standard ABI: pip install mpich")


def checks_of(program):
    """The names of its CHECKS."""
    text = (PROGRAMS / f"{program}.py").read_text(encoding="utf-8")
    return next(
        [name.id for name in node.value.elts]
        for node in ast.parse(text).body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "CHECKS"
    )


def launch(count, program, *arguments, options=(), **env):
    """(exit code, stdout, stderr, seconds) of `python -m pkg launch`."""
    needs_mpi()
    if not str(program).endswith(".py"):
        program = PROGRAMS / f"{program}.py"
    command = [sys.executable, "-m", "pkg", "launch", "-np", str(count), *options]
    return run_command([*command, str(program), *arguments], LIMIT, **env)
