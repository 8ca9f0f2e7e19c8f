# SPDX-License-Identifier: Apache-2.0
"""Loops and choices: values, gradients, variables, captures, what is refused."""

import os
import signal
import threading
import time
from typing import NamedTuple

import numpy as np
import pytest

import pkg
import pkg.graph as pg
from default_session import default_session, run


class Pair(NamedTuple):
    """A structure with names."""

    a: object
    b: object


fresh = default_session(pg)


def scalar(dtype=pkg.float32):
    return pg.placeholder(dtype, [])


# Loops


@pytest.mark.parametrize("n", [0, 1, 7])
def test_a_loop_turns_as_long_as_its_condition_holds(n):
    limit = scalar(pkg.int64)
    i, s = pg.while_loop(
        lambda i, s: i < limit, lambda i, s: (i + 1, s + i), (pg.constant(0), 0)
    )
    assert [int(v) for v in run([i, s], {limit: n})] == [n, sum(range(n))]


def test_one_variable_gives_a_symbol_and_several_their_structure():
    one = pg.while_loop(lambda i: i < 5, lambda i: [i + 1], [0])
    assert isinstance(one, pg.Symbol) and int(run(one)) == 5
    start = [0, Pair(1.0, {"k": 2.0, "a": 3.0})]
    found = run(
        pg.while_loop(
            lambda i, pair: i < 3,
            lambda i, pair: (
                i + 1, Pair(pair.a * 2, {k: v + 1 for k, v in pair.b.items()})
            ),
            start,
        )
    )  # fmt: skip
    assert isinstance(found, list) and isinstance(found[1], Pair)
    assert float(found[1].a) == 8.0
    assert {k: float(v) for k, v in found[1].b.items()} == {"k": 5.0, "a": 6.0}


def test_loops_use_what_is_outside():
    """Symbols, variables, tensors with values, arrays."""
    x, w = scalar(), pg.Variable(2.0)
    weight = pkg.tensor([1.0, 10.0])
    run(w.initializer)
    _, y = pg.while_loop(
        lambda i, y: i < 3, lambda i, y: (i + 1, y * w + weight * x), (0, pkg.ones(2))
    )
    for value in (0.5, -1.0):
        wanted = np.ones(2, "float32")
        for _ in range(3):
            wanted = wanted * 2 + np.array([1, 10], "float32") * np.float32(value)
        np.testing.assert_array_equal(run(y, {x: value}).numpy(), wanted)
    weight += 1  # as everywhere in a graph, the next run sees it
    np.testing.assert_array_equal(run(y, {x: 1.0}).numpy(), [22.0, 85.0])


def test_loops_nest_and_capture_through_each_other():
    x = scalar(pkg.int64)

    def outer(i, total):
        _, total = pg.while_loop(
            lambda j, t: j < i, lambda j, t: (j + 1, t + x), (0, total)
        )
        return i + 1, total

    _, total = pg.while_loop(lambda i, t: i < 4, outer, (0, 0))
    assert int(run(total, {x: 10})) == 60


def test_sizes_may_change_where_that_was_said():
    start = pg.constant([1.0])
    args = (lambda i, x: i < 3), (lambda i, x: (i + 1, pkg.cat([x, x])))
    _, x = pg.while_loop(*args, (0, start), shape_invariants=([], [None]))
    assert x.shape.as_list() == [None] and run(x).shape == (8,)
    with pytest.raises(ValueError, match=r"with shape \(1,\), but has shape \(2,\)"):
        pg.while_loop(*args, (0, start))
    with pytest.raises(ValueError, match="not compatible with the initial shape"):
        pg.while_loop(*args, (0, start), shape_invariants=([], [3]))


@pytest.mark.parametrize("most", [0, 4, 40])
def test_turns_can_be_limited(most):
    args = (lambda i: i < 10), (lambda i: i + 1), [0]
    loop = pg.while_loop(*args, maximum_iterations=most)
    assert int(run(loop)) == min(most, 10)


def test_ten_thousand_turns():
    """Of x = x / 2 + 1, which ends at 2."""
    x = pg.constant(np.ones((4, 4), "float32"))
    _, y = pg.while_loop(
        lambda i, y: i < 10_000, lambda i, y: (i + 1, y * 0.5 + x), (0, x)
    )
    assert (run(y).numpy() == 2.0).all()


# Gradients


@pytest.mark.parametrize("n", [0, 1, 5])
def test_the_gradient_of_a_power(n):
    x = scalar()
    _, y = pg.while_loop(lambda i, y: i < n, lambda i, y: (i + 1, y * x), (0, x))
    (slope,) = pg.gradients(y, [x])
    assert float(run(slope, {x: 1.5})) == pytest.approx((n + 1) * 1.5**n)


