# SPDX-License-Identifier: Apache-2.0
"""Gradients that are asked for in a part of a loop or choice: right, or refused.

What leads from y to x outside of the part cannot be in its gradient, so a way that goes
there is an error, and never a gradient of the other ways alone.  Of ways through
gradients of one's own: framework/test_gradients_in_runs.py.
"""

import pytest

import pkg.compat.v1 as tf

X = 3.0  # the value of x, with respect to which all the gradients are


def once(begin, slope):
    """The gradient taken in the first turn of a loop."""
    body = lambda i, v: (i + 1, slope(v))  # noqa: E731
    return tf.while_loop(lambda i, v: i < 1, body, [0, begin])[1]


def chosen(slope):
    """The gradient taken in a choice."""
    return tf.cond(tf.constant(True), slope, lambda: tf.constant(-1.0))


def slope_at(x, stop=()):
    """A function of y to its gradient."""
    return lambda y: tf.gradients(y, [x], stop_gradients=list(stop))[0]


def outside(x, made, y):
    """The gradient taken in a choice, of y(what was made outside of it)."""
    return chosen(lambda: slope_at(x)(y(made)))


def of_turn(x, begin):
    """The gradient taken in a choice, of what the turn of the loop computed."""
    return once(begin, lambda v: outside(x, v * 2, lambda w: w * x))


def nested(x, begin, inner, y):
    """The gradient taken in a loop within a loop, of y(its variable, the outer's)."""
    return once(begin, lambda v: once(inner(v), lambda u: slope_at(x)(y(u, v))))


def chosen_in_loop(x, begin, y, stop=lambda v: ()):
    """The gradient taken in a choice within a loop, of y(the variable)."""
    return once(begin, lambda v: chosen(lambda: slope_at(x, stop(v))(y(v))))


RIGHT = {
    "choice, in a loop": (
        lambda x: chosen_in_loop(x, tf.constant(5.0), lambda v: v * x * x),
        2 * 5 * X,
    ),
    "choice, the variable stopped": (
        lambda x: chosen_in_loop(x, 2 * x, lambda v: v * x, lambda v: [v]),
        2 * X,
    ),
    "choice, of what the turn computed": (
        lambda x: of_turn(x, tf.constant(5.0)),
        2 * 5,
    ),
    "loop in loop, of both variables": (
        lambda x: nested(x, tf.constant(5.0), lambda v: v * 2, lambda u, v: u * v * x),
        5 * 2 * 5,
    ),
    "loop in loop, neither in y": (
        lambda x: nested(x, 2 * x, lambda v: v * x, lambda u, v: x * x),
        2 * X,
    ),
    "choice, by the name that it has in the part": (
        lambda x: chosen(
            lambda: tf.gradients(tf.multiply(x, 2.0, name="w") ** 2.0, ["w:0"])[0]
        ),
        4 * X,
    ),
}  # fmt: skip

BEGIN = (ValueError, "with respect to op 'x'.*initial value of a loop variable")
OUTSIDE = (NotImplementedError, "that lie within the loop or choice")

REFUSED = {
    "choice, variable begins with x": (
        lambda x: chosen_in_loop(x, 2 * x, lambda v: v * v * x),
        BEGIN,
    ),
    "choice, made of such a variable": (
        lambda x: of_turn(x, 2 * x),
        BEGIN,
    ),
    "loop in loop, outer variable": (
        lambda x: nested(x, 2 * x, lambda v: tf.constant(1.0), lambda u, v: u * v * x),
        BEGIN,
    ),
    "loop in loop, inner begins with outer": (
        lambda x: nested(x, 2 * x, lambda v: v * 2, lambda u, v: u * x),
        BEGIN,
    ),
    "loop in loop, inner begins with x": (
        lambda x: nested(x, tf.constant(5.0), lambda v: v * x, lambda u, v: u * x),
        BEGIN,
    ),
    "loop in loop in loop": (
        lambda x: once(2 * x, lambda v: nested(
            x, tf.constant(1.0), lambda w: v, lambda u, w: u * x)),
        BEGIN,
    ),
    "loop in choice in loop": (
        lambda x: once(2 * x, lambda v: chosen(
            lambda: once(v, lambda u: slope_at(x)(u * x)))),
        BEGIN,
    ),
    "by the name that it has outside": (
        lambda x: once(2 * x, lambda v: tf.gradients(v * x, ["x:0"])[0]),
        (ValueError, "with respect to op 'x:0'.*initial value of a loop variable"),
    ),
    "choice, computed outside": (
        lambda x: outside(x, 2 * x, lambda o: o * x),
        OUTSIDE,
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", RIGHT)
def test_gradients_of_what_the_part_computes_are_right(case):
    build, wanted = RIGHT[case]
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, (), name="x")
        assert session.run(build(x), {x: X}) == wanted


@pytest.mark.parametrize("case", REFUSED)
def test_ways_outside_of_the_part_are_refused(case):
    build, (error, text) = REFUSED[case]
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, (), name="x")
        with pytest.raises(error, match=text):
            build(x)
        assert session.run(x * 2, {x: X}) == 2 * X  # the graph is usable
