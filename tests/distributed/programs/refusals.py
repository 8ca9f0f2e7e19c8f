# SPDX-License-Identifier: Apache-2.0
"""Checks of errors that only one rank sees, and of groups, for collectives.py."""

import re
import time

import numpy as np
from checking import equal, raises

import pkg
import pkg.distributed as hvd

hvd.init()
RANK, SIZE = hvd.rank(), hvd.size()
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
