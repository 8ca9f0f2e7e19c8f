# SPDX-License-Identifier: Apache-2.0
"""Sessions: what is fetched and fed, variables, errors, threads, and random graphs."""

import gc
import random
import threading
import time
from collections import namedtuple

import numpy as np
import pytest

import pkg
import pkg.graph as pg
from pkg._binding import core
from pkg.graph import errors


@pytest.fixture(autouse=True)
def fresh_graph():
    """A default graph for each test."""
    with pg.Graph().as_default():
        yield


def test_fetches_keep_their_structure():
    """Lists, tuples, named tuples and dicts, in any nesting; operations give None."""
    a, b = pg.constant(1.0), pg.constant([2.0, 3.0])
    nothing = pg.group(a)
    pair = namedtuple("pair", "left right")
    session = pg.Session()
    assert session.run(a).item() == 1
    assert session.run(a.name).item() == 1
    assert session.run(nothing) is None
    assert session.run([]) == []
    result = session.run([a, (b, a), {"x": b, "y": [a]}, pair(a, nothing), "Const:0"])
    assert isinstance(result, list) and isinstance(result[1], tuple)
    assert result[0].item() == result[1][1].item() == result[2]["y"][0].item() == 1
    assert result[1][0].tolist() == result[2]["x"].tolist() == [2, 3]
    assert type(result[3]) is pair and result[3].right is None
    assert result[4].item() == 1


@pytest.mark.parametrize("fetch", [None, 3, [None], {"a": 1.5}, object()])
def test_what_is_no_fetch_is_a_type_error(fetch):
    """With the type in the message."""
    pg.constant(1.0)
    with pytest.raises(TypeError, match="has invalid type"):
        pg.Session().run(fetch)


@pytest.mark.parametrize("name", ["nothing:0", "Const:7", "nothing", "Const:x"])
def test_names_that_are_not_there_are_value_errors(name):
    """As a fetch; TypeError as a key of feed_dict."""
    c = pg.constant(1.0)
    with pytest.raises(ValueError, match="cannot be interpreted as a Tensor"):
        pg.Session().run(name)
    with pytest.raises(TypeError, match="Cannot interpret feed_dict key as Tensor"):
        pg.Session().run(c, {name: 1.0})


def test_elements_of_another_graph_are_refused():
    """As fetches, feeds and operands."""
    a = pg.constant(1.0)
    with pg.Graph().as_default():
        b = pg.constant(2.0)
        session = pg.Session()
        with pytest.raises(ValueError, match="is not an element of this graph"):
            session.run(a)
        with pytest.raises(TypeError, match="is not an element of this graph"):
            session.run(b, {a: 1.0})
        with pytest.raises(ValueError, match="is not an element of this graph"):
            a + b


def test_every_symbol_may_be_fed():
    """And nothing before it is run."""
    x = pg.placeholder(pkg.float32, [2])
    y = x * 2
    z = y + 1
    assert pg.Session().run(z, {y: np.array([1, 2])}).tolist() == [2, 3]


@pytest.mark.parametrize("shape", [(3,), (2, 2), ()])
def test_a_feed_of_another_shape_is_a_value_error(shape):
    """With both shapes."""
    x = pg.placeholder(pkg.float32, [None, 3], "x")
    match = "Cannot feed value of shape .* for Tensor 'x:0', which has shape"
    with pytest.raises(ValueError, match=match):
        pg.Session().run(x, {x: np.zeros(shape)})
    assert pg.Session().run(x, {x: np.zeros((0, 3))}).shape == (0, 3)


def test_a_symbol_is_no_value():
    """TypeError where one is fed, and where a number is asked of one."""
    x = pg.placeholder(pkg.float32, [1], "x")
    with pytest.raises(TypeError, match="value of a feed cannot be"):
        pg.Session().run(x, {x: x + 1})
    for use in (bool, float, int, list(range(3)).__getitem__):
        with pytest.raises(TypeError):
            use(x.sum())
    for method in ("item", "tolist", "numpy"):
        with pytest.raises(TypeError, match="symbol of a graph"):
            getattr(x, method)()
    with pytest.raises(NotImplementedError, match="Cannot convert a symbolic Tensor"):
        np.asarray(x)


