# SPDX-License-Identifier: Apache-2.0
"""Runs Python code in a process of its own: what may hang or crash goes there."""

import os
import subprocess
import sys
import textwrap
import time
from concurrent.futures import ThreadPoolExecutor

DEADLINE = 60  # seconds; what hangs fails, a busy machine does not


def run_child(code, timeout=DEADLINE, **env):
    """Runs code, with `env` added; returns (exit status, stdout, stderr, seconds)."""
    return run_command([sys.executable, "-c", textwrap.dedent(code)], timeout, **env)


def run_command(command, timeout=DEADLINE, **env):
    """The same for any command; pkg can be imported as in this process."""
    begin = time.perf_counter()
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        timeout=timeout,
        env={**child_environment(), **env},
    )
    return done.returncode, done.stdout, done.stderr, time.perf_counter() - begin


def child_environment():
    """This one's environment, with pkg on the path."""
    root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    path = os.pathsep.join(filter(None, [root, os.environ.get("PYTHONPATH")]))
    return {**os.environ, "PYTHONPATH": path, "PYTHONIOENCODING": "utf-8"}


def compile_all(compile_one, *columns):
    """map() as a list, on every core: a compiler takes seconds and one core."""
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        return list(pool.map(compile_one, *columns))
