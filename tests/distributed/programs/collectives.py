# SPDX-License-Identifier: Apache-2.0
"""Checks of the collectives, on each of N ranks: prints `ok NAME` or `FAIL NAME`."""

import atexit
import os
import random
import re
import time

import numpy as np
from checking import equal, raises, run
from in_graphs import (
    collectives_in_graphs_have_plans,
    graphs_name_nodes_by_the_rule,
    graphs_run_collectives,
    plans_begin_all_before_they_wait,
    rows_of_other_ranks_in_graphs,
    threads_may_run_one_graph,
    training_in_a_graph_is_planned,
)
from refusals import (
    broadcasts_may_stand_on_other_lines,
    calls_without_a_name_meet_again_after_join,
    groups_of_rows_are_all_or_nothing,
    groups_of_two_sizes_are_an_error_at_once,
    refusals_come_in_turn,
    refusals_of_any_text_are_told,
    what_one_rank_refuses_is_an_error_on_all,
    what_waits_for_its_turn_cannot_lose_it,
)

import pkg
import pkg.distributed as hvd
from pkg import graph, nn, optim

hvd.init()
RANK, SIZE = hvd.rank(), hvd.size()
INTS = [pkg.uint8, pkg.int8, pkg.int32, pkg.int64]
FLOATS = [pkg.float16, pkg.bfloat16, pkg.float32, pkg.float64]


def allreduce_of_every_dtype_and_op():
    ranks = [np.arange(5) % 3 + r for r in range(SIZE)]
    for dtype in INTS + FLOATS:
        x = pkg.tensor(ranks[RANK]).to(dtype)
        for op, reference in (
            (hvd.Sum, np.add),
            (hvd.Min, np.minimum),
            (hvd.Max, np.maximum),
            (hvd.Product, np.multiply),
        ):
            got = hvd.allreduce(x, op=op)
            assert got.dtype == dtype
            equal(got, reference.reduce(ranks))
        if dtype in FLOATS:
            equal(
                hvd.allreduce(x),
                pkg.tensor(sum(ranks) / SIZE).to(dtype).to(pkg.float64),
            )
    odd = pkg.tensor([RANK == 1, True, False])
    equal(hvd.allreduce(odd, op=hvd.Sum), [True, True, False])
    equal(hvd.allreduce(odd, op=hvd.Product), [False, True, False])


def factors_are_double():
    x = pkg.tensor([1.0 + RANK], dtype=pkg.float64)
    total = np.float64(0)
    for r in range(SIZE):
        total += (1.0 + r) * (1 / 3)
    got = hvd.allreduce(x, op=hvd.Sum, prescale_factor=1 / 3, postscale_factor=0.7)
    equal(got, [total * 0.7])
    bad = pkg.tensor([np.inf if RANK == 0 else 1.0, np.nan])
    got = hvd.allreduce(bad, op=hvd.Sum, prescale_factor=2.0).tolist()
    assert got[0] == np.inf and got[1] != got[1]
    ints = pkg.tensor([1, 2])
    raises(
        ValueError, "factors of 1", hvd.allreduce, ints, op=hvd.Sum, prescale_factor=0.5
    )
    raises(ValueError, "floating dtype for Average", hvd.allreduce, ints)
    raises(NotImplementedError, "Adasum", hvd.allreduce, x, op=hvd.Adasum)
    raises(ValueError, "expected op to be", hvd.allreduce, x, op=9)
    raises(ValueError, "supersedes average", hvd.allreduce, x, average=True, op=hvd.Sum)


def layouts_and_shapes():
    x = pkg.arange(12).reshape(3, 4).float() + RANK
    base = np.arange(12).reshape(3, 4) * SIZE + sum(range(SIZE))
    equal(hvd.allreduce(x.t(), op=hvd.Sum), base.T)
    equal(hvd.allreduce(x[:, ::2], op=hvd.Sum), base[:, ::2])
    equal(hvd.allreduce(pkg.tensor(2.0), op=hvd.Sum), 2.0 * SIZE)
    assert hvd.allreduce(pkg.ones(0, 3), op=hvd.Sum).shape == (0, 3)
    seen = np.full(7, float(RANK), np.float32)  # memory that NumPy may write at once
    handle = hvd.allreduce_async(pkg.from_numpy(seen), op=hvd.Max)
    seen[:] = 99
    equal(hvd.synchronize(handle), [SIZE - 1.0] * 7)


