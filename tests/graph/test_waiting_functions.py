# SPDX-License-Identifier: Apache-2.0
"""Python functions of one run that wait for each other: never a hang."""

from child import run_child

BEGIN = """
import queue, threading, time
import numpy as np
import pkg, pkg.graph as pg, pkg.compat.v1 as tf

def pair(kind=pkg.float64):
    # put() ends when get() has taken its value.
    q = queue.Queue(1)
    def put(v):
        q.put(v)
        q.join()
        return v
    def get(w):
        v = q.get()
        q.task_done()
        return v + w
    return put, get

"""

EACH = """
with pg.Graph().as_default(), pg.Session() as session:
    a = pg.placeholder(pkg.float64, [])
    put, get = pair()
"""

CASES = {
    "between segments": """
    x = pg.py_func(put, [a * 2], pkg.float64)
    y = pg.py_func(get, [a + 1], pkg.float64)
    for _ in range(2):
        got = session.run([x, y, x + y], {a: 5.0})
        assert [v.item() for v in got] == [10, 16, 26], got
    """,
    "with gradients in the run": """
    v = pg.Variable(np.float64(3), name="v")
    x = pg.py_func(put, [v * 2], pkg.float64)
    y = pg.py_func(get, [v + 1], pkg.float64)
    (slope,) = pg.gradients(v * v * x, [v])
    session.run(pg.global_variables_initializer())
    got = session.run([x, y, slope])
    assert [v.item() for v in got] == [6, 10, 36], got
    """,
    "three, each waiting for the next": """
    gate = [threading.Event() for _ in range(3)]
    def step(n):
        if n < 2:
            gate[n + 1].wait()
        gate[n].set()
        return float(n)
    steps = [pg.py_func(lambda n=n: step(n), [], pkg.float64) for n in range(3)]
    assert [v.item() for v in session.run(steps)] == [0, 1, 2]
    """,
    "one that needs what a waiting one's partner gives": """
    ready = threading.Event()
    first = pg.py_func(lambda: ready.wait() and 1.0, [], pkg.float64)
    middle = pg.py_func(lambda: 4.0, [], pkg.float64)
    last = pg.py_func(lambda m: ready.set() or m + 1, [middle * 2], pkg.float64)
    got = session.run([first, middle, last])
    assert [v.item() for v in got] == [1, 4, 9], got
    """,
    "in a loop and beside it": """
    turns = queue.Queue()
    def take(i):
        return np.int64(turns.get() + i)
    _, total = pg.while_loop(
        lambda i, t: i < 3,
        lambda i, t: (i + 1, t + pg.py_func(take, [i], pkg.int64)),
        (pkg.tensor(0), pg.placeholder(pkg.int64, name="t")),
    )
    fill = pg.py_func(lambda: [turns.put(n) for n in (10, 20, 30)] and 1.0, [],
                      pkg.float64)
    got = session.run([total, fill], {"t:0": 0})
    assert [v.item() for v in got] == [63, 1], got
    """,
    "in one body": """
    def body():
        x = pg.py_func(put, [a * 2], pkg.float64)
        y = pg.py_func(get, [a + 1], pkg.float64)
        return x * 100 + y
    y = pg.cond(a > 0, body, lambda: a)
    assert session.run(y, {a: 5.0}).item() == 1016
    """,
    "in a child of fork() as well": """
    import os
    x, y = (pg.py_func(f, [a], pkg.float64) for f in (put, get))
    assert [v.item() for v in session.run([x, y], {a: 5.0})] == [5, 10]
    child = os.fork()
    if child == 0:
        got = [v.item() for v in session.run([x, y], {a: 6.0})]
        os._exit(0 if got == [6, 12] else 1)
    assert os.waitpid(child, 0)[1] == 0
    """,
    "an error of the one that began": """
    stop = threading.Event()
    def fail():
        stop.set()
        raise ValueError("no")
    x = pg.py_func(lambda: stop.wait() and 1.0, [], pkg.float64)
    y = pg.py_func(fail, [], pkg.float64, name="failing")
    try:
        session.run([x, y])
        raise SystemExit("no error")
    except pg.errors.InvalidArgumentError as error:
        assert "no" in str(error) and error.op is y.op, error
    """,
    "a timeout while the run waits for one": """
    begun, never = threading.Event(), threading.Event()
    x = pg.py_func(lambda: begun.wait() and 1.0, [], pkg.float64)
    y = pg.py_func(lambda: begun.set() or never.wait() and 1.0, [], pkg.float64)
    try:
        session.run([x, y], options=tf.RunOptions(timeout_in_ms=500))
        raise SystemExit("no error")
    except pg.errors.OpError as error:
        assert "imed out" in str(error), error
    never.set()
    """,
    "what is drawn or assigned is done once, so what needs it has to wait": """
    drawn = pkg.rand_like(a)
    v = pg.Variable(np.float64(1), name="v")
    session.run(pg.global_variables_initializer())
    slow = pg.py_func(lambda: time.sleep(0.15) or 1.0, [], pkg.float64)
    seen = []
    x = pg.py_func(lambda r: seen.append(float(r)) or r, [drawn], pkg.float64)
    with pg.control_dependencies([slow.op]):
        up = v.assign_add(2.0)
    y = pg.py_func(lambda r: r * 1, [up + drawn * 0], pkg.float64)
    got = [t.item() for t in session.run([slow, drawn, x, up, y], {a: 0.0})]
    assert got[1] == got[2] == seen[0] and len(seen) == 1, got
    assert got[3] == got[4] == 3, got
    """,
    "quick ones are called in order, on the thread of the run": """
    seen = []
    ys = [
        pg.py_func(lambda n=n: seen.append((n, threading.get_ident())), [], [])
        for n in range(5)
    ]
    for _ in range(20):
        seen.clear()
        session.run(ys)
        assert [n for n, _ in seen] == list(range(5))
        assert {t for _, t in seen} == {threading.get_ident()}
    """,
}


def test_functions_of_a_run_that_wait_for_each_other():
    """Of all cases in one child, as it takes its time to begin."""
    parts = [f"print({name!r}, flush=True){EACH}{code}" for name, code in CASES.items()]
    status, out, err, _ = run_child("\n".join([BEGIN, *parts]))
    assert status == 0, (out, err)
    assert out.splitlines() == list(CASES)
