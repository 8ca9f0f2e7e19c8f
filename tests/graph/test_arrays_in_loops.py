# SPDX-License-Identifier: Apache-2.0
"""TensorArrays that loops write: collected where that is all, and each place once."""

import numpy as np
import pytest

import pkg
import pkg.compat.v1 as tf
import pkg.graph as pg
from default_session import default_session, run
from pkg.graph.control_flow import Collecting

fresh = default_session(tf)


def types_of(build, n=4):
    """The types of operations in the body of a loop over n turns, and what it gives."""
    bodies = []

    def turn(i, array):
        bodies.append(tf.get_default_graph())
        return i + 1, build(i, array)

    array = tf.TensorArray(tf.float32, n, element_shape=[2])
    _, array = tf.while_loop(lambda i, _: i < n, turn, (0, array))
    return {op.type for op in bodies[0].get_operations()}, array


def test_a_body_that_only_writes_copies_no_array():
    """Nothing in it is as long as the array; one that reads has the array in it."""
    row = tf.constant([1.0, 2.0])
    only, array = types_of(lambda i, a: a.write(i, row * tf.cast(i, tf.float32)))
    assert not only & {"IndexCopy", "MarkWritten"}
    assert run(array.stack()).tolist() == [[i, 2 * i] for i in range(4)]
    both, array = types_of(
        lambda i, a: a.write(
            i, row + tf.cond(i > 0, lambda: a.read(tf.maximum(i - 1, 0)), lambda: row)
        )
    )
    assert {"IndexCopy", "MarkWritten"} <= both
    assert run(array.stack()).tolist() == [[2 + i, 4 + 2 * i] for i in range(4)]


@pytest.mark.parametrize("limit", [None, 3])
def test_places_in_any_order(limit):
    """From the end; a limit of turns leaves zeros; what was there before stays."""
    x = tf.placeholder(tf.float32, [])
    array = tf.TensorArray(tf.float32, 6, element_shape=[]).write(0, 9.0)
    _, array = tf.while_loop(
        lambda i, a: i < 5,
        lambda i, a: (i + 1, a.write(5 - i, x * tf.cast(i, tf.float32))),
        (0, array),
        maximum_iterations=limit,
    )
    want = [9, 8, 6, 4, 2, 0] if limit is None else [9, 0, 0, 4, 2, 0]
    got, slope = run([array.stack(), tf.gradients(array.stack(), x)[0]], {x: 2.0})
    assert got.tolist() == want and slope == sum(want[1:]) / 2


def test_no_turn_writes_nothing():
    """The array is as it was: zeros of the shape that a turn would have given."""
    n = tf.placeholder(tf.int32, [])
    _, array = tf.while_loop(
        lambda i, _: i < n,
        lambda i, a: (i + 1, a.write(i, [1.0, 2.0])),
        (0, tf.TensorArray(tf.float32, 3)),
    )
    assert run(array.stack(), {n: 0}).tolist() == [[0, 0]] * 3
    assert run(array.stack(), {n: 2}).tolist() == [[1, 2], [1, 2], [0, 0]]


def test_arrays_that_grow_in_loops():
    """By the places that turns write to."""
    n = tf.placeholder(tf.int32, [])
    _, array = tf.while_loop(
        lambda i, _: i < n,
        lambda i, a: (i + 1, a.write(i * 2, tf.cast(i, tf.float32))),
        (0, tf.TensorArray(tf.float32, 0, dynamic_size=True)),
    )
    assert run([array.stack(), array.size()], {n: 3})[0].tolist() == [0, 0, 1, 0, 2]
    assert run(array.size(), {n: 4}) == 7


def test_a_condition_that_reads_the_array_sees_it():
    """As each turn has left it."""
    array = tf.TensorArray(tf.float32, 8, element_shape=[])
    turns, array = tf.while_loop(
        lambda i, a: tf.reduce_sum(a.stack()) < 5.0,
        lambda i, a: (i + 1, a.write(i, 2.0)),
        (0, array),
    )
    assert run([turns, array.stack()])[0] == 3


