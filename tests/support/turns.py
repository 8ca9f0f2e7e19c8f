# SPDX-License-Identifier: Apache-2.0
"""Which tests may run at once, where several processes run the suite.

Any may, but one that measures time, marked `alone`, has the machine for itself: it
waits until the tests of the other processes have ended, and none begins meanwhile.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path


def begin() -> tempfile.TemporaryDirectory[str] | None:
    """Makes the locks, in the first process of a run; kept as long as its value."""
    if os.environ.get("PKG_TEST_TURNS"):
        return None
    folder = tempfile.TemporaryDirectory(prefix="pkg-turns-")
    os.environ["PKG_TEST_TURNS"] = folder.name
    return folder


@contextlib.contextmanager
def turn(alone: bool) -> Iterator[None]:
    """While a test runs."""
    kind = fcntl.LOCK_EX if alone else fcntl.LOCK_SH
    folder = os.environ["PKG_TEST_TURNS"]
    with open(f"{folder}/room", "w") as room:
        # Who wants the room alone stands in the gate until it is empty.
        with open(f"{folder}/gate", "w") as gate:
            fcntl.flock(gate, kind)
            fcntl.flock(room, kind)
        yield


@contextlib.contextmanager
def kept(*words: str) -> Iterator[Path]:
    """A folder of these words for one process at a time, as long as the run lasts."""
    name = hashlib.sha256("\0".join(words).encode()).hexdigest()[:16]
    folder = Path(os.environ["PKG_TEST_TURNS"]) / name
    folder.mkdir(exist_ok=True)
    with open(folder / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield folder
