# SPDX-License-Identifier: Apache-2.0
"""Makes every kind of object, prints what is left of them, and exits with some alive.

Run by tests/test_binding_contract.py in a process of its own, once per binding, with the
path of the probe library, which prints the counts once more when the process ends.
"""

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


class Mine(pkg.Tensor):
    """A subclass with a dict, so that it can be part of a cycle."""


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
    return [core.live_tensors(), core.live_nodes()]


if __name__ == "__main__":
    scenario()  # fills what is kept for ever
    before = counts()
    for _ in range(20):
        scenario()
    print(json.dumps({"before": before, "after": counts()}), flush=True)
    # Alive until the interpreter ends.
    tensor = pkg.ones(3, requires_grad=True)
    graph = (tensor * 2).sum()
    node = graph.grad_fn
    view = pkg.ones(2).numpy()
    cycle = Mine._make_subclass(Mine, pkg.ones(2))
    cycle.me = cycle
    if sys.argv[2:] == ["--leak"]:  # shows that the count at exit would notice
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(view.base))
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(node))
