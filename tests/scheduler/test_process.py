# SPDX-License-Identifier: Apache-2.0
"""The life of a process that uses pkg: exit, Ctrl-C, fork, many threads.

Everything happens in children with a deadline, since what goes wrong here hangs or
crashes.  PKG_HAMMER_SECONDS sets how long the threads of the last test hammer.
"""

import os
import signal
import subprocess
import sys
import textwrap
import time

import pytest

from child import DEADLINE, child_environment, run_child, run_command

HAMMER_SECONDS = float(os.environ.get("PKG_HAMMER_SECONDS", "6"))
needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")


def check_silent(status, err, expected=0):
    """The child ended as expected, and nobody had anything to say about it."""
    assert (status, err) == (expected, "")


# Exit.


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
    import threading, time
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
        bad = pkg.ones(700, 700) @ pkg.ones(700, 700)
        bad = bad.gather(0, pkg.zeros(1, 700, dtype=pkg.int64) + 700)
    """
    status, _, _, _ = run_child(code)
    assert status == 0


# Ctrl-C.


INTERRUPTED = """
    import os, signal, threading, time
    import pkg
    from pkg.scheduler import ManualEvent, Stream, submit

    def check(name, wait):
        sent = []
        def interrupt():
            sent.append(time.monotonic())
            os.kill(os.getpid(), signal.SIGINT)
        timer = threading.Timer(0.1, interrupt)
        timer.start()
        try:
            wait()
        except KeyboardInterrupt:
            took = time.monotonic() - sent[0]
            assert took < 0.5, (name, took)
        else:
            raise AssertionError(f"{name} was not interrupted")
        timer.join()
"""


def check_interrupted(code, said="fine\n", timeout=DEADLINE, check=INTERRUPTED):
    """Runs code after what defines check(), and expects what it prints."""
    status, out, err, _ = run_child(check + code, timeout)
    assert (status, out, err) == (0, said, "")


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


def test_ctrl_c_ends_each_wait_of_a_queue():
    """And of the tasks of `myops`; the jobs go on, and the queue can be used."""
    code = """
    from pkg.walkthrough.myops import TaskGroup
    from pkg.walkthrough.overload_ops.queue import JobQueue
    gate, group = ManualEvent(), TaskGroup()
    group.submit(gate.wait)
    queue = JobQueue(limit=2)
    jobs = [queue.submit(int, deps=[gate]) for _ in range(2)]
    check("wait_all", group.wait_all)
    check("flush", queue.flush)
    check("idle", lambda: queue.flush(idle=True))
    check("submit", lambda: queue.submit(int))
    check("close", queue.close)
    gate.set()
    queue.close()
    assert [job.result() for job in jobs] == [0, 0] and queue.pending() == 0
    assert group.wait_all() == [True]
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


# Fork and multiprocessing.


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


@needs_fork
def test_fork_after_use_gives_a_working_child():
    code = """
        import os, sys, time
        import pkg
        from pkg.scheduler import Stream, submit
        stream = Stream()
        done = submit(lambda: 5)
        slow = stream.submit(lambda: time.sleep(0.05) or 6)
        x = pkg.ones(300, 300, requires_grad=True)
        pending = x @ x
        pid = os.fork()
        value = done.result(10) + slow.result(10) + submit(lambda: 1).result(10)
        value += stream.submit(int).result(10)
        pending.sum().backward()
        ok = value == 12 and x.grad[0, 0].item() == 600
        if pid == 0:
            os._exit(0 if ok else 1)
        _, status = os.waitpid(pid, 0)
        assert ok and status == 0, (value, status)
        print("fine")
    """
    status, out, err, _ = run_child(code)
    assert (status, out) == (0, "fine\n"), err


@needs_fork
def test_unfinished_work_of_the_parent_is_an_error_in_the_child():
    code = """
        import os
        from pkg.scheduler import ManualEvent, submit
        gate = ManualEvent()
        work = submit(lambda: 1, deps=gate)
        pid = os.fork()
        if pid == 0:
            try:
                work.wait()
            except RuntimeError as error:
                os._exit(0 if "when the process forked" in str(error) else 2)
            os._exit(1)
        _, status = os.waitpid(pid, 0)
        gate.set()
        assert work.result() == 1 and status == 0, status
        print("fine")
    """
    status, out, err, seconds = run_child(code)
    assert (status, out) == (0, "fine\n"), err
    assert seconds < 15


