# SPDX-License-Identifier: Apache-2.0
"""Gradients of one's own in pkg.compat.v1: where they count and what is refused."""

import pytest

import pkg.compat.v1 as tf
from default_session import default_session, run


@tf.RegisterGradient("HundredTimes")
def _hundred_times(op, grad):
    return grad * 100.0


fresh = default_session(tf)


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


def test_custom_gradients_know_of_variables():
    w = tf.get_variable("w", [], initializer=tf.ones_initializer())
    b = tf.get_variable("b", [], initializer=tf.ones_initializer())
    x = tf.placeholder(tf.float32, [])
    asked = []

    @tf.custom_gradient
    def silent(x):
        return x * w + b, lambda grad: grad * 3.0

    @tf.custom_gradient
    def told(x):
        def gradient(grad, variables=None):
            asked.append(variables)
            slopes = {w.name: 5.0, b.name: 7.0}
            return grad * 3.0, [grad * slopes[v.name] for v in variables]

        return x * w.value() + b, gradient

    @tf.custom_gradient
    def few(x):
        return x * w, lambda grad, variables: (grad, [])

    @tf.custom_gradient
    def no_pair(x):
        return x * w, lambda grad, variables: grad

    @tf.custom_gradient
    def given(x, w):
        return x * w, lambda grad: (grad * 3.0, grad * 4.0)

    run(tf.global_variables_initializer())
    with pytest.raises(TypeError, match="must accept a 'variables' keyword.*w:0"):
        silent(x)
    y = told(x)
    slopes = tf.gradients(y * 2.0, [x, w, b])
    assert run([y, *slopes], {x: 4.0}) == [5, 6, 10, 14]
    assert {v.name for v in asked[0]} == {"w:0", "b:0"}
    assert all(isinstance(v, tf.Variable) for v in asked[0])
    assert run(tf.gradients(given(x, w), [x, w]), {x: 4.0}) == [3, 4]
    with pytest.raises(ValueError, match="gradient for each variable.*1, got 0"):
        tf.gradients(few(x), w)
    with pytest.raises(TypeError, match="a list of those of the variables"):
        tf.gradients(no_pair(x), w)


def test_functions_without_a_gradient_are_refused():
    x = tf.placeholder(tf.float32, [2])
    for made in (x, x * 2.0, (x,), None, [x, x, x]):
        with pytest.raises(TypeError, match="a result and a function of gradients"):
            tf.custom_gradient(lambda x, made=made: made)(x)
    with pytest.raises(TypeError, match="a result and a function, got 3"):
        tf.custom_gradient(lambda x: (x, 3))(x)
