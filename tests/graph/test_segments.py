# SPDX-License-Identifier: Apache-2.0
"""Plans of what lies around loops, choices and Python functions."""

import numpy as np
import pytest

import pkg
import pkg.graph as pg
from pkg.graph import errors
from pkg.profiler import profile

pytestmark = pytest.mark.usefixtures("fresh_graph")


def steps(session, fetches, feeds):
    """The steps of a second run by name, and the ops that were called one by one."""
    session.run(fetches, feeds)
    with profile(["ops", "steps"]) as made:
        session.run(fetches, feeds)
    return [event.name for event in made.events if event.kind == "step"], [
        event.name for event in made.events if event.kind == "op"
    ]


ROWS = np.random.default_rng(1).normal(size=(400, 512)).astype("float32")


def network():
    """Pointwise operations before a loop, in it, and behind it."""
    x = pg.placeholder(pkg.float32, [None, 512], "x")
    y = pkg.tanh(x * 2 + 1) * 3 - x
    _, z = pg.while_loop(
        lambda i, v: i < 3, lambda i, v: (i + 1, (v * 0.5 + 1).sigmoid() * 2), (0, y)
    )
    return x, (z * z + 1).sqrt().sum(1)


def reference(x):
    """The same in NumPy."""
    value = np.tanh(x * 2 + 1) * 3 - x
    for _ in range(3):
        value = 2 / (1 + np.exp(-(value * 0.5 + 1)))
    return np.sqrt(value * value + 1).sum(1)


def test_what_is_before_in_and_behind_a_loop_is_put_together():
    """No op but the copy of the result is called alone."""
    x, out = network()
    with pg.Session() as session:
        names, ops = steps(session, out, {x: ROWS})
        got = session.run(out, {x: ROWS}).numpy()
    assert names[:2] == ["mul+add+tanh+mul+sub", "While"]
    assert names.count("mul+add+sigmoid+mul") == 3
    assert names[-2:] == ["mul+add+sqrt", "sum"]
    assert set(ops) <= {"_row_major_copy"}
    np.testing.assert_allclose(got, reference(ROWS), rtol=1e-5)


def test_runs_use_the_memory_of_those_before():
    """Far less than one allocation of the system for each run."""
    x, out = network()
    with pg.Session() as session:
        feed = pkg.tensor(ROWS)
        for _ in range(3):
            session.run(out, {x: feed})
        before = pkg._binding.core.system_allocations()
        for _ in range(40):
            session.run(out, {x: feed})
        assert pkg._binding.core.system_allocations() - before < 10


def test_many_shapes_are_called_one_by_one():
    """From some number of plans on."""
    x, out = network()
    with pg.Session() as session:
        for rows in range(1, 25):
            got = session.run(out, {x: ROWS[:rows]}).numpy()
            np.testing.assert_allclose(got, reference(ROWS[:rows]), rtol=1e-5)
        names, ops = steps(session, out, {x: ROWS[:30]})
    assert "tanh" in ops and "While" in names


def test_nested_loops_choices_and_python_functions():
    """Each part has its own, and what it captures of the graph around."""
    x = pg.placeholder(pkg.float32, [2], "x")
    seen = []

    def turn(i, v):
        _, inner = pg.while_loop(
            lambda j, u: j < i, lambda j, u: (j + 1, u * 2 + x), (0, v + 1)
        )
        chosen = pg.cond(inner.sum() > 20, lambda: inner - x, lambda: inner + x)
        return i + 1, chosen * 1 + 0

    shown = pg.py_func(lambda a: seen.append(a) or a + 1, [x * 3], pkg.float32)
    _, y = pg.while_loop(lambda i, v: i < 3, turn, (0, shown * 2),
                         [pg.TensorShape([]), pg.TensorShape(None)])  # fmt: skip
    out = y * 2 + shown
    value = np.float32([1, 2])
    want = (value * 3 + 1) * 2
    for i in range(3):
        want = want + 1
        for _ in range(i):
            want = want * 2 + value
        want = want - value if want.sum() > 20 else want + value
    want = want * 2 + value * 3 + 1
    with pg.Session() as session:
        for count in (1, 2):
            assert session.run(out, {x: value}).tolist() == want.tolist()
            assert len(seen) == count


def test_constants_variables_defaults_and_feeds_within():
    """Each segment has them; a value in the place of a function's input counts."""
    rate = pg.placeholder(pkg.float32, [], "rate", default=2.0)
    w = pg.Variable([1.0, 2.0], name="w")
    c = pg.constant([10.0, 20.0])
    first = w * rate + c
    _, y = pg.while_loop(
        lambda i, v: i < 2, lambda i, v: (i + 1, v + w + c), (0, first)
    )
    out = y * rate - w + c
    with pg.Session() as session:
        with pytest.raises(errors.FailedPreconditionError, match="uninitialized.*w"):
            session.run(out)
        session.run(w.initializer)
        fetches = [out, c, w, y, rate]
        got = [value.tolist() for value in session.run(fetches)]
        assert got == [[77, 154], [10, 20], [1, 2], [34, 68], 2]
        got = session.run(fetches, {first: [0.0, 0.0], rate: 1.0})
        assert got[0].tolist() == [31, 62] and got[4].item() == 1
        assert session.run(out, {y: [1.0, 1.0]}).tolist() == [11, 20]


