# SPDX-License-Identifier: Apache-2.0
"""Writes through views under autograd: histories of base and views stay in step."""

import gc
import random
import sys
import threading

import numpy as np
import pytest

import pkg

core = pkg._binding.core
f64 = pkg.float64


def test_rows_written_into_a_buffer_carry_their_gradient():
    """The usual loop: a plain buffer gets a history from what is written into it."""
    buffer = pkg.zeros(4, 3, dtype=f64)
    before = buffer[1]
    w = pkg.ones(3, dtype=f64, requires_grad=True)
    for i in range(4):
        buffer[i] = w * (i + 1)
    assert buffer.requires_grad and before.requires_grad
    (buffer * buffer).sum().backward(retain_graph=True)
    np.testing.assert_allclose(w.grad.numpy(), np.full(3, 2.0 * 30))
    (before * 1).sum().backward()
    np.testing.assert_allclose(w.grad.numpy(), np.full(3, 60.0 + 2))


def test_view_and_base_after_writes_through_both():
    """z = 2x; z[1:] *= 3; z += 1: the view sees both writes."""
    x = pkg.tensor([1.0, 2.0, 3.0], dtype=f64, requires_grad=True)
    z = x * 2
    tail = z[1:]
    tail.mul_(3)
    z.add_(1)
    assert tail.tolist() == [13.0, 19.0]
    (tail.sum() * 2 + z.sum()).backward()
    assert x.grad.tolist() == [2.0, 18.0, 18.0]


def test_second_derivatives_through_a_written_view():
    """d2/dx2 of sum(z[0] := x**3)."""
    x = pkg.tensor([2.0], dtype=f64, requires_grad=True)
    z = pkg.zeros(3, dtype=f64)
    z[0:1] = x * x * x
    (first,) = pkg.autograd.grad(z.sum(), x, create_graph=True)
    (second,) = pkg.autograd.grad(first.sum(), x)
    assert first.item() == 12.0 and second.item() == 12.0


def test_threads_may_ask_for_one_written_view_at_once():
    """Its new history is made once, and the gradient that it retains is moved once."""
    threads, rounds, views, x = 4, 20, [], pkg.ones(4, dtype=f64, requires_grad=True)
    begin, end = threading.Barrier(threads + 1), threading.Barrier(threads + 1)
    ones = pkg.ones(2, dtype=f64)

    def work():
        for _ in range(rounds):
            begin.wait()
            for view in views:
                view.backward(ones, retain_graph=True)
            end.wait()

    started = [threading.Thread(target=work) for _ in range(threads)]
    interval = sys.getswitchinterval()
    try:
        sys.setswitchinterval(1e-5)
        for thread in started:
            thread.start()
        for _ in range(rounds):
            y = x * 1
            views[:] = [y[:2] for _ in range(4000)]
            for view in views:
                view.retain_grad()
            with pkg.no_grad():
                y.mul_(2)
            begin.wait()
            end.wait()
            assert {tuple(view.grad.tolist()) for view in views} == {(4.0, 4.0)}
    except BaseException:
        begin.abort()
        raise
    finally:
        sys.setswitchinterval(interval)
        for thread in started:
            thread.join()
    assert x.grad.tolist() == [threads * rounds * 4000.0] * 2 + [0.0] * 2


def test_saved_values_that_are_overwritten_are_an_error():
    """Through the tensor itself or through a view of it."""
    x = pkg.ones(3, requires_grad=True)
    y = x * 2
    z = y * y
    y[0] = 5.0
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        z.sum().backward()


def test_x_mul_x_in_place():
    """Both operands are the tensor that is overwritten."""
    x = pkg.tensor([3.0], dtype=f64, requires_grad=True)
    y = x * 1
    y.mul_(y)
    y.backward()
    assert x.grad.item() == 6.0


class Doubled(pkg.autograd.Function):
    """Doubles its argument in place."""

    @staticmethod
    def forward(ctx, x):
        ctx.mark_dirty(x)
        return x.mul_(2)

    @staticmethod
    def backward(ctx, grad):
        return grad * 2


def test_a_function_that_changes_a_view_keeps_its_backward():
    """Gradients of what it returns, of the base, and of what is written later."""
    x = pkg.ones(2, 2, dtype=f64, requires_grad=True)
    y = x * 1
    rows = [Doubled.apply(y[i]) for i in (0, 1)]
    for out in (pkg.stack(rows), y):
        (got,) = pkg.autograd.grad(out.sum(), x, retain_graph=True)
        assert got.tolist() == [[2.0, 2.0], [2.0, 2.0]]
    (got,) = pkg.autograd.grad((rows[0] ** 2).sum(), x, retain_graph=True)
    assert got.tolist() == [[8.0, 8.0], [0.0, 0.0]]
    rows[0].mul_(5)
    assert pkg.autograd.grad(y.sum(), x)[0].tolist() == [[10.0, 10.0], [2.0, 2.0]]


class Hundredfold(pkg.autograd.Function):
    """Says that it changed its argument, and does not."""

    @staticmethod
    def forward(ctx, x):
        ctx.mark_dirty(x)
        return x

    @staticmethod
    def backward(ctx, grad):
        return grad * 100


def test_a_write_that_a_function_declares_counts_as_one():
    """For views of it, for what was saved, and where nothing is recorded."""
    x = pkg.ones(2, dtype=f64, requires_grad=True)
    y = x * 1
    view, square = y[:1], y * y
    Hundredfold.apply(y)
    assert pkg.autograd.grad(view.sum(), x)[0].tolist() == [100.0, 0.0]
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        square.sum().backward()
    plain = pkg.ones(2)
    Hundredfold.apply(plain)
    with pkg.no_grad():
        Hundredfold.apply(y)
    assert (plain._version, y._version) == (1, 2)


