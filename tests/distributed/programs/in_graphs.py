# SPDX-License-Identifier: Apache-2.0
"""Checks of collectives in graphs, for collectives.py."""

import threading

import numpy as np
from checking import equal

import pkg
import pkg.distributed as hvd
from pkg import graph
from pkg.distributed.compat import _allreduce

hvd.init()
RANK, SIZE = hvd.rank(), hvd.size()
RANKS = range(SIZE)
TOTAL = sum(r + 1 for r in RANKS)


def graphs_name_nodes_by_the_rule():
    g = graph.Graph()
    with g.as_default(), graph.name_scope(f"scope{RANK}"):
        x = graph.placeholder(pkg.float32, (None, 2), "x")
        y = _allreduce(x, ignore_name_scope=True)
        z = _allreduce(x, ignore_name_scope=True, postscale_factor=3.0)
    name = f"scope{RANK}/HorovodAllreduce_scope{RANK}_x_0"
    assert (y.name, z.name) == (f"{name}:0", f"{name}_1:0"), (y.name, z.name)


def graphs_run_collectives():
    g = graph.Graph()
    with g.as_default():
        x = graph.placeholder(pkg.float32, (None, 2), "x")
        y = _allreduce(x)
        z = _allreduce(x, postscale_factor=3.0)
        grads = graph.gradients((y * y).sum(), [x])
    order = [y, z, *grads] if RANK else [*grads, z, y]
    with graph.Session(graph=g) as session:
        for _ in range(3):
            got = session.run(order, {x: np.full((3, 2), RANK + 1, np.float32)})
    got = got if RANK else got[::-1]
    total = sum(r + 1 for r in range(SIZE))
    for value, wanted in zip(got, (total, 3 * total, 2 * total * SIZE)):
        equal(value, np.full((3, 2), float(wanted)))


def rows_of_other_ranks_in_graphs():
    """Each rank feeds rows of another number, in each run again."""
    with graph.Graph().as_default() as g:
        x = graph.placeholder(pkg.float32, (None, 2), "x")
        splits = graph.placeholder(pkg.int64, (SIZE,), "splits")
        rows = hvd.allgather(x)
        two = hvd.grouped_allgather([x, x * 2], name="two")
        sent, counts = hvd.alltoall(x, splits)
        grads = graph.gradients((rows * rows).sum(), [x])
    assert rows.op.name == "HorovodAllgather_x_0", rows.op.name
    assert [tuple(y.shape) for y in (rows, *two, sent)] == [(None, 2)] * 4
    assert tuple(counts.shape) == (None,) and counts.dtype == pkg.int64
    with graph.Session(graph=g) as session:
        for more in (1, 2, 0):
            mine = np.full(((RANK + more) * SIZE, 2), RANK + 1, np.float32)
            feed = {x: mine, splits: np.full(SIZE, RANK + more)}
            got = session.run([rows, *two, sent, counts, *grads], feed)
            all_ = np.repeat([r + 1.0 for r in RANKS],
                             [(r + more) * SIZE for r in RANKS])  # fmt: skip
            part = np.repeat([r + 1.0 for r in RANKS], [r + more for r in RANKS])
            for value, wanted in zip(got, (all_, all_, 2 * all_, part)):
                equal(value, np.repeat(wanted[:, None], 2, 1))
            equal(got[4], [r + more for r in RANKS])
            equal(got[5], 2.0 * SIZE * mine)