def test_no_method_reads_the_memory_of_a_symbol():
    """Of all that Tensor has: it gives symbols or facts, or an error with a text."""
    x = pg.placeholder(pkg.float32, [2, 2], "x")
    for name in dir(type(x)):
        if name.startswith("__") or name in ("eval", "_begin", "as_subclass"):
            continue
        try:
            found = getattr(x, name)
            if callable(found):
                found()
        except Exception as error:  # noqa: BLE001
            assert str(error), name


def test_an_unfed_placeholder_is_named():
    """With dtype, shape and the line that made it."""
    x = pg.placeholder(pkg.float32, [None, 3], "x")
    with pytest.raises(
        errors.InvalidArgumentError, match="must feed a value"
    ) as caught:
        pg.Session().run(x + 1)
    assert caught.value.op is x.op
    assert "'x'" in str(caught.value) and "test_sessions.py:" in str(caught.value)
    assert caught.value.node_def["name"] == "x" and caught.value.error_code == 3


def test_a_default_stands_where_nothing_is_fed():
    """It must have the shape of the placeholder."""
    x = pg.placeholder(pkg.float32, [None], default=[1.0, 2.0])
    y = x + 1
    session = pg.Session()
    assert session.run(y).tolist() == [2, 3]
    assert session.run(y, {x: [5]}).tolist() == [6]
    with pytest.raises(ValueError, match="default"):
        pg.placeholder(pkg.float32, [3], default=[1.0, 2.0])


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


def test_wrong_shapes_are_an_error_where_they_are_written():
    """When all sizes are known; unknown ones are looked at when they are fed."""
    a = pg.placeholder(pkg.float32, [2, 3])
    b = pg.placeholder(pkg.float32, [None, 4])
    with pytest.raises((ValueError, RuntimeError)):
        a @ a
    y = a @ b
    assert y.shape.as_list() == [2, 4]
    with pytest.raises(errors.OpError):
        pg.Session().run(y, {a: np.ones((2, 3)), b: np.ones((5, 4))})


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


def test_names_are_unique_and_scopes_go_before_them():
    """By case-insensitive comparison."""
    a = pg.constant(1.0, name="a")
    b = pg.constant(1.0, name="A")
    with pg.name_scope("layer") as scope:
        c = pg.constant(1.0, name="a")
        d = c + 1
    with pg.name_scope("layer"):
        e = pg.constant(1.0, name="a")
    names = [t.op.name for t in (a, b, c, d, e)]
    assert names == ["a", "A_1", "layer/a", "layer/add", "layer_1/a"]
    assert scope == "layer/"
    graph = pg.get_default_graph()
    assert graph.get_tensor_by_name("layer/add:0") is d
    assert graph.get_operation_by_name("layer/a") is c.op
    assert [op.name for op in graph.get_operations()] == names


def test_a_finalized_graph_takes_nothing_more():
    """By any door."""
    a = pg.constant(1.0)
    graph = pg.get_default_graph()
    graph.finalize()
    for add in (
        lambda: a + 1, lambda: pg.constant(1.0), lambda: pg.placeholder(pkg.float32),
        lambda: pg.Variable(1.0), lambda: pg.gradients(a, a),
    ):  # fmt: skip
        with pytest.raises(RuntimeError, match="Graph is finalized"):
            add()
    assert pg.Session(graph=graph).run(a).item() == 1


def test_default_graphs_and_sessions_belong_to_a_thread():
    """Another thread has neither."""
    found = []
    with pg.Session():
        thread = threading.Thread(
            target=lambda: found.extend(
                [pg.get_default_graph(), pg.get_default_session()]
            )
        )
        thread.start()
        thread.join()
        assert found[0] is not pg.get_default_graph()
        assert found[1] is None and pg.get_default_session() is not None