def test_a_function_sees_other_arguments_over_the_memory_it_writes():
    """They have their old history in its graph, and the new one after it."""

    class First(pkg.autograd.Function):
        @staticmethod
        def forward(ctx, part, whole):
            ctx.mark_dirty(part.mul_(2))
            ctx.save_for_backward(part)
            return part

        @staticmethod
        def backward(ctx, grad):
            assert ctx.saved_tensors[0].tolist() == [2.0]
            return grad * 2, None

    x = pkg.ones(2, dtype=f64, requires_grad=True)
    y = x * 1
    part, whole = y[:1], y[:]
    First.apply(part, whole)
    assert pkg.autograd.grad(whole.sum(), x)[0].tolist() == [2.0, 1.0]


def test_what_a_function_made_as_a_view_keeps_its_backward():
    """When a part of it is written: it is no part of what forward dropped."""

    class Flat(pkg.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return (x * 1).reshape(-1)

        @staticmethod
        def backward(ctx, grad):
            return grad * 10

    x = pkg.ones(2, dtype=f64, requires_grad=True)
    y = Flat.apply(x)
    y[:1].mul_(2)
    assert pkg.autograd.grad(y.sum(), x)[0].tolist() == [20.0, 10.0]


@pytest.mark.parametrize("of_leaf", [False, True])
def test_a_function_may_not_change_a_view_without_history(of_leaf):
    """As no op may; under no_grad nothing is to be recorded."""
    x = pkg.ones(2, dtype=f64, requires_grad=True)
    y = x if of_leaf else x * 1
    with pkg.no_grad():
        view = y[:1]
    with pytest.raises(RuntimeError, match="A view was created in no_grad mode"):
        Doubled.apply(view)
    with pkg.no_grad():
        assert Doubled.apply(view) is view and not view.requires_grad


def test_written_views_leave_nothing_behind():
    """No cycle between a base, its views and their nodes."""
    gc.collect()
    nodes, tensors = core.live_nodes(), core.live_tensors()
    for _ in range(10):
        x = pkg.ones(4, requires_grad=True)
        y = x * 2
        v = y[1:3]
        v.mul_(3)
        v.mul_(v)
        y[0] = 1.0
        (y.sum() + v.sum()).backward()
    del x, y, v
    assert (core.live_nodes(), core.live_tensors()) == (nodes, tensors)


def program(rng, inputs, lib):
    """A random program of ops, views and writes on four 3x4 tensors; its result."""
    pool = [x * 1.0 for x in inputs]
    for _ in range(12):
        a, b = rng.randrange(len(pool)), rng.randrange(len(pool))
        kind = rng.randrange(8)
        row, col = rng.randrange(3), rng.randrange(4)
        factor = rng.uniform(0.5, 1.5)
        if kind == 0:
            pool.append(pool[a] * pool[b])
        elif kind == 1:
            pool.append(pool[a] + pool[b] * factor)
        elif kind == 2:
            pool.append(lib.tanh(pool[a]))
        elif kind == 3:  # write a row
            pool[a] = pool[a] * 1.0
            pool[a][row] = lib.tanh(pool[b][row] * factor)
        elif kind == 4:  # a column through a transposed view
            pool[a] = pool[a] * 1.0
            view = pool[a].T[col]
            view *= factor
        elif kind == 5:  # a view taken before the write, used after it
            pool[a] = pool[a] * 1.0
            view = pool[a][row]
            pool[a] *= factor
            pool.append(pool[b] + view)
        elif kind == 6:  # a view of a view
            pool[a] = pool[a] * 1.0
            view = pool[a][1:][:, 1:]
            view += factor
        else:
            pool.append(pool[a][::2].sum(0) + pool[b])
    total = pool[0].sum()
    for x in pool[1:]:
        total = total + (x * x).sum()
    return total


@pytest.mark.parametrize("seed", range(500))
def test_random_programs_agree_with_central_differences(seed):
    """Shared inputs, diamonds, views and in-place writes, in float64."""
    data = np.random.default_rng(seed)
    arrays = [data.uniform(-1, 1, size=(3, 4)) for _ in range(2)]
    inputs = [pkg.tensor(a, requires_grad=True) for a in arrays]
    result = program(random.Random(seed), inputs, pkg)
    np.testing.assert_allclose(
        result.item(), program(random.Random(seed), arrays, np), rtol=1e-10
    )
    result.backward()
    eps = 1e-6
    direction = [data.normal(size=(3, 4)) for _ in range(2)]
    ends = [
        float(
            program(
                random.Random(seed),
                [a + sign * eps * d for a, d in zip(arrays, direction)],
                np,
            )
        )
        for sign in (1, -1)
    ]
    want = (ends[0] - ends[1]) / (2 * eps)
    got = sum((x.grad.numpy() * d).sum() for x, d in zip(inputs, direction))
    assert got == pytest.approx(want, rel=1e-6, abs=1e-6 * (1 + abs(result.item())))


@pytest.mark.parametrize("seed", range(500))
def test_random_programs_agree_with_pytorch(seed):
    """The same programs on PyTorch, to 1e-12."""
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    data = np.random.default_rng(seed)
    arrays = [data.uniform(-1, 1, size=(3, 4)) for _ in range(2)]
    ours = [pkg.tensor(a, requires_grad=True) for a in arrays]
    theirs = [torch.tensor(a, requires_grad=True) for a in arrays]
    program(random.Random(seed), ours, pkg).backward()
    program(random.Random(seed), theirs, torch).backward()
    for x, t in zip(ours, theirs):
        np.testing.assert_allclose(
            x.grad.numpy(), t.grad.numpy(), rtol=1e-12, atol=1e-12
        )