def test_gradients_through_both_branches_and_loops_in_them():
    p, x = scalar(pkg.bool), scalar()

    def turns():
        _, y = pg.while_loop(lambda i, y: i < 2, lambda i, y: (i + 1, y * x), (0, x))
        return y

    y = pg.cond(p, turns, lambda: x * 7)
    (slope,) = pg.gradients(y, [x])
    assert float(run(slope, {p: True, x: 2.0})) == pytest.approx(12.0)
    assert float(run(slope, {p: False, x: 2.0})) == 7.0


def test_the_gradient_to_a_variable_that_only_a_loop_uses():
    w = pg.Variable(3.0)
    run(w.initializer)
    _, y = pg.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * w), (0, 1.0))
    (slope,) = pg.gradients(y, [w])
    assert float(run(slope)) == 27.0
    run(w.assign_sub(slope * 0.1))
    assert float(run(w)) == pytest.approx(0.3)


def test_random_loops_have_the_gradients_of_the_eager_ones():
    """Each from a seed: a body of a few ops, turned some times, against autograd."""
    ops = [
        lambda y, x: y * x, lambda y, x: y + x.sin(), lambda y, x: (y - x).tanh(),
        lambda y, x: y.cos() * 0.5, lambda y, x: y / (x * x + 1),
        lambda y, x: y.exp() * 0.1,
    ]  # fmt: skip
    for seed in range(30):
        rng = np.random.default_rng(seed)
        body = [ops[i] for i in rng.integers(0, len(ops), 3)]
        n = int(rng.integers(1, 6))
        value = rng.standard_normal((2, 3)).astype("float32")
        eager = pkg.tensor(value, requires_grad=True)
        wanted = eager
        for _ in range(n):
            for op in body:
                wanted = op(wanted, eager)
        wanted.sum().backward()
        with pg.Graph().as_default(), pg.Session() as session:
            x = pg.placeholder(pkg.float32, [None, 3])

            def turn(i, y, x=x, body=body):
                for op in body:
                    y = op(y, x)
                return i + 1, y

            _, y = pg.while_loop(lambda i, y, n=n: i < n, turn, (0, x))
            (slope,) = pg.gradients(y, [x])
            found, found_slope = session.run([y, slope], {x: value})
        assert (found.numpy() == wanted.detach().numpy()).all(), f"seed {seed}"
        assert (found_slope.numpy() == eager.grad.numpy()).all(), f"seed {seed}"


def test_second_derivatives_of_gradients_within_bodies():
    x = scalar()
    made = pg.cond(x > 0, lambda: pg.gradients(x**3, [x])[0], lambda: x)
    assert float(run(pg.gradients(made, [x])[0], {x: 2.0})) == pytest.approx(12.0)

    def body(i, a):
        return i + 1, pg.gradients(a**3, [a])[0]

    _, y = pg.while_loop(lambda i, a: i < 2, body, (0, x))
    value, slope = run([y, pg.gradients(y, [x])[0]], {x: 2.0})
    assert (float(value), float(slope)) == pytest.approx((432.0, 864.0))


def test_what_is_passed_through_is_apart_from_what_it_was():
    x = scalar()
    for out in (
        pg.while_loop(lambda i, a: i < 0, lambda i, a: (i, a), (0, x))[1],
        pg.cond(x > 0, lambda: x, lambda: x),
    ):
        slopes = pg.gradients(out * 2 + x * 3, [out, x])
        assert [float(v) for v in run(slopes, {x: 1.0})] == [2.0, 5.0]
    _, p, q = pg.while_loop(
        lambda i, p, q: i < 2, lambda i, p, q: (i + 1, p * 2, p * 2), (0, x, x)
    )
    same = pg.cond(x > 0, lambda: [p, p], lambda: [q, q])
    slopes = pg.gradients(same[0] * 2 + same[1] * 3, same)
    assert [float(v) for v in run(slopes, {x: 1.0})] == [2.0, 3.0]
    with pkg.no_grad():
        held = pg.cond(x > 0, lambda: x, lambda: x)
    assert float(run(pg.gradients(held + x, [x])[0], {x: 1.0})) == 1.0


# Choices


