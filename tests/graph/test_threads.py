# SPDX-License-Identifier: Apache-2.0
"""Threads that use graphs at once, in a process of their own, which has a deadline.

PKG_SOAK_SECONDS sets how long they do; `python tests/graph/soak.py` takes a minute.
"""

import os
import sys
import time

from child import run_command
from paths import TESTS

SECONDS = os.environ.get("PKG_SOAK_SECONDS", "4")


def test_eight_threads_use_sessions():
    """Results of one version of the weights, no hang, nothing left, memory flat."""
    seed = str(time.time_ns() % 10**6)
    print("seed", seed)
    command = [sys.executable, str(TESTS / "graph" / "soak.py"), SECONDS, seed]
    status, out, err, _ = run_command(command, timeout=float(SECONDS) * 2 + 90)
    assert status == 0 and out.startswith("fine"), err[-4000:]