def a_thousand_in_another_order_on_each_rank():
    names = list(range(1000))
    handles = {}
    random.Random(RANK).shuffle(names)
    for i in names:
        x = pkg.full((1 + i % 40,), float(i + RANK))
        handles[i] = hvd.allreduce_async(x, name=f"many.{i}", op=hvd.Sum)
    for i in sorted(handles):
        got = hvd.synchronize(handles[i])
        equal(got, [float(SIZE * i + sum(range(SIZE)))] * (1 + i % 40))


def the_steady_state_sends_numbers_and_fuses():
    def step():
        handles = [
            hvd.allreduce_async(pkg.ones(100), name=f"steady.{i}") for i in range(50)
        ]
        for handle in handles:
            hvd.synchronize(handle)

    step()
    before = pkg.ops.horovod._counts().tolist()
    for _ in range(5):
        step()
    after = pkg.ops.horovod._counts().tolist()
    whole, numbered, responses, tensors = np.subtract(after, before)
    assert whole == 0 and numbered == tensors == 250, (before, after)
    assert responses < tensors


def a_large_tensor_has_the_bits_of_its_parts():
    values = np.random.default_rng(RANK).standard_normal(300_007).astype(np.float32)
    whole = hvd.allreduce(pkg.tensor(values), op=hvd.Sum).numpy()
    parts = [
        hvd.allreduce(pkg.tensor(part), op=hvd.Sum).numpy()
        for part in np.array_split(values, 7)
    ]
    assert np.array_equal(whole, np.concatenate(parts))
    small = hvd.allreduce(pkg.tensor(values[-5:]), op=hvd.Sum).numpy()
    assert np.array_equal(whole[-5:], small)


def results_are_pending_and_go_into_ops():
    x = pkg.full((1000, 100), 1.0 + RANK)
    y = pkg.ops.horovod.allreduce(x * 2, "pending") + 1  # nobody has waited
    total = 2.0 * sum(r + 1 for r in range(SIZE)) + 1
    assert (y == total).all().item()
    x.mul_(0)  # after the collective has read it
    handle = hvd.allreduce_async(pkg.ones(3), name="polled")
    while not hvd.poll(handle):
        pass
    equal(hvd.synchronize(handle), [1.0] * 3)
    raises(ValueError, "not created or has been cleared", hvd.synchronize, handle)


def in_place_forms():
    x = pkg.full((4,), float(RANK))
    assert hvd.allreduce_(x, op=hvd.Sum) is x
    equal(x, [float(sum(range(SIZE)))] * 4)
    y = pkg.full((2,), float(RANK))
    hvd.broadcast_(y, SIZE - 1)
    equal(y, [SIZE - 1.0] * 2)


def allgather_of_unequal_rows():
    rows = [pkg.full((r + 1, 2), r, dtype=pkg.int32) for r in range(SIZE)]
    wanted = np.concatenate([r.numpy() for r in rows])
    equal(hvd.allgather(rows[RANK]), wanted)
    handle = hvd.allgather_async(rows[RANK] if RANK else rows[0][:0])
    equal(hvd.synchronize(handle), wanted[1:])
    raises(ValueError, "first dimension", hvd.allgather, pkg.tensor(1.0))


def broadcast_of_every_dtype():
    for dtype in [pkg.bool, *INTS, *FLOATS]:
        x = pkg.tensor([RANK, 1]).to(dtype)
        equal(
            hvd.broadcast(x, 1),
            pkg.tensor([1, 1])
            .to(dtype)
            .to(dtype if dtype not in FLOATS else pkg.float64)
            .numpy(),
        )
    raises(ValueError, "root_rank", hvd.broadcast, pkg.ones(1), SIZE)


