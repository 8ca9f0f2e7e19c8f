# SPDX-License-Identifier: Apache-2.0
"""What takes tensors in any order of memory gives the right values, and copies none.

Reductions of everything, indexing, optimiser steps.
"""

import itertools
import json
import os
import random
from functools import partial

import numpy as np
import pytest

import pkg
from child import run_child
from layouts import SEEDS, layouts
from paths import SUPPORT

core = pkg._binding.core


def extra_bytes(f):
    """The memory that f needs at once, besides what is there."""
    missing = max(core.peak_bytes() - core.bytes_in_use(), 0)
    ballast = pkg.empty(missing + 2**20, dtype=pkg.uint8)  # now is the peak
    before = core.peak_bytes()
    f()
    assert ballast.numel()
    return core.peak_bytes() - before


def put(h, key, value):
    h[key] = value


#: Of a matrix, and two more like it.
TAKERS = {
    "sum": lambda h, *others: h.sum(),
    "mean": lambda h, *others: h.mean(),
    "max": lambda h, *others: h.max(),
    "amin": lambda h, *others: h.amin(),
    "prod": lambda h, *others: h.prod(),
    "norm": lambda h, *others: h.norm(),
    "norm 1": lambda h, *others: pkg.linalg.vector_norm(h, 1),
    "h[list]": lambda h, *others: h[[3, 1, 2]],
    "h[:, list]": lambda h, *others: h[:, [3, 1, 2]],
    "h[list, list]": lambda h, *others: h[[3, 1], [0, 5]],
    "index_select": lambda h, *others: h.index_select(0, pkg.tensor([1])),
    "h[list] =": lambda h, *others: put(h, [3, 1], 2.0),
    "h[:, list] =": lambda h, *others: put(h, (slice(None), [3, 1]), 2.0),
    "index_add_": lambda h, *others: h.index_add_(0, pkg.tensor([1]), pkg.ones(1, 600)),
    "clip": lambda h, *others: pkg.ops._clip_grad_norm_([h], 1.0, 2.0),
    "SGD": lambda h, g, m: pkg.ops._sgd_step_([h], [g], [m], 0.1, 0.9, 0.0, 0.0, False),
}


def measure():
    """Prints, for each taker and for two layouts, the bytes that it needs at once."""
    core.set_async(False)
    found = {}
    for name, take in TAKERS.items():
        found[name] = []
        for h in (pkg.rand(600, 500).t().clone(), pkg.rand(500, 600)):
            others = [h.clone(), h.clone()]
            found[name].append(extra_bytes(partial(take, h, *others)))
    x, i = pkg.rand(8, 8, 64, 64), pkg.tensor([3])
    out = x[:, i]
    for f in (lambda: x[:, i], lambda: put(x, (slice(None), i), out)):
        found.setdefault("runs", []).append(extra_bytes(f) / (4 * out.numel()))
    print(json.dumps(found))


@pytest.fixture(scope="module")
def needed():
    """In a process of its own, whose peak is known."""
    code = f"""
        import sys
        sys.path[:0] = [{os.path.dirname(__file__)!r}, {str(SUPPORT)!r}]
        from test_layout_uses import measure
        measure()
    """
    status, said, errors, _ = run_child(code)
    assert status == 0, errors
    return json.loads(said)


@pytest.mark.parametrize("name", TAKERS)
def test_what_takes_a_dense_tensor_copies_none(name, needed):
    """Whatever its order is, and whichever dimension is indexed."""
    assert len(needed[name]) == 2 and max(needed[name]) < 600 * 500


def test_indexing_names_runs_and_not_elements(needed):
    """What it notes of a row's places is small where the last dimensions are dense."""
    assert max(needed["runs"]) < 1.5


def test_reductions_of_everything_in_any_order():
    for seed in SEEDS:
        (x,) = layouts(seed, 1)
        want = x.array()
        if not want.size:
            continue
        for operand in (x.tensor(), x.tensor() + 0):
            got = [operand.sum(), operand.max(), operand.norm(), operand.argmax()]
            first = want.argmax()  # in the order of the indices, not of memory
            assert got[3].item() == first
            numbers = [want.sum(), want.max(), np.sqrt((want * want).sum())]
            np.testing.assert_allclose([g.item() for g in got[:3]], numbers, rtol=1e-12)


