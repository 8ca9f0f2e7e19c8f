# SPDX-License-Identifier: Apache-2.0
"""compat.v1: what sparse_to_dense and gather refuse, as TensorFlow does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pkg.compat.v1 as tf


def run(function: Callable[..., Any], *values: Any) -> Any:
    """What it gives for placeholders of unknown sizes, which hold the values."""
    with tf.Graph().as_default():
        arrays = [np.asarray(v) for v in values]
        arrays = [a.astype(np.int32) if a.dtype == np.int64 else a for a in arrays]
        fed = [tf.placeholder(tf.as_dtype(a.dtype), [None] * a.ndim) for a in arrays]
        made = function(*fed)
        with tf.Session() as session:
            return session.run(made, dict(zip(fed, arrays)))


def both_ways(function: Callable[..., Any], value: Any) -> list[Callable[[], Any]]:
    """The value as a constant, and as a placeholder of known rank."""
    wide = np.asarray(value)

    def placed() -> Any:
        with tf.Graph().as_default():
            fed = tf.placeholder(tf.int32, [None, *wide.shape[1:]][: wide.ndim])
            with tf.Session() as session:
                return session.run(function(fed), {fed: wide})

    return [lambda: run(lambda: function(value)), placed]


@pytest.mark.parametrize(
    "function,value,wrong",
    [
        (lambda i: tf.sparse_to_dense(i, [2, 3], 5), [[0, 1], [1, -1]],
         "index -1 .* dimension 1 with size 3"),
        (lambda i: tf.sparse_to_dense(i, [2, 3], 5), [[0, 1], [-2, 1]],
         "index -2 .* dimension 0 with size 2"),
        (lambda i: tf.sparse_to_dense(i, [2, 3], 5), [[0, 3]],
         "index 3 .* dimension 1 with size 3"),
        (lambda i: tf.sparse_to_dense(i, [4], 5), [0, -4], "index -4 .* with size 4"),
        (lambda i: tf.sparse_to_dense(i, [4], 5), -1, "index -1 .* with size 4"),
        (lambda i: tf.sparse_to_dense(i, [4], 5), [4], "index 4 .* with size 4"),
        (lambda i: tf.gather([1, 2, 3], i), [0, -1], "index -1 .* with size 3"),
        (lambda i: tf.gather([1, 2, 3], i), [[0], [3]], "index 3 .* with size 3"),
        (lambda i: tf.gather([[1, 2, 3]], i, axis=1), [-3],
         "index -3 .* dimension 1 with size 3"),
        (lambda i: tf.gather_nd([[1, 2, 3]], i), [[0, 1], [0, -1]],
         "index -1 .* dimension 1 with size 3"),
        (lambda i: tf.gather_nd([[1, 2, 3]], i), [[-1]],
         "index -1 .* dimension 0 with size 1"),
        (lambda i: tf.nn.embedding_lookup([[1.0], [2.0]], i), [-1],
         "index -1 .* with size 2"),
    ],
)  # fmt: skip
def test_places_out_of_bounds(
    function: Callable[..., Any], value: Any, wrong: str
) -> None:
    """None is counted from the end; the error names the place as it was given."""
    for call in both_ways(function, value):
        with pytest.raises(tf.errors.InvalidArgumentError, match=wrong):
            call()


@pytest.mark.parametrize(
    "arguments,kind,text",
    [
        (([0], [2, 2], [5]), ValueError, "which has 2, got rows of 1"),
        (([[0, 1, 1]], [2, 2], [5]), ValueError, "which has 2, got rows of 3"),
        (([[0, 1]], [2], [5]), ValueError, "which has 1, got rows of 2"),
        (([[[0, 1]]], [2, 2], [5]), ValueError, "at most 2 dimensions"),
        (([[0, 1]], [2, 2], [5, 6]), ValueError, r"the 1 rows .* got shape \[2\]"),
        (([0, 1], [2], [5]), ValueError, r"the 2 rows .* got shape \[1\]"),
        (([0, 1], [2], [[5, 6]]), ValueError, r"got shape \[1, 2\]"),
        ((0, [2], [5, 6]), ValueError, r"the 1 rows .* got shape \[2\]"),
        (([0.0, 1.0], [2], 5), TypeError, "int32 or int64, got .*float32"),
        (([True, False], [2], 5), TypeError, "int32 or int64, got .*bool"),
        (([0], [2], 5, 1.5), TypeError, "Expected int32, but got 1.5 of type 'float'"),
        (([0], [2], True, 1), TypeError, "Expected bool, but got 1 of type 'int'"),
        (([0], [2], 5, [1]), ValueError, "default_value to be a scalar"),
    ],
)
def test_arguments_that_do_not_fit(
    arguments: tuple[Any, ...], kind: type[Exception], text: str
) -> None:
    """They are refused where the graph is built."""
    with tf.Graph().as_default(), pytest.raises(kind, match=text):
        tf.sparse_to_dense(*arguments)


def test_a_default_of_another_dtype() -> None:
    """A tensor has to be of the dtype of the values; then it is the default."""
    with tf.Graph().as_default(), pytest.raises(TypeError, match="'default_value' of"):
        tf.sparse_to_dense([0], [2], [5], tf.constant(1.5))
    assert run(lambda d: tf.sparse_to_dense([0], [2], [5], d), 3).tolist() == [5, 3]


@pytest.mark.parametrize("places,values", [([0, 2], [1]), ([0], [1, 2])])
def test_values_that_only_a_run_knows(places: list[int], values: list[int]) -> None:
    """There is one for each row: a single one is not repeated."""
    calls: list[Callable[[], Any]] = [
        lambda: run(lambda i, v: tf.sparse_to_dense(i, [3], v), places, values),
        lambda: run(lambda i: tf.sparse_to_dense(i, [3], values), places),
        lambda: run(lambda v: tf.sparse_to_dense(places, [3], v), values),
    ]
    for call in calls:
        with pytest.raises(tf.errors.InvalidArgumentError, match="shape|size"):
            call()


def test_what_fits() -> None:
    """A scalar for all, one for each row, a single place, none at all."""
    dense = tf.sparse_to_dense
    assert run(lambda i: dense(i, [3], 7), [0, 2]).tolist() == [7, 0, 7]
    made = run(lambda i, v: dense(i, [3], v, 9), [2, 0], [1, 2])
    assert made.tolist() == [2, 9, 1]
    assert run(lambda i, v: dense(i, [2], v), [1], [4]).tolist() == [0, 4]
    made = run(lambda: dense([[0, 1], [1, 0]], [2, 2], 7.0, 0.5))
    assert made.tolist() == [[0.5, 7], [7, 0.5]]
    assert run(lambda: dense(np.int64(1), [3], 5, -1)).tolist() == [-1, 5, -1]
    none = np.zeros((0, 2), np.int64)
    made = run(lambda: dense(none, [1, 2], np.zeros(0, np.float32), 0.5))
    assert made.tolist() == [[0.5, 0.5]]


def test_gradients_of_values() -> None:
    """They are those of the places, whatever is known of the sizes."""

    def slopes(i: Any, v: Any) -> Any:
        return tf.gradients(tf.sparse_to_dense(i, [3], v) * [1.0, 2.0, 3.0], v)[0]

    values = np.array([1, 2], np.float32)
    assert run(slopes, [2, 0], values).tolist() == [3, 1]
    assert run(lambda v: slopes([2, 0], v), values).tolist() == [3, 1]