def test_order_of_what_waits():
    """Control inputs across a function."""
    x = pg.placeholder(pkg.float32, [], "x")
    order = []

    def noted(name):
        return pg.py_func(lambda: order.append(name), [], [])

    first = noted("first")
    with pg.control_dependencies([first]):
        y = pg.while_loop(lambda v: v < 9, lambda v: v * 2 + 1, [x * 1])
    with pg.control_dependencies([y, noted("second")]):
        z = y + 1
    with pg.Session() as session:
        for _ in range(2):
            assert session.run(z, {x: 1.0}).item() == 16
    assert order == ["first", "second"] * 2


def test_errors_name_the_operation():
    """In a segment, and in a function."""
    x = pg.placeholder(pkg.float32, None, "x")
    _, y = pg.while_loop(
        lambda i, v: i < 2, lambda i, v: (i + 1, v), (0, x),
        [pg.TensorShape([]), pg.TensorShape(None)],
    )  # fmt: skip
    z = pg.record(pkg.matmul, y, pkg.ones(3, 3), name="product")

    def fails(value):
        raise ValueError("no such value")

    other = pg.py_func(fails, [y], pkg.float32, name="failing") + 1
    with pg.Session() as session:
        assert session.run(z, {x: np.ones((2, 3), "float32")}).shape == (2, 3)
        with pytest.raises(errors.OpError) as caught:
            session.run(z, {x: np.ones((2, 4), "float32")})
        assert caught.value.op.name == "product"
        with pytest.raises(errors.InvalidArgumentError, match="no such") as caught:
            session.run(other, {x: np.ones(2, "float32")})
        assert caught.value.op.name == "failing"


def test_what_is_fetched_is_nobody_elses():
    """Also where a loop gives back what it was given."""
    x = pg.placeholder(pkg.float32, [2], "x")
    once = x * 2
    _, same = pg.while_loop(lambda i, v: i < 0, lambda i, v: (i + 1, v), (0, once))
    _, fed = pg.while_loop(lambda i, v: i < 0, lambda i, v: (i + 1, v), (0, x))
    with pg.Session() as session:
        value = pkg.tensor([1.0, 2.0])
        results = session.run([once, same, fed, once], {x: value})
        for result in results:
            result.add_(100)
        assert [r.tolist() for r in results] == [
            [102, 104], [102, 104], [101, 102], [102, 104],
        ]  # fmt: skip
        assert value.tolist() == [1, 2]
        assert session.run(same, {x: value}).tolist() == [2, 4]


def test_functions_read_variables_that_are_fed():
    """Those of a loop within a loop are fed by the outer one."""
    w = pg.Variable([1.0, 2.0], name="w")

    def turn(i, v):
        _, u = pg.while_loop(
            lambda j, u: j < 2, lambda j, u: (j + 1, u + w), (0, v * 2 + 1)
        )
        v = pg.cond(i > 0, lambda: u + w, lambda: u - w)
        return i + 1, v * 2 + 1

    _, y = pg.while_loop(lambda i, v: i < 2, turn, (0, w * 1.0))

    def expected(w):
        v = w
        for i in range(2):
            v = ((v * 2 + 1) + 2 * w + (w if i > 0 else -w)) * 2 + 1
        return v

    with pg.Session() as session:
        session.run(w.initializer)
        got = session.run(y * 1.0).tolist()
        assert got == expected(np.float32([1, 2])).tolist()
        _, once = pg.while_loop(
            lambda i, v: i < 2, lambda i, v: (i + 1, v + w), (0, w * 2)
        )
        assert session.run(once * 2, {w: [10.0, 20.0]}).tolist() == [80, 160]


def test_what_repeats_its_elements_gets_no_memory():
    """A value of 2**40 elements that is made before a loop and read behind it."""
    x = pg.placeholder(pkg.float32, [1], "x")
    large = (x * 2).expand(1 << 40)
    _, y = pg.while_loop(
        lambda i, v: i < 2, lambda i, v: (i + 1, v + 1), (0, pg.constant(1.0))
    )
    with pg.Session() as session:
        assert session.run(y * 2 + large[3], {x: [1.0]}).tolist() == 8


def test_a_placeholder_that_is_only_waited_for_is_fed():
    p, x = pg.placeholder(pkg.float32, [], "p"), pg.placeholder(pkg.float32, [], "x")
    with pg.control_dependencies([p]):
        a = x * 2
    _, y = pg.while_loop(lambda i, v: i < 2, lambda i, v: (i + 1, v + 1), (0, a))
    with pg.Session() as session:
        with pytest.raises(errors.InvalidArgumentError, match="tensor 'p'") as caught:
            session.run(y * 2, {x: 1.0})
        assert caught.value.op.name == "p"
        assert session.run(y * 2, {x: 1.0, p: 0.0}).tolist() == 8
