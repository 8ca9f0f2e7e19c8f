# SPDX-License-Identifier: Apache-2.0
"""Runs in steps."""

import threading
import time

import numpy as np
import pytest

import pkg
import pkg.compat.v1 as tf
import pkg.graph as pg
from default_session import default_session

fresh = default_session(tf)


def numbers(n):
    return [tf.placeholder(tf.float32, [], name=f"n{i}") for i in range(n)]


def test_a_step_feeds_on_the_steps_before():
    """What a program makes of the first values goes into the next ones."""
    sess = tf.get_default_session()
    a, b, c = numbers(3)
    total = a + b
    product = total * c
    for factor in (17, 18):
        run = sess.partial_run_setup([total, product], [a, b, c])
        first = sess.partial_run(run, total, {a: 1, b: 2})
        assert first == 3
        assert sess.partial_run(run, {"p": product}, {c: first * factor}) == {
            "p": 9 * factor
        }


def test_nothing_is_computed_twice():
    """Random numbers, Python functions and assignments of an earlier step stay."""
    sess = tf.get_default_session()
    calls = []

    def count(value):
        calls.append(value)
        return np.float32(len(calls))

    a, b = numbers(2)
    noise = tf.random_normal([3])
    counted = tf.py_func(count, [a], tf.float32)
    v = tf.Variable(1.0)
    sess.run(v.initializer)
    added = v.assign_add(a)
    fetches = [
        noise * 1.0,
        counted + 0.0,
        added * 1.0,
        noise * b,
        counted * b,
        added * b,
    ]
    run = sess.partial_run_setup(fetches, [a, b])
    first = sess.partial_run(run, fetches[:3], {a: 5})
    second = sess.partial_run(run, fetches[3:], {b: 2})
    np.testing.assert_array_equal(second[0], first[0] * 2)
    assert calls == [5] and second[1] == 2 and second[2] == 12
    assert sess.run(v) == 6


def test_two_runs_at_once_are_apart():
    """And plain runs between their steps change nothing."""
    sess = tf.get_default_session()
    a, b = numbers(2)
    x, y = a + 1.0, (a + 1.0) * b
    one, other = (sess.partial_run_setup([x, y], [a, b]) for _ in range(2))
    assert sess.partial_run(one, x, {a: 1}) == 2
    assert sess.partial_run(other, x, {a: 10}) == 11
    assert sess.run(y, {a: 0, b: 3}) == 3
    assert sess.partial_run(other, y, {b: 2}) == 22
    assert sess.partial_run(one, y, {b: 2}) == 4


def test_what_the_beginning_did_not_say_is_refused():
    """Other fetches and feeds, a second time, a feed that is missing, no fetch at
    all."""
    sess = tf.get_default_session()
    a, b = numbers(2)
    x, y = a + 1.0, a * b
    refused = tf.errors.InvalidArgumentError
    with pytest.raises(refused, match="at least one target to fetch or execute.$"):
        sess.partial_run_setup([], [a])
    run = sess.partial_run_setup([x], [a])
    with pytest.raises(refused, match="was not specified in partial_run_setup.$"):
        sess.partial_run(run, y, {a: 1})
    with pytest.raises(refused, match="was not specified in partial_run_setup.$"):
        sess.partial_run(run, x, {a: 1, b: 1})
    with pytest.raises(refused, match="from the feeds that have been fed so far"):
        sess.partial_run(run, x)
    run = sess.partial_run_setup([x, y], [a, b])
    assert sess.partial_run(run, x, {a: 1}) == 2
    with pytest.raises(refused, match="has already been fetched.$"):
        sess.partial_run(run, x)
    with pytest.raises(refused, match="has already been fed.$"):
        sess.partial_run(run, [], {a: 1})
    with pytest.raises(refused, match="Must run partial_run_setup before"):
        sess.partial_run("no handle", x)
    with pytest.raises(TypeError, match="expected the handle .*, got list"):
        sess.partial_run([], x)
    with pytest.raises(TypeError, match="list of symbols for feeds, got "):
        sess.partial_run_setup([y], a)
    run = sess.partial_run_setup([y], [a])
    with pytest.raises(refused, match="You must feed a value for placeholder"):
        sess.partial_run(run, y, {a: 1})
    sess.close()
    with pytest.raises(RuntimeError, match="closed"):
        sess.partial_run_setup([x])


