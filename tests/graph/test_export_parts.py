# SPDX-License-Identifier: Apache-2.0
"""Loops, choices and gradients of one's own in files: bitwise the same, also what is
differentiated after a file was read."""

import json

import numpy as np
import pytest

import pkg
import pkg.compat.v1 as tf
import pkg.graph as pg
from graph_definitions import without_tensors

pytestmark = pytest.mark.usefixtures("fresh_graph")


def again(graph, folder, kind=pg.Graph):
    """The graph, by way of a folder."""
    pg.export_graph(graph, folder)
    made = kind()
    with made.as_default():
        pg.import_graph(folder)
    assert without_tensors(made.as_graph_def()) == without_tensors(graph.as_graph_def())
    return made


def values(graph, y, xs, feeds):
    """A fetch and its gradients, which are asked for now, in a session."""
    with graph.as_default(), pg.Session(graph=graph) as session:
        y = graph.get_tensor_by_name(y)
        slopes = pg.gradients(y, [graph.get_tensor_by_name(x) for x in xs])
        for variable in graph.get_collection("variables"):
            session.run(variable.initializer)
        return [np.asarray(value) for value in session.run([y, *slopes], feeds)]


def same(folder, y, xs, feeds):
    """Of the default graph and of what a folder has of it; gives the values."""
    graph = y.graph
    xs = [x.name for x in xs]
    read = again(graph, folder, type(graph))
    wanted = values(graph, y.name, xs, feeds)
    for got, expected in zip(values(read, y.name, xs, feeds), wanted, strict=True):
        assert got.dtype == expected.dtype and got.tobytes() == expected.tobytes()
    return wanted


ROWS = np.float32([[0.5, -1], [2, 0.25], [1, 3]])


def test_a_loop_and_its_gradient(tmp_path):
    """Against the closed form, too: x * 3**4."""
    x = pg.placeholder(pkg.float32, [], "x")
    _, y = pg.while_loop(lambda i, v: i < 4, lambda i, v: (i + 1, v * 3), (0, x))
    got = same(tmp_path, y, [x], {"x:0": np.float32(2)})
    assert [value.item() for value in got] == [162, 81]


@pytest.mark.parametrize("value, wanted", [(2.0, [4, 2]), (-2.0, [8, -8])])
def test_a_choice_and_its_gradient(tmp_path, value, wanted):
    """x * 2 or x**2 * 2, by a captured symbol and a captured tensor."""
    x = pg.placeholder(pkg.float32, [], "x")
    two = pkg.tensor(2.0)
    y = pg.cond(x > 0, lambda: x * two, lambda: x * x * two)
    got = same(tmp_path, y, [x], {"x:0": np.float32(value)})
    assert [value.item() for value in got] == wanted


def test_parts_in_parts_with_variables_controls_and_no_grad(tmp_path):
    """All that parts may have, in one graph."""
    x = pg.placeholder(pkg.float32, [None, 2], "x")
    w = pg.Variable(np.float32([[1, 0.5], [-0.5, 2]]), name="w")
    shift = pkg.tensor([1.0, 2.0])

    def turn(i, v):
        with pkg.no_grad():
            held = (v * 0 + 2).mean()
        _, inner = pg.while_loop(
            lambda j, u: j < i, lambda j, u: (j + 1, u * held + x @ w), (0, v)
        )
        with pg.control_dependencies([inner]), pg.name_scope("named"):
            chosen = pg.cond(
                inner.sum() > 3, lambda: inner * 0.5 + shift, lambda: pkg.sin(inner)
            )
        return i + 1, chosen

    _, y = pg.while_loop(lambda i, v: i < 4, turn, (0, x), name="loop")
    functions = y.graph.as_graph_def()["functions"]
    assert [name.rpartition("/")[2] for name in functions] == [
        "While:condition", "While:body", "While:condition", "While:body",
        "If:if_true", "If:if_false",
    ]  # fmt: skip
    same(tmp_path, y, [x, w], {"x:0": ROWS})