def what_is_sent_is_as_it_was_at_the_call():
    """Rows, too, which a task sends later: also splits, and without a gradient where
    none was wanted at the call."""
    x = pkg.full((SIZE, 1000), float(RANK))
    splits = pkg.ones(SIZE, dtype=pkg.int64)
    seen = np.ones(SIZE, np.int64)
    calls = [
        (hvd.allgather_async, (x,)),
        (hvd.grouped_allgather_async, ([x],)),
        (hvd.alltoall_async, (x, splits)),
        (hvd.alltoall_async, (x, seen)),
    ]
    for _ in range(5):
        x.fill_(float(RANK))
        splits.fill_(1)
        seen[:] = 1
        handles = [call(*args) for call, args in calls]
        x.fill_(-1.0)
        splits.fill_(-1)
        seen[:] = -1
        all_, (same,), *sent = map(hvd.synchronize, handles)
        for got in (all_, same):
            equal(got[:, 0], np.repeat(np.arange(SIZE), SIZE))
        for rows, counts in sent:
            equal(rows[:, 0], np.arange(SIZE))
            equal(counts, [1] * SIZE)
    w = pkg.ones(1, requires_grad=True)
    with pkg.no_grad():
        handle = hvd.allgather_async(w)
    assert not hvd.synchronize(handle).requires_grad
    hvd.synchronize(hvd.allgather_async(w)).sum().backward()
    equal(w.grad, [float(SIZE)])


def alltoall_with_and_without_splits():
    x = pkg.arange(SIZE * 2) + 100 * RANK
    wanted = np.concatenate([np.arange(2) + 2 * RANK + 100 * r for r in range(SIZE)])
    equal(hvd.alltoall(x), wanted)
    splits = pkg.tensor([r + RANK for r in range(SIZE)])
    x = pkg.full((int(splits.sum().item()), 3), float(RANK))
    rows, counts = hvd.alltoall(x, splits)
    equal(counts, [r + RANK for r in range(SIZE)])
    equal(rows[:, 0], np.concatenate([[float(r)] * (r + RANK) for r in range(SIZE)]))
    raises(ValueError, "sum to", hvd.alltoall, x, splits + 1)
    if SIZE > 1:
        raises(ValueError, "can share", hvd.alltoall, pkg.ones(SIZE + 1))


def reducescatter_shares_the_rows():
    x = pkg.arange(2 * (SIZE + 1)).reshape(SIZE + 1, 2).float() * (RANK + 1)
    total = np.arange(2 * (SIZE + 1)).reshape(-1, 2) * sum(r + 1 for r in range(SIZE))
    begin = RANK + min(RANK, 1)
    mine = total[begin : begin + 1 + (RANK < 1)]
    equal(hvd.reducescatter(x, op=hvd.Sum), mine)
    equal(hvd.reducescatter(x), mine / SIZE)


def groups_are_all_or_nothing():
    xs = [pkg.full((i + 1,), float(RANK)) for i in range(3)]
    for i, got in enumerate(hvd.grouped_allreduce(xs, name="group", op=hvd.Sum)):
        equal(got, [float(sum(range(SIZE)))] * (i + 1))
    raises(
        ValueError,
        "floating dtype",
        hvd.grouped_allreduce,
        [xs[0], xs[1], pkg.tensor([1])],
        name="half",
    )
    equal(hvd.allreduce(xs[0], name="half_1of3", op=hvd.Max), [SIZE - 1.0])
    xs[1] = pkg.ones(2 + RANK)
    raises(
        hvd.HorovodInternalError,
        "Mismatched allreduce tensor shapes",
        hvd.grouped_allreduce,
        xs,
        name="odd",
    )


def in_place_forms_come_in_any_order():
    """More than a thread may have in flight, and the ranks begin at different ends.
    NumPy sees the memory of every third."""
    xs = [pkg.full((3,), float(i + RANK)) for i in range(600)]
    seen = [x.numpy() for x in xs[::3]]
    order = list(range(600))[:: -1 if RANK % 2 else 1]
    handles = {
        i: hvd.allreduce_async_(xs[i], name=f"in place {i}", op=hvd.Sum) for i in order
    }
    for i, handle in handles.items():
        assert hvd.synchronize(handle) is xs[i]
        equal(xs[i], [float(i * SIZE + sum(range(SIZE)))] * 3)
    assert all((a == x.numpy()).all() for a, x in zip(seen, xs[::3], strict=True))