def test_what_would_run_again_is_refused():
    """An operation that waits for one of an earlier step."""
    sess = tf.get_default_session()
    v = tf.Variable(1.0)
    sess.run(v.initializer)
    step = v.assign_add(1.0)
    with tf.control_dependencies([step]):
        after = tf.constant(2.0) * 3.0
    run = sess.partial_run_setup([step, after])
    sess.partial_run(run, step)
    with pytest.raises(NotImplementedError, match="would run them again"):
        sess.partial_run(run, after)
    assert sess.run(v) == 2


def test_sparse_tensors_are_fed_in_parts():
    """By the conversions that sessions know."""
    sess = tf.get_default_session()
    sparse = tf.sparse_placeholder(tf.float32)
    total = tf.reduce_sum(sparse.values)
    run = sess.partial_run_setup([total], [sparse])
    value = tf.SparseTensorValue([[0]], [4.0], [1])
    assert sess.partial_run(run, total, {sparse: value}) == 4


def test_sessions_of_pkg_graph():
    """Tensors come back; an array that was fed may change between steps."""
    with pg.Graph().as_default(), pg.Session() as session:
        a = pg.placeholder(pkg.float32, [2])
        x, y = a * 2, a * 3
        run = session.partial_run_setup([x, y], [a])
        values = np.ones(2, "float32")
        assert session.partial_run(run, x, {a: values}).tolist() == [2, 2]
        values[:] = 7
        assert session.partial_run(run, y).tolist() == [3, 3]


def test_runs_that_are_over_are_forgotten():
    """All fetched, failed, or the session is closed; values go when nobody needs
    them."""
    with pg.Graph().as_default(), pg.Session() as session:
        a, b = (pg.placeholder(pkg.float32, [2]) for _ in range(2))
        x = a * 2
        y, z = x * b, b + 1
        kept = []
        for _ in range(3):
            run = session.partial_run_setup([x, y, z], [a, b])
            session.partial_run(run, x, {a: np.ones(2)})
            kept.append(len(session._partial[run]._values))
            session.partial_run(run, y, {b: np.ones(2)})
            kept.append(len(session._partial[run]._values))
            assert session.partial_run(run, z).tolist() == [2, 2]
        assert kept == [1, 1] * 3  # x, then b
        assert not session._partial
        with pytest.raises(pg.errors.OpError, match="is over"):
            session.partial_run(run, z)

        def fail(value):
            raise RuntimeError("in vain")

        bad = pg.py_func(fail, [a], pkg.float32)
        run = session.partial_run_setup([bad, y], [a])
        with pytest.raises(Exception, match="in vain"):
            session.partial_run(run, bad, {a: np.ones(2)})
        assert not session._partial
        session.partial_run_setup([x], [a])
        session.close()
        assert not session._partial


def test_threads_take_steps_one_after_the_other():
    """Of two that fetch the same, one is refused and nothing is computed twice."""
    sess = tf.get_default_session()
    a, b = numbers(2)
    calls = []

    def slow(value):
        calls.append(value)
        time.sleep(0.05)
        return value

    x = tf.py_func(slow, [a], tf.float32)
    run = sess.partial_run_setup([x, x * b], [a, b])
    came = []

    def step():
        try:
            came.append(float(sess.partial_run(run, x, {a: 4})))
        except tf.errors.InvalidArgumentError as error:
            came.append(type(error).__name__)

    threads = [threading.Thread(target=step) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(came, key=str) == [4.0] + ["InvalidArgumentError"] * 3
    assert calls == [4]


def test_a_step_inside_of_a_step_is_refused():
    """A function of Python that asks for the next step of the run that it is in."""
    sess = tf.get_default_session()
    a, b = numbers(2)
    y = a * b
    said = []

    def again(value):
        try:
            sess.partial_run(run, y, {b: 1})
        except tf.errors.InvalidArgumentError as error:
            said.append(str(error))
        return value

    x = tf.py_func(again, [a], tf.float32)
    run = sess.partial_run_setup([x, y], [a, b])
    assert sess.partial_run(run, x, {a: 3}) == 3
    assert len(said) == 1 and "inside of another" in said[0]
    assert sess.partial_run(run, y, {b: 2}) == 6
