# SPDX-License-Identifier: Apache-2.0
"""Makes every kind of object, prints what is left of them, and exits with some alive.

Run by test_binding_contract.py in a process of its own, once per binding, with
the path of the probe library, which prints the counts once more when the process ends.
"""

import atexit
import contextlib
import copy
import ctypes
import gc
import json
import pickle
import sys
import threading

import numpy as np

import pkg
from pkg._binding import core

probe = ctypes.CDLL(sys.argv[1])


SWIG = core.__name__ == "pkg._pywrap_core"


class Mine(pkg.Tensor):
    """A subclass with a dict, so that it can be part of a cycle."""


class Double(pkg.autograd.Function):
    """2 x, with a tensor saved."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        return grad * 2 + 0 * ctx.saved_tensors[0]


def scheduling():
    """Events that go well, fail, are cancelled or dropped, in a cycle; streams."""
    gate, stream = core.ManualEvent(), core.Stream()
    waiting = core.submit(lambda: pkg.ones(2), deps=gate)
    held = [core.submit(lambda: held, deps=gate)]  # its result is the list with it ...
    cancelled = core.submit(int, deps=gate)
    cancelled.cancel()
    failed = stream.submit(lambda: {}["k"], waiting)
    with stream:
        mark = core.current_stream().record_event()
    other = core.Stream()
    other.wait_stream(stream)
    gate.set(pkg.ones(1))
    assert waiting.result().tolist() == [1.0, 1.0] and held[0].result() is held
    if not SWIG:  # ... a cycle that the collector cannot see in a class of pybind11
        held.clear()
    for event in (failed, cancelled):
        assert event.exception() is not None
    other.synchronize()
    assert mark.wait() and gate.result().item() == 1
    dropped = core.ManualEvent()
    core.submit(int, deps=dropped)
    del dropped
    large = pkg.ones(300, 300)
    large @ large  # pending when it is dropped
    with contextlib.suppress(KeyError, pkg.CancelledError):
        core.synchronize()


def scenario():
    """One of each: results, views, subclasses, arrays, graphs, errors, cycles."""
    x = pkg.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    y = (x * 2 + np.ones(2, dtype=np.float32))[0].sum()
    y.backward(retain_graph=True)
    core._grad((y,), (x,), (None,), False, False, False)
    assert y.grad_fn.next_functions and x.grad is not None
    x.grad = pkg.ones(2, 2)
    del x.grad
    array = pkg.from_numpy(np.arange(3.0)).numpy()
    array[:] = 1
    with pkg.no_grad():
        z = x.detach()
        z += 1
        z[z > 2] = 0
        z[[0, 1]] = pkg.zeros(2)
    pickle.loads(pickle.dumps(x))
    copy.deepcopy(x)
    mine = Mine._make_subclass(Mine, z)
    mine.me = mine
    scheduling()
    Double.apply(x).sum().backward()
    x.register_hook(lambda grad: grad * 2).remove()
    y.grad_fn.register_hook(lambda *grads: None)
    for call in (lambda: z + "a", lambda: pkg.add(z, 1, 2), lambda: z[9], core.Tensor):
        try:
            call()
        except (TypeError, IndexError):
            pass
    threads = [threading.Thread(target=lambda: z * 2 - 1) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return mine.tolist()


def counts():
    gc.collect()
    with contextlib.suppress(Exception):  # an error that nobody read
        core.synchronize()
    names = ("tensors", "nodes", "events", "streams")
    return {name: getattr(core, f"live_{name}")() for name in names}


if __name__ == "__main__":
    scenario()  # fills what is kept for ever
    before = counts()
    for _ in range(20):
        scenario()
    print(json.dumps({"before": before, "after": counts()}), flush=True)
    # Alive until the interpreter ends, which need not wait for what can never begin.
    atexit.unregister(core.shutdown)
    atexit.register(core.shutdown, 0.2)
    tensor = pkg.ones(3, requires_grad=True)
    graph = (tensor * 2).sum()
    node = graph.grad_fn
    view = pkg.ones(2).numpy()
    cycle = Mine._make_subclass(Mine, pkg.ones(2))
    cycle.me = cycle
    # What C++ keeps of Python (a hook, a result) is left to the process by then, and
    # with it the tensors it refers to: so none here.
    event = core.submit(int)
    stream = core.Stream()
    gate = core.ManualEvent()
    waiting = stream.submit(int, gate)
    if sys.argv[2:] == ["--leak"]:  # shows that the count at exit would notice
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(view.base))
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(node))
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(event))
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(stream))