def gradients_are_those_of_all_ranks():
    weights = pkg.arange(1, 4).double()

    def gradient(function):
        x = (pkg.ones(3).double() * (RANK + 1)).requires_grad_()
        function(x).backward()
        return x.grad

    own = (weights * (RANK + 1)).detach()
    total = weights.numpy() * sum(r + 1 for r in range(SIZE))
    equal(
        gradient(
            lambda x: (hvd.allreduce(x, op=hvd.Sum, prescale_factor=2.0) * own).sum()
        ),
        2 * total,
    )
    equal(
        gradient(lambda x: (hvd.allreduce(x, name="named") * own).sum()), total / SIZE
    )
    equal(
        gradient(lambda x: (hvd.broadcast(x, 0) * own).sum()),
        total if RANK == 0 else total * 0,
    )
    equal(
        gradient(lambda x: (hvd.allgather(x)[3 * RANK : 3 * RANK + 3] * own).sum()), own
    )
    equal(
        gradient(
            lambda x: sum(
                (y * own).sum() for y in hvd.grouped_allreduce([x, x * 2], op=hvd.Sum)
            )
        ),
        3 * total,
    )
    # Twice through one name: the second collective comes after the first one.
    x = pkg.ones(70000, dtype=pkg.float64, requires_grad=True)
    loss = (
        sum(y.sum() for y in hvd.grouped_allreduce([x, x * 2], name="twice")) * own[0]
    )
    for _ in range(3):
        loss.backward(retain_graph=True)
    equal(x.grad, np.full(70000, 3 * 3 * total[0] / SIZE))
    y = pkg.ones(SIZE, 2, requires_grad=True)
    (hvd.alltoall(y) * (RANK + 1)).sum().backward()
    equal(y.grad, np.repeat([[r + 1.0] for r in range(SIZE)], 2, 1))
    z = pkg.ones(SIZE, 2, requires_grad=True)
    (hvd.reducescatter(z) * (RANK + 1)).sum().backward()
    equal(z.grad, np.repeat([[(r + 1.0) / SIZE] for r in range(SIZE)], 2, 1))
    raises(
        NotImplementedError,
        "Sum and Average",
        gradient,
        lambda x: hvd.allreduce(x, op=hvd.Max).sum(),
    )


def what_differs_is_an_error_on_every_rank():
    error = hvd.HorovodInternalError
    odd = int(RANK == SIZE - 1)
    for text, function in (
        ("Mismatched data types: One rank had type float32, but another rank had type "
         "float64.", lambda: hvd.allreduce(pkg.ones(2).to(
             pkg.float64 if odd else pkg.float32), name="m")),
        ("Mismatched allreduce tensor shapes: One rank sent a tensor of shape [2], but "
         "another rank sent a tensor of shape [3].",
         lambda: hvd.allreduce(pkg.ones(2 + odd), name="m")),
        ("Mismatched reduce operations", lambda: hvd.allreduce(
            pkg.ones(1), name="m", op=hvd.Max if odd else hvd.Min)),
        ("Mismatched prescale and/or postscale factors", lambda: hvd.allreduce(
            pkg.ones(1), name="m", postscale_factor=1.0 + odd)),
        ("Mismatched broadcast root ranks: One rank specified root rank 0, but another "
         "rank specified root rank 1.",
         lambda: hvd.broadcast(pkg.ones(1), odd, name="m")),
        ("Mismatched MPI operations", lambda: hvd.allgather(pkg.ones(1), name="m")
         if odd else hvd.allreduce(pkg.ones(1), name="m")),
        ("Mismatched allgather tensor shapes", lambda: hvd.allgather(
            pkg.ones(2, 2 + odd), name="m")),
    ):  # fmt: skip
        said = raises(error, text, function)
        lines = set(re.findall(r"rank (\d) at \S*collectives.py:\d+", said))
        assert lines == {str(r) for r in range(SIZE)}, said
        equal(hvd.allreduce(pkg.ones(2), name="m"), [1.0, 1.0])


def calls_without_a_name_stand_on_the_same_line():
    """A branch of one rank does not pair what does not belong together."""
    error = hvd.HorovodInternalError
    if RANK == 1:
        said = raises(error, "different places", hvd.allreduce, pkg.ones(2))
    else:
        try:
            hvd.allreduce(pkg.ones(2))
        except error as caught:
            said = str(caught)
    lines = re.findall(r"rank \d at (\S+\.py:\d+)", said)
    assert len(lines) == SIZE and len(set(lines)) == 2, said
    equal(hvd.allreduce(pkg.ones(2)), [1.0, 1.0])


