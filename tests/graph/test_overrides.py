# SPDX-License-Identifier: Apache-2.0
"""gradient_override_map: operations that stay what they are, with another gradient."""

import numpy as np
import pytest

import pkg.compat.v1 as tf
from default_session import default_session, run

fresh = default_session(tf)


@tf.RegisterGradient("SevenForEach")
def seven_for_each(op, grad):
    """7 times what arrives, for each input."""
    made = [tf.ones_like(value) * 7.0 * tf.reduce_sum(grad) for value in op.inputs]
    return made if len(made) > 1 else made[0]


@pytest.mark.parametrize(
    ("kind", "build"),
    [
        ("BiasAdd", tf.nn.bias_add),
        ("Add", lambda x, b: x + b),
        ("Relu", lambda x, b: tf.nn.relu(x)),
        ("MatMul", lambda x, b: tf.matmul(x, tf.ones([3, 3]))),
    ],
)
def test_an_operation_keeps_its_name_type_and_inputs(kind, build):
    """As outside of the map, where the gradient is its own."""
    x, b = tf.placeholder(tf.float32, [2, 3]), tf.constant([1.0, 2.0, 3.0])
    plain = build(x, b)
    with tf.get_default_graph().gradient_override_map({kind: "SevenForEach"}):
        y = build(x, b)
    assert y.op.type == plain.op.type and y.op.type.removesuffix("V2") == kind
    assert y.name == plain.name.replace(":", "_1:")
    assert [i.name for i in y.op.inputs][0] == x.name
    rows = np.ones((2, 3), "float32")
    got = run([y, plain, tf.gradients(y * 1.0, x)[0]], {x: rows})
    np.testing.assert_array_equal(got[0], got[1])
    assert got[2].tolist() == [[42] * 3] * 2  # of six elements
    assert run(tf.gradients(plain, x)[0], {x: rows}).tolist() != got[2].tolist()


def test_both_inputs_of_a_bias_get_gradients():
    """Of their shapes, as the function gives them."""
    x, b = tf.placeholder(tf.float32, [2, 3]), tf.constant([1.0, 2.0, 3.0])
    with tf.get_default_graph().gradient_override_map({"BiasAdd": "SevenForEach"}):
        y = tf.nn.bias_add(x, b, name="layer")
    assert y.name == "layer:0"
    slopes = run(tf.gradients(y, [x, b, y]), {x: np.ones((2, 3))})
    assert [s.shape for s in slopes] == [(2, 3), (3,), (2, 3)]
    assert slopes[1].tolist() == [42] * 3 and slopes[2].tolist() == [[1] * 3] * 2


def test_what_goes_around_an_overridden_operation_counts():
    """Ways beside it, ways through two of them, and stops at and before it."""
    x = tf.placeholder(tf.float32, [])
    with tf.get_default_graph().gradient_override_map({"Sign": "SevenForEach"}):
        once = tf.sign(x * 2.0)
        twice = tf.sign(once)
    z = twice * 3.0 + once + x * x
    assert run(tf.gradients(z, x)[0], {x: 5.0}) == (3 * 7 + 1) * 7 * 2 + 10
    assert run(tf.gradients(z, x, stop_gradients=[once])[0], {x: 5.0}) == 10
    assert run(tf.gradients(z, once)[0], {x: 5.0}) == 22
    assert tf.gradients(twice, x, stop_gradients=[twice]) == [None]


def test_second_derivatives_of_overridden_operations():
    """The function is made of ordinary operations."""
    x = tf.placeholder(tf.float32, [])

    @tf.RegisterGradient("SquareOfInput")
    def square_of_input(op, grad):
        return grad * op.inputs[0] * op.inputs[0]

    with tf.get_default_graph().gradient_override_map({"Sign": "SquareOfInput"}):
        y = tf.sign(x)
    first = tf.gradients(y, x)[0]
    assert run([first, tf.gradients(first, x)[0]], {x: 3.0}) == [9, 6]


def test_parts_of_loops_and_choices_are_refused():
    """They have the gradients of their operations."""
    x = tf.constant(1.0)
    with tf.get_default_graph().gradient_override_map({"Sign": "SevenForEach"}):
        with pytest.raises(NotImplementedError, match="part of a loop or choice"):
            tf.cond(x > 0, lambda: tf.sign(x), lambda: x)