def test_variables_that_parts_assign(tmp_path):
    """A loop that counts in a variable, and a choice of operations."""
    n = pg.placeholder(pkg.int64, [], "n")
    count = pg.Variable(np.int64(10), name="count")

    def turn(i):
        with pg.control_dependencies([count.assign_add(2)]):
            return i + 1

    last = pg.while_loop(lambda i: i < n, turn, [0])
    with pg.control_dependencies([last]):
        done = pg.cond(
            n > 2, lambda: count.assign_add(100).op, lambda: count.assign_add(1000).op
        )
    pg.group(done, name="all")
    graph = again(pg.get_default_graph(), tmp_path)
    for n, wanted in [(1, 1012), (3, 116)]:
        with pg.Session(graph=graph) as session:
            session.run(graph.get_collection("variables")[0].initializer)
            session.run("all", {"n:0": n})
            assert session.run("count:0").item() == wanted


def test_shapes_that_change_and_what_is_collected(tmp_path):
    """Shape invariants, and map_fn and TensorArrays of TensorFlow."""
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [None, 2], "x")
        _, grown = tf.while_loop(
            lambda i, v: i < 3,
            lambda i, v: (i + 1, tf.concat([v, v * 2.0], 0)),
            [0, x],
            [tf.TensorShape([]), tf.TensorShape([None, 2])],
        )
        y = tf.map_fn(lambda row: tf.reduce_sum(row * row), grown)
        got = same(tmp_path, tf.reduce_sum(y), [x], {"x:0": ROWS})
    factor = (1 + 4) ** 3
    np.testing.assert_allclose(got[0], (ROWS**2).sum() * factor, rtol=1e-6)
    np.testing.assert_allclose(got[1], 2 * ROWS * factor, rtol=1e-6)


def test_a_gradient_of_ones_own(tmp_path):
    """It is a function of the file, with what it captured; also of second order."""
    x = pg.placeholder(pkg.float32, [], "x")
    w = pg.Variable(np.float32(3), name="w")
    index = pg.constant(2)
    own, _ = pg.with_gradient(
        [x, index, w], [pkg.sign(x) * w, x + 1], lambda g, h: [g * x * x, None, h * w]
    )
    (slope,) = pg.gradients(own, [x])
    got = same(tmp_path, own * 1.0, [x, w], {"x:0": np.float32(5)})
    assert [value.item() for value in got] == [3, 25, 0]
    got = same(tmp_path, slope, [x], {"x:0": np.float32(5)})
    assert [value.item() for value in got] == [25, 10]


def test_a_gradient_whose_function_has_a_loop(tmp_path):
    """And which is written a second time."""
    x = pg.placeholder(pkg.float32, [], "x")

    def slope(grad):
        return pg.while_loop(
            lambda i, g: i < 3, lambda i, g: (i + 1, g * x), (0, grad)
        )[1]

    (own,) = pg.with_gradient([x], [pkg.sin(x)], slope)
    same(tmp_path / "one", own, [x], {"x:0": np.float32(2)})
    read = again(again(own.graph, tmp_path / "two"), tmp_path / "three")
    got = values(read, own.name, ["x:0"], {"x:0": np.float32(2)})
    assert got[1].item() == 8


def test_two_gradients_behind_each_other_and_stops(tmp_path):
    """The order is kept."""
    x = pg.placeholder(pkg.float32, [], "x")
    (one,) = pg.with_gradient([x], [x * 1], lambda grad: grad * 2)
    (two,) = pg.with_gradient([one], [one * 1], lambda grad: grad * one)
    got = same(tmp_path, two + one, [x], {"x:0": np.float32(5)})
    assert [value.item() for value in got] == [10, 12]


@tf.RegisterGradient("TenTimesInput")
def ten_times_input(op, grad):
    """10 times the input and what arrives."""
    return grad * op.inputs[0] * 10.0


def test_custom_gradients_and_override_maps(tmp_path):
    """TensorFlow's two ways, with what they refer to."""
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [], "x")
        w = tf.Variable(4.0, name="w")

        @tf.custom_gradient
        def scaled(v):
            def grad(g, variables=None):
                return g * 7.0, [g * v for _ in variables]

            return v * w, grad

        with graph.gradient_override_map({"Sign": "TenTimesInput"}):
            y = tf.sign(x) + scaled(x)
        got = same(tmp_path, y, [x, w], {"x:0": np.float32(3)})
    assert [value.item() for value in got] == [13, 37, 3]