def gradients_agree_with_differences():
    """Each element on each rank is changed, and all ranks see what that does."""
    weights = pkg.arange(1, 3).double() * (RANK + 1)

    def loss(x):
        y = hvd.allreduce(x.square(), op=hvd.Sum, prescale_factor=0.5)
        z = hvd.allgather(x)[:, None] * weights
        return (y * weights).sum() + z.sin().sum() + hvd.broadcast(x, 1).prod()

    at = np.array([0.3, 0.7]) + RANK
    x = pkg.tensor(at).requires_grad_()
    loss(x).backward()
    with graph.Graph().as_default():
        fed = graph.placeholder(pkg.float64, (2,), "x")
        (wanted,) = graph.gradients(loss(fed), [fed])
        with graph.Session() as session:
            equal(session.run(wanted, {fed: at}), x.grad.numpy())
    for rank in range(SIZE):
        for i in range(2):
            sides = []
            for side in (1e-5, -1e-5):
                near = at.copy()
                near[i] += side * (RANK == rank)
                sides.append(hvd.allreduce(loss(pkg.tensor(near)), op=hvd.Sum).item())
            if RANK == rank:
                assert abs((sides[0] - sides[1]) / 2e-5 - x.grad[i].item()) < 1e-6


def a_name_in_use_is_refused():
    handle = hvd.allreduce_async(pkg.ones(2), name="twice") if RANK else None
    if RANK:
        raises(
            ValueError,
            "with the same name as another tensor that is currently being",
            hvd.allreduce_async,
            pkg.ones(2),
            name="twice",
        )
    hvd.barrier()
    handle = handle or hvd.allreduce_async(pkg.ones(2), name="twice")
    hvd.synchronize(handle)


def objects_and_models():
    assert hvd.broadcast_object({"rank": RANK} if RANK == 0 else None) == {"rank": 0}
    assert hvd.allgather_object("x" * RANK) == ["x" * r for r in range(SIZE)]
    pkg.manual_seed(RANK)
    model = nn.Linear(3, 2)
    hvd.broadcast_parameters(model.state_dict(), 0)
    everywhere = hvd.allgather(model.weight.detach().reshape(1, -1)).numpy()
    assert (everywhere == everywhere[0]).all()
    optimizer = optim.Adam(model.parameters(), lr=0.1 * (RANK + 1))
    if RANK == 0:
        model(pkg.ones(1, 3)).sum().backward()
        optimizer.step()
    hvd.broadcast_optimizer_state(optimizer, 0)
    assert optimizer.param_groups[0]["lr"] == 0.1 and len(optimizer.state) == 2


def training_equals_that_on_one_rank(passes=1):
    def made():
        pkg.manual_seed(5)
        model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1)).to(
            pkg.float64
        )
        return model, optim.SGD(model.parameters(), lr=0.1, momentum=0.9)

    data = np.random.default_rng(0).standard_normal((20, SIZE * passes, 6, 4))
    (alone, plain), (model, optimizer) = made(), made()
    optimizer = hvd.DistributedOptimizer(
        optimizer, model.named_parameters(), backward_passes_per_step=passes
    )
    assert isinstance(optimizer, optim.SGD)
    for batch in data:
        plain.zero_grad()
        optimizer.zero_grad()
        for part in batch:
            ((alone(pkg.tensor(part)) ** 2).mean() / SIZE).backward()
        for part in batch[RANK * passes : (RANK + 1) * passes]:
            (model(pkg.tensor(part)) ** 2).mean().backward()
        plain.step()
        optimizer.step()
    for one, other in zip(alone.parameters(), model.parameters()):
        assert np.allclose(
            one.detach().numpy(), other.detach().numpy(), atol=1e-9, rtol=0
        )