def test_writing_to_a_symbol_is_refused():
    """There is no memory that others could see changed."""
    x = pg.placeholder(pkg.float32, [2])
    with pytest.raises(NotImplementedError, match="writes to a symbol"):
        x.add_(1)


def test_tensors_with_values_are_looked_at_at_each_run():
    """A weight that changes in place is another one in the next run."""
    w = pkg.tensor([1.0, 2.0])
    x = pg.placeholder(pkg.float32, [2])
    y = x * w
    session = pg.Session()
    assert session.run(y, {x: [1, 1]}).tolist() == [1, 2]
    w.mul_(10)
    assert session.run(y, {x: [1, 1]}).tolist() == [10, 20]


def test_random_numbers_are_other_ones_in_each_run():
    """And the same from the same seed."""
    y = pg.record(pkg.rand, 5)
    session = pg.Session()
    pkg.manual_seed(3)
    first, second = session.run(y), session.run(y)
    assert first.tolist() != second.tolist()
    pkg.manual_seed(3)
    assert session.run(y).tolist() == first.tolist()


def test_a_graph_ends_with_its_last_user():
    """Nothing keeps itself alive."""
    from pkg._binding import core

    gc.collect()
    before = core.live_tensors()
    for _ in range(3):
        with pg.Graph().as_default():
            x = pg.placeholder(pkg.float32, [4])
            v = pg.Variable([1.0, 2.0, 3.0, 4.0])
            y = (x * v).sum()
            g = pg.gradients(y, [v])
            session = pg.Session()
            session.run(v.initializer)
            session.run([y, g], {x: [1, 2, 3, 4]})
            del x, v, y, g, session
    gc.collect()
    assert core.live_tensors() <= before + 1