@pytest.mark.parametrize("truth", [True, False])
def test_only_what_is_chosen_runs(truth):
    p, x = scalar(pkg.bool), scalar(pkg.int64)
    yes, no = pg.Variable(0), pg.Variable(0)
    run([yes.initializer, no.initializer])
    y = pg.cond(p, lambda: yes.assign_add(5), lambda: no.assign_add(7))
    assert int(run(y, {p: truth})) == (5 if truth else 7)
    assert [int(v) for v in run([yes, no])] == ([5, 0] if truth else [0, 7])
    fails = pg.cond(p, lambda: 10 // x, lambda: pg.constant(-1))
    if truth:
        with pytest.raises(pg.errors.InvalidArgumentError, match="[Dd]ivision by zero"):
            run(fails, {p: True, x: 0})
    else:
        assert int(run(fails, {p: False, x: 0})) == -1


def test_branches_may_give_structures_operations_and_symbols_from_outside():
    p, x = scalar(pkg.bool), scalar()
    count = pg.Variable(0)
    run(count.initializer)
    made = pg.cond(
        p, lambda: {"a": x, "b": [x * 2]}, lambda: {"a": x + 1, "b": [pg.constant(0.0)]}
    )
    found = run(made, {p: True, x: 4.0})
    assert float(found["a"]) == 4.0 and float(found["b"][0]) == 8.0
    step = pg.cond(p, lambda: count.assign_add(1).op, lambda: pg.group())
    assert isinstance(step, pg.Operation)
    for truth in (True, False, True):
        assert run(step, {p: truth}) is None
    assert int(run(count)) == 2


def test_shapes_that_differ_are_unknown():
    p = scalar(pkg.bool)
    made = pg.cond(p, lambda: pkg.ones(2, 3), lambda: pkg.zeros(4, 3))
    assert made.shape.as_list() == [None, 3] and run(made, {p: False}).shape == (4, 3)
    assert pg.cond(p, lambda: pkg.ones(2), lambda: pkg.ones([])).shape.ndims is None


# Variables


def test_a_loop_assigns_in_every_turn():
    total = pg.Variable(1.0)
    run(total.initializer)

    def body(i):
        with pg.control_dependencies([total.assign_add(2.0)]):
            return i + 1

    loop = pg.while_loop(lambda i: i < 5, body, [0])
    assert int(run(loop)) == 5 and float(run(total)) == 11.0
    reads = pg.while_loop(lambda i: total < 20.0, body, [0])  # sees what it assigns
    assert int(run(reads)) == 5 and float(run(total)) == 21.0


def test_a_run_that_fails_in_a_loop_assigns_nothing():
    total, x = pg.Variable(1.0), scalar(pkg.int64)
    run(total.initializer)

    def body(i):
        with pg.control_dependencies([total.assign_add(1.0)]):
            return i + 10 // (x - i)

    loop = pg.while_loop(lambda i: i < 50, body, [0])
    with pytest.raises(pg.errors.InvalidArgumentError) as caught:
        run(loop, {x: 10})
    assert caught.value.op is loop.op
    assert float(run(total)) == 1.0


def test_a_variable_without_a_value_is_an_error_in_a_loop_too():
    w = pg.Variable(1.0, name="w")
    _, y = pg.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * w), (0, 1.0))
    with pytest.raises(pg.errors.FailedPreconditionError, match="uninitialized .* w"):
        run(y)


def test_a_variable_and_its_change_in_one_branch():
    v, x = pg.Variable(1.0), scalar()
    run(v.initializer)

    def branch():
        changed = v.assign_add(1.0)
        return pg.group(v, changed)

    step = pg.cond(x > 0, branch, lambda: pg.group())
    run(step, {x: 1.0})
    assert float(run(v)) == 2.0


def test_a_run_that_assigns_cannot_run_another_one():
    """It would wait for itself."""
    v, session = pg.Variable(1.0), pg.get_default_session()
    run(v.initializer)
    other = v.assign_add(1.0)
    inner = pg.py_func(lambda: session.run(other).numpy(), [], pkg.float32)
    step = v.assign_add(pg.while_loop(
        lambda i, y: i < 1, lambda i, y: (i + 1, inner * 1.0), (0, 1.0),
        shape_invariants=[pg.TensorShape([]), pg.TensorShape(None)])[1])  # fmt: skip
    with pytest.raises(pg.errors.OpError, match="wait for itself"):
        run(step)
    assert float(run(v)) == 1.0


# Ends


def test_a_loop_without_an_end_is_ended_by_its_timeout():
    class Options:
        timeout_in_ms = 100

    loop = pg.while_loop(lambda i: i >= 0, lambda i: i * 1, [0])
    began = time.monotonic()
    with pytest.raises(pg.errors.DeadlineExceededError):
        pg.get_default_session().run(loop, options=Options())
    assert time.monotonic() - began < 1.0


