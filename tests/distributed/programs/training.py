# SPDX-License-Identifier: Apache-2.0
"""Checks of DistributedOptimizer, the in-place forms and objects, where something is
unusual, on each of N ranks."""

import copy
import gc
import pickle
import threading
import time
import warnings

import numpy as np
from checking import equal, raises, run

import pkg
import pkg.distributed as hvd
from pkg import nn, optim

hvd.init()
RANK, SIZE = hvd.rank(), hvd.size()
TOTAL = float(sum(r + 1 for r in range(SIZE)))


def parameter(value=0.0):
    return nn.Parameter(pkg.full((2,), value))


def distributed(*params, op=hvd.Sum, **options):
    return hvd.DistributedOptimizer(
        optim.SGD(params, lr=1.0),
        [(f"p{i}", p) for i, p in enumerate(params)],
        op=op,
        **options,
    )


def loss(*params):
    """Its gradients are RANK + 1 everywhere."""
    return sum((p * (RANK + 1)).sum() for p in params)


def a_closure_is_called_before_the_exchange():
    p = parameter()
    optimizer = distributed(p)

    def closure():
        optimizer.zero_grad()
        made = loss(p)
        made.backward()
        return made

    for step in range(3):
        got = optimizer.step(closure)
        equal(got.detach(), -2 * (RANK + 1) * step * TOTAL)
        equal(p.detach(), [-TOTAL * (step + 1)] * 2)

    def clips():
        closure()
        optimizer.synchronize()
        p.grad.mul_(0.5)

    before = p.detach().numpy().copy()
    with optimizer.skip_synchronize():
        optimizer.step(clips)
    equal(p.detach(), before - TOTAL / 2)


def gradients_are_reduced_while_backward_goes_on():
    """That of the last layer, when the first one's waits still: for what the other
    ranks send only after they have seen the same."""
    gate = pkg.ops.horovod.allreduce(pkg.ones(2), f"gate.{RANK}", hvd.Average)
    first, last = parameter(1.0), parameter(2.0)
    optimizer = distributed(first, last)
    hidden = first * (RANK + 1)
    hidden.register_hook(lambda grad: grad * gate)
    (hidden * last).sum().backward()
    handle, _ = optimizer._exchange.under_way[last]
    deadline = time.monotonic() + 30
    while not hvd.poll(handle):
        assert time.monotonic() < deadline
        time.sleep(0.001)
    assert not first.grad.is_ready()
    hvd.barrier()
    for rank in set(range(SIZE)) - {RANK}:
        hvd.allreduce_async(pkg.ones(2), name=f"gate.{rank}")
    optimizer.step()
    equal(first.detach(), [1 - 2 * TOTAL] * 2)
    equal(last.detach(), [2 - TOTAL] * 2)