def collectives_in_graphs_have_plans():
    """Each run has results of its own, and says which operation has failed."""
    with graph.Graph().as_default() as g:
        x = graph.placeholder(pkg.float32, (None, 2), "x")
        a = hvd.allreduce(x * 2, op=hvd.Sum)
        b = hvd.broadcast(x + 1, SIZE - 1)
        c = hvd.reducescatter(x, op=hvd.Sum)
        d, e = hvd.grouped_allreduce([a, x - 1], op=hvd.Max)
        (f,) = hvd.grouped_reducescatter([x], op=hvd.Sum)
        far = hvd.allreduce(a.sum() + b.sum(), op=hvd.Sum, name="far") * 2
        fetches = [a, a, b, c, d, e, f, far]
    one = np.ones((SIZE, 2))
    wanted = [2 * TOTAL * one, 2 * TOTAL * one, (SIZE + 1) * one, TOTAL * one[:1],
              2 * TOTAL * one, (SIZE - 1) * one, TOTAL * one[:1],
              2 * SIZE * (4 * TOTAL + 2 * SIZE + 2) * SIZE]  # fmt: skip
    with graph.Session(graph=g) as session:
        feed = {x: np.full((SIZE, 2), RANK + 1, np.float32)}
        kept = [session.run(fetches, feed) for _ in range(3)]
        kinds = {buffer.kind for buffer in session.memory_plan(fetches, [x]).buffers}
        assert "made" in kinds, kinds
        for got in kept:
            for value, right in zip(got, wanted, strict=True):
                equal(value, right)
        try:
            session.run(a, {x: np.ones((1 + (RANK == 0), 2), np.float32)})
        except hvd.HorovodInternalError as error:
            assert "Mismatched allreduce tensor shapes" in str(error), error
        else:
            raise AssertionError("no error")
        for value, right in zip(session.run(fetches, feed), wanted, strict=True):
            equal(value, right)


def plans_begin_all_before_they_wait():
    """Ranks have the same collectives in another order, each used by the next op."""
    with graph.Graph().as_default() as g:
        x = graph.placeholder(pkg.float32, (3,), "x")
        made = {}
        for i in range(8) if RANK % 2 else reversed(range(8)):
            y = hvd.allreduce(x * (i + 1), op=hvd.Sum, name=f"turn{i}")
            made[i] = (y.exp() * 0 + y).sum()  # nobody waits for the others here
        z = sum(hvd.allreduce(made[i], op=hvd.Sum, name=f"then{i}") for i in range(8))
    with graph.Session(graph=g) as session:
        for _ in range(2):
            got = session.run(z, {x: np.full(3, RANK + 1, np.float32)})
            equal(got, 36.0 * TOTAL * 3 * SIZE)
        assert session.memory_plan(z, [x]).steps


def threads_may_run_one_graph():
    """A node's collectives of two runs, and their gradients, come in turn."""
    with graph.Graph().as_default() as g:
        x = graph.placeholder(pkg.float32, (SIZE, 1), "x")
        rows = hvd.allgather(x, name="rows of threads")
        (two,) = hvd.grouped_allgather([x], name="group of threads")
        sent = hvd.alltoall(x, name="sent by threads")
        share = hvd.reducescatter(x, name="share of threads")
        grads = [graph.gradients((y * y).sum(), [x])[0] for y in (rows, sent, share)]
        reduced = hvd.allreduce(x, name="reduced by threads")
    failed = []
    with graph.Session(graph=g) as session:

        def work(fetch):
            try:
                for _ in range(5):
                    session.run(fetch, {x: np.ones((SIZE, 1), np.float32)})
            except Exception as error:
                failed.append(str(error))

        for fetch in (rows, two, sent, share, reduced, *grads):
            threads = [threading.Thread(target=work, args=(fetch,)) for _ in range(2)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            assert not failed, (fetch, failed)


def training_in_a_graph_is_planned():
    """Gradients through the loss, averaged, and assigned: as on one rank."""
    data = np.random.default_rng(0).standard_normal((10, SIZE, 6, 4))
    with graph.Graph().as_default() as g:
        x = graph.placeholder(pkg.float64, (None, 4), "x")
        w = graph.Variable(np.full((4, 3), 0.1), name="w")
        loss = ((x @ w).tanh() - 1).square().mean()
        (grad,) = graph.gradients(loss, [w])
        step = w.assign(w - 0.5 * hvd.allreduce(grad, name="w"))
        alone = w.assign(w - 0.5 * grad)
    results = []
    for op, batches in ((step, data[:, RANK]), (alone, data.reshape(10, -1, 4))):
        with graph.Session(graph=g) as session:
            session.run(w.initializer)
            for batch in batches:
                got = session.run(op, {x: batch})
            assert session.memory_plan(op, [x]).steps
            results.append(got.numpy())
    assert np.allclose(*results, atol=1e-12, rtol=0), results
