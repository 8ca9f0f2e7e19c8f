# SPDX-License-Identifier: Apache-2.0
"""Asynchronous execution: pending tensors, ordering, errors, and PKG_ASYNC=0."""

import os
import random
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import pkg
from child import run_child

core = pkg._binding.core


@pytest.fixture(autouse=True)
def asynchronous():
    """Every test starts with scheduling on and ends with nothing pending."""
    before = core.async_enabled()
    core.set_async(True)
    yield
    core.set_async(before)
    pkg.synchronize()


def heavy(size=700, steps=12):
    """A chain of products that takes long enough to be overtaken."""
    x = pkg.eye(size) * 0.5
    y = x
    for _ in range(steps):
        y = y @ x
    return y


def test_a_chain_of_products_returns_before_it_is_done():
    """The caller goes on while the pool works, and the values are right."""
    y = heavy()
    assert not y.is_ready()
    assert y.shape == (700, 700) and y.dtype is pkg.float32
    assert not y.is_ready()  # describing it does not wait
    assert y[3, 3].item() == 0.5**13


def test_python_work_overlaps_with_kernels():
    """While products run, Python counts: the GIL is free and nobody waits."""
    heavy().wait()
    y = heavy(steps=20)
    counted = 0
    while not y.is_ready():
        counted += 1
    assert counted > 100


def test_waiting_releases_the_gil():
    """Another thread makes progress during wait()."""
    progress = []
    stop = threading.Event()

    def count():
        while not stop.is_set():
            progress.append(1)
            time.sleep(0.0005)

    thread = threading.Thread(target=count)
    y = heavy(steps=30)
    thread.start()
    y.wait()
    stop.set()
    thread.join(10)
    assert len(progress) > 5


SCRIPT = """
import sys, numpy as np, pkg
pkg.manual_seed(7)
x = pkg.randn(300, 400); w = pkg.randn(400, 300, requires_grad=True)
for step in range(4):
    y = ((x @ w).tanh() * 2 - 1).softmax(1)
    loss = (y * y).sum() + (w.exp().sum(0) / 100).mean()
    w.grad = None
    loss.backward()
    with pkg.no_grad():
        w -= 0.01 * w.grad
        w[3:5].mul_(0.5)
sys.stdout.buffer.write(w.detach().numpy().tobytes() + loss.detach().numpy().tobytes())
"""


def test_results_without_scheduling_are_identical():
    """PKG_ASYNC=0 gives the same bits, in-place updates and gradients included."""
    outputs = []
    for value in ("0", "1", "1"):
        env = dict(os.environ, PKG_ASYNC=value)
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT], env=env, stdout=subprocess.PIPE, check=True
        )
        outputs.append(done.stdout)
    assert len(outputs[0]) == 400 * 300 * 4 + 4
    assert outputs[0] == outputs[1] == outputs[2]


def test_in_place_waits_for_pending_readers():
    """Write after read, and read after write, without synchronisation by the user."""
    for _ in range(20):
        x = pkg.ones(600, 600)
        products = [x @ x for _ in range(3)]
        x.zero_()
        after = x @ x
        x.add_(2)
        for product in products:
            assert product[5, 7].item() == 600.0
        assert after.sum().item() == 0.0
        assert x[0, 0].item() == 2.0


def test_small_tensors_depending_on_pending_ones():
    """A one-element result of pending work is pending itself, and right."""
    y = heavy(steps=15)
    small = y[0, 0] * 2.0**16
    del y
    assert (small + 1).item() == 2.0**16 * 0.5**16 + 1
    assert small.is_ready()


LOOKUPS = {
    "index": lambda table, places: table[places],
    "rows": lambda table, places: table.reshape(1_000, -1)[places],
    "gather": lambda table, places: pkg.gather(table, 0, places),
    "take": pkg.take,
    "index_select": lambda table, places: pkg.index_select(table, 0, places),
    "embedding": lambda table, places: pkg.nn.functional.embedding(
        places, table.reshape(1_000, -1)
    ),
    "searchsorted": pkg.searchsorted,
}


@pytest.mark.parametrize("name", LOOKUPS)
def test_a_few_elements_of_a_large_table_are_read_by_the_caller(name):
    """Nothing that is handed to the workers is done while they wait at the gate."""
    table, places = pkg.zeros(20_000_000, dtype=pkg.uint8), pkg.tensor([3, 1, 999])
    if name == "searchsorted":
        places = places.to(table.dtype)
    gate = threading.Event()
    waiting = [pkg.scheduler.submit(gate.wait) for _ in range(pkg.get_num_threads())]
    try:
        handed_over = not heavy(steps=1).is_ready()
        here = LOOKUPS[name](table, places).is_ready()
    finally:
        gate.set()
    for event in waiting:
        event.wait()
    # Not before: an assertion that fails prints tensors, for which it would wait.
    assert handed_over and here


def fail_here():
    """Builds work whose kernel fails: an index that only the kernel can see."""
    weight = heavy(steps=6)
    index = (weight[0] * 0).to_dtype(pkg.int64) + 700  # one past the end
    return weight.gather(0, index.unsqueeze(0))  # the submitting line


