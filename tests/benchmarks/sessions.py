# SPDX-License-Identifier: Apache-2.0
"""Runs of small graphs: ``python tests/benchmarks/sessions.py``.

What a run costs beside its kernels: one addition by ``Session.run``, by a callable made
before, and by the handle of the binding; and a step of training of a small network as a
graph, beside the same step of eager calls (the peer of that row).
"""

import numpy as np
from harness import run

import pkg
import pkg.graph as pg


def step_of_training():
    """The same step as a graph and eagerly: 64-32-10, a batch of 64, plain descent."""
    rng = np.random.default_rng(0)
    x = pkg.tensor(rng.standard_normal((64, 64)).astype("float32"))
    labels = pkg.tensor(rng.integers(0, 10, 64))
    first = pkg.tensor(rng.standard_normal((64, 32)).astype("float32") / 8)
    second = pkg.tensor(rng.standard_normal((32, 10)).astype("float32") / 6)

    def loss_of(x, labels, w, v):
        logs = pkg.log_softmax(pkg.relu(x @ w) @ v, 1)
        return -pkg.gather(logs, 1, labels.unsqueeze(1)).mean()

    with pg.Graph().as_default():
        fed, fed_labels = (
            pg.placeholder(pkg.float32, [None, 64]),
            pg.placeholder(pkg.int64, [None]),
        )
        w, v = pg.Variable(first), pg.Variable(second)
        grads = pg.gradients(loss_of(fed, fed_labels, w, v), [w, v])
        step = pg.group(w.assign_sub(grads[0] * 0.1), v.assign_sub(grads[1] * 0.1))
        session = pg.Session()
        session.run(pg.global_variables_initializer())
        call = session.make_callable(step, [fed, fed_labels])
    a, b = first.clone().requires_grad_(), second.clone().requires_grad_()

    def eager():
        grads = pkg.autograd.grad(loss_of(x, labels, a, b), [a, b])
        with pkg.no_grad():
            a.sub_(grads[0] * 0.1)
            b.sub_(grads[1] * 0.1)

    return lambda: call(x, labels), eager


def main(table):
    """Each row beside the eager call."""
    ones = pkg.ones(4)
    with pg.Graph().as_default():
        x = pg.placeholder(pkg.float32, [4])
        y = x + x
        session = pg.Session()
    call = session.make_callable(y, [x])
    handle = session._handle.make_callable([x], [y], [])
    eager = {"eager": lambda: ones + ones}
    table.compare("x + x, Session.run", lambda: session.run(y, {x: ones}), eager)
    table.compare("x + x, callable", lambda: call(ones), eager)
    table.compare("x + x, the binding's handle", lambda: handle.run([ones]), eager)
    graph, step = step_of_training()
    table.compare("a step of training 64-32-10", graph, {"eager": step})


if __name__ == "__main__":
    run(main)