def what_is_synchronized_is_not_reduced_again():
    p = parameter()
    optimizer = distributed(p)
    loss(p).backward()
    optimizer.synchronize()
    optimizer.synchronize()
    equal(p.grad, [TOTAL] * 2)
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        optimizer.step()
    assert "skip_synchronize" in str(seen[0].message) and len(seen) == 1
    assert seen[0].filename == __file__, seen[0].filename
    equal(p.detach(), [-TOTAL] * 2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(2):
            optimizer.zero_grad()
            loss(p).backward()
            optimizer.step()
    equal(p.detach(), [-3 * TOTAL] * 2)


def parameters_that_come_later_are_exchanged():
    p, frozen, later = parameter(), parameter().requires_grad_(False), parameter()
    optimizer = distributed(p, frozen)
    optimizer.add_param_group({"params": [later], "lr": 2.0})
    loss(p, later).backward()
    assert len(optimizer._exchange.under_way) == 2  # sent by a hook
    optimizer.step()
    equal(p.detach(), [-TOTAL] * 2)
    equal(later.detach(), [-2 * TOTAL] * 2)
    equal(frozen, [0.0] * 2)
    frozen.requires_grad_()
    for _ in range(2):  # without a hook, and with one
        optimizer.zero_grad()
        loss(p, frozen, later).backward()
        optimizer.step()
    equal(frozen.detach(), [-2 * TOTAL] * 2)


def in_place_forms_refuse_what_autograd_follows():
    x = pkg.ones(2, requires_grad=True)
    y = x * 2
    raises(ValueError, "Use allreduce, without", hvd.allreduce_, y)
    raises(ValueError, "Use allreduce, without", hvd.allreduce_async_, y)
    raises(ValueError, "Use broadcast, without", hvd.broadcast_, y, 0)
    with pkg.no_grad():
        hvd.allreduce_(y, op=hvd.Sum)
    equal(y.detach(), [2.0 * SIZE] * 2)
    hvd.allreduce_(x, op=hvd.Sum)  # a leaf
    equal(x.detach(), [float(SIZE)] * 2)


def a_failed_in_place_form_changes_nothing():
    x = pkg.full((2 + RANK,), 5.0)
    error = hvd.HorovodInternalError
    raises(error, "Mismatched", hvd.allreduce_, x, name="bad")
    equal(x, [5.0] * (2 + RANK))
    models = {"good": pkg.full((2,), float(RANK)), "other": x}
    raises(error, "Mismatched", hvd.broadcast_parameters, models, 1)
    equal(x.fill_(1.0), [1.0] * (2 + RANK))
    equal(models["good"], [1.0] * 2)
    handle = hvd.allreduce_async_(models["good"], op=hvd.Sum, name="bad")
    while not hvd.poll(handle):
        pass
    assert hvd.synchronize(handle) is models["good"]
    equal(models["good"], [float(SIZE)] * 2)
    raises(
        ValueError, "{'n': 'int'}", hvd.broadcast_parameters, {"n": 3, "x": x}, 0
    )  # fmt: skip


def the_last_optimizer_has_the_hooks():
    p = parameter()
    first = distributed(p)
    exchange = first._exchange
    loss(p).backward()
    raises(RuntimeError, "expected no gradient on its way, got ['p0']", distributed, p)
    first.step()
    second = distributed(p)
    second.zero_grad()
    loss(p).backward()
    assert not exchange.under_way
    raises(RuntimeError, "another has taken ['p0']", first.step)
    second.step()
    equal(p.detach(), [-2 * TOTAL] * 2)
    again = hvd.DistributedOptimizer(second, [("p0", p)])  # Average now
    assert again is second and type(again).__mro__[2] is optim.SGD
    again.zero_grad()
    loss(p).backward()
    again.step()
    equal(p.detach(), [-2 * TOTAL - TOTAL / SIZE] * 2)
    del first, second, again, exchange
    gc.collect()
    p.grad = None
    loss(p).backward()  # sends nothing
    equal(p.grad, [RANK + 1.0] * 2)


def an_error_within_backward_does_not_stay():
    p, q = parameter(), parameter()
    optimizer = distributed(p, q)
    loss(p).backward()  # q is still to come
    hvd.allreduce(pkg.ones(1), name="both")
    hvd.shutdown()
    raises(hvd.HorovodInternalError, "shut down", loss(q).backward)
    hvd.init()
    optimizer.zero_grad()
    loss(p, q).backward()
    optimizer.step()
    equal(p.detach(), [-TOTAL] * 2)
    equal(q.detach(), [-TOTAL] * 2)
    optimizer.zero_grad()
    loss(p, q).backward()
    q.grad = None
    hvd.barrier()
    hvd.shutdown()
    hvd.init()
    optimizer.zero_grad()
    loss(p, q).backward()
    optimizer.synchronize()
    equal(q.grad, [TOTAL] * 2)


def a_step_that_fails_leaves_nothing_under_way():
    p, q = parameter(), parameter()
    optimizer = distributed(p, q)
    loss(p, q).backward()
    optimizer.step()
    odd = nn.Parameter(pkg.zeros(1 + RANK))
    optimizer.add_param_group({"params": [odd]})
    before = p.detach().numpy().copy()
    loss(odd).backward()
    raises(hvd.HorovodInternalError, "Mismatched allreduce", optimizer.step)
    equal(p.detach(), before)
    optimizer.param_groups.pop()
    again = distributed(p, q)
    again.zero_grad()
    loss(p, q).backward()
    again.step()
    equal(p.detach(), before - TOTAL)


def numbers_of_calls_begin_anew():
    if RANK == 0:  # a rank that counts further than the others
        hvd.allgather_async(pkg.ones(1))
        hvd.alltoall_async(pkg.ones(SIZE))
    hvd.barrier()
    hvd.shutdown()
    hvd.init()
    got = hvd.synchronize(hvd.allgather_async(pkg.full((1,), float(RANK))))
    equal(got, np.arange(SIZE))
    got = hvd.synchronize(hvd.alltoall_async(pkg.full((SIZE,), float(RANK))))
    equal(got, np.arange(SIZE))


def what_cannot_be_pickled_is_an_error_everywhere():
    error = hvd.HorovodInternalError
    bad = threading.Lock() if RANK == 1 else 3
    kind, text = (TypeError, "lock") if RANK == 1 else (error, "the object of rank 1")
    raises(kind, text, hvd.broadcast_object, bad, 1)
    raises(kind, text, hvd.allgather_object, bad)
    raises(kind, text, hvd.allgather_object, bad, name="named")
    assert hvd.broadcast_object([1, "a"], 1) == [1, "a"]


def a_distributed_optimizer_is_not_copied():
    optimizer = distributed(parameter())
    raises(TypeError, "distributed SGD. Save its state_dict()", pickle.dumps, optimizer)
    raises(TypeError, "distributed SGD", copy.deepcopy, optimizer)


def calls_without_a_name_go_beside_parameters_without_one():
    """Those of an optimizer that was given no names."""
    model = nn.Linear(2, 1)
    optimizer = hvd.DistributedOptimizer(optim.SGD(model.parameters(), lr=0.1))
    for _ in range(3):
        optimizer.zero_grad()
        if RANK == 1:
            hvd.barrier()  # the gradients of the others are under way, and their call
        model(pkg.ones(1, 2)).sum().backward()
        handle = hvd.allreduce_async(pkg.ones(2))
        if RANK != 1:
            hvd.barrier()
        equal(hvd.synchronize(handle), [1.0, 1.0])
        optimizer.step()


CHECKS = [
    calls_without_a_name_go_beside_parameters_without_one,
    gradients_are_reduced_while_backward_goes_on,
    a_closure_is_called_before_the_exchange,
    what_is_synchronized_is_not_reduced_again,
    parameters_that_come_later_are_exchanged,
    in_place_forms_refuse_what_autograd_follows,
    a_failed_in_place_form_changes_nothing, the_last_optimizer_has_the_hooks,
    an_error_within_backward_does_not_stay, a_step_that_fails_leaves_nothing_under_way,
    numbers_of_calls_begin_anew, what_cannot_be_pickled_is_an_error_everywhere,
    a_distributed_optimizer_is_not_copied,
]  # fmt: skip

if __name__ == "__main__":
    run(CHECKS)