@needs_fork
def test_fork_while_other_threads_work():
    """Whatever locks they hold at that moment, the child finds all of them free."""
    code = """
        import os, sys, threading
        import pkg
        from pkg.scheduler import Stream, submit
        stop = threading.Event()
        def work():
            stream = Stream()
            while not stop.is_set():
                stream.submit(int)
                w = pkg.ones(64, 64, requires_grad=True)
                (w @ w).sum().backward()
                submit(int).result()
        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for _ in range(20):
            pid = os.fork()
            if pid == 0:
                w = pkg.ones(64, 64, requires_grad=True)
                (w @ w).sum().backward()
                ok = submit(lambda: w.grad[0, 0].item()).result(10) == 128
                os._exit(0 if ok else 1)
            assert os.waitpid(pid, 0)[1] == 0
        stop.set()
        for thread in threads:
            thread.join()
        print("fine")
    """
    status, out, err, _ = run_child(code, timeout=60)
    assert (status, out) == (0, "fine\n"), err


@needs_fork
def test_a_forked_child_exits_like_any_process():
    """Through the exit handlers, with pending work of its own; it may fork again."""
    code = """
        import os, sys
        import pkg
        from pkg.scheduler import submit
        x = pkg.ones(100, 100)
        for depth in range(3):
            submit(int).result()
            pid = os.fork()
            if pid:
                _, status = os.waitpid(pid, 0)
                print(depth, status, flush=True)
                sys.exit(0)
        x = x @ x
        submit(lambda: print("last", flush=True))
    """
    status, out, err, _ = run_child(code)
    assert (status, out) == (0, "last\n2 0\n1 0\n0 0\n"), err


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_multiprocessing_after_use(method, tmp_path):
    """Tensors go to the children and come back; children schedule and differentiate."""
    script = tmp_path / "job.py"
    text = """
        import multiprocessing
        import pkg
        from pkg.scheduler import submit

        def job(x):
            x.requires_grad_()
            (x * x).sum().backward()
            return submit(lambda: x.grad).result(10)

        if __name__ == "__main__":
            assert job(pkg.ones(2)).tolist() == [2.0, 2.0]
            (pkg.ones(300, 300) @ pkg.ones(300, 300)).sum().item()
            tensors = [pkg.tensor([float(i), 1.0]) for i in range(5)]
            with multiprocessing.get_context(METHOD).Pool(2) as pool:
                print([y.tolist() for y in pool.map(job, tensors)])
    """
    script.write_text(textwrap.dedent(text).replace("METHOD", repr(method)))
    status, out, err, _ = run_command([sys.executable, str(script)], timeout=60)
    expected = [[2.0 * i, 2.0] for i in range(5)]
    assert (status, out) == (0, f"{expected}\n"), err


# Many threads.


HAMMER = """
    import copy, faulthandler, gc, pickle, random, sys, threading, time
    import numpy as np
    import pkg
    from pkg._binding import core
    from pkg.scheduler import ManualEvent, Stream, submit

    seconds, seed = float(sys.argv[1]), int(sys.argv[2])
    faulthandler.dump_traceback_later(seconds + 30, exit=True)
    shared = pkg.ones(16, 16)
    shared_leaf = pkg.ones(16, requires_grad=True)
    shared_stream = Stream()

    def arithmetic(rng):
        n = rng.randrange(1, 200)
        x = pkg.arange(n)
        assert ((x + 1) * 2 - x).sum().item() == n * (n - 1) // 2 + 2 * n
    def products(rng):
        assert (shared @ shared)[3, 4].item() == 16
        large = pkg.ones(200, 200)
        assert (large @ large @ large)[0, 0].item() == 200**2
    def views(rng):
        x = pkg.zeros(6, 5)
        x[1:3, ::2] = 1
        x.t()[0, :] += 1
        assert x.sum().item() == 12 and (x[x > 1]).tolist() == [2, 2]
    def gradients(rng):
        w = pkg.ones(8, requires_grad=True)
        seen = []
        w.register_hook(lambda g: seen.append(g.tolist()) or g * 2)
        (w * w * w).sum().backward()
        assert w.grad.tolist() == [6.0] * 8 and seen == [[3.0] * 8]
    def shared_gradients(rng):
        (g,) = pkg.autograd.grad((shared_leaf * shared_leaf).sum(), [shared_leaf])
        assert g.tolist() == [2.0] * 16
    def modes(rng):
        with pkg.no_grad():
            assert not (shared_leaf * 2).requires_grad
        assert (shared_leaf * 2).requires_grad
    def tasks(rng):
        a = submit(lambda: 1)
        b = shared_stream.submit(lambda: a.result() + 1, a)
        assert submit(lambda: b.result() + 1, deps=[a, b]).result(60) == 3
    def errors(rng):
        gate = ManualEvent()
        bad = submit(lambda: 1 / 0, deps=gate)
        gate.set()
        assert isinstance(submit(int, deps=bad).exception(60), ZeroDivisionError)
        for call in (lambda: shared + "a", lambda: shared[20], lambda: pkg.add(1)):
            try:
                call()
            except (TypeError, IndexError):
                continue
            raise AssertionError("no error")
    def exchange(rng):
        a = np.arange(10.0)
        x = pkg.from_numpy(a)
        x.add_(1)
        assert a[9] == 10 and (x.numpy() == a).all() and x.tolist() == list(a)
    def copies(rng):
        x = pkg.tensor([1.0, 2.0], requires_grad=True)
        for y in (pickle.loads(pickle.dumps(x)), copy.deepcopy(x)):
            assert y.tolist() == [1.0, 2.0] and y.requires_grad and y is not x
    def texts(rng):
        assert repr(pkg.ones(2)) == "tensor([1., 1.])" and "AddBackward" in repr(
            (shared_leaf + 1).grad_fn)
    kinds = [arithmetic, products, views, gradients, shared_gradients, modes, tasks,
             errors, exchange, copies, texts]

    def warm():
        for kind in kinds:
            kind(random.Random(0))
        pkg.synchronize()
        gc.collect()
        return (core.live_tensors(), core.live_nodes(), core.live_events(),
                core.live_streams())

    warm()
    before = warm()
    end = time.monotonic() + seconds
    counts, failures = [], []
    def hammer(number):
        rng = random.Random(seed + number)
        done = 0
        try:
            while time.monotonic() < end:
                rng.choice(kinds)(rng)
                done += 1
        except BaseException as error:
            failures.append(repr(error))
            raise
        counts.append(done)
    threads = [threading.Thread(target=hammer, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures and len(counts) == 8 and min(counts) > 10, (failures, counts)
    assert warm() == before
    print("fine", sum(counts))
"""


