# SPDX-License-Identifier: Apache-2.0
"""Gradients of one's own in pkg.compat.v1: where they count and what is refused."""

import pytest

import pkg.compat.v1 as tf


@tf.RegisterGradient("HundredTimes")
def _hundred_times(op, grad):
    return grad * 100.0


@pytest.fixture(autouse=True)
def fresh():
    with tf.Graph().as_default(), tf.Session():
        yield


def run(fetches, feeds=None):
    return tf.get_default_session().run(fetches, feeds)


@pytest.mark.parametrize("within", [False, True])
def test_override_maps_are_refused_in_parts_and_count_around(within):
    graph, x = tf.get_default_graph(), tf.placeholder(tf.float32, [2])

    def plain(row):
        return row * 2.0

    def relu(row):
        if not within:
            return tf.nn.relu(row)
        with graph.gradient_override_map({"Relu": "HundredTimes"}):
            return tf.nn.relu(row)

    def build():
        for make in (
            lambda: tf.map_fn(relu, x),
            lambda: tf.cond(x[0] > 0, lambda: relu(x), lambda: x),
            lambda: tf.map_fn(lambda row: tf.foldl(lambda a, b: relu(b), row[None]), x),
        ):
            with pytest.raises(NotImplementedError, match="'Relu'.*'HundredTimes'"):
                make()

    if within:
        build()
    else:
        with graph.gradient_override_map({"Relu": "HundredTimes"}):
            build()
            y = tf.nn.relu(tf.map_fn(plain, x))
        assert run(tf.gradients(y, x)[0], {x: [1, 2]}).tolist() == [200, 200]
    after = tf.map_fn(tf.nn.relu, x)
    assert run(tf.gradients(after, x)[0], {x: [1, -2]}).tolist() == [1, 0]