def random_program(rng):
    """A function of three matrices that calls ops in a random order."""
    unary = ["relu", "tanh", "sigmoid", "exp", "neg", "square", "abs"]
    binary = ["add", "mul", "sub", "maximum", "minimum"]
    steps = []
    for _ in range(rng.randrange(3, 15)):
        kind = rng.choice(["unary", "binary", "matmul", "sum", "view", "transpose"])
        steps.append(
            (kind, rng.choice(unary), rng.choice(binary), rng.random(), rng.random())
        )

    def run(*inputs):
        values = list(inputs)
        for kind, one, two, p, q in steps:
            a = values[int(p * len(values))]
            b = values[int(q * len(values))]
            if kind == "unary":
                values.append(getattr(pkg, one)(a.clamp(-3, 3)))
            elif kind == "binary":
                values.append(getattr(pkg, two)(a, b))
            elif kind == "matmul":
                values.append(pkg.matmul(a, b.t()).clamp(-5, 5) / 4)
            elif kind == "sum":
                values.append(a - a.sum(1, keepdim=True) * 0.1 + b.mean())
            elif kind == "view":
                values.append(a.reshape(-1).view(6, 6)[::1].flip(0) + b[0])
            else:
                values.append(a.t() * 0.5)
        return values[-1], values[len(values) // 2]

    return run


@pytest.mark.parametrize("seed", range(200))
def test_random_graphs_give_what_eager_calls_give(seed):
    """Bit by bit, and so do their gradients; twice, with the same memory."""
    run = random_program(random.Random(seed))
    rng = np.random.default_rng(seed)
    arrays = [rng.standard_normal((6, 6)).astype("float32") for _ in range(3)]
    tensors = [pkg.tensor(array, requires_grad=True) for array in arrays]
    ys = run(*tensors)
    wanted_grads = pkg.autograd.grad(
        [y for y in ys if y.requires_grad], tensors,
        [pkg.ones_like(y) for y in ys if y.requires_grad], allow_unused=True,
    )  # fmt: skip
    inputs = [pg.placeholder(pkg.float32, [6, 6]) for _ in range(3)]
    if seed % 2:
        inputs[0] = pg.placeholder(pkg.float32, [None, 6])
    made = run(*inputs)
    grads = pg.gradients(made, inputs)
    asked = [*made, *[g for g in grads if g is not None]]
    wanted = [*ys, *[g for g in wanted_grads if g is not None]]
    session = pg.Session()
    for _ in range(2):
        results = session.run(asked, dict(zip(inputs, arrays)))
        for result, expected in zip(results, wanted, strict=True):
            assert result.numpy().tobytes() == expected.detach().numpy().tobytes(), seed


def test_threads_run_and_swap_weights():
    """Every result is of one version of the weights, which are many steps apart."""
    a, b = pg.Variable(np.zeros(64, "f")), pg.Variable(np.zeros(64, "f"))
    x = pg.placeholder(pkg.float32, [64])
    y = (a - b).abs().sum() + x.sum() * 0
    session = pg.Session()
    session.run(pg.global_variables_initializer())
    end, faults = time.monotonic() + 2, []

    def reader():
        while time.monotonic() < end and not faults:
            if session.run(y, {x: np.ones(64, "f")}).item() != 0:
                faults.append("two versions")

    def writer(seed):
        n = seed
        while time.monotonic() < end and not faults:
            n += 2
            value = np.full(64, n, "f")
            session.swap_weights({a: value, b: value})

    threads = [threading.Thread(target=reader) for _ in range(4)]
    threads += [threading.Thread(target=writer, args=(i,)) for i in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert not faults and not any(thread.is_alive() for thread in threads)


def test_no_step_of_training_is_lost():
    """Runs that assign are one after the other."""
    v = pg.Variable(0.0)
    raised = v.assign_add(1.0)
    session = pg.Session()
    session.run(v.initializer)
    threads = [
        threading.Thread(target=lambda: [session.run(raised) for _ in range(200)])
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert session.run(v).item() == 800


def test_a_session_may_be_closed_while_others_run():
    """They end with an error or a result; nothing hangs."""
    x = pg.placeholder(pkg.float32, [64, 64])
    y = x
    for _ in range(50):
        y = (y @ x).clamp(-1, 1)
    for _ in range(5):
        session = pg.Session()
        session.run(y, {x: np.ones((64, 64), "f")})
        outcomes = []

        def work(session=session, outcomes=outcomes):
            try:
                while True:
                    session.run(y, {x: np.ones((64, 64), "f")})
            except (RuntimeError, errors.CancelledError) as error:
                outcomes.append(str(error))

        threads = [threading.Thread(target=work) for _ in range(3)]
        for thread in threads:
            thread.start()
        time.sleep(0.05)
        session.close()
        for thread in threads:
            thread.join(20)
        assert len(outcomes) == 3 and not any(t.is_alive() for t in threads)


def test_a_timeout_ends_a_long_run():
    """With DeadlineExceededError; the session is good for more."""
    x = pg.placeholder(pkg.float32, [300, 300])
    y = x
    for _ in range(2000):
        y = (y @ x).clamp(-1, 1)

    class Options:
        timeout_in_ms = 50

    session = pg.Session()
    feed = {x: np.ones((300, 300), "f")}
    start = time.monotonic()
    with pytest.raises(errors.DeadlineExceededError):
        session.run(y, feed, options=Options())
    assert time.monotonic() - start < 5
    z = x.sum()
    assert session.run(z, feed).item() == 90000


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
    from pkg._binding import core

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


def test_equal_fetches_and_feeds_are_not_taken_for_each_other():
    """A tuple of fetches and a fetch with a feed; tuples of several classes."""
    pair = namedtuple("pair", "left right")
    a, b = pg.constant(1.0), pg.constant(2.0)
    session = pg.Session()
    assert session.run(a, {b: 5.0}).item() == 1
    assert [t.item() for t in session.run((a, b))] == [1, 2]
    assert type(session.run(pair(a, b))) is pair
    assert type(session.run((a, b))) is tuple


def test_a_list_of_fetches_is_planned_once():
    """Whatever list it is: the plan goes with what is in it."""
    x = pg.placeholder(pkg.float32, [None])
    y, z = x + 1, x * 2
    session = pg.Session()
    for n in (2, 3, 2, 3):
        session.run([y, {"z": z}], {x: np.ones(n)})
    assert len(session._callables) == 1


def test_one_of_several_outputs_may_be_fed():
    """The others are computed beside it."""
    x = pg.placeholder(pkg.float32, [3])
    values, places = x.sort(0, False)
    result = pg.Session().run([values, places], {x: [3, 1, 2], values: [7, 8, 9]})
    assert result[0].tolist() == [7, 8, 9] and result[1].tolist() == [1, 2, 0]


def test_a_tensor_that_shows_other_memory_is_planned_anew():
    """Also with as many bytes as before; another shape is an error."""
    w = pkg.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    x = pg.placeholder(pkg.float32, [None, None])
    y = x * w
    session = pg.Session()
    assert session.run(y, {x: np.ones((2, 3))}).tolist() == w.tolist()
    w.data = (w * 2).t().contiguous().t()
    assert session.run(y, {x: np.ones((2, 3))}).tolist() == w.tolist()
    w.data = pkg.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    with pytest.raises(errors.OpError, match=r"shape \(2, 3\), as the graph says"):
        session.run(y, {x: np.ones((3, 2))})
    with pytest.raises(errors.OpError, match="must match the size"):
        session.run(y, {x: np.ones((2, 3))})
    w.data = pkg.ones(2, 3)
    assert session.run(y, {x: np.ones((2, 3))}).tolist() == w.tolist()


def test_results_are_what_the_graph_says_of_them():
    """As many, where their number was tried with another size; a name is used once."""
    x = pg.placeholder(pkg.float32, [None])
    parts = x.chunk(3)
    session = pg.Session()
    found = session.run(parts, {x: range(6)})
    assert [part.tolist() for part in found] == [[0, 1], [2, 3], [4, 5]]
    with pytest.raises(errors.OpError, match="expected 3 results.*got 2"):
        session.run(parts[0], {x: range(4)})
    assert pg.placeholder(pkg.float32, [], "a/").name == "a:0"
    assert pg.placeholder(pkg.float32, [], "a").name == "a_1:0"


def test_numbers_that_need_much_memory_are_not_tried():
    """bincount has no rule for shapes: its call with this number would take 512 MB."""
    x = pg.placeholder(pkg.int64, [None])
    before = core.peak_bytes()
    assert pkg.bincount(x, minlength=2**26).shape.ndims is None
    assert core.peak_bytes() < before + 2**20
    assert pkg.bincount(x, minlength=5).shape.as_list() == [None]


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64", "bool"])
def test_an_array_that_is_fed_is_not_copied(dtype):
    """One of the right dtype that is row-major; others are."""
    from pkg._binding import core

    array = np.ones(1 << 24, dtype)
    x = pg.placeholder(getattr(pkg, dtype), [None])
    session = pg.Session()
    y = x[:10].sum()
    session.run(y, {x: array[:100].copy()})
    core.empty_cache()
    before = core.peak_bytes()
    assert session.run(y, {x: array}).item() == 10
    assert core.peak_bytes() - before < 1 << 20
    array.flags.writeable = False
    assert session.run(y, {x: array}).item() == 10
    assert session.run(y, {x: array[::-1]}).item() == 10
    assert session.run(y, {x: array.astype("uint8")}).item() == 10


def test_scopes_of_two_graphs_are_apart():
    """And a graph knows nothing of one that was there before it."""
    first, second = pg.Graph(), pg.Graph()
    with first.as_default(), first.name_scope("a"):
        with second.as_default(), second.name_scope("b"):
            assert pg.constant(1.0, name="c").name == "b/c:0"
            with first.as_default():
                assert pg.constant(1.0, name="c").name == "a/c:0"
        assert pg.constant(1.0, name="d").name == "a/d:0"
    for _ in range(20):
        graph = pg.Graph()
        with graph.as_default():
            assert pg.constant(1.0, name="c").name == "c:0"
            assert not pg.constant(1.0).op.control_inputs


def test_a_call_that_writes_is_not_made_while_the_graph_is():
    """A step of an optimizer on tensors with values changes them when it runs."""
    w, momentum = pkg.ones(3), pkg.zeros(3)
    grad = pg.placeholder(pkg.float32, [3])
    new = pkg.ops._sgd_step_([w], [grad], [], 0.5, 0.0, 0.0, 0.1, False)
    assert w.tolist() == [1, 1, 1] and momentum.tolist() == [0, 0, 0]
    session = pg.Session()
    session.run(new, {grad: [1, 2, 3]})
    once = pkg.ones(3)
    pkg.ops._sgd_step_([once], [pkg.tensor([1.0, 2, 3])], [], 0.5, 0, 0, 0.1, False)
    assert w.tolist() == once.tolist()


def test_a_timeout_ends_calls_without_a_plan_too():
    """Where a shape depends on values."""
    x = pg.placeholder(pkg.float32, [200, 200])
    y = x.nonzero().sum() * 0 + x
    for _ in range(500):
        y = (y @ x).clamp(-1, 1)

    class Options:
        timeout_in_ms = 20

    session = pg.Session()
    with pytest.raises(errors.DeadlineExceededError):
        session.run(y, {x: np.ones((200, 200), "f")}, options=Options())


KEYS = [
    0, -1, slice(1, 3), slice(None, -1), slice(-2, None), slice(None, None, 2),
    slice(2, 100), (slice(None), 1), (..., -1), None, [0, 2],
    (slice(1, None), slice(None, -2)), [True, False, True, False],
]  # fmt: skip


@pytest.mark.parametrize("key", KEYS, ids=str)
def test_indices_count_from_what_is_fed(key):
    """Sizes are unknown when the key is written; a claimed size is a true one."""
    x = pg.placeholder(pkg.float32, [None, None])
    y = x[key]
    session = pg.Session()
    for rows, columns in ((4, 6), (4, 3)):
        array = np.arange(rows * columns, dtype="f").reshape(rows, columns)
        result, wanted = session.run(y, {x: array}), pkg.tensor(array)[key]
        assert result.tolist() == wanted.tolist()
        for size, real in zip(y.shape, wanted.shape):
            assert size in (None, real)


@pytest.mark.parametrize("shape", [(2,) * 7, (1,) * 9, (0, 3), (3, 0, 2), ()])
def test_any_number_of_dimensions_and_no_elements(shape):
    """With gradients."""
    x = pg.placeholder(pkg.float32, [None] * len(shape))
    y = (x * x + 1).sum()
    session = pg.Session()
    array = np.full(shape, 2, "f")
    value, grad = session.run([y, *pg.gradients(y, x)], {x: array})
    assert value.item() == array.size * 5
    assert grad.shape == shape and (grad == 4).all().item()


def test_errors_have_the_field_s_names_and_codes():
    """From 1 to 16; what is raised is also of the eager call's class."""
    codes = {name: code for name, code in vars(errors).items() if name.isupper()}
    codes = {n: c for n, c in codes.items() if type(c) is int}
    assert codes["INVALID_ARGUMENT"] == 3 and codes["OK"] == 0
    assert sorted(codes.values()) == list(range(17))
    made = errors.error_of(OverflowError("too large"), None)
    assert isinstance(made, errors.InvalidArgumentError)
    assert isinstance(made, OverflowError) and made.error_code == 3


@pytest.mark.parametrize("columns", [1, 3, 11, 13, 64, 100, 128])
def test_rows_of_a_vector_of_unknown_length(columns):
    """What is unknown stays so, whether its size divides others or not."""
    with pg.Graph().as_default():
        x = pg.placeholder(pkg.float32, [None])
        y = x.reshape(-1, columns)
        assert tuple(y.shape) == (None, columns)
        given = pkg.arange(3 * columns).float()
        assert pg.Session().run(y, {x: given}).shape == (3, columns)