def test_eight_threads_hammer_everything():
    """Right values, no deadlock, and nothing left behind."""
    seed = str(time.time_ns() % 10**9)
    print("seed", seed)
    command = [sys.executable, "-c", textwrap.dedent(HAMMER), str(HAMMER_SECONDS), seed]
    status, out, err, _ = run_command(command, timeout=HAMMER_SECONDS + 60)
    assert status == 0 and out.startswith("fine"), err[-4000:]


# In front of HAMMER: kinds that use both bindings of one core.
BOTH = """
    import sys
    sys.path.insert(0, sys.argv.pop())
    import pkg
    from pkg._binding import core
    import _pybind_core as other

    add, add_there = core.Operator("add"), other.Operator("add")
    product_there = other.Operator("matmul")
    shared_there = other.tensor([1.0, 2.0], requires_grad=True)

    def there(rng):
        n = rng.randrange(1, 99)
        x = other.tensor([float(i) for i in range(n)])
        assert ((x + 1) * 2 - x).tolist() == [i + 2.0 for i in range(n)]
    def to_and_fro(rng):
        mine = pkg.ones(3, 2)
        theirs = other._from_dlpack(mine.__dlpack__(), False)
        other.Operator("add_")(theirs, 1)
        assert mine.tolist() == [[2.0, 2.0]] * 3
        back = core._from_dlpack(add_there(theirs, theirs).__dlpack__(), False)
        assert add(back, mine).tolist() == [[6.0, 6.0]] * 3
    def strangers(rng):
        for call in (lambda: add(pkg.ones(2), shared_there),
                     lambda: add_there(pkg.ones(2), shared_there)):
            try:
                call()
            except TypeError as error:
                assert "through DLPack" in str(error)
                continue
            raise AssertionError("no error")
    def tasks_of_both(rng):
        gate = core.ManualEvent()
        a = core.submit(lambda: other.submit(lambda: 2, deps=None), deps=gate)
        b = other.Stream().submit(lambda: add_there(shared_there, 1).tolist())
        gate.set()
        assert a.result(60).result(60) == 2 and b.result(60) == [2.0, 3.0]
    def gradients_there(rng):
        leaf = other.tensor([1.0, 2.0], requires_grad=True)
        y = leaf * leaf
        handle = other._register_hook(y, lambda g: g * 2)
        total = other.Operator("sum")(y)
        other._backward((total,), (None,), False, False, ())
        assert leaf.grad.tolist() == [4.0, 8.0]
    def pending_there(rng):
        x = other.Operator("ones")([200, 200])
        y = product_there(product_there(x, x), x)
        assert y[3, 4].item() == 200**2
    more = [there, to_and_fro, strangers, tasks_of_both, gradients_there, pending_there]
"""


@pytest.mark.skipif(bool(os.environ.get("PKG_BINDING")), reason="it takes both itself")
def test_eight_threads_hammer_both_bindings_in_one_process():
    """They share the core: its pool, its locks and whichever hooks came last."""
    from bindings.build import build

    seed = str(time.time_ns() % 10**9)
    print("seed", seed)
    code = textwrap.dedent(BOTH) + textwrap.dedent(HAMMER).replace(
        "errors, exchange, copies, texts]", "errors, exchange, copies, texts, *more]"
    )
    command = [sys.executable, "-c", code, str(HAMMER_SECONDS), seed, str(build())]
    status, out, err, _ = run_command(command, timeout=HAMMER_SECONDS + 60)
    assert status == 0 and out.startswith("fine"), err[-4000:]
