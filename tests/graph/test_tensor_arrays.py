# SPDX-License-Identifier: Apache-2.0
"""TensorArray, and what is made of it: map_fn, scan, foldl and foldr."""

import numpy as np
import pytest

import pkg.compat.v1 as tf
from default_session import default_session, run

fresh = default_session(tf)


X = np.arange(12, dtype="float32").reshape(4, 3) - 3


def test_what_was_written_is_read():
    """By place, as a whole, by several places, and joined; the rest is zeros."""
    array = tf.TensorArray(tf.float32, size=3)
    array = array.write(2, [1.0, 2.0]).write(0, tf.constant([3.0, 4.0]))
    got = run([array.read(2), array.stack(), array.gather([2, 0]), array.size()])
    assert got[0].tolist() == [1, 2] and got[3] == 3
    assert got[1].tolist() == [[3, 4], [0, 0], [1, 2]]
    assert got[2].tolist() == [[1, 2], [3, 4]]
    assert run(array.concat()).tolist() == [3, 4, 0, 0, 1, 2]
    assert array.stack().shape.as_list() == [3, 2]
    assert array.read(1).shape.as_list() == [2] and array.dtype == tf.float32
    assert "size=3" in repr(array) and array.identity().read(0).shape.as_list() == [2]
    assert run(array.close()) is None


def test_parts_of_a_tensor_are_tensors_of_an_array():
    """Along the first dimension, by place, and parts of one length."""
    array = tf.TensorArray(tf.float32, 4).unstack(X)
    assert run(array.read(1)).tolist() == X[1].tolist()
    array = tf.TensorArray(tf.float32, 4, element_shape=[3]).scatter([3, 1], X[:2])
    want = np.zeros((4, 3), "float32")
    want[[3, 1]] = X[:2]
    assert run(array.stack()).tolist() == want.tolist()
    array = tf.TensorArray(tf.float32, 2).split(X, [2, 2])
    assert run(array.read(1)).tolist() == X[2:].tolist()
    with pytest.raises(NotImplementedError, match="one length"):
        tf.TensorArray(tf.float32, 2).split(X, [1, 3])
    with pytest.raises(ValueError, match="first dimension of the value: 3 and 4"):
        tf.TensorArray(tf.float32, 3).unstack(X)


def test_an_array_grows_where_it_may():
    """Behind its end only with dynamic_size; its size is known by a run."""
    array = tf.TensorArray(tf.int32, 0, dynamic_size=True).write(1, 5).write(3, 7)
    assert run([array.stack(), array.size()])[0].tolist() == [0, 5, 0, 7]
    assert run(array.size()) == 4
    fixed = tf.TensorArray(tf.int32, 2).write(0, 1)
    with pytest.raises(tf.errors.InvalidArgumentError, match="index 2 but .* is: 2"):
        run(fixed.write(2, 5).stack())
    with pytest.raises(tf.errors.InvalidArgumentError, match="out of bounds"):
        run(fixed.read(tf.constant(4)))


