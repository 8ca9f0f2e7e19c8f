# SPDX-License-Identifier: Apache-2.0
"""Sizes and places of pkg.compat.v1 that a program gives as tensors, or wrongly."""

import numpy as np
import pytest

import pkg.compat.v1 as tf

X = np.arange(24, dtype=np.float32).reshape(4, 2, 3)


@pytest.fixture(autouse=True)
def fresh():
    with tf.Graph().as_default(), tf.Session():
        yield


def run(fetches, feeds=None):
    return tf.get_default_session().run(fetches, feeds)


@pytest.mark.parametrize(
    ("shape", "known", "fed", "made"),
    [
        (lambda x, v: tf.constant([-1, 3]), [None, 3], None, (8, 3)),
        (lambda x, v: [tf.shape(x)[0], -1], [None, None], None, (4, 6)),
        (lambda x, v: [-1, tf.shape(x)[0]], [None, None], None, (6, 4)),
        (lambda x, v: [tf.shape(x)[0] * 2, 3], [None, 3], None, (8, 3)),
        (lambda x, v: tf.stack([tf.shape(x)[0], -1]), [None, None], None, (4, 6)),
        (lambda x, v: tf.concat([tf.shape(x)[:1], [-1]], 0), None, None, (4, 6)),
        (lambda x, v: v, [None, None], [-1, 8], (3, 8)),
        (lambda x, v: v, [None, None], [3, 8], (3, 8)),
        (lambda x, v: [v[0], 2, v[1]], [None, 2, None], [4, -1], (4, 2, 3)),
    ],
)
def test_reshape_finds_the_size_that_is_left(shape, known, fed, made):
    x, v = tf.placeholder(tf.float32, [None, 2, 3]), tf.placeholder(tf.int32, [2])
    y = tf.reshape(x, shape(x, v))
    assert known is None or y.shape.as_list() == known
    feeds = {x: X} if fed is None else {x: X, v: fed}
    value, slope = run([y, tf.gradients(y * y, x)[0]], feeds)
    assert np.array_equal(value, X.reshape(made)) and np.array_equal(slope, 2 * X)


@pytest.mark.parametrize("fed", [[3, 9], [-1, -1], [0, -1], [-1, 7], [-2, -12]])
def test_reshape_refuses_what_does_not_fit_in_the_run(fed):
    x, v = tf.placeholder(tf.float32, [None, 2, 3]), tf.placeholder(tf.int32, [2])
    with pytest.raises(tf.errors.InvalidArgumentError):
        run(tf.reshape(x, v), {x: X, v: fed})
    with pytest.raises(ValueError, match="Only one input size may be -1, got 2"):
        tf.reshape(x, [v[0], -1, -1])