def test_indexing_in_any_order():
    """Reads, writes and additions, by one and two index arrays anywhere, as NumPy's."""
    for seed in range(400):
        rng = random.Random(seed)
        (x,) = layouts(seed, 1, broadcast=bool(seed % 2))
        if not x.shape or 0 in x.shape:
            continue
        count = rng.choice((1, 2, 6))
        named = rng.sample(range(len(x.shape)), rng.randint(1, min(2, len(x.shape))))
        key = tuple(
            [rng.randrange(-n, n) for _ in range(count)] if d in named else slice(None)
            for d, n in enumerate(x.shape)
        )
        want = np.ascontiguousarray(x.array())
        ours = tuple(pkg.tensor(k) if isinstance(k, list) else k for k in key)
        np.testing.assert_array_equal(x.tensor()[ours].numpy(), want[key])
        if seed % 2:
            continue  # elements of one place are not written
        for dtype in ("float64", "int32", "bool"):
            want = np.ascontiguousarray(x.array() * 9).astype(dtype)
            written = x.tensor().mul(9).to(getattr(pkg, dtype))
            values = np.full(want[key].shape, 1, dtype)
            want[key] = values
            written[ours] = pkg.tensor(values)
            np.testing.assert_array_equal(written.numpy(), want)
            np.add.at(want, key, values)
            places = [k if isinstance(k, pkg.Tensor) else None for k in ours]
            written.index_put_(places, pkg.tensor(values), accumulate=True)
            np.testing.assert_array_equal(written.numpy(), want)
        want, memory = np.ascontiguousarray(x.array()), pkg.zeros(x.room).double()
        target = pkg.ops._strided_view(memory, x.shape, x.strides, 0)  # with its gaps
        target.copy_(pkg.tensor(want))
        target[ours], want[key] = 7.0, 7.0
        np.testing.assert_array_equal(target.numpy(), want)
        assert (memory == 7.0).sum().item() == (want == 7.0).sum()


@pytest.mark.parametrize("run", [(1,), (3,), (20,), (4, 5), (2, 3, 4)], ids=str)
def test_indexing_of_rows_that_are_several_runs(run):
    """The last dimensions lie side by side, the ones before reordered or apart."""
    for order, gaps, dtype in itertools.product(
        itertools.permutations(range(3)), (0, 1, 2), ("float64", "int8", "bool")
    ):
        memory = np.random.default_rng(0).integers(0, 9, (4, 6, 8, *run))
        memory = np.repeat(memory, 2, axis=3).astype(dtype)  # room for gaps at runs
        cut = [slice(0, None, 2 if gaps == 1 else 1)] * 3
        cut += [slice(run[0] if gaps == 2 else None)]
        turned = [*order, *range(3, memory.ndim)]
        for named in ((0,), (1,), (2,), (0, 2), (1, 2)):
            array, ours = memory.copy(), pkg.tensor(memory)
            want = array[tuple(cut)].transpose(turned)
            x = ours[tuple(cut)].permute(turned)
            key = tuple([1, 0, 1] if d in named else slice(None) for d in range(3))
            np.testing.assert_array_equal(x[key].numpy(), want[key])
            added = np.ones(want[key].shape, dtype)
            np.add.at(want, key, added)
            places = [pkg.tensor(k) if isinstance(k, list) else None for k in key]
            x.index_put_(places, pkg.tensor(added), accumulate=True)
            np.testing.assert_array_equal(ours.numpy(), array)
            values = want[key][..., ::-1].copy()
            x[key] = pkg.tensor(values)
            want[key] = values
            np.testing.assert_array_equal(ours.numpy(), array)  # also beside the view


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
def test_optimiser_steps_in_any_order(dtype):
    """Parameter, gradient and states in the same order, and each in its own."""
    rng, kind = random.Random(0), getattr(pkg, dtype)

    def lie(x, order):
        inverse = [order.index(d) for d in range(3)]
        return x.permute(order).contiguous().permute(inverse)

    for alike in (True, False) * 4:
        start = [pkg.rand(2, 3, 4, dtype=kind) for _ in range(4)]
        orders = [rng.sample(range(3), 3) for _ in start]
        if alike:
            orders = orders[:1] * 4
        for step in (
            lambda p, g, m, v: pkg.ops._sgd_step_(
                [p], [g], [m], 0.1, 0.9, 0.0, 0.1, True
            ),
            lambda p, g, m, v: pkg.ops._sgd_step_(
                [p], [g], [], 0.1, 0.0, 0.0, 0.1, False
            ),
            lambda p, g, m, v: pkg.ops._adam_step_(
                [p], [g], [m], [v], 0.1, 0.9, 0.99, 1e-8, 0.1, 2, False
            ),
            lambda p, g, m, v: pkg.ops._clip_grad_norm_([p, g], 0.5, 2.0),
        ):
            rows = [x.clone() for x in start]
            turned = [lie(x, order).clone() for x, order in zip(start, orders)]
            step(*rows)
            step(*turned)
            digits = 2e-3 if dtype == "float16" else 1e-5
            for a, b in zip(rows, turned):
                np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=digits)
