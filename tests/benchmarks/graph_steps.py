# SPDX-License-Identifier: Apache-2.0
"""Whole pieces of work as graphs: ``python tests/benchmarks/graph_steps.py``.

A chain of pointwise calls, a step of training of the digits MLP, and a transformer
layer forward and backward, each beside the same in eager calls and in a peer.
"""

import numpy as np
import training
from harness import all_threads, run, set_threads
from training import LR, MOMENTUM, W1, W2, X, Y, jax, torch

import pkg
import pkg.graph as pg
import pkg.nn.functional as F

CHAIN_LENGTH = 4_000_000
CACHED_LENGTH = 16_000  # floats; a chunk of a fused step has 4,096


def chain_of(x, y):
    """Ten pointwise calls."""
    a = (x * 2.0 + y).relu() * x - 0.5
    return ((a.sigmoid() * y + x).abs() * 0.5).tanh()


def long_part_of(x, y):
    """Of those the two that take longest."""
    return x.sigmoid().tanh()


def chain(module, compiled=False):
    """The chain on two vectors of four million floats."""
    rng = np.random.default_rng(0)
    x, y = (
        module.tensor(rng.random(CHAIN_LENGTH).astype(np.float32)) for _ in range(2)
    )
    call = pkg.compile(chain_of) if compiled else chain_of

    def step():
        with module.no_grad():
            result = call(x, y)
            training.finished(module)()
            return result

    return step


def chain_in_cache(function):
    """As many elements, but the same few again and again: what computing takes."""
    rng = np.random.default_rng(0)
    x, y = (pkg.tensor(rng.random(CACHED_LENGTH).astype(np.float32)) for _ in range(2))
    with pg.Graph().as_default():
        fed = [pg.placeholder(pkg.float32, [CACHED_LENGTH]) for _ in range(2)]
        call = pg.Session().make_callable(function(*fed), fed)

    def step():
        for _ in range(CHAIN_LENGTH // CACHED_LENGTH):
            call(x, y)

    return step


def mlp_graph():
    """The step of training.mlp() as a graph."""
    with pg.Graph().as_default():
        x, y = pg.placeholder(pkg.float32, X.shape), pg.placeholder(pkg.int64, Y.shape)
        values = [W1, np.zeros(128, np.float32), W2, np.zeros(10, np.float32)]
        weights = [pg.Variable(pkg.tensor(value)) for value in values]
        momenta = [pg.Variable(pkg.zeros(value.shape)) for value in values]
        w1, b1, w2, b2 = weights
        loss = F.cross_entropy(F.linear(F.linear(x, w1, b1).relu(), w2, b2), y)
        updates = []
        for w, m, g in zip(weights, momenta, pg.gradients(loss, weights)):
            new = m.assign(m * MOMENTUM + g)
            updates += [new, w.assign_sub(new * LR)]
        session = pg.Session()
        session.run(pg.global_variables_initializer())
        call = session.make_callable([loss, pg.group(*updates)], [x, y])
    a, b = pkg.tensor(X), pkg.tensor(Y)
    return lambda: call(a, b)[0]


def transformer_graph():
    """The layer of training.transformer(), its gradients fetched."""
    d, heads, length, batch = 128, 4, 64, 8
    rng = np.random.default_rng(1)

    def weight(*shape):
        return pg.Variable(pkg.tensor(rng.normal(size=shape).astype(np.float32) / 11))

    data = rng.normal(size=(batch, length, d)).astype(np.float32)
    with pg.Graph().as_default():
        x = pg.placeholder(pkg.float32, data.shape)
        sizes = [(3 * d, d), (d, d), (4 * d, d), (d, 4 * d)]
        qkv, out, up, down = ((weight(*size), weight(size[0])) for size in sizes)
        n1, n2 = ((weight(d), weight(d)) for _ in range(2))
        h = F.linear(F.layer_norm(x, (d,), *n1), *qkv)
        h = h.reshape(batch, length, 3, heads, d // heads)
        q, k, v = (h[:, :, i].transpose(1, 2) for i in range(3))
        scores = (q @ k.transpose(-2, -1)) * (d // heads) ** -0.5
        mixed = (scores.softmax(-1) @ v).transpose(1, 2)
        y = x + F.linear(mixed.reshape(batch, length, d), *out)
        y = y + F.linear(F.gelu(F.linear(F.layer_norm(y, (d,), *n2), *up)), *down)
        weights = [w for pair in (qkv, out, up, down, n1, n2) for w in pair]
        fetches = pg.gradients(y.sum(), [x, *weights])
        session = pg.Session()
        session.run(pg.global_variables_initializer())
        call = session.make_callable(fetches, [x])
    feed = pkg.tensor(data)
    return lambda: call(feed)


def main(table):
    """Losses of the graph are those of the eager step."""
    eager, graph = training.mlp(pkg), mlp_graph()
    for _ in range(5):
        np.testing.assert_allclose(float(graph()), float(eager()), rtol=1e-5)
    set_threads(1)
    floors = {"in cache": chain_of, "its sigmoid and tanh": long_part_of}
    table.compare(
        "ten pointwise calls, 1 thread, floors", chain(pkg, True),
        {name: chain_in_cache(part) for name, part in floors.items()},
    )  # fmt: skip
    for threads in sorted({1, all_threads()}):
        set_threads(threads)
        with_threads = f"{threads} thread(s)"
        table.compare(
            f"ten pointwise calls, {with_threads}", chain(pkg, True),
            {"eager": chain(pkg), "torch": torch and chain(torch)},
            {"eager": 0.5, "torch": 0.4},
        )  # fmt: skip
        table.compare(
            f"digits MLP step, {with_threads}", mlp_graph(),
            {"eager": training.mlp(pkg), "jax": jax and training.mlp_jax()},
            {"eager": 0.8, "jax": 0.4},
        )  # fmt: skip
        table.compare(
            f"transformer layer, {with_threads}", transformer_graph(),
            {"eager": training.transformer(pkg),
             "torch": torch and training.transformer(torch)},
            {"torch": 0.75},
        )  # fmt: skip


if __name__ == "__main__":
    run(main)
