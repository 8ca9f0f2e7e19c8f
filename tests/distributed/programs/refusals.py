# SPDX-License-Identifier: Apache-2.0
"""Checks of errors that only one rank sees, and of groups, for collectives.py."""

import re
import time

import numpy as np
from checking import equal, raises

import pkg
import pkg.distributed as hvd
from pkg import scheduler
from pkg.distributed.session import _next_call

hvd.init()
RANK, SIZE = hvd.rank(), hvd.size()
TOTAL = sum(r + 1.0 for r in range(SIZE))
NONE = hvd.Compression.none


def what_one_rank_refuses_is_an_error_on_all():
    """Rank 1 makes a wrong call: it has its own error, and the others one that says
    so, at once.  The next call of that name, or without one, is one of all again."""
    x = pkg.ones(SIZE, 2)
    splits = pkg.tensor([1] * SIZE)
    began = time.monotonic()
    for kind, text, call, good, bad in (
        (ValueError, "root_rank", hvd.broadcast, (x, 0), (x, 99)),
        (TypeError, "root_rank", hvd.broadcast, (x, 0), (x, "first")),
        (TypeError, "tensor", hvd.allgather, (x,), ([1.0],)),
        (ValueError, "Average", hvd.allreduce, (x,), (x.to(pkg.int32),)),
        (ValueError, "supersedes", hvd.allreduce, (x,), (x, True, None, None, hvd.Sum)),
        (ValueError, "first dimension", hvd.allgather, (x,), (pkg.tensor(1.0),)),
        (ValueError, "sum to", hvd.alltoall, (x, splits), (x, splits + 1)),
        (ValueError, "first dimension", hvd.reducescatter, (x,), (pkg.tensor(1.0),)),
        (NotImplementedError, "Adasum", hvd.reducescatter, (x,), (x, None, NONE, 2)),
        (ValueError, "Average", hvd.grouped_allreduce, ([x, x],),
         ([x, x.to(pkg.int32)],)),
        (TypeError, "tensors", hvd.grouped_allreduce, ([x, x],), ([x, 3],)),
        (ValueError, "first dimension", hvd.grouped_allgather, ([x, x],),
         ([x, pkg.tensor(1.0)],)),
    ):  # fmt: skip
        for named in (True, False):
            # Where the name is no third argument.
            name = {} if len(bad) > 2 or not named else {"name": "refused"}
            if RANK == 1:
                raises(kind, text, call, *bad, **name)
            else:
                said = raises(hvd.HorovodInternalError, text, call, *good, **name)
                assert "rank 1 cannot take part: " in said, said
                assert re.search(r"rank 1 at \S+checking.py:\d+", said), said
            got = call(*good, **name)  # on rank 1 perhaps before the others know
            while isinstance(got, (list, tuple)):
                got = got[0]
            rows = {hvd.allgather: SIZE**2, hvd.grouped_allgather: SIZE**2,
                    hvd.reducescatter: 1}  # fmt: skip
            equal(got, np.ones((rows.get(call, SIZE), 2)))
    assert time.monotonic() - began < 30
    # What all refuse is an error of each, and nothing is left of it.
    for _ in range(3):
        raises(ValueError, "root_rank", hvd.broadcast, x, 99, name="refused")
        raises(TypeError, "root_rank", hvd.broadcast, x, "first")
    equal(hvd.broadcast(x, 0, name="refused"), np.ones((SIZE, 2)))
    equal(hvd.broadcast(x, 0), np.ones((SIZE, 2)))


def groups_of_rows_are_all_or_nothing():
    xs = [pkg.full((RANK + 1, i + 1), float(RANK)) for i in range(3)]
    rows = np.repeat(np.arange(SIZE), np.arange(SIZE) + 1).astype(float)
    for i, got in enumerate(hvd.grouped_allgather(xs, name="rows")):
        equal(got, np.repeat(rows[:, None], i + 1, 1))
    handle = hvd.grouped_allgather_async(xs)
    equal(hvd.synchronize(handle)[1], np.repeat(rows[:, None], 2, 1))
    ys = [pkg.full((SIZE, i + 1), RANK + 1.0) for i in range(3)]
    total = sum(r + 1.0 for r in range(SIZE))
    for op, factor in ((hvd.Sum, 1), (hvd.Average, SIZE)):
        for i, got in enumerate(hvd.grouped_reducescatter(ys, name="sum", op=op)):
            equal(got, np.full((1, i + 1), total / factor))
    for odd, call in ((xs, hvd.grouped_allgather), (ys, hvd.grouped_reducescatter)):
        wrong = [odd[0], pkg.ones(SIZE, 2 + (RANK == 0)), odd[2]]
        name = "odd" + call.__name__
        said = raises(hvd.HorovodInternalError, "tensor shapes", call, wrong, name=name)
        assert f"[{name}_2of3]" in said, said
        call(odd, name=name)  # its names are free
    # Gradients: of a sum over the rows of all, and of a share of a sum.
    a, b = (pkg.ones(RANK + 1, 2, requires_grad=True) for _ in range(2))
    first, second = hvd.grouped_allgather([a, b])
    (first * (RANK + 1)).sum().backward()  # nothing comes back to the second
    equal(a.grad, np.full((RANK + 1, 2), total))
    assert b.grad is None or not b.grad.any().item()
    z = pkg.ones(SIZE, 2, requires_grad=True)
    (hvd.grouped_reducescatter([z, z * 2])[1] * (RANK + 1)).sum().backward()
    equal(z.grad, np.repeat([[2 * (r + 1.0) / SIZE] for r in range(SIZE)], 2, 1))


