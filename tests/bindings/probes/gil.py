# SPDX-License-Identifier: Apache-2.0
"""Prints, as JSON, which calls let a second Python thread run.

Run by test_binding_contract.py in a process of its own, once per binding, with
the path of the probe library and the names of the calls that should keep the GIL.

The interpreter is told never to take the GIL away from a running thread, so the second
thread gets on during a call only if the call gives the GIL up.  One tick proves it; as
a busy machine may not run the thread in time, each call has some attempts; fewer if it
should keep the GIL, as it uses all of them.
"""

import ctypes
import json
import sys
import threading
import time

import numpy as np

import pkg
from pkg._binding import core

ATTEMPTS, ATTEMPTS_OF_KEEPERS = 10, 3
SECONDS = 0.03

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
    core._backward((total,), (None,), False, False, ())


def grad(case):
    leaf, total = case
    core._grad((total,), (leaf,), (None,), False, False, False)


def pending():
    """Work on the pool that is not done for a while, and its stream."""
    stream = core.Stream()
    with stream:
        probe.probe_submit_sleep(SECONDS)
    return stream


def event():
    """The event of such work."""
    return pending().record_event()


def tensor():
    """A tensor that is not done for a while, and an element of it."""
    stream = core.Stream()
    with stream:
        probe.probe_submit_sleep(SECONDS)
        x = pkg.ones(1000, 1000) @ pkg.ones(1000, 1000)  # too large for the caller
    return x, x[0, 0]


def array_of(case):
    return core._memory(case[0])


nonzero = core.OpWrapper(int, "pkg::nonzero", {"x": "self"})

# symbol, or symbol.what: (make the case, the call to measure)
CALLS = {
    "_backward": (long_chain, backward),
    "_grad": (long_chain, grad),
    "synchronize": (pending, lambda _: core.synchronize()),
    "quiesce": (pending, lambda _: core.quiesce(5)),
    "_before_fork": (pending, lambda _: core._before_fork()),
    "Event.wait": (event, lambda e: e.wait()),
    "Event.wait(1)": (event, lambda e: e.wait(1)),
    "Event.result": (event, lambda e: e.result()),
    "Event.exception": (event, lambda e: e.exception()),
    "ManualEvent.wait": (core.ManualEvent, lambda e: e.wait(SECONDS)),
    "Stream.synchronize": (pending, lambda s: s.synchronize()),
    "Tensor.wait": (tensor, lambda case: case[0].wait()),
    "Tensor.item": (tensor, lambda case: case[1].item()),
    "Tensor.tolist": (tensor, lambda case: case[1].tolist()),
    "Tensor.numpy": (tensor, lambda case: case[0].numpy()),
    "Tensor.__bool__": (tensor, lambda case: bool(case[1])),
    "Tensor.__getitem__": (tensor, lambda case: case[0][case[0] > 2]),
    "Tensor.__dlpack__": (tensor, lambda case: case[0].__dlpack__()),
    "Operator.nonzero": (tensor, lambda case: pkg.nonzero(case[0])),
    "OpWrapper.nonzero": (tensor, lambda case: nonzero(case[0])),
    "tensor": (tensor, lambda case: core.tensor([1.0, case[1]])),
    "_memory": (tensor, array_of),
    "Tensor.tolist of what is ready": (lambda: pkg.ones(300000), lambda x: x.tolist()),
    "set_num_threads": (pending, lambda _: core.set_num_threads(2)),
    "set_async": (pending, lambda _: core.set_async(True)),
    "pending_tasks": (pending, lambda _: core.pending_tasks()),
    "cancel": (event, lambda e: core.cancel(e)),
    "submit": (pending, lambda _: core.submit(int)),
    "scheduler_stats": (pending, lambda _: core.scheduler_stats()),
    "empty_cache": (tensor, lambda _: core.empty_cache()),
    "from_numpy": (lambda: np.ones(10**6), core.from_numpy),
    "Operator.add on the caller": (lambda: pkg.ones(500), lambda x: x + x),
    "shutdown": (pending, lambda _: core.shutdown(5)),  # the last: it ends the pool
}


def measure(keepers):
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
        during = ticks - before
        core.synchronize()  # what an attempt left is no part of the next one
        return during

    released = {}
    for name, how in CALLS.items():
        attempts = ATTEMPTS_OF_KEEPERS if name in keepers else ATTEMPTS
        released[name] = any(ticks_during(*how) > 0 for _ in range(attempts))
    running = False
    thread.join()
    return released


if __name__ == "__main__":
    print(json.dumps(measure(sys.argv[2:])))
