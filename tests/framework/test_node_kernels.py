# SPDX-License-Identifier: Apache-2.0
"""Whose kernel it is: of a node in a graph, of the attributes outside of graphs."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import pytest

import pkg
from pkg.compat import v1 as tf
from pkg.compat.v1 import load_op_library
from pkg.graph import Graph, Session

PLANNED, CALLED, SILENT = "count_planned", "count_called", "count_silently"


@pytest.fixture(scope="module")
def ops(compiled: Callable[..., Path]):
    """The ops of sources/counting.cc."""
    return load_op_library(compiled("counting.cc"))


@pytest.mark.parametrize("name", [PLANNED, CALLED])
def test_nodes_with_equal_attributes_do_not_share_a_kernel(ops, name: str) -> None:
    """Each counts its own calls, also where their arguments are the same."""
    count = getattr(ops, name)
    with Graph().as_default():
        x = tf.placeholder(tf.float32, [1])
        first, second = count(x), count(x)
        with Session() as session:
            for n in (1.0, 2.0):
                assert session.run(first, {x: [0.0]}).tolist() == [n]
            assert session.run(second, {x: [0.0]}).tolist() == [1.0]
            both = session.run([first, second], {x: [0.0]})
            assert [y.tolist() for y in both] == [[3.0], [2.0]]
            if name == PLANNED:
                assert session.memory_plan([first, second], {x: [0.0]})


def test_a_large_call_of_an_evaluated_node(ops) -> None:
    """That would be handed to another thread has its node's kernel as well."""
    with Graph().as_default():
        x = tf.placeholder(tf.float32, [None])
        unplanned = ops.count_called(x)
        first, second = ops.count_silently(unplanned), ops.count_silently(unplanned + 1)
        with Session() as session:
            feed = {x: pkg.zeros(8_000_000)}
            for n in (1.0, 2.0):
                assert session.run(first, feed)[0] == n
            assert session.run(second, feed)[0] == 1.0


@pytest.mark.parametrize("name", [PLANNED, CALLED])
def test_a_kernel_goes_with_its_session(ops, name: str) -> None:
    """Other feeds are other plans with the same kernel; another session begins anew."""
    with Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [None])
        y = getattr(ops, name)(x)
        with Session() as session:
            assert session.run(y, {x: [0.0]}).tolist() == [1.0]
            assert session.run(y, {x: [0.0, 0.0]}).tolist() == [2.0, 2.0]
            assert session.run([y, y + 1], {x: [0.0]})[0].tolist() == [3.0]
    with Session(graph=graph) as other:
        assert other.run(y, {x: [0.0]}).tolist() == [1.0]


def test_a_body_keeps_its_kernel(ops) -> None:
    """The rounds of a loop are calls of one node."""
    with Graph().as_default():
        x = tf.placeholder(tf.float32, [1])
        _, y = tf.while_loop(
            lambda i, y: i < 3,
            lambda i, y: (i + 1, ops.count_planned(y)),
            [tf.constant(0), x],
        )
        with Session() as session:
            assert session.run(y, {x: [0.0]}).tolist() == [3.0]
            assert session.run(y, {x: [0.0]}).tolist() == [6.0]


def _in_loop(count, x):
    shapes = [tf.TensorShape([]), tf.TensorShape(None)]
    return tf.while_loop(
        lambda i, y: i < 3, lambda i, y: (i + 1, count(y)), [tf.constant(0), x], shapes
    )[1]


def _in_nested(count, x):
    return tf.cond(x[0] < 1, lambda: _in_loop(count, x), lambda: x)


def _beside_a_function(count, x):
    def body(i, y):
        # A part with a function has no plan: its nodes are evaluated.
        return i + 1, tf.py_func(lambda a: a, [count(y)], tf.float32)

    shapes = [tf.TensorShape([]), tf.TensorShape(None)]
    start = [tf.constant(0), tf.py_func(lambda a: a, [x], tf.float32)]
    return tf.while_loop(lambda i, y: i < 3, body, start, shapes)[1]


@pytest.mark.parametrize("name", [PLANNED, CALLED])
@pytest.mark.parametrize("build", [_in_loop, _in_nested, _beside_a_function])
def test_bodies_have_kernels_of_their_own_in_each_session(ops, build, name) -> None:
    """Which go on from run to run there, and begin anew in another session."""
    with Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [1])
        y = build(getattr(ops, name), x)
        with Session(graph=graph) as one, Session(graph=graph) as two:
            feed = {x: [0.0]}
            assert one.run(y, feed).tolist() == [3.0]
            assert one.run(y, feed).tolist() == [6.0]
            assert two.run(y, feed).tolist() == [3.0]
            assert one.run(y, feed).tolist() == [9.0]
        with Session(graph=graph) as third:
            assert third.run(y, feed).tolist() == [3.0]


def test_calls_outside_of_graphs_share_one(ops) -> None:
    """With each other, and with no node."""
    count = pkg.ops.tf.CountPlanned
    start = count(pkg.zeros(1)).item()
    with Graph().as_default():
        x = tf.placeholder(tf.float32, [1])
        y = ops.count_planned(x)
        with Session() as session:
            assert session.run(y, {x: [0.0]}).tolist() == [1.0]
    assert count(pkg.zeros(1)).item() == start + 1


def test_a_kernel_has_the_name_of_its_node(ops) -> None:
    """And says it in what it refuses."""
    with Graph().as_default():
        x = tf.placeholder(tf.float32, [None])
        y = ops.count_name(x, name="the_one")
        with Session() as session:
            assert session.run(y, {x: [0.0]}) == len("the_one")
            with pytest.raises(ValueError, match="called as the_one"):
                session.run(y, {x: [0.0, 0.0]})
    assert pkg.ops.tf.CountName(pkg.zeros(1)).item() == len("CountName")


@pytest.mark.parametrize("name", [PLANNED, CALLED])
def test_runs_at_once_share_the_node(ops, name: str) -> None:
    """No call is lost, and none has a kernel of its own."""
    with Graph().as_default():
        x = tf.placeholder(tf.float32, [1])
        y = getattr(ops, name)(x)
        with Session() as session:
            seen: list[float] = []

            def run() -> None:
                for _ in range(50):
                    seen.append(session.run(y, {x: [0.0]}).item())

            threads = [threading.Thread(target=run) for _ in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join(60)
    assert sorted(seen) == [float(n) for n in range(1, 201)]
