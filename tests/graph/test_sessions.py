# SPDX-License-Identifier: Apache-2.0
"""Sessions: variables, order, errors, callables, the default one."""


import pytest

import pkg
import pkg.graph as pg
from pkg._binding import core
from pkg.graph import errors

pytestmark = pytest.mark.usefixtures("fresh_graph")


def test_an_error_of_a_kernel_names_the_operation():
    """An index that only the run knows."""
    x = pg.placeholder(pkg.float32, [3])
    i = pg.placeholder(pkg.int64, [1])
    y = x.index_select(0, i)
    session = pg.Session()
    assert session.run(y, {x: [1, 2, 3], i: [2]}).tolist() == [3]
    with pytest.raises(errors.InvalidArgumentError) as caught:
        session.run(y, {x: [1, 2, 3], i: [7]})
    assert caught.value.op is y.op and isinstance(caught.value, IndexError)
    assert session.run(y, {x: [1, 2, 3], i: [0]}).tolist() == [1]


def test_a_closed_session_says_so():
    """For runs, callables and weights; closing again does nothing."""
    v = pg.Variable(1.0)
    session = pg.Session()
    call = session.make_callable(v + 1)
    session.close()
    session.close()
    for use in (
        lambda: session.run(v), call, lambda: session.make_callable(v),
        lambda: session.swap_weights({v: 2.0}),
    ):  # fmt: skip
        with pytest.raises(RuntimeError, match="Attempted to use a closed Session"):
            use()


def test_an_empty_graph_is_an_error():
    """As there is nothing to run."""
    with pytest.raises(RuntimeError, match="The Session graph is empty"):
        pg.Session().run([])


def test_variables_belong_to_the_session():
    """Each has values of its own, from the initializer on."""
    v = pg.Variable([1.0, 2.0], name="v")
    more = v.assign_add([10.0, 10.0])
    one, two = pg.Session(), pg.Session()
    for session in (one, two):
        with pytest.raises(
            errors.FailedPreconditionError, match="uninitialized value v"
        ):
            session.run(v)
        session.run(pg.global_variables_initializer())
    assert one.run(more).tolist() == [11, 12]
    assert one.run(v).tolist() == [11, 12]
    assert two.run(v).tolist() == [1, 2]
    v.load([7, 8], two)
    assert two.run(v).tolist() == [7, 8]


def test_what_a_session_gives_is_not_the_variable():
    """Writing to a fetched tensor changes no later run."""
    v = pg.Variable([1.0, 2.0])
    session = pg.Session()
    session.run(v.initializer)
    fetched = session.run([v, v.read_value(), v.assign(v + 0)])
    for tensor in fetched:
        tensor.fill_(9)
    assert session.run(v).tolist() == [1, 2]
    x = pg.placeholder(pkg.float32, [2])
    given = pkg.tensor([3.0, 4.0])
    session.run(v.assign(x), {x: given})
    given.fill_(0)
    assert session.run(v).tolist() == [3, 4]


def test_control_dependencies_are_the_order():
    """A counter: read after it was raised."""
    v = pg.Variable(0.0)
    raised = v.assign_add(1.0)
    with pg.control_dependencies([raised]):
        after = v.read_value()
    with pg.control_dependencies([raised]), pg.control_dependencies(None):
        alone = v.read_value()
    with pg.Session() as session:
        session.run(v.initializer)
        assert [session.run(after).item() for _ in range(3)] == [1, 2, 3]
        assert session.run(alone).item() == 3
    assert after.op.control_inputs == [raised.op]


def test_a_run_that_fails_assigns_nothing():
    """Not even what was computed before the error."""
    v = pg.Variable(1.0)
    i = pg.placeholder(pkg.int64, [1])
    raised = v.assign_add(1.0)
    bad = pg.constant([1.0, 2.0]).index_select(0, i)
    session = pg.Session()
    session.run(v.initializer)
    with pytest.raises(errors.OpError):
        session.run([raised, bad], {i: [5]})
    assert session.run(v).item() == 1


