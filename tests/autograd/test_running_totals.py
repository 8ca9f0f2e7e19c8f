# SPDX-License-Identifier: Apache-2.0
"""Gradients of parts of a tensor, which are added to what the pass has added up."""

import numpy as np
import pytest

import pkg
from pkg.profiler import profile

READS = {
    "int": lambda x, i: x[i],
    "slice": lambda x, i: x[i : i + 2],
    "step": lambda x, i: x[i::3],
    "index_select": lambda x, i: pkg.index_select(x, 1, pkg.tensor([i, 2, i])),
    "rows": lambda x, i: x[pkg.tensor([i, i])],
    "two rows": lambda x, i: x[pkg.tensor([i, i + 1])],
    "rows and columns": lambda x, i: x[pkg.tensor([i, 1]), pkg.tensor([2, i])],
}
COUNT = 4


def reference(read, weights):
    """The gradient of the sum of weighted reads, by one derivative for each element."""
    made = np.zeros((6, 6))
    for place in np.ndindex(6, 6):
        unit = np.zeros((6, 6))
        unit[place] = 1
        parts = [read(pkg.tensor(unit), i).numpy() for i in range(COUNT)]
        made[place] = sum((part * w).sum() for part, w in zip(parts, weights))
    return made


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16"])
@pytest.mark.parametrize("kind", READS)
def test_reads_of_one_tensor(kind, dtype):
    """And what comes by another way; integers, so that all sums are exact."""
    read = READS[kind]
    rng = np.random.default_rng(3)
    x = pkg.tensor(rng.integers(-3, 4, (6, 6)).astype(dtype), requires_grad=True)
    parts = [read(x, i) for i in range(COUNT)]
    weights = [rng.integers(1, 4, tuple(p.shape)).astype(dtype) for p in parts]
    total = sum((part * pkg.tensor(w)).sum() for part, w in zip(parts, weights))
    (grad,) = pkg.autograd.grad(total + (x * 2).sum(), [x], retain_graph=True)
    wanted = reference(read, weights) + 2
    np.testing.assert_array_equal(grad.numpy(), wanted.astype(dtype))
    total.backward()  # again, into .grad
    np.testing.assert_array_equal(x.grad.numpy(), (wanted - 2).astype(dtype))


def test_nobody_elses_gradient_is_written_to():
    """What the caller gave, what a hook saw, what is a gradient of two tensors."""
    x = pkg.tensor(np.zeros(4), requires_grad=True)
    seen = []
    y, z = x * 1, x[0]
    y.register_hook(lambda grad: seen.append(grad))
    given = pkg.ones(4, dtype=pkg.float64)
    five = pkg.tensor(5.0, dtype=pkg.float64)
    (grad,) = pkg.autograd.grad([y, z], [x], [given, five])
    assert grad.tolist() == [6, 1, 1, 1]
    assert given.tolist() == [1] * 4 and seen[0].tolist() == [1] * 4
    a = pkg.tensor(np.zeros(4), requires_grad=True)
    b = pkg.tensor(np.zeros(4), requires_grad=True)
    ga, gb = pkg.autograd.grad((a + b).sum() * 3 + a[1] * 7, [a, b])
    assert ga.tolist() == [3, 10, 3, 3] and gb.tolist() == [3] * 4
    c = pkg.tensor(np.zeros(4), requires_grad=True)
    ((c + given * 0).exp().sum() + c[2] + c[2:]).sum().backward()
    assert c.grad.tolist() == [2, 2, 5, 3]  # the first two terms for both of c[2:]


def test_hooks_of_a_read_see_its_own_gradient():
    """And not what was added up before."""
    x = pkg.tensor(np.zeros(3), requires_grad=True)
    seen = []
    parts = [x[i] for i in range(3)]
    parts[1].grad_fn.register_hook(lambda made, given: seen.append(made[0].tolist()))
    (parts[0] * 2 + parts[1] * 3 + parts[2] * 4).backward()
    assert x.grad.tolist() == [2, 3, 4] and seen == [[0, 3, 0]]


def test_second_derivatives():
    """There nothing is written in place."""
    x = pkg.tensor([1.0, 2.0, 3.0], requires_grad=True)
    y = x[0] * x[1] + x[1] * x[2] + (x[1:] ** 3).sum()
    (grad,) = pkg.autograd.grad(y, [x], create_graph=True)
    assert grad.tolist() == [2, 1 + 3 + 12, 2 + 27]
    (second,) = pkg.autograd.grad((grad * pkg.tensor([1.0, 10.0, 100.0])).sum(), [x])
    assert second.tolist() == [10, 1 + 120 + 100, 10 + 1800]


def test_the_bits_are_those_of_adding_whole_tensors():
    """The sign of zeros, and the order of sums where a place is named twice."""
    x = pkg.tensor(np.float32([1, 1, 1, 1]), requires_grad=True)
    (x * pkg.tensor([-0.0, 0.1, 1.0, -0.0]) + x[2] * 0).sum().backward()
    assert np.signbit(x.grad.numpy()).tolist() == [False] * 4
    small, large = np.float32(3e-8), np.float32(1)
    x = pkg.tensor(np.float32([1, 1]), requires_grad=True)
    twice = x[pkg.tensor([0, 0])] * pkg.tensor([small, small])
    (twice.sum() + x[0] * large).backward()
    assert x.grad[0].item() == large + (small + small) != (large + small) + small


@pytest.mark.parametrize("kind", ["int", "slice", "two rows"])
def test_work_does_not_grow_with_what_is_not_read(kind):
    """Calls on whole gradients: as many for three reads as for thirty."""

    def whole_calls(count):
        x = pkg.tensor(np.zeros((40, 40)), requires_grad=True)
        total = sum(READS[kind](x, i).sum() for i in range(count))
        with profile(["ops"], shapes=True) as made:
            total.backward()
        assert x.grad.sum().item() == total_of(kind, count)
        return sum(
            event.name not in IN_PLACE and "(40, 40)" in event.shapes
            for event in made.events
        )

    assert whole_calls(3) == whole_calls(30) <= 3


#: Views, and what writes to a part.
IN_PLACE = {
    "select", "slice", "view", "_index_put_", "_slices_put_", "index_put_",
}  # fmt: skip


def total_of(kind, count):
    """How many elements are read."""
    return count * {"int": 40, "slice": 80, "two rows": 80}[kind]


def test_what_a_function_gives_is_not_added_to_where_others_see_it():
    """Memory of NumPy's, and elements that lie in one place."""
    outside = np.ones(3, np.float32)

    class Given(pkg.autograd.Function):
        @staticmethod
        def forward(ctx, x, grad):
            ctx.grad = grad
            return x * 1

        @staticmethod
        def backward(ctx, grad):
            return ctx.grad(), None

    for grad in (
        lambda: pkg.from_numpy(outside),
        lambda: pkg.ones(1).expand(3).detach(),
    ):
        x = pkg.tensor([1.0, 2.0, 3.0], requires_grad=True)
        z = x * 1
        y = Given.apply(z, grad).sum() + z[0] + (z * 2).sum()
        (found,) = pkg.autograd.grad(y, [x])
        assert found.tolist() == [4, 3, 3]
    assert outside.tolist() == [1, 1, 1]
