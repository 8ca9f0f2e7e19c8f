# SPDX-License-Identifier: Apache-2.0
"""Sessions of several threads, and runs that are ended."""

import threading
import time

import numpy as np
import pytest

import pkg
import pkg.graph as pg
from pkg.graph import errors

pytestmark = pytest.mark.usefixtures("fresh_graph")


def test_default_graphs_and_sessions_belong_to_a_thread():
    """Another thread has neither."""
    found = []
    with pg.Session():
        thread = threading.Thread(
            target=lambda: found.extend(
                [pg.get_default_graph(), pg.get_default_session()]
            )
        )
        thread.start()
        thread.join()
        assert found[0] is not pg.get_default_graph()
        assert found[1] is None and pg.get_default_session() is not None


def test_threads_run_and_swap_weights():
    """Every result is of one version of the weights, which are many steps apart."""
    a, b = pg.Variable(np.zeros(64, "f")), pg.Variable(np.zeros(64, "f"))
    x = pg.placeholder(pkg.float32, [64])
    y = (a - b).abs().sum() + x.sum() * 0
    session = pg.Session()
    session.run(pg.global_variables_initializer())
    end, faults = time.monotonic() + 2, []

    def reader():
        while time.monotonic() < end and not faults:
            if session.run(y, {x: np.ones(64, "f")}).item() != 0:
                faults.append("two versions")

    def writer(seed):
        n = seed
        while time.monotonic() < end and not faults:
            n += 2
            value = np.full(64, n, "f")
            session.swap_weights({a: value, b: value})

    threads = [threading.Thread(target=reader) for _ in range(4)]
    threads += [threading.Thread(target=writer, args=(i,)) for i in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert not faults and not any(thread.is_alive() for thread in threads)


def test_no_step_of_training_is_lost():
    """Runs that assign are one after the other."""
    v = pg.Variable(0.0)
    raised = v.assign_add(1.0)
    session = pg.Session()
    session.run(v.initializer)
    threads = [
        threading.Thread(target=lambda: [session.run(raised) for _ in range(200)])
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert session.run(v).item() == 800


def test_a_session_may_be_closed_while_others_run():
    """They end with an error or a result; nothing hangs."""
    x = pg.placeholder(pkg.float32, [64, 64])
    y = x
    for _ in range(50):
        y = (y @ x).clamp(-1, 1)
    for _ in range(5):
        session = pg.Session()
        session.run(y, {x: np.ones((64, 64), "f")})
        outcomes = []

        def work(session=session, outcomes=outcomes):
            try:
                while True:
                    session.run(y, {x: np.ones((64, 64), "f")})
            except (RuntimeError, errors.CancelledError) as error:
                outcomes.append(str(error))

        threads = [threading.Thread(target=work) for _ in range(3)]
        for thread in threads:
            thread.start()
        time.sleep(0.05)
        session.close()
        for thread in threads:
            thread.join(20)
        assert len(outcomes) == 3 and not any(t.is_alive() for t in threads)


def test_a_timeout_ends_a_long_run():
    """With DeadlineExceededError; the session is good for more."""
    x = pg.placeholder(pkg.float32, [300, 300])
    y = x
    for _ in range(2000):
        y = (y @ x).clamp(-1, 1)

    class Options:
        timeout_in_ms = 50

    session = pg.Session()
    feed = {x: np.ones((300, 300), "f")}
    start = time.monotonic()
    with pytest.raises(errors.DeadlineExceededError):
        session.run(y, feed, options=Options())
    assert time.monotonic() - start < 5
    z = x.sum()
    assert session.run(z, feed).item() == 90000


def test_a_timeout_ends_calls_without_a_plan_too():
    """Where a shape depends on values."""
    x = pg.placeholder(pkg.float32, [200, 200])
    y = x.nonzero().sum() * 0 + x
    for _ in range(500):
        y = (y @ x).clamp(-1, 1)

    class Options:
        timeout_in_ms = 20

    session = pg.Session()
    with pytest.raises(errors.DeadlineExceededError):
        session.run(y, {x: np.ones((200, 200), "f")}, options=Options())