def test_a_failing_kernel_reaches_the_reader_with_class_and_line():
    """The error names the op and the Python line that submitted it."""
    bad = fail_here()
    with pytest.raises(IndexError) as caught:
        bad.sum().item()
    text = str(caught.value)
    line = fail_here.__code__.co_firstlineno + 4
    assert f"test_async.py:{line}" in text and "gather" in text
    with pytest.raises(IndexError):  # every later wait says so again
        bad.numpy()
    assert (pkg.ones(2) + 1).tolist() == [2.0, 2.0]


def test_a_failure_does_not_spread_to_independent_work():
    """Neighbours finish; synchronize() raises what nobody has seen, once."""
    good = heavy(steps=8)
    bad = fail_here()
    assert good[0, 0].item() == 0.5**9
    with pytest.raises(IndexError):
        pkg.synchronize()
    pkg.synchronize()
    with pytest.raises(IndexError):
        bad.wait()


def test_asking_is_not_seeing():
    """What failed is ready: reading does not block.  synchronize() still raises."""
    bad = fail_here()
    more = bad + 1
    while not bad.is_ready():
        time.sleep(0.001)
    del more
    with pytest.raises(IndexError):
        pkg.synchronize()


def test_memory_that_numpy_sees_is_untouched_after_the_call():
    """Ops on shared memory run while the call lasts."""
    array = np.ones((500, 500), dtype=np.float32)
    x = pkg.from_numpy(array)
    y = x @ x
    assert y.is_ready()
    array[:] = 0
    assert y[0, 0].item() == 500.0
    z = heavy(steps=10)
    seen = z.numpy()  # waits
    w = z + 1
    assert w.is_ready() and seen[0, 0] == 0.5**11


def test_reading_forms_wait():
    """item, tolist, numpy, repr, bool and float give final values."""
    forms = [
        lambda t: t[0, 0].item(),
        lambda t: t[0].tolist()[0],
        lambda t: float(t.numpy()[0, 0]),
        lambda t: float(t[0, 0]),
        lambda t: eval(repr(t[0, 0]), {"tensor": lambda v, **_: v}),
        lambda t: float(bool(t[0, 0] > 0)) * 0.5**7,
    ]
    for form in forms:
        assert form(heavy(steps=6)) == pytest.approx(0.5**7, rel=1e-3, abs=1e-4)


def test_work_in_flight_is_bounded():
    """A loop that drops its results does not collect gigabytes of them."""
    x = pkg.ones(1000, 1000)
    pkg.synchronize()
    base = core.bytes_in_use()
    worst = 0
    for _ in range(600):
        x * 2.0
        worst = max(worst, core.bytes_in_use() - base)
    assert worst < 1.3 * 2**30
    pkg.synchronize()
    assert core.bytes_in_use() - base < 64 << 20


def test_threads_share_tensors():
    """Random reads and writes from four threads: totals are exact."""
    seed = random.randrange(10**6)
    print("seed", seed)
    shared = pkg.ones(256, 256)
    failures = []

    def work(number):
        rng = random.Random(seed + number)
        try:
            own = pkg.zeros(256, 256)
            for _ in range(60):
                if rng.random() < 0.5:
                    own += shared @ shared
                else:
                    own.add_(pkg.ones(256, 256) * 256)
            if own[3, 4].item() != 60 * 256:
                failures.append(own[3, 4].item())
        except BaseException as error:  # noqa: BLE001 - reported below
            failures.append(error)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not any(t.is_alive() for t in threads)
    assert not failures, failures


def test_gradients_through_pending_tensors():
    """backward() may begin before forward has ended."""
    w = (pkg.ones(300, 300) / 300).requires_grad_()
    x = pkg.ones(300, 300)
    loss = ((x @ w) @ w).sum()
    loss.backward()
    np.testing.assert_allclose(w.grad.numpy(), np.full((300, 300), 600.0), rtol=1e-5)


def test_ops_in_destructors_while_work_is_submitted():
    """The collector may run in the middle of any call of ours."""
    code = """
    import gc
    import pkg
    a = pkg.randn(400, 400)
    a.wait()
    class Circle:
        def __init__(self):
            self.me = self
        def __del__(self):
            global kept
            kept = a @ a
    gc.set_threshold(7)
    def product(depth):
        return product(depth - 1) if depth else (Circle(), a @ a)[1]
    for i in range(300):
        y = product(i % 37)
        lists = [[] for _ in range(i % 23)]
        if i % 10 == 0:
            y[0, 0].item()
    gc.disable()
    print("fine")
    """
    assert run_child(code)[:3] == (0, "fine\n", "")


def test_the_error_of_a_task_keeps_its_name_where_others_wait():
    """What waits for it inside throws the very object that later readers get."""
    pending = pkg.ones(700, 700)
    for _ in range(20):
        pending = pending @ pending / 700
    bad = pkg.ones(700, 700, dtype=pkg.int64) // (pending * 0).to(pkg.int64)
    for wait in (lambda: pkg.allclose(bad, bad), bad.unique, bad.tolist):
        with pytest.raises(RuntimeError, match=r"\[floor_divide\] integer div"):
            wait()
