# SPDX-License-Identifier: Apache-2.0
"""Tensors, graphs and work in flight that several threads drop while others go on."""

import pytest

from child import run_child

#: Seconds; it takes two. This is about what never ends, and a machine may be busy.
GENEROUS = 120

STRESS = """
    import faulthandler, gc, random, threading, time
    import pkg
    from pkg.scheduler import ManualEvent, Stream, submit

    faulthandler.dump_traceback_later({late}, exit=True)  # says where it stands
    stop, errors = threading.Event(), []

    class Owner:
        '''In a cycle, so that the collector drops what it has, and runs ops then.'''
        def __init__(self, *things):
            self.things, self.me = things, self
        def __del__(self):
            self.things = None
            pkg.ones(3)

    def with_hooks(x):
        x.requires_grad_()
        y = x * 2
        x.register_hook(lambda grad: None)
        y.register_hook(lambda grad: grad * 1)
        y.sum().backward()
        return Owner(x, y, y.sum())

    def task(x):
        return Owner(submit(lambda: (x + 1).sum()))

    def behind_a_gate(x):
        gate = ManualEvent()
        event = submit(lambda: x * 2, deps=gate)
        if x.numel() % 2:
            event.cancel()
        if x.numel() % 3:
            gate.set()
        return event  # of a gate that is gone

    def on_a_stream(x):
        stream = Stream()
        return stream, stream.submit(lambda: pkg.ones(5)), Owner(x)

    def products(x):
        for _ in range(3):
            x = x @ x / 300 if x.ndim == 2 else x + x
        return Owner(x)

    def long_graph(x):
        x.requires_grad_()
        y = x * 1
        for _ in range(200):
            y = y + 1
        y.register_hook(lambda grad: submit(lambda: pkg.ones(2)) and None)
        if x.numel() % 3 == 0:
            y.sum().backward()
        return y

    makers = [with_hooks, task, behind_a_gate, on_a_stream, products, long_graph]

    def work(number):
        rng, kept = random.Random({seed} * 100 + number), []
        try:
            while not stop.is_set():
                small = rng.randrange(1, 50)
                x = pkg.ones(300, 300) if rng.random() < 0.1 else pkg.ones(small)
                kept.append(rng.choice(makers)(x))
                if len(kept) > rng.randrange(1, 60):
                    rng.shuffle(kept)
                    del kept[rng.randrange(len(kept)):]
                chance = rng.random()
                if chance < 0.02:
                    gc.collect()
                elif chance < 0.03:
                    pkg.synchronize()
                elif chance < 0.035:
                    pkg.empty_cache()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(6)]
    for thread in threads:
        thread.start()
    time.sleep(1)
    stop.set()
    for thread in threads:
        thread.join()
    pkg.synchronize()
    gc.collect()
    pkg.synchronize()
    core = pkg._binding.core
    print(errors, core.live_tensors(), core.live_nodes(), pkg.scheduler.pending_tasks())
"""


@pytest.mark.parametrize("seed", [1, 2])
def test_destructors_run_beside_everything_else(seed):
    """Nothing waits for ever, nothing is left; the seed is in the name of the test."""
    code = STRESS.format(seed=seed, late=GENEROUS - 20)
    status, out, err, _ = run_child(code, timeout=GENEROUS)
    assert (status, out, err) == (0, "[] 0 0 0\n", "")
