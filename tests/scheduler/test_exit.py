# SPDX-License-Identifier: Apache-2.0
"""How a process that uses pkg ends: in children with a deadline."""

import pytest

from child import run_child


def check_silent(status, err, expected=0):
    """The child ended as expected, and nobody had anything to say about it."""
    assert (status, err) == (expected, "")


def test_exit_runs_out_pending_work():
    code = """
        import time
        from pkg.scheduler import Stream, submit
        stream = Stream()
        events = [submit(lambda: time.sleep(0.01)) for _ in range(20)]
        for i in range(5):
            stream.submit(lambda i=i: print(i, flush=True))
    """
    status, out, err, seconds = run_child(code)
    assert (status, out, err) == (0, "0\n1\n2\n3\n4\n", "")
    assert seconds < 5


def test_exit_with_pending_kernels():
    code = """
        import pkg
        x = pkg.ones(900, 900)
        for _ in range(30):
            x = x @ x * 0.001
        assert not x.is_ready()
    """
    status, _, err, _ = run_child(code, timeout=60)
    check_silent(status, err)


def test_exit_does_not_wait_for_work_that_cannot_begin():
    code = """
        from pkg.scheduler import ManualEvent, submit
        gate = ManualEvent()
        stuck = [submit(print, deps=gate) for _ in range(10)]
        del gate
    """
    status, out, err, seconds = run_child(code)
    assert (status, out, err) == (0, "", "")
    assert seconds < 5


def test_exit_leaves_work_behind_that_never_ends():
    """After the time given to shutdown(), here less than the exit handler gives."""
    code = """
        import atexit, threading
        from pkg._binding import core
        atexit.unregister(core.shutdown)
        from pkg.scheduler import submit
        began = threading.Event()
        submit(lambda: (began.set(), threading.Event().wait()))
        began.wait()
        assert core.shutdown(0.1) is False
    """
    status, _, err, seconds = run_child(code)
    check_silent(status, err)
    assert seconds < 8


def test_exit_with_everything_in_globals():
    """Tensors pending and done, graphs, arrays, hooks, cycles; what uses pkg late."""
    code = """
        import atexit, sys
        atexit.register(lambda: print((x @ x).sum().item(), flush=True))
        import numpy as np
        import pkg
        from pkg.scheduler import ManualEvent, Stream, submit

        x = pkg.ones(300, 300, requires_grad=True)
        loss = (x @ x).sum()
        loss.backward(retain_graph=True)
        node, gradient = loss.grad_fn, x.grad
        handles = [x.register_hook(lambda g: g * 2), node.register_hook(print)]
        pending = x.detach() @ x.detach()
        array = pkg.ones(3).numpy()
        foreign = pkg.from_numpy(np.ones(3))
        iterator = iter(x)

        class Square(pkg.autograd.Function):
            @staticmethod
            def forward(ctx, t):
                ctx.save_for_backward(t)
                return t * t
            @staticmethod
            def backward(ctx, grad):
                return grad * 2 * ctx.saved_tensors[0]
        squared = Square.apply(x).sum()

        class Mine(pkg.Tensor):
            def __del__(self):
                pkg.zeros(2) + 1
        mine = Mine._make_subclass(Mine, pkg.ones(2))
        mine.me = mine

        class Late:
            def __del__(self, pkg=pkg, submit=submit):
                (pkg.ones(2) + 1).tolist()
                submit(int)
        late, sys.late = Late(), Late()

        event, stream, gate = submit(lambda: late), Stream(), ManualEvent()
        cycle = []
        cycle.append(submit(lambda: cycle))
        stuck = stream.submit(int, gate)
        failed = submit(lambda: 1 / 0)
        gate.cancel()
    """
    status, out, err, seconds = run_child(code)
    assert (status, out, err) == (0, f"{300.0**3}\n", "")
    assert seconds < 8


# What a daemon thread may be doing when the interpreter goes away.
DAEMONS = {
    "wait_for_event": "ManualEvent().wait()",
    "submit": "submit(int).result()",
    "stream": "stream.submit(int); stream.synchronize()",
    "synchronize": "pkg.synchronize()",
    "small_ops": "((x[:2] + 1) * 2).tolist()",
    "kernel": "(x @ x).sum().item()",
    "backward": "w = x.detach().requires_grad_(); (w @ w).sum().backward()",
    "hook": "w = pkg.ones(8, requires_grad=True); w.register_hook(lambda g: g * 2); "
    "(w * w).sum().backward()",
    "numpy": "pkg.from_numpy(x.numpy()).sum()",
    "index": "x[Slow()]",
    "items": "x.sum([Slow(), 0])",
    "function": "Twice.apply(x.detach().requires_grad_()).sum().backward()",
}

# Python code that C++ calls, and which is likely to be interrupted.
CALLED_BY_CPP = """
    import pkg
    class Slow:
        def __index__(self):
            return sum(range(20)) // 190
    class Twice(pkg.autograd.Function):
        @staticmethod
        def forward(ctx, a):
            return a * Slow().__index__() * 2
        @staticmethod
        def backward(ctx, grad):
            return grad * Slow().__index__() * 2
"""


@pytest.mark.parametrize("work", DAEMONS.values(), ids=DAEMONS)
def test_exit_under_daemon_threads(work):
    """Whatever they are in the middle of: the exit code arrives, nothing is said."""
    code = f"""{CALLED_BY_CPP}
    import ctypes, threading, time
    c = ctypes.CDLL(None)  # which sleeps a little when Python has ended
    c.__cxa_atexit(c.usleep, ctypes.c_void_p(100_000), None)
    from pkg.scheduler import ManualEvent, Stream, submit
    x, stream = pkg.ones(64, 64), Stream()
    def spin():
        started.set()
        while True:
            try:
                {work}
            except RuntimeError:  # shut down
                pass
    for _ in range(3):
        started = threading.Event()
        threading.Thread(target=spin, daemon=True).start()
        started.wait()
    time.sleep(0.05)
    raise SystemExit(7)
    """
    for _ in range(3):
        status, _, err, seconds = run_child(code)
        check_silent(status, err, expected=7)
        assert seconds < 8


@pytest.mark.alone
def test_an_error_nobody_saw_does_not_change_the_exit():
    code = """
        import pkg
        from pkg.scheduler import submit
        submit(lambda: 1 / 0)
        # Long enough to be at work still: else gather() would raise here.
        bad = pkg.ones(2_000, 2_000) @ pkg.ones(2_000, 2_000)
        bad = bad.gather(0, pkg.zeros(1, 2_000, dtype=pkg.int64) + 2_000)
    """
    status, _, _, _ = run_child(code)
    assert status == 0
