# SPDX-License-Identifier: Apache-2.0
"""Programs as TensorFlow 1's tutorials have them, with ``pkg.compat.v1``."""

import numpy as np
import pytest

import pkg.compat.v1 as tf


@pytest.fixture(autouse=True)
def fresh_graph():
    """A default graph for each test."""
    with tf.Graph().as_default():
        yield


def test_linear_regression():
    """Finds the line that made the points."""
    rng = np.random.default_rng(0)
    x_data = rng.random(100).astype(np.float32)
    y_data = x_data * 0.1 + 0.3
    x = tf.placeholder(tf.float32, [None], name="x")
    y_ = tf.placeholder(tf.float32, [None], name="y")
    w = tf.Variable(tf.random_uniform([1], -1.0, 1.0), name="w")
    b = tf.Variable(tf.zeros([1]), name="b")
    y = w * x + b
    loss = tf.reduce_mean(tf.square(y - y_))
    step = tf.train.GradientDescentOptimizer(0.5).minimize(loss)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for _ in range(200):
            sess.run(step, feed_dict={x: x_data, y_: y_data})
        found = sess.run([w, b])
    assert isinstance(found[0], np.ndarray) and found[0].dtype == np.float32
    np.testing.assert_allclose(found, [[0.1], [0.3]], atol=1e-3)


@pytest.mark.parametrize(
    "optimizer",
    [
        lambda: tf.train.GradientDescentOptimizer(0.5),
        lambda: tf.train.MomentumOptimizer(0.1, 0.9),
        lambda: tf.train.MomentumOptimizer(0.1, 0.9, use_nesterov=True),
        lambda: tf.train.AdamOptimizer(0.01),
    ],
    ids=["descent", "momentum", "nesterov", "adam"],
)
def test_a_network_learns_which_of_ten_patterns_it_sees(optimizer):
    """Two layers, softmax and cross entropy, in batches of other sizes at the end."""
    rng = np.random.default_rng(1)
    patterns = rng.standard_normal((10, 64)).astype(np.float32)
    labels = rng.integers(0, 10, 500)
    images = patterns[labels] + 0.3 * rng.standard_normal((500, 64)).astype(np.float32)
    x = tf.placeholder(tf.float32, [None, 64])
    y_ = tf.placeholder(tf.int64, [None])
    with tf.name_scope("hidden"):
        w1 = tf.Variable(tf.truncated_normal([64, 32], stddev=0.1, seed=1), name="w")
        b1 = tf.Variable(tf.constant(0.1, shape=[32]), name="b")
        hidden = tf.nn.relu(tf.matmul(x, w1) + b1)
    w2 = tf.Variable(tf.truncated_normal([32, 10], stddev=0.1))
    b2 = tf.Variable(tf.zeros([10]))
    logits = tf.matmul(hidden, w2) + b2
    losses = tf.nn.softmax_cross_entropy_with_logits(
        labels=tf.one_hot(y_, 10), logits=logits
    )
    loss = tf.reduce_mean(losses)
    step_count = tf.Variable(0, trainable=False, name="global_step")
    step = optimizer().minimize(loss, global_step=step_count)
    right = tf.equal(tf.argmax(logits, 1), y_)
    accuracy = tf.reduce_mean(tf.cast(right, tf.float32))
    assert w1.name == "hidden/w:0" and hidden.get_shape().as_list() == [None, 32]
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for i in range(80):
            rows = slice(i % 5 * 96, i % 5 * 96 + 96)
            sess.run(step, {x: images[rows], y_: labels[rows]})
        assert sess.run(accuracy, {x: images, y_: labels}) > 0.95
        assert sess.run(step_count) == 80
        assert accuracy.eval({x: images[:7], y_: labels[:7]}).dtype == np.float32


def test_a_counter_with_control_dependencies():
    """As the introduction to variables has it."""
    state = tf.Variable(0, name="counter")
    update = tf.assign(state, tf.add(state, tf.constant(1)))
    with tf.control_dependencies([update]):
        seen = tf.identity(state)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        assert sess.run(state) == 0
        for i in range(3):
            assert sess.run(seen) == i + 1
        assert sess.run(state).dtype == np.int32


def test_the_adam_step_is_the_papers():
    """Three steps of one weight against the formula."""
    w = tf.Variable(1.0)
    step = tf.train.AdamOptimizer(0.1).minimize(w * w * 3.0)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        value, m, v = 1.0, 0.0, 0.0
        for t in range(1, 4):
            sess.run(step)
            grad = 6 * value
            m, v = 0.9 * m + 0.1 * grad, 0.999 * v + 0.001 * grad * grad
            rate = 0.1 * np.sqrt(1 - 0.999**t) / (1 - 0.9**t)
            value -= rate * m / (np.sqrt(v) + 1e-8)
            np.testing.assert_allclose(sess.run(w), value, rtol=1e-5)


def test_truncated_normal_stays_within_two_deviations():
    """With the deviation of what is left, 0.88."""
    x = tf.truncated_normal([20000], mean=1.0, stddev=0.5)
    with tf.Session() as sess:
        found = sess.run(x)
    assert np.abs(found - 1).max() <= 1.0001
    assert abs(found.std() / 0.5 - 0.8796) < 0.02 and abs(found.mean() - 1) < 0.02