def test_gradients_are_none_where_no_way_leads():
    """And zeros where the way carries nothing; of a variable, a symbol and twice."""
    x = pg.placeholder(pkg.float32, [3])
    other = pg.placeholder(pkg.float32, [3])
    y = (x * x).sum()
    assert pg.gradients(y, other) == [None]
    (g,) = pg.gradients(y, [x])
    (h,) = pg.gradients(g, [x], grad_ys=[pg.constant([1.0, 2.0, 3.0])])
    first, again, second = pg.Session().run(
        [*pg.gradients(y, [x, x]), h], {x: [1, 2, 3]}
    )
    assert first.tolist() == again.tolist() == [2, 4, 6]
    assert second.tolist() == [2, 4, 6]


def test_a_callable_is_a_function_of_the_feeds():
    """With the structure of the fetches."""
    x, y = pg.placeholder(pkg.float32, [2]), pg.placeholder(pkg.float32, [2])
    session = pg.Session()
    call = session.make_callable({"sum": x + y, "both": [x * y]}, [x, y])
    result = call([1, 2], pkg.tensor([3.0, 4.0]))
    assert result["sum"].tolist() == [4, 6] and result["both"][0].tolist() == [3, 8]
    with pytest.raises(ValueError, match="expected 2 values, got 1"):
        call([1, 2])
    assert session.make_callable(pg.group(x), [x])([1, 2]) is None
    with pytest.raises(TypeError, match="must be a list"):
        session.make_callable(x, x)


def test_eval_and_run_take_the_default_session():
    """ValueError without one, and for one of another graph."""
    x = pg.constant(2.0)
    with pytest.raises(ValueError, match="Cannot evaluate tensor using `eval"):
        x.eval()
    with pytest.raises(ValueError, match="Cannot execute operation using `run"):
        x.op.run()
    with pg.Session():
        assert x.eval().item() == 2
        assert x.op.run() is None
    with pg.Graph().as_default(), pg.Session():
        with pytest.raises(ValueError, match="graph"):
            x.eval()
    interactive = pg.InteractiveSession()
    assert x.eval().item() == 2
    interactive.close()
    assert pg.get_default_session() is None


def test_sessions_are_left_in_the_order_of_entering():
    """AssertionError that says so."""
    pg.constant(1.0)
    first, second = pg.Session().as_default(), pg.Session().as_default()
    first.__enter__()
    second.__enter__()
    with pytest.raises(AssertionError, match="Nesting violated"):
        first.__exit__(None, None, None)
    second.__exit__(None, None, None)
    first.__exit__(None, None, None)


def test_a_steady_run_allocates_nothing():
    """Neither memory of the system nor blocks, once results are let go."""

    x = pg.placeholder(pkg.float32, [256, 256])
    y = ((x @ x).relu() + x).sum()
    session = pg.Session()
    call = session.make_callable(y, [x])
    feed = pkg.ones(256, 256)
    for _ in range(20):
        call(feed)
    counts = []
    for _ in range(5):  # other threads of the process may take a block meanwhile
        before = core.system_allocations(), core.bytes_in_use()
        for _ in range(50):
            call(feed)
        after = core.system_allocations(), core.bytes_in_use()
        counts.append((after[0] - before[0], after[1] - before[1]))
    assert (0, 0) in counts


def test_no_gradient_flows_through_what_was_detached():
    """By detach() and by the op, in graphs as in eager calls."""
    x = pg.placeholder(pkg.float32, [2])
    y = (x * x.detach()).sum() + (x * pkg.stop_gradient(x)).sum()
    assert pg.gradients(x.detach().sum(), x) == [None]
    (g,) = pg.gradients(y, x)
    assert pg.Session().run(g, {x: [3, 4]}).tolist() == [6, 8]
    t = pkg.tensor([3.0, 4.0], requires_grad=True)
    assert not pkg.stop_gradient(t).requires_grad
    (t * pkg.stop_gradient(t)).sum().backward()
    assert t.grad.tolist() == [3, 4]
