# SPDX-License-Identifier: Apache-2.0
"""Ctrl-C in every wait: in children with a deadline, since a fault here hangs."""

import signal
import subprocess
import sys
import textwrap
import time

import pytest

from child import DEADLINE, child_environment
from interrupts import INTERRUPTED, check_interrupted
from process_checks import needs_fork


def test_ctrl_c_ends_each_wait_for_an_event():
    code = """
    from pkg._binding import core
    gate, stream = ManualEvent(), Stream()
    work = submit(int, deps=gate)
    stream.submit(int, gate)
    for wait in (work.wait, lambda: work.wait(100), gate.result, work.exception,
                 stream.synchronize, pkg.synchronize, core.synchronize,
                 lambda: core.quiesce(100)):
        check(wait, wait)
    gate.set()
    assert work.result() == 0
    print("fine")
    """
    check_interrupted(code)


def test_ctrl_c_ends_each_wait_for_a_tensor():
    """All on one chain of products, which takes longer than the test."""
    code = """
    x = pkg.ones(4000, 4000, dtype=pkg.int64)
    y = x[:64]
    for _ in range(110):  # less than what may be in flight: 256 MiB
        y = y @ x
    one = y[0, 0]
    waits = dict(
        wait=lambda: y.wait(), item=lambda: one.item(), tolist=lambda: y.tolist(),
        numpy=lambda: y.numpy(), repr=lambda: repr(y), bool=lambda: bool(one),
        float=lambda: float(one), int=lambda: int(one), index=lambda: y[y > 0],
        nonzero=lambda: y.nonzero(), iter=lambda: [v.item() for v in y[0]],
    )
    for name, wait in waits.items():
        check(name, wait)
    assert not y.is_ready(), "too fast a machine: nothing was left to wait for"
    print((pkg.ones(2) + 1).tolist(), flush=True)
    os._exit(0)
    """
    check_interrupted(code, said="[2.0, 2.0]\n", timeout=60)


def test_ctrl_c_in_a_callback_of_backward():
    code = """
    x = pkg.ones(3, requires_grad=True)
    x.register_hook(lambda grad: time.sleep(20))
    check("backward", (x * 2).sum().backward)
    print(x.grad)
    """
    check_interrupted(code, said="None\n")


def test_ctrl_c_in_a_long_backward():
    """Nothing is half added to the leaf, the rest is freed, and a new pass works."""
    code = """
    import gc
    from pkg._binding import core
    before = core.live_nodes()
    x = pkg.ones(1, requires_grad=True)
    y = x
    for _ in range(1_000_000):
        y = y * 1
    check("backward", lambda: y.backward(retain_graph=True))
    assert x.grad is None
    y.sum().backward()
    assert x.grad.tolist() == [1.0]
    del y
    gc.collect()
    assert core.live_nodes() == before, core.live_nodes()
    print("fine")
    """
    at_once = INTERRUPTED.replace("Timer(0.1", "Timer(0.01")
    check_interrupted(code, timeout=60, check=at_once)


def test_ctrl_c_in_a_backward_of_few_large_nodes():
    """Looked for by the size of the work, not by the number of nodes."""
    code = """
    x = pkg.rand(1000, 1000, requires_grad=True)
    y = x
    for _ in range(300):
        y = y ** 1.001
    y = y.sum()
    pkg.synchronize()
    check("backward", y.backward)
    print(x.grad)
    """
    check_interrupted(code, said="None\n", timeout=60)


def test_ctrl_c_in_a_deeply_nested_backward():
    """Raised after the pass that got a thread of its own; later passes work."""
    code = """
    class Nested(pkg.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.left = x.detach() - 1
            return x - 1
        @staticmethod
        def backward(ctx, grad):
            if ctx.left.item() < 0:
                time.sleep(pause)
                return grad
            with pkg.enable_grad():
                Nested.apply(ctx.left.requires_grad_()).backward()
            return grad
    def nest():
        x = pkg.tensor(70.0, requires_grad=True)
        Nested.apply(x).backward()
        return x.grad
    pause = 0.3
    check("nested", nest)
    pause = 0
    print(nest().item())
    """
    check_interrupted(code, said="1.0\n")


def interrupt_child(code, line, pause):
    """Runs code and sends Ctrl-C `pause` seconds after it printed the line.

    Returns (exit status, stderr, seconds from then to the end).
    """
    child = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=child_environment(),
    )
    assert child.stdout.readline() == line
    time.sleep(pause)
    assert child.poll() is None, "it did not wait"
    begin = time.monotonic()
    child.send_signal(signal.SIGINT)
    _, err = child.communicate(timeout=DEADLINE)
    return child.returncode, err, time.monotonic() - begin


@pytest.mark.alone
def test_ctrl_c_without_a_handler_ends_the_process():
    code = """
        from pkg.scheduler import ManualEvent
        print("waiting", flush=True)
        ManualEvent().wait()
    """
    status, err, seconds = interrupt_child(code, "waiting\n", 0.1)
    assert status != 0 and seconds < 1.5
    assert err.rstrip().endswith("KeyboardInterrupt")


@pytest.mark.alone
def test_ctrl_c_ends_the_wait_at_exit():
    """For the job that runs then; there is no second wait behind it."""
    code = """
        import threading, time
        from pkg.scheduler import submit
        began = threading.Event()
        submit(lambda: began.set() or time.sleep(30))
        began.wait()
        print("leaving", flush=True)
    """
    _, err, seconds = interrupt_child(code, "leaving\n", 0.5)
    assert "KeyboardInterrupt" in err and seconds < 1


@needs_fork
def test_ctrl_c_ends_the_wait_before_a_fork():
    """It comes from the line that forks, past what others do there, in the parent only;
    what a handler of the user's raises comes as well."""
    code = """
    gate, ran = ManualEvent(), []
    work = submit(int, deps=gate)
    os.register_at_fork(before=lambda: ran.append("before"),
                        after_in_parent=lambda: ran.append("after"))
    def fork():
        pid = os.fork()
        if pid == 0:
            ran.append("child")
            os._exit(ran != ["before", "child"])
        ran.append("not interrupted")
    check("fork", fork)
    assert os.wait()[1] == 0 and ran == ["before", "after"], ran

    def handler(number, frame):
        raise KeyboardInterrupt("mine")
    signal.signal(signal.SIGINT, handler)
    ran.clear()
    def fork_again():
        try:
            fork()
        except KeyboardInterrupt as error:
            assert error.args == ("mine",)
            raise
    check("fork again", fork_again)
    assert os.wait()[1] == 0 and ran == ["before", "after"], ran
    gate.set()
    assert work.result() == 0
    print("fine")
    """
    check_interrupted(code)
