# SPDX-License-Identifier: Apache-2.0
"""Children by fork and by multiprocessing."""

import sys
import textwrap

import pytest

from child import run_child, run_command
from process_checks import needs_fork


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
