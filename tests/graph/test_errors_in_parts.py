# SPDX-License-Identifier: Apache-2.0
"""What fails in a loop or choice says which operation it was, and its Python line."""

import inspect
import pickle

import numpy as np
import pytest

import pkg
import pkg.compat.v1 as tf
import pkg.graph as pg
from default_session import default_session, run

fresh = default_session(pg)


def line_of(function):
    """Where a function of one line stands, as errors say it."""
    return f"{__file__}:{inspect.getsourcelines(function)[1]}]"


def places(error):
    """What stands in brackets at the end of the text, the innermost first."""
    return [text.split(", ")[0] for text in str(error.value).split("operation ")[1:]]


def two():
    return [pg.placeholder(pkg.float64, [None], name) for name in "xy"]


FEEDS = {"x:0": [1.0, 2.0], "y:0": [1.0, 2.0, 3.0]}


def test_a_choice_in_a_loop_says_all_three():
    x, y = two()
    part = lambda: (x + y).sum()  # noqa: E731
    choice = lambda v: pg.cond(v > 0, part, lambda: v)  # noqa: E731
    one = pkg.tensor(1.0, dtype=pkg.float64)
    _, r = pg.while_loop(
        lambda i, v: i < 3, lambda i, v: (i + 1, choice(v)), (0, one)
    )  # fmt: skip
    with pytest.raises(
        pg.errors.InvalidArgumentError, match="size of tensor a"
    ) as error:
        run(r, FEEDS)
    assert places(error) == ["'add'", "'cond/If'", "'while/While'"]
    text = str(error.value)
    assert line_of(part) in text and line_of(choice) in text
    assert error.value.op is r.op


def test_where_turns_are_called_one_by_one():
    """As gradients are taken, and as a variable is assigned."""
    x, y = two()
    part = lambda: (x + y).sum()  # noqa: E731
    r = pg.cond(x.sum() > 0, part, lambda: x.sum())
    with pytest.raises(pg.errors.InvalidArgumentError) as error:
        run(pg.gradients(r, [x]), FEEDS)
    assert places(error) == ["'add'", "'cond/If'"] and line_of(part) in str(error.value)
    v = pg.Variable(np.float64(1), name="v")
    run(pg.global_variables_initializer())
    write = lambda: v.assign((x + y).sum()) * 1  # noqa: E731
    r = pg.cond(x.sum() > 0, write, lambda: x.sum())
    with pytest.raises(pg.errors.InvalidArgumentError) as error:
        run(r, FEEDS)
    assert places(error)[0] == "'add'" and line_of(write) in str(error.value)
    assert run(v).item() == 1


def test_a_variable_without_a_value():
    v = pg.Variable(np.zeros(3), name="v")
    part = lambda: v * 2  # noqa: E731
    r = pg.cond(pg.placeholder(pkg.bool, [], "c"), part, lambda: v * 1)
    with pytest.raises(pg.errors.FailedPreconditionError, match="value v ") as error:
        run(r, {"c:0": True})
    assert line_of(part) in str(error.value)


def test_runs_that_go_well_afterwards_say_nothing():
    x, y = two()
    r = pg.cond(x.sum() > 0, lambda: x + y, lambda: x)
    with pytest.raises(pg.errors.InvalidArgumentError):
        run(r, FEEDS)
    assert run(r, {"x:0": [1.0], "y:0": [2.0]}).tolist() == [3.0]
    with pytest.raises(pg.errors.InvalidArgumentError) as error:
        run(x + y, FEEDS)
    assert places(error) == ["'add'"]


def test_gradients_with_respect_to_what_a_loop_begins_with():
    """Are those of the first turn alone, so they are refused, as in TensorFlow."""
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, (), name="x")
        for slope in (
            lambda v: tf.gradients(v * 2, x)[0],
            lambda v: tf.gradients(v * x, x)[0],
        ):
            with pytest.raises(
                ValueError, match="with respect to op 'x'.*initial value of a loop"
            ):
                tf.while_loop(
                    lambda i, v: i < 3, lambda i, v, s=slope: (i + 1, s(v)), [0, x + 1]
                )
        _, at_variable = tf.while_loop(
            lambda i, v: i < 3,
            lambda i, v: (i + 1, v - 0.1 * tf.gradients(v * v * x, v)[0]),
            [0, x + 1],
        )
        _, at_invariant = tf.while_loop(
            lambda i, v: i < 3,
            lambda i, v: (i + 1, v + tf.gradients(x * x * 3, x)[0]),
            [0, x + 1],
        )
        found = session.run([at_variable, at_invariant], {x: 2.0})
        np.testing.assert_allclose(found, [3 * 0.6**3, 3 + 3 * 12], rtol=1e-6)


def test_an_unknown_shape_is_not_that_of_a_scalar():
    """Nor has it sizes: what asks for them does not go on with none."""
    shape = pg.placeholder(pkg.float64).shape
    assert shape.ndims is None and not shape and str(shape) == "<unknown>"
    assert isinstance(shape, pg.TensorShape) and repr(shape) == "TensorShape(None)"
    assert shape != () and shape != pg.TensorShape([]) and not shape == ()
    assert shape == pg.TensorShape(None) and len({shape, pg.TensorShape(None)}) == 1
    for ask in (
        *(tuple, len, list, lambda s: s[0], lambda s: (*s,), lambda s: 3 in s),
        *(lambda s: s + (3,), lambda s: (3,) + s),
    ):
        with pytest.raises(ValueError, match="known number of dimensions"):
            ask(shape)
    for make in (pkg.zeros, pkg.ones(1).reshape):
        with pytest.raises((TypeError, ValueError), match="expected an? (int|shape)"):
            make(shape)
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        assert pickle.loads(pickle.dumps(shape, protocol)) == shape
    assert shape == tf.TensorShape(None) and tf.TensorShape(None) == shape
    assert pg.TensorShape(shape) == shape


def test_losses_take_shapes_that_nobody_knows():
    x, y = pg.placeholder(pkg.float64), pg.placeholder(pkg.float64)
    loss = pkg.nn.functional.mse_loss(x, y)
    with pg.Session() as session:
        assert session.run(loss, {x: [1.0, 2.0], y: [3.0, 2.0]}) == 2.0


def test_gradients_in_loops_that_end_before_the_beginning():
    """Stopped at the variable, of integers, or where only the sizes lead to it."""
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.constant([3.0])

        def turns(begin, body):
            return tf.while_loop(lambda i, v: i < 2, body, [0, begin])[1]

        stopped = turns(
            x + 1, lambda i, v: (i + 1, tf.gradients(v * x, x, stop_gradients=[v])[0])
        )
        alike = turns(
            tf.zeros(tf.shape(x)), lambda i, v: (i + 1, v + tf.gradients(x * x, x)[0])
        )
        np.testing.assert_array_equal(session.run(stopped), [4.0])
        np.testing.assert_array_equal(session.run(alike), [12.0])
