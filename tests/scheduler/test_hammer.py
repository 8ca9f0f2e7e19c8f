# SPDX-License-Identifier: Apache-2.0
"""Many threads do everything at once.

PKG_HAMMER_SECONDS sets how long they do.
"""

import os
import sys
import textwrap
import time

import pytest

from child import run_command

HAMMER_SECONDS = float(os.environ.get("PKG_HAMMER_SECONDS", "6"))

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
