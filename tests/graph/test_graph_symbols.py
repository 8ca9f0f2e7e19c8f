# SPDX-License-Identifier: Apache-2.0
"""Symbols and graphs before anything runs: names, shapes, what is refused."""

import gc

import numpy as np
import pytest

import pkg
import pkg.graph as pg
from pkg._binding import core
from pkg.graph import errors

pytestmark = pytest.mark.usefixtures("fresh_graph")


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


def test_writing_to_a_symbol_is_refused():
    """There is no memory that others could see changed."""
    x = pg.placeholder(pkg.float32, [2])
    with pytest.raises(NotImplementedError, match="writes to a symbol"):
        x.add_(1)


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


def test_numbers_that_need_much_memory_are_not_tried():
    """bincount has no rule for shapes: its call with this number would take 512 MB."""
    x = pg.placeholder(pkg.int64, [None])
    before = core.peak_bytes()
    assert pkg.bincount(x, minlength=2**26).shape.ndims is None
    assert core.peak_bytes() < before + 2**20
    assert pkg.bincount(x, minlength=5).shape.as_list() == [None]


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


def test_errors_have_the_field_s_names_and_codes():
    """From 1 to 16; what is raised is also of the eager call's class."""
    codes = {name: code for name, code in vars(errors).items() if name.isupper()}
    codes = {n: c for n, c in codes.items() if type(c) is int}
    assert codes["INVALID_ARGUMENT"] == 3 and codes["OK"] == 0
    assert sorted(codes.values()) == list(range(17))
    made = errors.error_of(OverflowError("too large"), None)
    assert isinstance(made, errors.InvalidArgumentError)
    assert isinstance(made, OverflowError) and made.error_code == 3


def test_what_is_refused_is_not_in_the_graph():
    """Nor is its name taken."""
    graph = pg.get_default_graph()
    for make in (
        lambda: pg.placeholder(pkg.float32, [2**40, 2**40], "x"),
        lambda: pg.placeholder(pkg.float32, [None, 2**40, 2**40], "x"),
        lambda: pg.placeholder(pkg.float32, [2], "x", default=[1.0]),
        lambda: graph._handle.variable("x", pkg.float32, [2**40, 2**40]),
    ):
        with pytest.raises((RuntimeError, ValueError)):
            make()
        assert not graph.get_operations() and graph.version == 0
    assert pg.placeholder(pkg.float32, [2**40, None], "x").name == "x:0"


@pytest.mark.parametrize(
    ("key", "size"),
    [
        (slice(0, 1), None), (slice(1, 2), None), (slice(-1, None), None),
        (slice(0, 0), 0), (slice(None), None), (slice(None, None, 2), None),
    ],
)  # fmt: skip
def test_a_part_of_an_unknown_size_may_be_empty(key, size):
    """So its size is not known; and a run says what it is, also of nothing."""
    x = pg.placeholder(pkg.float32, [None, 3])
    y = x[key]
    assert y.shape.as_list() == [size, 3]
    assert x[:, 0:1].shape.as_list() == [None, 1]
    with pg.Session() as session:
        for n in (0, 1, 5):
            rows = np.ones((n, 3), "float32")
            assert session.run(y, {x: rows}).shape == rows[key].shape
