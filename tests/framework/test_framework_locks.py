# SPDX-License-Identifier: Apache-2.0
"""The framework's locks: in children by fork, and beside the interpreter lock.

In processes of their own: what hangs there has a deadline.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from child import run_child
from process_checks import needs_fork

BEGIN = """
    import os, threading, time
    import pkg
    pkg.ops.load_library({library!r})
    tf = pkg.ops.tf

    def at_once(call, n=4):
        barrier, results = threading.Barrier(n), []
        def run():
            barrier.wait()
            results.append(call())
        threads = [threading.Thread(target=run) for _ in range(n)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return results
"""


@pytest.fixture(scope="module")
def begin(compiled: Callable[..., Path]) -> str:
    """What the children begin with."""
    return BEGIN.format(library=str(compiled("locking.cc")))


def check(code: str) -> None:
    status, out, err, _ = run_child(code)
    assert (status, out) == (0, "fine\n"), err


@pytest.mark.parametrize(
    "call", ["tf.LockingMade(form=1)", "tf.LockingShared(name='one')"]
)
def test_who_waits_for_a_maker_gives_up_the_interpreter_lock(
    begin: str, call: str
) -> None:
    """Which the maker takes before it is done; and one is made for all."""
    code = f"""
    assert at_once(lambda: {call}.item()) == [1] * 4
    print("fine")
    """
    check(begin + code)


@needs_fork
def test_fork_while_the_locks_are_held(begin: str) -> None:
    """A child has them free, and what they guard whole."""
    code = """
    kept = tf.LockingHandle()
    end = False

    def work(form):
        assert tf.LockingRead(kept).item() == 7
        assert tf.LockingRead(tf.LockingHandle()).item() == 7
        assert tf.LockingShared(name="common").item() >= 1
        assert tf.LockingRead(kept).item() == 7
        if form % 20 == 0:
            assert tf.LockingMade(form=form).item() >= 1

    def busy(first):
        form = first
        while not end:
            form += 1
            work(form)

    threads = [threading.Thread(target=busy, args=[i * 1000]) for i in range(4)]
    for thread in threads:
        thread.start()
    children = []
    for k in range(25):
        time.sleep(0.003)
        pid = os.fork()
        if pid == 0:
            status = 1
            try:
                work(500_000 + 20 * k)
                status = 0
            finally:
                os._exit(status)
        children.append(pid)
    deadline = time.monotonic() + 40
    while children and time.monotonic() < deadline:
        for pid in list(children):
            ended, status = os.waitpid(pid, os.WNOHANG)
            if ended:
                assert status == 0, status
                children.remove(pid)
        time.sleep(0.01)
    end = True
    for thread in threads:
        thread.join()
    for pid in children:
        os.kill(pid, 9)
    assert not children, f"{len(children)} children hang"
    print("fine")
    """
    check(begin + code)
