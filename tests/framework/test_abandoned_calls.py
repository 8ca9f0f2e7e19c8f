# SPDX-License-Identifier: Apache-2.0
"""Asynchronous kernels whose calls nobody waits for any more.

In processes of their own: what hangs there has a deadline.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from interrupts import check_interrupted

# end(run): a run that a timeout ends.
GRAPH = """
    import pkg
    from types import SimpleNamespace
    from pkg.compat import v1 as tf
    from pkg.graph import errors

    ops = tf.load_op_library({library!r})
    n = 1000
    x = tf.placeholder(tf.float32, [n])
    session = tf.Session()

    def end(run):
        try:
            run(SimpleNamespace(timeout_in_ms=100))
        except errors.DeadlineExceededError:
            pass
        else:
            raise AssertionError("was not ended")

    def feed(value):
        return {{x: pkg.full((n,), float(value))}}
"""

# The step after the one that was given up writes where that one did, were it not apart.
REUSED = """
    y = ops.after_held(ops.hold({before}))
    assert (session.run(y, feed(1)) == {expected}).all()
    assert session.memory_plan(y, feed(1))
    {end}
    for _ in range(3):
        assert (session.run(y, feed(1)) == {expected}).all()
    print("fine")
"""
TIMEOUT = "end(lambda options: session.run(y, feed(-1), options))"
INTERRUPT = 'check("hold", lambda: session.run(y, feed(-1)))'


@pytest.fixture(scope="module")
def graph(compiled: Callable[..., Path]) -> str:
    """What the children begin with."""
    return GRAPH.format(library=str(compiled("holding.cc")))


@pytest.mark.parametrize("end", [TIMEOUT, INTERRUPT], ids=["timeout", "interrupt"])
@pytest.mark.parametrize(
    ("before", "expected"), [("x", 1.0), ("x + x", 2.0)], ids=["fed", "computed"]
)
def test_a_kernel_that_goes_on_does_not_write_into_later_runs(
    graph: str, end: str, before: str, expected: float
) -> None:
    """Of the same plan, whose memory it was given."""
    check_interrupted(graph + REUSED.format(before=before, expected=expected, end=end))


def test_a_session_that_is_gone(graph: str) -> None:
    """Its plans and what they lie in go when the kernel has ended."""
    code = """
    y = ops.after_held(ops.hold(x + x))
    end(lambda options: session.run(y, feed(-1), options))
    session.close()
    del session, y
    import gc
    gc.collect()
    rubbish = [pkg.ones(n) for _ in range(100)]
    assert (pkg.ops.tf.AfterHeld(pkg.ones(n)) == 1).all()
    assert all((r == 1).all() for r in rubbish)
    print("fine")
    """
    check_interrupted(graph + code)


def test_a_call_outside_of_graphs(graph: str) -> None:
    """Its result is nobody's; memory of later ones is another."""
    code = """
    check("hold", lambda: pkg.ops.tf.Hold(-pkg.ones(n)))
    later = [pkg.ops.tf.Hold(pkg.ones(n)) for _ in range(100)]
    assert (pkg.ops.tf.AfterHeld(pkg.ones(n)) == 1).all()
    assert all((y == 1).all() for y in later)
    print("fine")
    """
    check_interrupted(graph + code)


@pytest.mark.parametrize(
    "end",
    [
        "end(lambda options: session.run(y, feed(-1), options))",
        'check("hold", lambda: session.run(y, feed(-1)))',
        'check("hold", lambda: pkg.ops.tf.Hold(-pkg.ones(n), listens=True))',
    ],
    ids=["timeout", "interrupt", "eager"],
)
def test_a_kernel_is_told(graph: str, end: str) -> None:
    """By its CancellationManager, and then ends by itself."""
    code = """
    y = ops.hold(x + x, listens=True)
    cancelled = pkg.ops.tf.HeldCancelled
    assert cancelled().item() == 0
    {end}
    assert cancelled().item() == 1
    pkg.ops.tf.AfterHeld(pkg.ones(1))
    assert (session.run(y, feed(1)) == 2).all()
    assert cancelled().item() == 1
    print("fine")
    """
    check_interrupted(graph + code.format(end=end))


def test_a_callback_may_wait_for_another_thread(graph: str) -> None:
    """Of Python: the interpreter is free while a kernel is told."""
    code = """
    def tell():
        time.sleep(0.3)
        pkg.ops.tf.TellHeld()
    other = threading.Thread(target=tell)
    other.start()
    held = -pkg.ones(n)
    check("hold", lambda: pkg.ops.tf.Hold(held, listens=True, waits=True))
    other.join()
    assert pkg.ops.tf.HeldCancelled().item() == 1
    pkg.ops.tf.AfterHeld(pkg.ones(1))
    print("fine")
    """
    check_interrupted(graph + code)
