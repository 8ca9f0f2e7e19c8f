# SPDX-License-Identifier: Apache-2.0
"""Ctrl-C during a wait, in a process of its own: what hangs there has a deadline."""

from child import DEADLINE, run_child

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


def check_interrupted(code, said="fine\n", timeout=DEADLINE, check=INTERRUPTED, **env):
    """Runs code after what defines check(), and expects what it prints."""
    status, out, err, _ = run_child(check + code, timeout, **env)
    assert (status, out, err) == (0, said, "")
