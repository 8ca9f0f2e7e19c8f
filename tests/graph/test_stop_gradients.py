# SPDX-License-Identifier: Apache-2.0
"""Gradients that stop at some symbols, as if these were constants."""

import numpy as np
import pytest

import pkg
import pkg.compat.v1 as tf
import pkg.graph as pg
from default_session import default_session, run

fresh = default_session(tf)


def test_gradients_stop():
    """As if the symbols were constants: what came through them does not count."""
    x = tf.placeholder(tf.float32, [])
    y = x * 2.0
    z = x * y + y
    every = tf.gradients(z, [x, y])
    partial = tf.gradients(z, [x, y], stop_gradients=[x, y])
    assert run(every, {x: 3.0}) == [14, 4]  # 4 x + 2; x + 1
    assert run(partial, {x: 3.0}) == [6, 4]  # y; x + 1
    assert tf.gradients(tf.square(y), x, stop_gradients=y) == [None]
    assert run(tf.gradients(z, x, stop_gradients=[x]), {x: 3.0}) == [14]


def test_stops_are_like_stop_gradient():
    """In random chains, for every choice of what is constant."""
    rng = np.random.default_rng(5)
    first = rng.standard_normal(3)

    def chain(constant):
        made = [tf.constant(first)]
        local = np.random.default_rng(9)
        for n in range(1, 5):
            value = tf.sin(sum(made[k] * local.standard_normal() for k in range(n)))
            made.append(tf.stop_gradient(value) if n in constant else value)
        return made

    for constant in ({2}, {1, 3}, {2, 3}, {1, 2, 3}):
        cut, whole = chain(constant), chain(())
        want = tf.gradients(cut[4], cut[:4])
        got = tf.gradients(
            whole[4], whole[:4], stop_gradients=[whole[n] for n in constant]
        )
        assert [g is None for g in got] == [w is None for w in want]
        pairs = [(g, w) for g, w in zip(got, want) if w is not None]
        for g, w in run(pairs):
            np.testing.assert_allclose(g, w, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("huge", [1e38, np.inf, np.nan])
def test_what_came_through_a_stop_leaves_no_trace(huge):
    """However large it is; and what lies behind a stop is not run."""
    x = tf.placeholder(tf.float32, [2])
    y = x * huge
    z = y * huge + x * 3.0
    beside = tf.gradients(z, x, stop_gradients=[y])[0]
    assert run(beside, {x: [1, 2]}).tolist() == [3, 3]
    first, second = tf.gradients(z, [y, x], stop_gradients=[y, x])
    got = run([first, second], {x: [1, 2]})
    np.testing.assert_array_equal(got[0], np.full(2, huge, "float32"))
    assert got[1].tolist() == [3, 3]


def test_some_outputs_of_an_operation_stop():
    """And the others lead on."""
    with pg.Graph().as_default(), pg.Session() as session:
        x = pg.placeholder(pkg.float32, [3, 4])
        values, _ = pkg.max(x, 1)
        a, b = pkg.split(x, 2, 1)
        y = values.sum() * 5 + a.sum() * 2 + b.sum() * 3
        (slope,) = pg.gradients(y, x, stop_gradients=[a, values])
        got = session.run(slope, {x: np.arange(12.0, dtype="float32").reshape(3, 4)})
        assert got.tolist() == [[0, 0, 3, 3]] * 3
        assert pg.gradients(a.sum(), x, stop_gradients=[a]) == [None]


def test_symbols_of_the_same_value_are_places_of_their_own():
    """What gives back its argument as it is stops what comes through it alone."""
    with pg.Graph().as_default(), pg.Session() as session:
        x = pg.placeholder(pkg.float32, [])
        y = x.to(pkg.float32)
        assert y is not x
        z = x * 2 + y * 3
        whole = pg.gradients(z, [x, y])
        partial = pg.gradients(z, [x, y], stop_gradients=[y])
        got = session.run([whole, partial], {x: 1.0})
        assert [v.item() for v in got[0]] == [5, 3]
        assert [v.item() for v in got[1]] == [2, 3]


def test_second_derivatives_stop():
    """Of a gradient that stops, and of one that does not."""
    x = tf.placeholder(tf.float32, [])
    y = x * x
    z = y * y * x
    first = tf.gradients(z, x, stop_gradients=[y])[0]  # y^2
    whole = tf.gradients(first, x)[0]  # 4 x^3
    nothing = tf.gradients(first, x, stop_gradients=[y])[0]
    assert run([first, whole, nothing], {x: 2.0}) == [16, 32, 0]


def test_stops_and_gradients_of_ones_own():
    """At what goes into such a part, and at what comes out of it."""
    with pg.Graph().as_default(), pg.Session() as session:
        x = pg.placeholder(pkg.float32, [])
        a = x * 2
        (b,) = pg.with_gradient([a], [a * 3], lambda g: g * 10)
        z = b + x * 7
        at_input = pg.gradients(z, [x, a], stop_gradients=[a])
        at_output = pg.gradients(z, [x, b], stop_gradients=[b])
        none = pg.gradients(z, [a], stop_gradients=[b])
        got = session.run([at_input, at_output], {x: 1.0})
        assert [v.item() for v in got[0]] == [7, 10]
        assert [v.item() for v in got[1]] == [7, 1] and none == [None]


def test_stops_in_and_around_loops():
    """A stop outside of a loop holds for what the loop took; a part has its own."""
    x = tf.placeholder(tf.float32, [])
    y = x * 5.0
    loop = tf.while_loop(
        lambda i, v: i < 3, lambda i, v: (i + 1, v * y + x), (0, tf.constant(0.0))
    )[1]  # x (y^2 + y + 1)
    assert run(tf.gradients(loop, x, stop_gradients=[y])[0], {x: 2.0}) == 111
    assert tf.gradients(loop, x, stop_gradients=[loop]) == [None]

    def turn(i, total):
        inside = x * x
        slope = tf.gradients(inside * inside + x, x, stop_gradients=[inside])[0]
        return i + 1, total + slope

    total = tf.while_loop(lambda i, t: i < 3, turn, (0, tf.constant(0.0)))[1]
    assert run(total, {x: 2.0}) == 3


def test_a_way_outside_of_a_part_that_is_stopped_is_none():
    """Where the way begins that would lead on outside, and be missed."""
    x = tf.placeholder(tf.float32, [])
    y = x * 2.0

    def part():
        with pytest.raises(NotImplementedError, match="within the loop or choice"):
            tf.gradients(x * y, x)
        return tf.gradients(x * y, x, stop_gradients=[y])[0]

    assert run(tf.cond(x > 0, part, lambda: x), {x: 3.0}) == 6


def test_stops_are_in_files():
    """What has none is as it was before there were any, and such files are read."""
    with pg.Graph().as_default() as graph:
        x = pg.placeholder(pkg.float32, [], "x")
        y = pkg.mul(x, x)
        pg.gradients(y * x, x, name="whole")
        pg.gradients(y * x, x, name="partial", stop_gradients=[y])
    data = graph.as_graph_def()
    nodes = {node["name"]: node["attributes"] for node in data["nodes"]}
    assert set(nodes["whole"]) == {"ys", "grad_ys", "xs"}
    assert len(nodes["partial"]["stops"]) == 1
    with pg.Graph().as_default(), pg.Session() as session:
        found = pg.import_graph(data, return_elements=["whole:0", "partial:0"])
        got = session.run(found, {"x:0": 2.0})
        assert [value.item() for value in got] == [12, 4]
    for wrong in (3, [None], [{"number": 1}]):
        nodes["partial"]["stops"] = wrong
        with pytest.raises(pg.GraphDefError, match="partial"):
            with pg.Graph().as_default():
                pg.import_graph(data)
