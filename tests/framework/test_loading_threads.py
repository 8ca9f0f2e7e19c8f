# SPDX-License-Identifier: Apache-2.0
"""What other threads do while a library is loaded."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import pkg
from interrupts import INTERRUPTED, check_interrupted
from pkg._binding import core

SLOW = 1.5  # seconds of a constructor of sources/slow_probe.cc where it is tried


@pytest.fixture(scope="module")
def libraries(compiled_all: Callable[..., list[Path]]) -> list[Path]:
    """Five slow libraries."""
    return compiled_all(*[("slow_probe.cc", f"-DNUMBER={i}") for i in range(5)])


def test_other_threads_go_on(libraries: list[Path], compiled) -> None:
    """Python's, ops, and loads of other libraries, while one is tried."""
    quick = compiled("counting.cc")
    loader = threading.Thread(target=pkg.ops.load_library, args=[libraries[0]])
    start = time.monotonic()
    loader.start()
    longest, last, turns = 0.0, start, 0
    pkg.ops.load_library(quick)
    assert pkg.ops.tf.CountSilently(pkg.zeros(1)).item() >= 1
    others = time.monotonic() - start
    while loader.is_alive():
        now = time.monotonic()
        longest, last, turns = max(longest, now - last), now, turns + 1
        time.sleep(0.001)
    loader.join()
    assert time.monotonic() - start >= SLOW
    assert others < SLOW
    assert turns > 100 and longest < SLOW
    assert hasattr(pkg.ops.tf, "SlowProbe0")


def test_loads_at_once(libraries: list[Path]) -> None:
    """Of two libraries, and of one twice, which is opened once."""
    with ThreadPoolExecutor(4) as pool:
        wanted = [libraries[1], libraries[1], libraries[2], libraries[2]]
        found = list(pool.map(core.load_library, map(str, wanted)))
    assert found[0] == found[1] != found[2] == found[3]
    assert core.library_ops(found[0]) == ["tf::SlowProbe1"]
    start = time.monotonic()
    assert core.load_library(str(libraries[1])) == found[0]
    assert time.monotonic() - start < SLOW


def test_signals_while_a_library_is_tried(libraries: list[Path]) -> None:
    """Do not end the reading of what the process that tries it says."""
    seen: list[int] = []
    before = signal.signal(signal.SIGALRM, lambda number, _: seen.append(number))
    signal.setitimer(signal.ITIMER_REAL, 0.01, 0.005)
    try:
        start = time.monotonic()
        pkg.ops.load_library(libraries[3])
        took = time.monotonic() - start
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert took >= SLOW
    assert hasattr(pkg.ops.tf, "SlowProbe3")
    assert seen


@pytest.mark.parametrize("to", ["kill(os.getpid()", "killpg(os.getpgid(0)"])
def test_interrupts_while_a_library_is_tried(libraries: list[Path], to: str) -> None:
    """Whether the terminal tells all of the processes or not; it can be loaded then."""
    code = (
        INTERRUPTED.replace("kill(os.getpid()", to)
        + f"""
    os.setpgid(0, 0)
    path = {str(libraries[4])!r}
    check("load", lambda: pkg.ops.load_library(path))
    pkg.ops.load_library(path)
    assert hasattr(pkg.ops.tf, "SlowProbe4")
    print("fine")
    """
    )
    check_interrupted(code, check="")
