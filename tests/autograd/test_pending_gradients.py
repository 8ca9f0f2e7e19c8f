# SPDX-License-Identifier: Apache-2.0
"""Gradients that are still being computed when they arrive at their leaves."""

import numpy as np
import pytest

import pkg
from pkg import profiler

N = 700  # products of these are worth a task


@pytest.fixture(autouse=True)
def in_the_background():
    before = pkg.scheduler.async_enabled()
    pkg.scheduler.set_async(True)
    yield
    pkg.scheduler.set_async(before)


def operands():
    rng = np.random.default_rng(0)
    x, w = (rng.integers(-2, 3, (N, N)).astype("float32") for _ in range(2))
    return x, pkg.tensor(x), pkg.tensor(w, requires_grad=True)


def noted(run):
    """The names of the ops and tasks of a run."""
    with profiler.profile(["ops", "tasks"], lines=False) as seen:
        run()
        pkg.synchronize()
    return [event.name for event in seen.events], {
        event.name for event in seen.events if event.kind == "task"
    }


def test_a_gradient_in_the_making_becomes_grad_without_a_copy():
    x, input, weight = operands()
    ops, tasks = noted((input @ weight).sum().backward)
    assert "mm" in tasks  # it was pending
    assert "clone" not in ops
    np.testing.assert_array_equal(weight.grad.numpy(), x.T @ np.ones((N, N), "float32"))


def test_gradients_in_the_making_are_added_in_place():
    x, input, weight = operands()
    loss = (input @ weight).sum() + (input @ weight).sum()
    ops, tasks = noted(loss.backward)
    assert "mm" in tasks
    assert "add_" in ops
    want = 2 * (x.T @ np.ones((N, N), "float32"))
    np.testing.assert_array_equal(weight.grad.numpy(), want)


@pytest.mark.parametrize("view", [False, True])
def test_who_holds_a_gradient_in_the_making_keeps_it(view):
    x, input, weight = operands()
    kept = []
    weight.register_hook(lambda g: kept.append(g[1:] if view else g))
    (input @ weight).sum().backward()
    weight.grad.zero_()
    want = x.T @ np.ones((N, N), "float32")
    np.testing.assert_array_equal(kept[0].numpy(), want[1:] if view else want)
    assert not weight.grad.any()


def test_a_second_pass_adds_to_what_the_first_one_left():
    x, input, weight = operands()
    for _ in range(2):
        (input @ weight).sum().backward()
    want = 2 * (x.T @ np.ones((N, N), "float32"))
    np.testing.assert_array_equal(weight.grad.numpy(), want)