def test_what_a_file_cannot_have_is_named(tmp_path):
    """A Python function, in a part and in a gradient; and nothing is written."""
    graph = pg.get_default_graph()
    x = pg.placeholder(pkg.float32, [], "x")
    pg.with_gradient([x], [x * 2], lambda g: pg.py_func(np.sin, [g], pkg.float32))
    with pytest.raises(pg.GraphDefError, match="PyFunc.*Hint: let that") as caught:
        pg.export_graph(graph, tmp_path / "g")
    assert caught.value.node == "stop_gradient"
    with pg.Graph().as_default() as graph:
        pg.while_loop(
            lambda i: i < 3,
            lambda i: pg.py_func(lambda n: n + 1, [i], pkg.int64, name="mine"),
            [0], [pg.TensorShape(None)],
        )  # fmt: skip
        with pytest.raises(pg.GraphDefError, match="function of Python") as caught:
            pg.export_graph(graph, tmp_path / "g")
        assert caught.value.node == "mine"
    with pg.Graph().as_default() as graph:
        x = pg.placeholder(pkg.float32, [], "x")
        pg.with_gradient([x], [x * 2], lambda grad: 1 / 0)
        with pytest.raises(pg.GraphDefError, match="division by zero"):
            graph.as_graph_def()
    assert not (tmp_path / "g").exists()


def test_loops_in_each_other_up_to_a_depth():
    """What is deeper is refused when it is written."""

    def nested(depth):
        def turn(v):
            return nested(depth - 1)(v) if depth > 1 else v * 2

        return lambda v: pg.while_loop(lambda u: u < 4, turn, [v])

    x = pg.placeholder(pkg.float32, [], "x")
    y = nested(50)(x)
    made = pg.Graph()
    pg.import_graph(x.graph.as_graph_def(), made)
    with pg.Session(graph=made) as session:
        assert session.run(y.name, {"x:0": 1.5}).item() == 6
    nested(51)(x)
    with pytest.raises(pg.GraphDefError, match="at most 50"):
        x.graph.as_graph_def()


def test_inputs_that_are_mapped_and_names(tmp_path):
    """Under a name, two times, with another symbol and a shape that is narrower."""
    x = pg.placeholder(pkg.float32, [None], "x")
    w = pg.Variable([2.0], name="w")
    _, y = pg.while_loop(lambda i, v: i < 3, lambda i, v: (i + 1, v * x * w), (0, x))
    pg.export_graph(x.graph, tmp_path)
    with pg.Graph().as_default() as graph, pg.Session() as session:
        mine = pg.placeholder(pkg.float32, [1], "mine")
        found = [
            pg.import_graph(
                tmp_path, name="net", input_map={"x": mine}, return_elements=[y.name]
            )[0]
            for _ in range(2)
        ]
        for variable in graph.get_collection("variables"):
            session.run(variable.initializer)
        got = session.run(found, {mine: [3.0]})
        assert [value.item() for value in got] == [648] * 2
        assert found[1].name == f"net_1/{y.name}"
        wrong = pg.placeholder(pkg.float32, [2, 2])
        before = graph.version
        with pytest.raises(pg.GraphDefError, match="shape"):
            pg.import_graph(tmp_path, name="net", input_map={"x": wrong})
        assert graph.version == before


def counted_by_a_variable():
    """A definition with a loop and a choice that read w, and the names of three."""
    with pg.Graph().as_default() as graph:
        w = pg.Variable(np.float32(2), name="w")
        _, y = pg.while_loop(lambda i, v: i < 3, lambda i, v: (i + 1, v * w), (0, 1.0))
        z = pg.cond(y > 0, lambda: w * 10.0, lambda: w)
        return graph.as_graph_def(), [y.name, z.name, w.initializer.name]


def test_variables_that_are_mapped_reach_parts():
    """To a symbol and to another variable; the collection has the one of the file."""
    data, names = counted_by_a_variable()
    with pg.Graph().as_default() as graph, pg.Session() as session:
        mine = pg.placeholder(pkg.float32, [], "mine")
        y, z, _ = pg.import_graph(data, input_map={"w:0": mine}, return_elements=names)
        session.run(pg.global_variables_initializer())
        (slope,) = pg.gradients(y, [mine])
        got = session.run([y, z, slope, "w:0"], {mine: 5.0})
        assert [value.item() for value in got] == [125, 50, 75, 2]
        assert [v.name for v in graph.get_collection("variables")] == ["w:0"]
    with pg.Graph().as_default() as graph, pg.Session() as session:
        other = pg.Variable(np.float32(3), name="other")
        found = pg.import_graph(
            data, name="net", input_map={"w:0": other}, return_elements=names
        )
        session.run(pg.global_variables_initializer())
        assert [v.item() for v in session.run(found[:2])] == [27, 30]
        session.run(other.assign(4.0))
        assert [v.item() for v in session.run(found[:2])] == [64, 40]


