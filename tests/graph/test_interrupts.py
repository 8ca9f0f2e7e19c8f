# SPDX-License-Identifier: Apache-2.0
"""Ctrl-C, a timeout and close() each end a long run within half a second.

In processes of their own: what hangs there has a deadline.
"""

import pytest

from interrupts import check_interrupted

# The runs that would take much longer than the deadline; `feed` is given to all.
RUNS = """
    import numpy as np
    import pkg.graph as pg
    from pkg.graph import errors

    x = pg.placeholder(pkg.float32, [None, None], "x")
    feed = {x: np.full((256, 256), 0.5, "float32")}
    wide = np.random.default_rng(0).random((5000, 16_000), "float32")

    def plan():
        "Many short steps."
        y = x
        for _ in range(20_000):
            y = (y @ x).clamp(-1, 1)
        return y

    def one_step():
        "One op that takes all of the time: 20 billion comparisons."
        planes = pg.placeholder(pkg.float32, [3000, 100, 100])
        feed[planes] = np.zeros(planes.shape, "float32")
        return pkg.max_pool2d(planes, 50, 1)

    def loop():
        "Turns of a plan each."
        return pg.while_loop(lambda v: v.sum() < 1e9, lambda v: v * 0.5, [x])

    def nested():
        "A loop without an end within a turn of another."
        inner = lambda v: pg.while_loop(lambda w: w.sum() < 1e9, lambda w: w * 0.5, [v])
        return pg.while_loop(lambda v: v.sum() < 1e9, inner, [x])

    def differentiated():
        "A loop of which gradients are wanted: called operation by operation."
        v = pg.while_loop(lambda v: v.sum() < 1e9, lambda v: v * 0.5, [x])
        return pg.gradients(v.sum(), [x])[0]

    def functions():
        "A Python function in each turn."
        body = lambda v: pg.py_func(lambda a: a, [v], pkg.float32)
        return pg.while_loop(
            lambda v: v.sum() < 1e9, body, [x],
            shape_invariants=[pg.TensorShape(None)],
        )

    def one_function():
        "A Python function that calls long ops."
        def compute(a):
            while True:
                pkg.from_numpy(wide).sort(1)[0].sum().item()
        return pg.py_func(compute, [x], pkg.float32)

    session = pg.Session()
"""
pytestmark = pytest.mark.alone  # it measures time
NAMES = "plan one_step loop nested differentiated functions one_function".split()


@pytest.mark.parametrize("name", NAMES)
def test_ctrl_c_ends_the_run(name):
    """With KeyboardInterrupt; the session is good for more."""
    code = f"""
    fetch = {name}()
    check("{name}", lambda: session.run(fetch, feed))
    assert session.run(x.sum(), {{x: np.ones((2, 2))}}).item() == 4
    print("fine")
    """
    check_interrupted(RUNS + code)


@pytest.mark.parametrize("name", NAMES)
def test_a_timeout_ends_the_run(name):
    """With DeadlineExceededError, and so does close() with another one."""
    code = f"""
    class Options:
        timeout_in_ms = 200

    fetch = {name}()
    begin = time.monotonic()
    try:
        session.run(fetch, feed, options=Options())
        raise AssertionError("it has ended")
    except errors.DeadlineExceededError as error:
        assert "Timed out" in str(error)
    took = time.monotonic() - begin
    assert 0.2 <= took < 3, took  # the plan of 40,000 steps is made first, whole
    assert session.run(x.sum(), {{x: np.ones((2, 2))}}).item() == 4

    timer = threading.Timer(0.2, session.close)
    timer.start()
    begin = time.monotonic()
    try:
        session.run(fetch, feed)
        raise AssertionError("it has ended")
    except (errors.CancelledError, RuntimeError) as error:
        assert "closed" in str(error), error
    took = time.monotonic() - begin
    assert took < 0.7, took
    timer.join()
    print("fine")
    """
    check_interrupted(RUNS + code)


def test_a_timeout_is_of_the_runs_of_its_thread_only():
    """Other sessions go on, and so does the same thread afterwards."""
    code = """
    class Options:
        timeout_in_ms = 100

    endless, y = loop(), x.sum()
    other, done = pg.Session(), []

    def work():
        until = time.monotonic() + 1
        while time.monotonic() < until:
            done.append(other.run(y, feed).item())

    thread = threading.Thread(target=work)
    thread.start()
    for _ in range(5):
        try:
            session.run(endless, feed, options=Options())
        except errors.DeadlineExceededError:
            big = pkg.tensor(wide)  # long enough to be asked
            assert big.sort(1)[0].shape == big.shape
    thread.join()
    assert done and set(done) == {32768.0}
    print("fine")
    """
    check_interrupted(RUNS + code)
