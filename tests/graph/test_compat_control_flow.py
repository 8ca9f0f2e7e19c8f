# SPDX-License-Identifier: Apache-2.0
"""TensorFlow 1's loops, choices and Python functions."""

from collections import namedtuple

import numpy as np
import pytest

import pkg.compat.v1 as tf
from default_session import default_session, run

fresh = default_session(tf)


def test_the_loop_of_the_tutorials():
    """Python's numbers are int32; the operators of both graphs are recorded."""
    i = tf.while_loop(lambda i: tf.less(i, 10), lambda i: (tf.add(i, 1),), [0])
    assert run(i) == 10 and i.dtype == tf.int32
    kept = tf.while_loop(
        lambda i: i < 5, lambda i: [i + 1], [0], return_same_structure=True
    )
    assert run(kept) == [5]
    limited = tf.while_loop(
        lambda i: i >= 0, lambda i: i + 1, [0], maximum_iterations=4, back_prop=False
    )
    assert run(limited) == 4
    with pytest.raises(TypeError, match="parallel_iterations"):
        tf.while_loop(lambda i: i < 3, lambda i: i, [0], parallel_iterations=0)


def test_newtons_method_and_its_gradient():
    """Square roots, through functions of tf with operands from both graphs."""
    a = tf.placeholder(tf.float32, [None])

    def better(i, x):
        return i + 1, tf.multiply(0.5, tf.add(x, tf.divide(a, x)))

    _, root = tf.while_loop(lambda i, x: i < 20, better, (0, tf.ones_like(a)))
    values = np.array([1.0, 2.0, 9.0], np.float32)
    np.testing.assert_allclose(run(root, {a: values}), np.sqrt(values), rtol=1e-6)
    (slope,) = tf.gradients(root, [a])
    np.testing.assert_allclose(
        run(slope, {a: values}), 0.5 / np.sqrt(values), rtol=1e-5
    )


def test_rows_of_a_feed_one_after_the_other():
    x = tf.placeholder(tf.float32, [None, 2])
    _, total = tf.while_loop(
        lambda i, s: i < tf.shape(x)[0],
        lambda i, s: (i + 1, s + x[i]),
        (0, tf.zeros([2])),
    )
    rows = np.arange(8, dtype=np.float32).reshape(4, 2)
    np.testing.assert_array_equal(run(total, {x: rows}), rows.sum(0))


@pytest.mark.parametrize("truth", [True, False])
def test_choices(truth):
    p, x = tf.placeholder(tf.bool, []), tf.constant(2.0)
    y = tf.cond(p, lambda: tf.square(x), lambda: -x)
    assert run(y, {p: truth}) == (4.0 if truth else -2.0)
    old = tf.cond(p, fn1=lambda: [1], fn2=lambda: [2])
    assert run(old, {p: truth}) == (1 if truth else 2)
    strict = tf.cond(p, lambda: [1], lambda: [2], strict=True)
    assert run(strict, {p: truth}) == [1 if truth else 2]


def test_both_sides_of_a_choice_give_the_same_sequences():
    """A list is no tuple, at any depth; named tuples are what they have."""
    p = tf.placeholder(tf.bool, [])
    for one, other, given in [
        ([1], (2,), {"strict": True}),
        ([1, 2], (3, 4), {}),
        ({"a": [1, 2]}, {"a": (3, 4)}, {}),
        ([1, [2, 3]], [4, (5, 6)], {}),
    ]:
        with pytest.raises(TypeError, match="have the same sequence type. .*'list'"):
            tf.cond(p, lambda one=one: one, lambda other=other: other, **given)
    first, second = (namedtuple("state", "c h") for _ in range(2))
    made = tf.cond(p, lambda: first(1, [2, 3]), lambda: second(4, [5, 6]))
    assert run(made, {p: False}) == (4, [5, 6]) and type(made) is first
    with pytest.raises(TypeError, match="must not be a Python bool"):
        tf.cond(True, lambda: 1, lambda: 2)
    with pytest.raises(TypeError, match="false_fn must be callable"):
        tf.cond(p, lambda: 1)


def test_cases():
    x = tf.placeholder(tf.int32, [])
    pairs = [(x < 1, lambda: tf.constant(1)), (x < 3, lambda: tf.constant(3))]
    y = tf.case(pairs, default=lambda: tf.constant(9))
    assert [run(y, {x: value}) for value in (0, 2, 5)] == [1, 3, 9]
    complete = tf.case(pairs)
    assert run(complete, {x: 2}) == 3
    with pytest.raises(tf.errors.InvalidArgumentError, match="None of conditions"):
        run(complete, {x: 5})
    alone = tf.case(dict(pairs), default=lambda: tf.constant(9), exclusive=True)
    assert run(alone, {x: 2}) == 3
    with pytest.raises(tf.errors.InvalidArgumentError, match="more than 1 conditions"):
        run(alone, {x: 0})
    by_number = tf.switch_case(x, [lambda: tf.constant(10), lambda: tf.constant(20)])
    assert [run(by_number, {x: value}) for value in (0, 1, 7)] == [10, 20, 20]
    named = tf.switch_case(x, {4: lambda: x * 2}, default=lambda: x)
    assert [run(named, {x: value}) for value in (4, 5)] == [8, 5]
    for wrong in (3, [3], [(True, lambda: 1)], [(x < 1, 3)]):
        with pytest.raises(TypeError):
            tf.case(wrong)
    with pytest.raises(ValueError, match="a pair or a default"):
        tf.case([])


def test_python_functions():
    x = tf.constant([1.0, 2.0])
    y = tf.py_func(np.hypot, [x, 2.0], tf.float32)
    np.testing.assert_allclose(run(y), np.hypot([1, 2], 2), rtol=1e-6)
    z = tf.numpy_function(lambda a: (a, a.sum()), [x], [tf.float32, tf.float32])
    assert run(z)[1] == 3.0 and y.op.name == "PyFunc"
    with pytest.raises(ValueError, match="xpected func to be callable"):
        tf.py_func(3, [], tf.float32)