@pytest.mark.parametrize("kind", ["placeholder", "variable"])
def test_a_mapped_variable_that_a_part_assigns_is_refused(kind):
    """With the node that assigns; nothing is added."""
    with pg.Graph().as_default() as graph:
        count = pg.Variable(np.float32(0), name="count")
        pg.while_loop(lambda v: v < 3, lambda v: count.assign(v + 1), [0.0])
        data = graph.as_graph_def()
    with pg.Graph().as_default() as graph:
        mine = pg.placeholder(pkg.float32, [], "mine")
        if kind == "variable":
            mine = pg.Variable(np.float32(0), name="mine")
        before = graph.version
        with pytest.raises(pg.GraphDefError, match="assigns to 'count'.*Hint") as error:
            pg.import_graph(data, name="net", input_map={"count:0": mine})
        assert error.value.node == "Assign"
        assert error.value.function.endswith(":body")
        assert graph.version == before


def test_a_loop_in_a_rewritten_graph():
    """What stands in it stays, what stands around it is replaced."""
    x = pg.placeholder(pkg.float32, [], "x")
    _, y = pg.while_loop(
        lambda i, v: i < 3, lambda i, v: (i + 1, pkg.sin(v)), (0, pkg.sin(x))
    )
    change = pg.rewrite(x.graph).replace_op("sin", lambda v: v * 2)
    with pg.Session(graph=change.apply()) as session:
        got = session.run(change.element(y), {"x:0": 0.25}).item()
    assert abs(got - np.sin(np.sin(np.sin(0.5)))) < 1e-6
    assert "body" in change.diff() or "mul" in change.diff()


def test_import_within_a_part_is_refused(tmp_path):
    """With what to do."""
    pg.constant(1.0)
    pg.export_graph(pg.get_default_graph(), tmp_path)

    def turn(v):
        pg.import_graph(tmp_path)
        return v

    with pytest.raises(NotImplementedError, match="import the graph before"):
        pg.while_loop(lambda v: v < 1, turn, [0.0])


def test_plain_data_with_functions_is_json():
    """Beside the tensors."""
    x = pg.placeholder(pkg.float32, [], "x")
    pg.while_loop(lambda v: v < 4, lambda v: v * pkg.tensor(2.0), [x])
    pg.with_gradient([x], [x * 2], lambda grad: grad * pkg.tensor(3.0))
    plain = without_tensors(x.graph.as_graph_def())
    assert json.loads(json.dumps(plain, allow_nan=False)) == plain


def test_meta_graphs(tmp_path):
    """TensorFlow's functions: collections, devices, a scope, variables."""
    with tf.Graph().as_default() as graph, graph.device("cpu:0"):
        x = tf.placeholder(tf.float32, [None, 2], name="x")
        w = tf.Variable([[1.0], [2.0]], name="w")
        sums = tf.map_fn(lambda row: tf.reduce_sum(row), tf.matmul(x, w))
        y = tf.identity(sums, name="y")
        tf.add_to_collection("results", y)
        tf.add_to_collection("losses", y)
        data = tf.train.export_meta_graph(
            str(tmp_path / "m"), collection_list=["variables", "results"]
        )
        plain = tf.train.export_meta_graph(clear_devices=True)
    assert set(data["collections"]) == {"variables", "results"}
    assert {node["device"] for node in data["nodes"]} == {"/device:CPU:0"}
    assert {node["device"] for node in plain["nodes"]} == {""}
    for source in (str(tmp_path / "m"), data):
        with tf.Graph().as_default() as graph, tf.Session() as session:
            (y,) = tf.train.import_meta_graph(
                source, import_scope="net", return_elements=["y:0"]
            )
            assert tf.get_collection("results") == [y]
            assert isinstance(tf.global_variables()[0], tf.Variable)
            session.run(tf.global_variables_initializer())
            got = session.run([y, tf.global_variables()[0].value()], {"net/x:0": ROWS})
            np.testing.assert_allclose(got[0], ROWS @ [1, 2])
            assert got[1].tolist() == [[1], [2]]
    with tf.Graph().as_default() as graph:
        tf.train.import_meta_graph(data, clear_devices=True)
        assert not any(op.device for op in graph.get_operations())
        with pytest.raises(pg.GraphDefError, match="lacks the entry 'format'"):
            tf.train.import_meta_graph({"nodes": 3, "functions": []})