def training_has_the_same_bits_each_time():
    """Whoever comes first, and however gradients are fused."""
    data = np.random.default_rng(1).standard_normal((4, SIZE, 6, 4))

    def trained():
        pkg.manual_seed(5)
        model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
        optimizer = optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
        optimizer = hvd.DistributedOptimizer(optimizer, model.named_parameters())
        for batch in data:
            time.sleep(random.random() / 1000)
            optimizer.zero_grad()
            model(pkg.tensor(batch[RANK]).float()).square().mean().backward()
            optimizer.step()
        return [p.detach().numpy().tobytes() for p in model.parameters()]

    first = trained()
    assert all(trained() == first for _ in range(4))
    assert hvd.allgather_object(first) == [first] * SIZE


def training_with_two_passes():
    training_equals_that_on_one_rank(2)


def the_optimizer_refuses_what_loses_gradients():
    model = nn.Linear(2, 1)
    optimizer = hvd.DistributedOptimizer(
        optim.SGD(model.parameters(), lr=0.1),
        model.named_parameters(),
        compression=hvd.Compression.fp16,
    )
    model(pkg.ones(1, 2)).sum().backward()
    raises(AssertionError, "race condition", optimizer.zero_grad)
    raises(
        AssertionError, "backward_passes_per_step", model(pkg.ones(1, 2)).sum().backward
    )
    optimizer.synchronize()
    assert model.weight.grad.dtype == pkg.float32
    with optimizer.skip_synchronize():
        optimizer.step()
    optimizer.zero_grad()
    raises(
        ValueError,
        "must be unique",
        hvd.DistributedOptimizer,
        optim.SGD(model.parameters()),
        [("a", model.weight), ("a", model.bias)],
    )


def join_lets_ranks_have_less_data():
    for i in range(RANK + 1):
        got = hvd.allreduce(pkg.ones(3), name="uneven", op=hvd.Sum)
        equal(got, [float(SIZE - i)] * 3)
    assert hvd.join() == SIZE - 1


def init_and_shutdown_fifty_times():
    """And no more threads or handlers at exit than before."""

    def kept():
        return len(os.listdir("/proc/self/task")), atexit._ncallbacks()

    before = kept()
    for _ in range(50):
        hvd.allreduce(pkg.ones(1), name="last")
        hvd.barrier()
        hvd.shutdown()
        assert not hvd.is_initialized()
        raises(ValueError, "not been initialized; use hvd.init()", hvd.rank)
        raises(
            hvd.HorovodInternalError, "has been shut down", hvd.allreduce, pkg.ones(1)
        )
        hvd.init()
        assert (hvd.rank(), hvd.size()) == (RANK, SIZE)
    assert kept() == before, (kept(), before)


CHECKS = [
    allreduce_of_every_dtype_and_op, factors_are_double, layouts_and_shapes,
    a_thousand_in_another_order_on_each_rank, the_steady_state_sends_numbers_and_fuses,
    a_large_tensor_has_the_bits_of_its_parts, results_are_pending_and_go_into_ops,
    in_place_forms, allgather_of_unequal_rows, broadcast_of_every_dtype,
    what_is_sent_is_as_it_was_at_the_call,
    alltoall_with_and_without_splits, reducescatter_shares_the_rows,
    groups_are_all_or_nothing, in_place_forms_come_in_any_order,
    gradients_are_those_of_all_ranks,
    graphs_name_nodes_by_the_rule, graphs_run_collectives,
    rows_of_other_ranks_in_graphs, collectives_in_graphs_have_plans,
    plans_begin_all_before_they_wait, threads_may_run_one_graph,
    training_in_a_graph_is_planned,
    groups_of_rows_are_all_or_nothing, what_one_rank_refuses_is_an_error_on_all,
    groups_of_two_sizes_are_an_error_at_once, refusals_come_in_turn,
    refusals_of_any_text_are_told, what_waits_for_its_turn_cannot_lose_it,
    calls_without_a_name_meet_again_after_join, broadcasts_may_stand_on_other_lines,
    what_differs_is_an_error_on_every_rank, a_name_in_use_is_refused,
    calls_without_a_name_stand_on_the_same_line, gradients_agree_with_differences,
    objects_and_models, training_equals_that_on_one_rank, training_with_two_passes,
    training_has_the_same_bits_each_time,
    the_optimizer_refuses_what_loses_gradients, join_lets_ranks_have_less_data,
    init_and_shutdown_fifty_times,
]  # fmt: skip

if __name__ == "__main__":
    run(CHECKS)