def groups_of_two_sizes_are_an_error_at_once():
    """Also an empty one, and one whose tensors cannot be counted.  On every rank, and
    the name is free for groups of any size then."""
    x = pkg.ones(SIZE, 2)
    error = hvd.HorovodInternalError
    calls = (hvd.grouped_allreduce, hvd.grouped_allgather, hvd.grouped_reducescatter)
    began = time.monotonic()
    for call in calls:
        for name in ("sized", None):
            text = "Mismatched groups: One rank sent a group of"
            said = raises(error, text, call, [x] * (2 + RANK % 2), name=name)
            assert len(re.findall(r"rank \d at \S+checking.py:\d+", said)) > 1, said
            for bad, kind, text in (
                ([], ValueError, "at least one tensor"),
                ((each for each in (x, "x")), TypeError, ""),
            ):
                if RANK == 1:
                    raises(kind, text, call, bad, name=name)
                else:
                    time.sleep(0.02 * RANK)  # before or after the others have heard
                    said = raises(error, text, call, [x] * 2, name=name)
                    assert "rank 1 cannot take part: " in said, said
                for size in (3, 2):
                    assert len(call([x] * size, name=name)) == size
    assert time.monotonic() - began < 20


def refusals_come_in_turn():
    """Of a name that is in use on the rank: the error belongs to the second call."""
    for sized in (False, True):
        call = hvd.grouped_allreduce if sized else hvd.allreduce
        begin = hvd.grouped_allreduce_async if sized else hvd.allreduce_async
        good, bad = pkg.ones(2), pkg.ones(2).to(pkg.int32)
        good, bad = ([good] * 2, [good, bad, good]) if sized else (good, bad)
        if RANK == 1:
            handle = begin(good, name="turns")
            raises(ValueError, "Average", call, bad, name="turns")
        hvd.barrier()
        if RANK != 1:
            handle = begin(good, name="turns")
        hvd.synchronize(handle)
        if RANK != 1:
            text = "rank 1 cannot take part: "
            raises(hvd.HorovodInternalError, text, call, good, name="turns")
        call(good, name="turns")


def refusals_of_any_text_are_told():
    """Nothing was told of them, whatever the text."""
    for i, text in enumerate(("", "]", "[1, 2]")):
        if RANK == 1:
            told = pkg.ops.horovod._refuse("allreduce", f"text {i}", text)
            assert told.item()
        else:
            raises(hvd.HorovodInternalError, "rank 1 cannot take part: " + text,
                   hvd.allreduce, pkg.ones(1), name=f"text {i}")  # fmt: skip


def what_waits_for_its_turn_cannot_lose_it():
    """cancel_pending() on one rank is no reason to send the second one first."""
    call = pkg.ops.horovod.allreduce

    def begun(value):
        x = pkg.full((2,), float(value))
        return call(x, "turn", hvd.Sum, 1.0, 1.0, False, True)

    if RANK == 0:
        made = [begun(i) for i in range(20)]
        scheduler.cancel_pending()
    hvd.barrier()
    if RANK != 0:
        made = [begun(i) for i in range(20)]
    for i, each in enumerate(made):
        try:
            equal(each, [float(i * SIZE)] * 2)
        except pkg.CancelledError:
            assert RANK == 0
    equal(hvd.allreduce(pkg.ones(2), name="turn"), [1.0, 1.0])


def calls_without_a_name_meet_again_after_join():
    """Whatever number of them each rank has made."""
    for _ in range(SIZE - RANK):
        hvd.allreduce(pkg.ones(3))
    for _ in range(RANK):
        _next_call()
    hvd.join()
    for _ in range(2):
        equal(hvd.allreduce(pkg.full((2,), RANK + 1.0), op=hvd.Sum), [TOTAL] * 2)
        handle = hvd.allgather_async(pkg.ones(1))
        equal(hvd.synchronize(handle), [1.0] * SIZE)
        hvd.barrier()


def broadcasts_may_stand_on_other_lines():
    """The root has a branch of its own."""
    if RANK == 0:
        got = hvd.broadcast_object({"a": 1}, 0)
        x = hvd.broadcast(pkg.ones(2), 0)
    else:
        got = hvd.broadcast_object(None, 0)
        x = hvd.broadcast(pkg.zeros(2), 0)
    assert got == {"a": 1}
    equal(x, [1.0, 1.0])