def test_loops_in_loops():
    """The inner one collects, the outer one has what it gives."""
    def row(i, array):
        return tf.while_loop(
            lambda j, _: j < 3,
            lambda j, a: (j + 1, a.write(i * 3 + j, tf.cast(i * 10 + j, tf.float32))),
            (0, array),
        )[1]  # fmt: skip

    _, array = tf.while_loop(
        lambda i, _: i < 2,
        lambda i, a: (i + 1, row(i, a)),
        (0, tf.TensorArray(tf.float32, 6, element_shape=[])),
    )
    assert run(array.stack()).tolist() == [0, 1, 2, 10, 11, 12]


ONCE = "Could not write to TensorArray index 1 because it has already been written to"


@pytest.mark.parametrize("build", [
    lambda a: a.write(1, 2.0).write(1, 3.0),
    lambda a: a.scatter([0, 1, 1], [1.0, 2.0, 3.0]),
    lambda a: a.unstack([1.0, 2.0, 3.0]).write(1, 5.0),
    lambda a: tf.while_loop(
        lambda i, _: i < 2, lambda i, a: (i + 1, a.write(1, 5.0)), (0, a)
    )[1],
    lambda a: tf.while_loop(
        lambda i, _: i < 2, lambda i, a: (i + 1, a.write(1, a.read(1))), (0, a)
    )[1],
    lambda a: tf.cond(tf.constant(True), lambda: a.write(1, 1.0), lambda: a)
    .write(1, 2.0),
])  # fmt: skip
def test_a_place_is_written_once(build):
    """Twice is refused by the run, in TensorFlow's words, wherever it is written."""
    array = build(tf.TensorArray(tf.float32, 3, element_shape=[]))
    with pytest.raises(tf.errors.InvalidArgumentError, match=ONCE):
        run(array.stack())


def test_marks_are_checked():
    """The op that keeps them refuses other shapes, places that are none, and twice."""
    mark = pkg.ops._mark_written
    marks = pkg.tensor([False, True, False])
    assert mark(marks, pkg.tensor([2, 0])).tolist() == [True, True, True]
    assert marks.tolist() == [False, True, False]
    for places, error, said in (
        ([1], ValueError, "index 1 because"),
        ([3], IndexError, "index 3 but array is not resizeable and size is: 3"),
        ([-1], IndexError, "index -1"),
        ([[0]], ValueError, "vector of places"),
    ):
        with pytest.raises(error, match=said):
            mark(marks, pkg.tensor(places))


def test_a_loop_collects_tensors_of_all_turns():
    """Along a new first dimension, also of a loop with a limit; gradients flow."""
    with pg.Graph().as_default(), pg.Session() as session:
        x, n = pg.placeholder(pkg.float32, [2]), pg.placeholder(pkg.int32, [])

        def loop(most=None):
            return pg.while_loop(
                lambda i, y: i < n,
                lambda i, y: Collecting((i + 1, y * x), [y, i]),
                (pg.constant(0, pkg.int32), pkg.ones(2)),
                maximum_iterations=most,
            )

        (_, last), (powers, turns) = loop()
        assert powers.shape.as_list() == [None, 2] and turns.shape.as_list() == [None]
        (slope,) = pg.gradients(powers.sum() + last.sum(), x)
        (_, _), (some, _) = loop(2)
        got = session.run([powers, turns, last, slope, some], {x: [2.0, 3.0], n: 4})
        np.testing.assert_array_equal(got[0].numpy(), [[2**i, 3**i] for i in range(4)])
        assert got[1].tolist() == [0, 1, 2, 3] and got[2].tolist() == [16, 81]
        assert got[3].tolist() == [sum(i * b ** (i - 1) for i in range(1, 5))
                                   for b in (2, 3)]  # fmt: skip
        assert got[4].tolist() == [[1, 1], [2, 3]]
        assert session.run(powers, {x: [2.0, 3.0], n: 0}).shape == (0, 2)
