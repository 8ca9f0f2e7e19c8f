# SPDX-License-Identifier: Apache-2.0
"""Gradients of one's own: functions that stand for what the engine would do."""

import pytest

import pkg
import pkg.compat.v1 as tf
import pkg.graph as pg
from default_session import default_session, run

fresh = default_session(tf)


def test_a_function_stands_for_the_engine():
    """Its outputs lead on, its inputs lead back, what is beside is added."""
    with pg.Graph().as_default(), pg.Session() as session:
        x = pg.placeholder(pkg.float32, [])
        a, b = x * 2, x + 1
        outs = pg.with_gradient(
            [a, b], [a * b, a - b], lambda g, h: (g * 100 + h, None)
        )
        y = outs[0] * 3 + x
        slope, of_b, none = pg.gradients(y, [x, b, pg.constant(1.0)])
        assert of_b is None and none is None
        # 3 * 100 through a, which is 2 x, 0 through the second output, 1 beside.
        assert session.run([outs, slope], {x: 5.0})[1].item() == 601
        assert session.run(outs, {x: 5.0})[0].item() == 60
        with pytest.raises(NotImplementedError, match="outside of loops"):
            pg.cond(x > 0, lambda: pg.with_gradient([x], [x * 2], abs), lambda: x)


def test_the_function_is_called_for_its_graph():
    """Another graph is the default one, or a part of a loop is built."""
    with pg.Graph().as_default() as graph:
        x = pg.placeholder(pkg.float32, [], "x")
        (y,) = pg.with_gradient("x:0", x * 2, lambda g: g * pg.constant(5.0))

        def turn(i, total):
            (slope,) = pg.gradients(y, x)
            return i + 1, total + slope

        _, total = pg.while_loop(lambda i, t: i < 2, turn, (0, pg.constant(0.0)))
    with pg.Graph().as_default() as other:
        (slope,) = pg.gradients(y, [x])
        assert slope.graph is graph and not other.get_operations()
    with pg.Session(graph=graph) as session:
        assert session.run(slope, {x: 1.0}).item() == 5
        assert session.run(total, {x: 1.0}).item() == 10


def test_wrong_parts_and_gradients_are_refused():
    """What is no function, symbol or gradient of the dtype; the part is named."""
    with pg.Graph().as_default() as graph:
        x = pg.placeholder(pkg.float32, [], "x")
        y = pg.record(pkg.mul, x, 2, name="y")
        with pytest.raises(TypeError, match="expected a function of .*, got int"):
            pg.with_gradient([x], [y], 3)
        with pytest.raises(TypeError, match="Can not convert a int"):
            pg.with_gradient(3, [y], abs)
        for ys, xs in ((3, [x]), ([3, y], [x]), (y, [4])):
            with pytest.raises(TypeError, match="Can not convert a int"):
                pg.gradients(ys, xs)
        assert pg.gradients("y:0", ["x:0"])[0].shape == ()
        with pytest.raises(KeyError, match="'nothing'"):
            pg.with_gradient(["nothing:0"], [y], abs)
        assert not graph._own
        wrong = [
            (lambda g: pkg.ones((), dtype=pkg.float64), "float64"),
            (lambda g: g.to(pkg.int32), "int32"),
            (lambda g: 1.0, "float"),
        ]
        for function, came in wrong:
            (cut,) = pg.with_gradient([x], [y], function)
            said = f"symbol of float32 .* {cut.name} gives .* x:0, got {came}"
            with pytest.raises(TypeError, match=said):
                pg.gradients(cut, x)


def test_one_behind_another():
    """And both behind a plain operation; the wrong number of gradients is refused."""
    x = tf.placeholder(tf.float32, [2])

    @tf.custom_gradient
    def double(v):
        return v * 2.0, lambda g: g * 10.0

    once = double(x)
    twice = double(once * once)
    slope = tf.gradients(twice, [x, once])
    got = run([twice, *slope], {x: [1.0, 3.0]})
    assert got[0].tolist() == [8, 72]
    assert got[1].tolist() == [400, 1200] and got[2].tolist() == [40, 120]

    @tf.custom_gradient
    def wrong(v):
        return v, lambda g: (g, g)

    with pytest.raises(ValueError, match="expected 1 gradients, .* got 2"):
        tf.gradients(wrong(x), x)
    with pytest.raises(TypeError, match="a result and a function"):
        tf.custom_gradient(lambda v: (v, v))(x)


def test_the_stable_logarithm_trains():
    """The example that custom gradients are for: no NaN for large numbers."""

    @tf.custom_gradient
    def log1pexp(v):
        e = tf.exp(v)
        return tf.log(1.0 + e), lambda g: g * (1.0 - 1.0 / (1.0 + e))

    w = tf.Variable(100.0)
    loss = log1pexp(w)
    step = tf.train.GradientDescentOptimizer(1.0).minimize(loss)
    run(w.initializer)
    assert run(tf.gradients(loss, w)[0]) == 1
    run(step)
    assert run(w) == 99


def test_operations_of_a_map_have_registered_gradients():
    """Inside of the context, by the type; the function sees the operation."""
    seen = []

    @tf.RegisterGradient("PassedThrough")
    def passed(op, grad):
        seen.append((op.type, op.name))
        return grad * 7.0

    tf.NoGradient("NothingAtAll")
    graph = tf.get_default_graph()
    x = tf.placeholder(tf.float32, [2])
    with graph.gradient_override_map({"Sign": "PassedThrough", "Exp": "NothingAtAll"}):
        sign, power = tf.sign(x, name="s"), tf.exp(x)
    slopes = [tf.gradients(y, x)[0] for y in (sign, power, tf.sign(x))]
    assert slopes[1] is None and seen == [("Sign", "s")]
    assert run(slopes[0], {x: [-2.0, 3.0]}).tolist() == [7, 7]
    assert run(slopes[2], {x: [-2.0, 3.0]}).tolist() == [0, 0]
    assert run(sign, {x: [-2.0, 3.0]}).tolist() == [-1, 1]


def test_wrong_registrations_are_refused():
    """Names that are taken, are none or have nothing."""
    tf.NotDifferentiable("TakenOnce")
    with pytest.raises(KeyError, match="TakenOnce"):
        tf.RegisterGradient("TakenOnce")(lambda op, grad: grad)
    for register in (tf.RegisterGradient, tf.NotDifferentiable):
        with pytest.raises(TypeError, match="must be a string"):
            register(3)
    graph = tf.get_default_graph()
    with pytest.raises(TypeError, match="mapping strings to strings"):
        with graph.gradient_override_map({"Sign": 3}):
            pass
    x = tf.constant(1.0)
    with graph.gradient_override_map({"Neg": "NobodyRegisteredThis"}):
        y = tf.negative(x)
    with pytest.raises(LookupError, match="NobodyRegisteredThis"):
        tf.gradients(y, x)


def test_a_part_takes_gradients_of_what_is_outside():
    """In a loop: of symbols that are made before it."""
    x = tf.placeholder(tf.float32, [])
    y = x * x
    total = tf.while_loop(
        lambda i, t: i < 3,
        lambda i, t: (i + 1, t + tf.gradients(y, x)[0]),
        (0, tf.constant(0.0)),
    )[1]
    assert run(total, {x: 5.0}) == 30