def test_what_does_not_fit_an_array_is_refused():
    """Other dtypes and shapes, and reading of what nothing is known of."""
    array = tf.TensorArray(tf.float32, 2)
    with pytest.raises(ValueError, match="shape is known"):
        array.read(0)
    with pytest.raises(ValueError, match="dtype is float32.*int32"):
        array.write(0, tf.constant(1))
    with pytest.raises(ValueError, match=r"saw \(3,\) but expected \(2,\)"):
        array.write(0, [1.0, 2.0]).write(1, [1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match="Size must be provided"):
        tf.TensorArray(tf.float32)
    with pytest.raises(ValueError, match="one unknown size at most"):
        tf.TensorArray(tf.float32, 2, element_shape=[None, None]).read(0)
    with pytest.raises(ValueError, match="with dimensions"):
        array.write(0, 1.0).concat()


def test_a_loop_fills_an_array():
    """The shape of its elements is that of what is written; gradients flow through."""
    x = tf.placeholder(tf.float32, [])
    array = tf.TensorArray(tf.float32, size=5)
    _, _, array = tf.while_loop(
        lambda i, *_: i < 5,
        lambda i, v, a: (i + 1, v * x, a.write(i, [v, -v])),
        (0, tf.constant(1.0), array),
    )
    powers = array.stack()
    assert powers.shape.as_list() == [5, 2]
    got, slope = run([powers, tf.gradients(powers[:, 0], x)[0]], {x: 2.0})
    assert got.tolist() == [[2**i, -(2**i)] for i in range(5)]
    assert slope == sum(i * 2 ** (i - 1) for i in range(1, 5))


def test_a_choice_gives_an_array():
    """Of the two that were written."""
    p = tf.placeholder(tf.bool, [])
    array = tf.TensorArray(tf.float32, 2, element_shape=[])
    array = tf.cond(p, lambda: array.write(0, 3.0), lambda: array.write(1, 4.0))
    assert run(array.stack(), {p: True}).tolist() == [3, 0]
    assert run(array.stack(), {p: False}).tolist() == [0, 4]


@pytest.mark.parametrize("rows", [4, None])
def test_map_fn(rows):
    """Of one tensor, of a structure, to other dtypes; also of a length that a run
    has."""
    x = tf.placeholder(tf.float32, [rows, 3])
    plain = tf.map_fn(lambda row: tf.reduce_sum(row) * 2.0, x)
    pair = tf.map_fn(
        lambda two: (two[0] + two[1], tf.argmax(two[0])), (x, x * 10.0),
        dtype=(tf.float32, tf.int64),
    )  # fmt: skip
    got = run([plain, pair, tf.gradients(plain, x)[0]], {x: X})
    np.testing.assert_allclose(got[0], X.sum(1) * 2)
    np.testing.assert_allclose(got[1][0], X * 11)
    assert (
        got[1][1].tolist() == [2, 2, 2, 2]
        and got[2].tolist() == np.full((4, 3), 2.0).tolist()
    )
    assert pair[0].shape.as_list() == [rows, 3]
    assert run(tf.map_fn(lambda v: v + 1.0, tf.zeros([0, 2]))).shape == (0, 2)
    stopped = tf.map_fn(lambda row: row * 3.0, x, back_prop=False)
    assert tf.gradients(stopped, x) == [None]


def test_folds_and_scans():
    """From both ends, with and without something to begin with."""
    x = tf.constant([1.0, 2.0, 3.0, 4.0])
    less = lambda a, b: b - a  # noqa: E731
    got = run([
        tf.foldl(less, x), tf.foldr(less, x), tf.foldl(less, x, 10.0),
        tf.foldr(less, x, initializer=10.0), tf.scan(less, x), tf.scan(less, x, 10.0),
        tf.scan(less, x, reverse=True),
    ])  # fmt: skip

    def fold(values, begin=None):
        values = list(values)
        kept = [values.pop(0)] if begin is None else []
        now = kept[0] if kept else begin
        for value in values:
            now = value - now
            kept.append(now)
        return kept

    numbers = [1.0, 2.0, 3.0, 4.0]
    assert got[0] == fold(numbers)[-1] and got[1] == fold(numbers[::-1])[-1]
    assert got[2] == fold(numbers, 10)[-1] and got[3] == fold(numbers[::-1], 10)[-1]
    assert got[4].tolist() == fold(numbers) and got[5].tolist() == fold(numbers, 10)
    assert got[6].tolist() == fold(numbers[::-1])[::-1]


def test_scans_of_structures():
    """The value is a structure, and so are the elements; gradients flow."""
    x = tf.placeholder(tf.float32, [None])
    sums, products = tf.scan(
        lambda a, b: (a[0] + b[0], a[1] * b[1]), (x, x), (0.0, 1.0)
    )
    slope = tf.gradients(products[-1], x)[0]
    got = run([sums, products, slope], {x: [2.0, 3.0, 5.0]})
    assert got[0].tolist() == [2, 5, 10] and got[1].tolist() == [2, 6, 30]
    assert got[2].tolist() == [15, 10, 6]


def test_what_does_not_fit_a_map_is_refused():
    """No function, numbers without a dimension, other lengths, other structures."""
    with pytest.raises(TypeError, match="fn must be callable"):
        tf.map_fn(3, X)
    with pytest.raises(ValueError, match="not a scalar"):
        tf.map_fn(lambda v: v, [1.0, 2.0])
    with pytest.raises(ValueError, match=r"one first dimension, got \[4, 2\]"):
        tf.map_fn(lambda two: two[0], (X, X[:2]), dtype=tf.float32)
    with pytest.raises(ValueError, match="same number of elements"):
        tf.map_fn(lambda row: (row, row), X)


def test_variables_of_a_mapped_function_are_made_once():
    """They belong to the graph, with the names of their scope."""
    with tf.variable_scope("net"):
        y = tf.map_fn(
            lambda row: tf.reduce_sum(row * tf.get_variable("w", [3])), tf.constant(X)
        )
    assert [v.name for v in tf.trainable_variables()] == ["net/w:0"]
    w = tf.trainable_variables()[0]
    w.load([1.0, 2.0, 3.0])
    got = run([y, tf.gradients(y, w)[0]])
    np.testing.assert_allclose(got[0], X @ [1, 2, 3])
    np.testing.assert_allclose(got[1], X.sum(0))
