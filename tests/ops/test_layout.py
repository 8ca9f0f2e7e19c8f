# SPDX-License-Identifier: Apache-2.0
"""The order in which results lie in memory: that of the operands, as in PyTorch.

Strides are compared where they mean something: of dimensions of more than one element.
"""

import random
import re

import numpy as np
import pytest

import pkg
from layouts import SEEDS, layouts, strided
from op_table import ELEMENTWISE

core = pkg._binding.core


def steps(strides, shape):
    """Strides of the dimensions that have a second element; none of empty tensors."""
    if 0 in shape:
        return ()
    return tuple(s for s, n in zip(strides, shape) if n > 1)


def steps_of(tensor):
    return steps(tensor.stride(), tensor.shape)


def row_major(shape):
    strides = np.empty(shape, "int8").strides if 0 not in shape else ()
    return steps(strides, shape)


UNARY = {
    "x + 0": lambda lib, x: x + 0,
    "2 * x": lambda lib, x: 2 * x,
    "exp": lambda lib, x: x.exp(),
    "relu": lambda lib, x: x.relu(),
    "x > 0": lambda lib, x: x > 0,
    "clamp": lambda lib, x: x.clamp(0, 1),
    "where": lambda lib, x: lib.where(x > 0, x, 0.0),
    "clone": lambda lib, x: x.clone(),
    "to": lambda lib, x: x.to(lib.float32),
    "to copy": lambda lib, x: x.to(x.dtype, copy=True),
    "bool": lambda lib, x: x.bool(),
    "zeros_like": lambda lib, x: lib.zeros_like(x),
    "ones_like": lambda lib, x: lib.ones_like(x, dtype=lib.int64),
    "empty_like": lambda lib, x: lib.empty_like(x),
    "full_like": lambda lib, x: lib.full_like(x, 2),
    "rand_like": lambda lib, x: lib.rand_like(x),
    "randint_like": lambda lib, x: lib.randint_like(x, 5),
    "dropout": lambda lib, x: lib.nn.functional.dropout(x, 0.5),
    "contiguous": lambda lib, x: x.contiguous(),
    "masked_fill": lambda lib, x: x.masked_fill(x > 0, 1.0),
    "flip": lambda lib, x: lib.flip(x, list(range(x.ndim))),
}
BINARY = {
    "add": lambda lib, x, y: x + y,
    "div": lambda lib, x, y: x / y,
    "le": lambda lib, x, y: x <= y,
    "maximum": lambda lib, x, y: lib.maximum(x, y),
    "atan2": lambda lib, x, y: lib.atan2(x, y),
    "mixed dtypes": lambda lib, x, y: x * y.to(lib.float32),
    "clamp": lambda lib, x, y: lib.clamp(x, min=y),
}
TERNARY = {
    "where": lambda lib, x, y, z: lib.where(x > 0.5, y, z),
    "lerp": lambda lib, x, y, z: lib.lerp(x, y, z),
    "addcmul": lambda lib, x, y, z: lib.addcmul(x, y, z),
    "clamp": lambda lib, x, y, z: lib.clamp(x, y, z),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("table", [UNARY, BINARY, TERNARY], ids=["1", "2", "3"])
def test_results_lie_as_pytorchs(table):
    """Permuted, sliced, expanded, mixed; sizes of 0 and 1; 0 to 9 dimensions."""
    torch = pytest.importorskip("torch")
    count = [UNARY, BINARY, TERNARY].index(table) + 1
    for seed in SEEDS:
        operands = layouts(seed, count)
        for name, f in table.items():
            ours = f(pkg, *[x.tensor() for x in operands])
            theirs = f(torch, *[x.theirs(torch) for x in operands])
            assert ours.shape == tuple(theirs.shape)
            assert steps_of(ours) == steps_of(theirs), (name, seed)
            assert ours.is_contiguous() == theirs.is_contiguous(), (name, seed)
            if "rand" in name or "empty" in name or "dropout" in name:
                continue
            got, want = ours.double().numpy(), theirs.double().numpy()
            np.testing.assert_allclose(got, want, rtol=1e-6, err_msg=f"{name} {seed}")


def test_results_lie_as_numpys():
    """Of one operand, and of operands that agree; where they do not, NumPy gives up and
    is row-major, while here the first decides."""
    for seed in SEEDS:
        (x,) = layouts(seed, 1)
        for ours, theirs in (
            (lambda t: t + 0, lambda a: np.add(a, 0)),
            (lambda t: t.exp(), np.exp),
            (lambda t: t + t, lambda a: np.add(a, a)),
        ):
            want = theirs(x.array())
            got = ours(x.tensor())
            np.testing.assert_allclose(got.numpy(), want)
            if 0 in x.strides:
                continue  # NumPy takes a repeated dimension for the innermost one
            strides = [s // want.itemsize for s in np.asarray(want).strides]
            assert steps_of(got) == steps(strides, want.shape), seed


def test_row_major_results_say_so():
    """Whatever the strides of their dimensions of one element."""
    for seed in SEEDS:
        (x,) = layouts(seed, 1)
        for name, f in UNARY.items():
            y = f(pkg, x.tensor())
            lies = not y.numel() or steps_of(y) == row_major(y.shape)
            assert y.is_contiguous() == y[...].is_contiguous() == lies, (name, seed)
    y = pkg.rand(8, 6, 6, 1).permute(0, 3, 1, 2)[:, :, :, :3] * 2
    assert y.is_contiguous() and y.stride() == (18, 18, 3, 1)


@pytest.mark.parametrize("row", ELEMENTWISE, ids=lambda row: row.name)
def test_every_elementwise_op_keeps_the_order(row):
    """Of dense operands that agree, dense or with gaps, on CPU and on Meta."""
    dtype = "float64" if "float64" in row.dtypes else "int64"
    call = getattr(pkg, row.name)
    values = np.random.default_rng(0).uniform(*np.clip(row.domain, -4, 4), (4, 3, 5))
    x = pkg.tensor(values.astype(dtype))
    meta = pkg.empty_like(x, device="meta")
    for view_of in (
        lambda x: x.permute(2, 0, 1),
        lambda x: x.permute(2, 1, 0),
        lambda x: x[:, ::2].transpose(0, 2),
    ):
        view = view_of(x)
        want = call(*[view.contiguous()] * row.arity)
        dense = steps_of(view.clone())
        assert dense != row_major(view.shape)
        for operand in (view, view.clone()):
            got = call(*[operand] * row.arity)
            assert steps_of(got) == dense
            np.testing.assert_array_equal(got.numpy(), want.numpy())
        for operand in (view_of(meta), view_of(meta).clone()):
            assert steps_of(call(*[operand] * row.arity)) == dense


def test_scheduled_results_lie_as_others():
    """Their memory is chosen before their operands have values."""
    before = core.async_enabled()
    core.set_async(True)
    try:
        values = np.arange(630000.0).reshape(700, 900) / 630000
        x = pkg.tensor(values).t()
        y = ((x + 1).exp() * x).to(pkg.float32)
        assert steps_of(y) == (1, 900)
        want = (np.exp(values + 1) * values).T
        np.testing.assert_allclose(y.numpy(), want, rtol=1e-6)
    finally:
        core.set_async(before)


def test_large_results_in_another_order():
    """Work that is split among threads, by rows and by elements."""
    a = np.random.default_rng(0).normal(size=(60, 70, 80))
    x = pkg.tensor(a)
    for order in ((2, 1, 0), (1, 0, 2), (0, 2, 1)):
        view, want = x.permute(*order), a.transpose(order)
        np.testing.assert_array_equal((view + view).numpy(), want + want)
        np.testing.assert_array_equal((view * want.copy()).numpy(), want * want)
        np.testing.assert_array_equal(view.to(pkg.float32).numpy(), want.astype("f"))
        copy = view.clone()
        copy.mul_(2)
        np.testing.assert_array_equal(copy.numpy(), want * 2)


def test_copies_of_arrays_keep_the_order():
    a = np.asfortranarray(np.arange(6.0).reshape(2, 3))
    x = pkg.tensor(a)
    assert steps_of(x) == (1, 2) and x.tolist() == a.tolist()
    assert steps_of(pkg.tensor(x, dtype=pkg.int64)) == (1, 2)
    assert np.asarray(x + 1).flags.f_contiguous


# --- Gradients ---------------------------------------------------------------------


def test_the_gradient_of_a_leaf_lies_as_the_leaf():
    """Row-major where the leaf has gaps; what is added to it does not change that."""
    base = pkg.arange(24.0).reshape(2, 3, 4)
    for view in (base.permute(2, 0, 1), base[:, ::2].transpose(0, 2), base):
        leaf = view.detach().requires_grad_()
        dense = steps_of(leaf) == steps_of(leaf.clone())
        want = steps_of(leaf) if dense else row_major(leaf.shape)
        weights = pkg.arange(float(leaf.numel())).reshape(leaf.shape)
        for again in (False, True):
            (leaf * weights).sum().backward(create_graph=again)
            assert steps_of(leaf.grad) == want
            np.testing.assert_array_equal(leaf.grad, weights * (2 if again else 1))
        leaf.grad = None
        leaf.sum().backward()  # one number, expanded
        assert steps_of(leaf.grad) == want and bool((leaf.grad == 1).all())


def written(x, w, order, views):
    """A number made of a result in this order, with recorded writes to its views."""
    y = (x * 2).permute(order) * 1
    late = y[..., 0]
    for k, (dim, at) in enumerate(views):
        part = y.select(dim, at)
        part.mul_(w[k])
        part[..., :1] = part[..., :1].clone() * w[k] * w[k + 1]
        y.transpose(0, dim).add_(w[k])
    weights = pkg.arange(float(y.numel()), dtype=y.dtype).reshape(y.shape)
    return (y * y * weights).sum() + (late * late).sum()


@pytest.mark.parametrize("seed", range(20))
def test_writes_to_views_of_results_in_any_order(seed):
    """First and second derivatives, as those of row-major results."""
    rng = random.Random(seed)
    shape = [rng.choice((1, 2, 3)) for _ in range(rng.choice((2, 3, 4)))]
    order = list(range(len(shape)))
    rng.shuffle(order)
    sizes = [shape[d] for d in order]
    views = [(d, rng.randrange(sizes[d])) for d in rng.choices(range(len(order)), k=3)]
    values = np.random.default_rng(seed).normal(size=shape)
    seconds = []
    for plain in (False, True):
        x = pkg.tensor(values, requires_grad=True)
        w = pkg.tensor([0.5, -1.5, 2.0, 0.75], dtype=pkg.float64, requires_grad=True)
        if plain:  # the same numbers, row-major from the beginning
            start = x.permute(order).contiguous()
            total = written(start, w, list(range(len(order))), views)
        else:
            total = written(x, w, order, views)
        first = pkg.autograd.grad(total, (x, w), create_graph=True)
        second = pkg.autograd.grad(sum((g * g).sum() for g in first), (x, w))
        seconds.append([total, *first, *second])
    for ours, want in zip(*seconds):
        np.testing.assert_allclose(ours.detach(), want.detach(), rtol=1e-12)


def test_writes_to_views_of_strided_memory():
    """NumPy's transposed and sliced arrays, and parts that were detached."""
    memory = np.zeros((4, 6))
    w = pkg.tensor([2.0, 3.0, 5.0], dtype=pkg.float64, requires_grad=True)
    detached = pkg.zeros(6, 8, dtype=pkg.float64)[1:4, ::2].t().detach()
    transposed, sliced = pkg.from_numpy(memory.T[::2]), pkg.from_numpy(memory[1:, :3])
    for base in (transposed, sliced, detached):
        before = base[:, 1]
        base[1] = w[: base.shape[1]].sum()
        base[:, 0].add_(w[0])
        (base * base).sum().backward(retain_graph=True)
        first = w.grad.clone()
        w.grad = None
        (before * 1).sum().backward()
        dense = pkg.zeros(base.shape, dtype=pkg.float64)
        dense[1] = w[: base.shape[1]].sum()
        dense[:, 0].add_(w[0])
        v, w.grad = w.grad, None
        (dense * dense).sum().backward(retain_graph=True)
        assert first.tolist() == w.grad.tolist()
        w.grad = None
        dense[:, 1].sum().backward()
        assert v.tolist() == w.grad.tolist()
        w.grad = None


def test_bases_whose_elements_share_places_are_refused():
    """One place that is two elements has no one gradient; others have theirs."""
    rng, taken, refused = random.Random(0), 0, 0
    for seed in range(400):
        if seed % 2:
            (apart,) = layouts(seed, 1, broadcast=False)
            shape, strides = apart.shape, apart.strides
        else:
            apart = None
            shape = [rng.choice((1, 2, 3)) for _ in range(rng.choice((1, 2, 3)))]
            strides = [rng.randint(0, 7) for _ in shape]
        if not shape or 0 in shape:
            continue
        room = 1 + sum((n - 1) * s for n, s in zip(shape, strides))
        memory = np.zeros(room)
        places = strided(np.arange(room), shape, strides)
        base = pkg.from_numpy(strided(memory, shape, strides))
        dim = rng.randrange(len(shape))
        part = base.select(dim, rng.randrange(shape[dim]))
        w = pkg.ones(part.shape, dtype=pkg.float64, requires_grad=True)
        try:
            part.copy_(w)
        except RuntimeError as error:
            assert re.search("repeats its elements|single memory location", str(error))
            assert apart is None and not memory.any()
            refused += 1
            continue
        assert len(np.unique(places)) == places.size, (shape, strides)
        weights = pkg.arange(1.0, base.numel() + 1).double().reshape(shape)
        (base * weights).sum().backward()
        hit = (base.detach() * weights).numpy()
        assert sorted(w.grad.flatten().tolist()) == sorted(hit[hit != 0].tolist())
        taken += 1
    assert taken > 150 and refused > 50
    windows = np.lib.stride_tricks.sliding_window_view(np.zeros(4), 3, writeable=True)
    with pytest.raises(NotImplementedError, match="repeats its elements"):
        pkg.from_numpy(windows)[0].copy_(pkg.ones(3).double().requires_grad_())


def test_a_view_in_the_gaps_of_its_base_is_none():
    """`.data =` gave the base another part of the same memory: a view of before is a
    part of it where all of its elements are."""
    rng, taken, refused = random.Random(0), 0, 0
    grid = np.arange(4 * 6 * 2).reshape(4, 6, 2)

    def part(sizes):
        spans = []
        for n in sizes:
            first, step = rng.randrange(n), rng.choice((1, 1, 2))
            spans.append(slice(first, rng.randint(first + 1, n), step))
        order = list(range(3))
        rng.shuffle(order)

        def of(x):
            array = isinstance(x, np.ndarray)
            turned = x.transpose(order) if array else x.permute(order)
            return turned[tuple(spans[d] for d in order)]

        return of

    for _ in range(800):
        big = pkg.zeros(4, 6, 2, dtype=pkg.float64)
        before, after = part(grid.shape), part(grid.shape)
        base, places = before(big).detach(), before(grid)
        of_view = part(places.shape)
        view, shown = of_view(base), of_view(places)
        base.data, now = after(big), after(grid)
        w = pkg.ones(view.shape, dtype=pkg.float64, requires_grad=True)
        if not set(shown.ravel()) <= set(now.ravel()):
            with pytest.raises(RuntimeError, match="from before `.data"):
                view.copy_(w)
            refused += 1
            continue
        view.copy_(w)
        ((base * pkg.tensor(now + 1.0)).sum() + view.sum()).backward()
        np.testing.assert_array_equal(w.grad.numpy(), shown + 2.0)
        taken += 1
    assert taken > 40 and refused > 40


def test_a_gradient_in_the_order_of_its_leaf_has_a_history():
    """Of create_graph; and nobody waits for what is written to the leaf meanwhile."""
    leaf = pkg.arange(1.0, 7.0).reshape(2, 3).t().detach().requires_grad_()
    (leaf**3).sum().backward(create_graph=True)
    assert leaf.grad.requires_grad and leaf.grad.stride() == leaf.stride()
    (second,) = pkg.autograd.grad(leaf.grad.sum(), leaf)
    np.testing.assert_array_equal(second.numpy(), 6 * leaf.detach().numpy())
    leaf.grad = None