def test_ctrl_c_ends_a_loop():
    loop = pg.while_loop(lambda i: i >= 0, lambda i: i * 1, [0])
    timer = threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        run(loop)
    assert time.monotonic() - began < 1.0
    timer.join()
    assert int(run(pg.constant(2) + 1)) == 3


def test_no_gradient_flows_through_what_a_body_does_without():
    """Three turns of y * x, where a factor of 2 x is held back in each."""
    x = scalar()

    def body(i, y):
        with pkg.no_grad():
            held = x * 2
        return i + 1, y * x * held

    _, y = pg.while_loop(lambda i, y: i < 3, body, (0, 1.0))
    (slope,) = pg.gradients(y, [x])
    value, found = run([y, slope], {x: 1.5})
    assert float(value) == pytest.approx((2 * 1.5**2) ** 3)
    assert float(found) == pytest.approx(3 * 1.5**2 * 3.0**3)


def test_closing_the_session_ends_its_loops():
    session = pg.get_default_session()
    loop = pg.while_loop(lambda i: i >= 0, lambda i: i * 1, [0])
    timer = threading.Timer(0.1, session.close)
    timer.start()
    with pytest.raises((pg.errors.CancelledError, RuntimeError), match="closed"):
        session.run(loop)
    timer.join()


def test_threads_run_one_loop_at_once():
    x = scalar(pkg.int64)
    loop = pg.while_loop(lambda i: i < x, lambda i: i + 1, [0])
    session, wrong = pg.get_default_session(), []

    def work(n):
        for k in range(30):
            if int(session.run(loop, {x: n * 31 + k})) != n * 31 + k:
                wrong.append((n, k))

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert wrong == [] and not any(thread.is_alive() for thread in threads)


# What is refused


def test_wrong_loops_are_refused():
    x = pg.constant([1.0, 2.0])
    for kind, words, cond, body, values in (
        (TypeError, "'cond' must be callable", 3, lambda i: i, [0]),
        (TypeError, "'body' must be callable", lambda i: i < 3, 3, [0]),
        (ValueError, "at least one loop variable", lambda: True, lambda: 0, []),
        (TypeError, "gives a bool", lambda i: i, lambda i: i, [0]),
        (ValueError, "one bool", lambda y: y < 3, lambda y: y, [x]),
        (ValueError, "nested structure", lambda i, j: i < 3, lambda i, j: (i,), (0, 0)),
        (TypeError, "enters the loop as", lambda i: i < 3, lambda i: i * 0.5, [0]),
    ):
        with pytest.raises(kind, match=words):
            pg.while_loop(cond, body, values)


def test_wrong_choices_are_refused():
    p, one = scalar(pkg.bool), pg.constant(1)
    for kind, words, args in (
        (TypeError, "a symbol of one bool", (True, lambda: 1, lambda: 2)),
        (TypeError, "predicate of bool", (one, lambda: 1, lambda: 2)),
        (ValueError, "of one bool", (pg.constant([True]), lambda: 1, lambda: 2)),
        (TypeError, "'true_fn' must be callable", (p, 1, lambda: 2)),
        (ValueError, "same type", (p, lambda: 1.0, lambda: 2)),
        (ValueError, "nested structure", (p, lambda: (1, 1), lambda: 2)),
        (ValueError, "must have a return value", (p, lambda: None, lambda: 2)),
        (TypeError, "both a value", (p, lambda: pg.group(), lambda: 2)),
    ):
        with pytest.raises(kind, match=words):
            pg.cond(*args)
    assert int(run(pg.cond(p, lambda: 1, lambda: 2), {p: False})) == 2


def test_symbols_of_another_graph_are_refused_and_nothing_is_left_open():
    with pg.Graph().as_default():
        foreign = pg.constant(1)
    with pytest.raises(ValueError, match="not an element of this graph"):
        pg.while_loop(lambda i: i < foreign, lambda i: i + 1, [0])
    with pytest.raises(KeyError):
        pg.while_loop(lambda i: i < 3, lambda i: {}["none"], [0])
    assert int(run(pg.constant(2) + 1)) == 3  # of the default graph, not of a body


def test_gradients_in_a_part_by_ways_outside_are_refused():
    """They would be those of the ways within alone."""
    with pg.Graph().as_default(), pg.Session() as session:
        x = pg.placeholder(pkg.float32, [])
        square = x * x

        def outside():
            (grad,) = pg.gradients(square * x, [x])
            return grad

        def within():
            (grad,) = pg.gradients(x * x * x, [x])
            return grad

        found = pg.cond(x > 0, within, lambda: x)
        assert session.run(found, {x: 2.0}).item() == 12
        with pytest.raises(NotImplementedError, match="computed outside of it"):
            pg.cond(x > 0, outside, lambda: x)
