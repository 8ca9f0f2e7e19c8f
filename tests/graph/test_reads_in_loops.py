# SPDX-License-Identifier: Apache-2.0
"""Loops that read an element in each turn: their gradients are work for n elements."""

import numpy as np
import pytest

import pkg.compat.v1 as tf
import pkg.graph as pg
from pkg.profiler import profile

WIDTH = 7


def mapped(x, n):
    """map_fn."""
    return tf.reduce_sum(tf.map_fn(lambda row: row * row, x))


def from_array(x, n):
    """TensorArray.read."""
    array = tf.TensorArray(tf.float32, n).unstack(x)
    return tf.while_loop(
        lambda i, total: i < n,
        lambda i, total: (i + 1, total + tf.reduce_sum(array.read(i) ** 2)),
        [0, 0.0],
    )[1]


def carried(x, n):
    """The same, where the array is a variable of the loop."""
    array = tf.TensorArray(tf.float32, n).unstack(x)
    return tf.while_loop(
        lambda i, total, a: i < n,
        lambda i, total, a: (i + 1, total + tf.reduce_sum(a.read(i) ** 2), a),
        [0, 0.0, array],
    )[1]


def indexed(x, n):
    """x[i] by the counter."""
    return pg.while_loop(
        lambda i, total: i < n,
        lambda i, total: (i + 1, total + (x[i] ** 2).sum()),
        (0, pg.constant(0.0)),
    )[1]


def scanned(x, n):
    """scan, whose values go from turn to turn."""
    return tf.reduce_sum(tf.scan(lambda a, row: a * 0.0 + row * row, x))


def whole_calls(build, n):
    """How many calls of a gradient's run take or fill a whole tensor."""
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [n, WIDTH])
        (slope,) = tf.gradients(build(x, n), [x])
        rows = np.random.default_rng(n).normal(size=(n, WIDTH)).astype("float32")
        with profile(["ops"], shapes=True) as made:
            got = session.run(slope, {x: rows})
    wanted = 2 * rows
    if build is scanned:  # begins with the first row itself
        wanted[0] = 1
    np.testing.assert_allclose(got, wanted, rtol=1e-6)
    whole = (f"({n}, {WIDTH})", f"({n * WIDTH},)")
    return sum(
        event.name not in READS and any(text in event.shapes for text in whole)
        for event in made.events
    )


#: What takes a whole tensor and touches a part of it only.
READS = {
    "_index", "index_select", "index", "select", "slice", "view", "reshape",
    "_index_put_", "_slices_put_",
}  # fmt: skip


@pytest.mark.parametrize("build", [mapped, from_array, carried, indexed, scanned])
def test_calls_on_whole_tensors_do_not_grow_with_the_turns(build):
    """So the elements that are touched grow with n, and not with n * n."""
    few, many = whole_calls(build, 11), whole_calls(build, 44)
    assert few == many
