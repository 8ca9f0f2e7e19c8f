# SPDX-License-Identifier: Apache-2.0
"""Prints, as JSON, which calls let a second Python thread run.

Run by tests/test_binding_contract.py in a process of its own, once per binding, with the
path of the probe library.

The interpreter is told never to take the GIL away from a running thread, so the second
thread gets on during a call only if the call gives the GIL up.  One tick proves it; as a
busy machine may not run the thread in time, each call has some attempts.
"""

import ctypes
import json
import sys
import threading
import time

import pkg
from pkg._binding import core

ATTEMPTS = 10

pkg.set_num_threads(2)
probe = ctypes.PyDLL(sys.argv[1])  # PyDLL: the probe itself keeps the GIL
probe.probe_submit_sleep.argtypes = [ctypes.c_double]


def long_chain():
    """A graph that takes the engine tens of milliseconds."""
    leaf = pkg.ones(2, requires_grad=True)
    y = leaf
    for _ in range(200000):
        y = y + 1
    return leaf, y.sum()


def backward(case):
    _, total = case
    core._backward((total,), (None,), False, False)


def grad(case):
    leaf, total = case
    core._grad((total,), (leaf,), (None,), False, False, False)


def pending():
    """Work on the pool that is not done for a while."""
    probe.probe_submit_sleep(0.1)


def matrices():
    core.set_num_threads(1)
    return pkg.ones(1000, 1000)


# name: (make the case, the call to measure)
CALLS = {
    "_backward": (long_chain, backward),
    "_grad": (long_chain, grad),
    "synchronize": (pending, lambda _: core.synchronize()),
    "quiesce": (pending, lambda _: core.quiesce(5)),
    "matmul on one thread": (matrices, lambda x: x @ x),
    "tolist": (lambda: pkg.ones(300000), lambda x: x.tolist()),
    "shutdown": (pending, lambda _: core.shutdown(5)),  # the last: it ends the pool
}


def measure():
    ticks = 0
    running = True

    def tick():
        nonlocal ticks
        while running:
            ticks += 1
            time.sleep(0.0005)  # gives the GIL back

    sys.setswitchinterval(1000)
    thread = threading.Thread(target=tick)
    thread.start()

    def ticks_during(make, call):
        case = make()
        time.sleep(0.01)
        before = ticks
        call(case)
        return ticks - before

    released = {
        name: any(ticks_during(*how) > 0 for _ in range(ATTEMPTS))
        for name, how in CALLS.items()
    }
    running = False
    thread.join()
    return released


if __name__ == "__main__":
    print(json.dumps(measure()))
