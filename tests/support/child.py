# SPDX-License-Identifier: Apache-2.0
"""Runs Python code in a process of its own: what may hang or crash goes there."""

import os
import subprocess
import sys
import textwrap
import time

from paths import ROOT

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
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    return {**os.environ, "PYTHONPATH": path, "PYTHONIOENCODING": "utf-8"}
