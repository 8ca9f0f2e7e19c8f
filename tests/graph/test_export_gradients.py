# SPDX-License-Identifier: Apache-2.0
"""Gradients of one's own in files: what the caller has entered does not count, what a
file cannot have is named, and graphs that grow meanwhile are written as they were."""

import copy
import threading

import pytest

import pkg
import pkg.compat.v1 as tf
import pkg.graph as pg
from pkg.graph.files import write_definition

pytestmark = pytest.mark.usefixtures("fresh_graph")


def squared_slope():
    """The definition of sin(x) with x**2 as its gradient."""
    with pg.Graph().as_default() as graph:
        x = pg.placeholder(pkg.float32, [], "x")
        pg.with_gradient([x], [pkg.sin(x)], lambda grad: grad * x * x)
        return graph, graph.as_graph_def()


def plain(definition):
    """What can be compared with ==."""
    return {key: value for key, value in definition.items() if key != "tensors"}


@pytest.mark.parametrize("mode", [pkg.no_grad, pkg.inference_mode])
def test_modes_and_scopes_of_the_caller_do_not_count(mode):
    """Of who writes, and of who reads: second derivatives are there."""
    graph, wanted = squared_slope()
    with mode(), graph.name_scope("a"), graph.device("gpu:0"):
        with graph.control_dependencies([graph.get_operations()[0]]):
            found = graph.as_graph_def()
    assert plain(found) == plain(wanted)
    with mode():
        x, y = pg.import_graph(found, return_elements=["x:0", "stop_gradient:0"])
    (first,) = pg.gradients(y, [x])
    (second,) = pg.gradients(first, [x])
    with pg.Session() as session:
        got = session.run([first, second], {x: 5.0})
    assert [value.item() for value in got] == [25, 10]


def test_a_graph_that_is_written_within_a_part_or_an_override_map():
    """Their functions are the same as outside."""
    x = pg.placeholder(pkg.float32, [], "x")
    pg.with_gradient([x], [pkg.sin(x)], lambda grad: grad * x)
    wanted, found = x.graph.as_graph_def(), []

    def turn(v):
        found.append(x.graph.as_graph_def())
        return v * x

    pg.while_loop(lambda v: v < 3, turn, [x])
    assert found[0]["functions"] == wanted["functions"]
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [], "x")
        tf.custom_gradient(lambda v: (tf.sin(v), lambda grad: grad * tf.sign(v)))(x)
        wanted = pg.Graph.as_graph_def(graph)
        with graph.gradient_override_map({"Sign": "NotRegistered"}):
            assert plain(pg.Graph.as_graph_def(graph)) == plain(wanted)


def test_gradients_are_asked_for_after_each_of_several_imports():
    """Names of the file that look like those of scopes are in nobody's way."""
    graph, _ = squared_slope()
    with graph.as_default():
        pg.gradients(graph.get_tensor_by_name("stop_gradient:0"),
                     [graph.get_tensor_by_name("x:0")])  # fmt: skip
    data = graph.as_graph_def()
    for _ in range(3):
        with pg.Graph().as_default() as graph, pg.Session() as session:
            x, y = pg.import_graph(data, return_elements=["x:0", "stop_gradient:0"])
            slopes = [pg.gradients(y, [x])[0] for _ in range(2)]
            got = session.run(slopes, {x: 5.0})
            assert [value.item() for value in got] == [25, 25]
            data = graph.as_graph_def()


def test_a_name_that_only_nodes_have():
    """The prefix is one under which nothing is."""
    x = pg.placeholder(pkg.float32, [], "net/x")
    y = pg.placeholder(pkg.float32, [], "x")
    with pg.Graph().as_default():
        pg.import_graph(x.graph.as_graph_def())
        found = pg.import_graph(
            y.graph.as_graph_def(), name="net", return_elements=["x"]
        )
        assert found[0].name == "net_1/x"


def through_another(x, own):
    """gradients() in the function of a gradient."""
    return lambda grad: pg.gradients(own, [x])[0] * grad


def of_its_outputs(x, own):
    """The same with what arrives."""
    return lambda grad: pg.gradients(own, [x], [grad])[0]


def with_another(x, own):
    """with_gradient() in the function of a gradient."""
    return lambda grad: pg.with_gradient([grad], [grad * 2], lambda g: g)[0]


def with_a_constant(x, own):
    """A constant of the graph itself."""

    def function(grad):
        with x.graph.as_default():
            two = pg.constant(2.0, name="two")
        return grad * two

    return function


@pytest.mark.parametrize(
    "make, match",
    [
        (through_another, r"\[gradients\] .*which is being written.*Hint: .*gradients"),
        (of_its_outputs, r"\[gradients\] .*which is being written.*Hint: .*gradients"),
        (with_another, r"\[with_gradient\] in the function.*Hint: .*with_gradient\(\)"),
        (with_a_constant, "it added two to the graph itself.*Hint: .*as_default"),
    ],
)
def test_functions_that_add_to_the_graph_are_refused(tmp_path, make, match):
    """What was written before stays; in the graph they work."""
    x = pg.placeholder(pkg.float32, [], "x")
    (own,) = pg.with_gradient([x], [x * x], lambda grad: grad * 7)
    pg.export_graph(x.graph, tmp_path)
    before = (tmp_path / "graph.json").read_bytes()
    (other,) = pg.with_gradient([x], [x * 3], make(x, own))
    with pytest.raises(pg.GraphDefError, match=match) as error:
        pg.export_graph(x.graph, tmp_path)
    assert error.value.node == other.op.name
    assert (tmp_path / "graph.json").read_bytes() == before
    (slope,) = pg.gradients(other, [x])
    with pg.Session() as session:
        assert session.run(slope, {x: 1.0}).item() in (2, 7)


def test_gradients_of_what_the_function_made_are_written():
    """They are operations like others: here 2 * grad * x."""
    x = pg.placeholder(pkg.float32, [], "x")

    def function(grad):
        return pg.gradients(grad * grad, [grad])[0] * x

    (own,) = pg.with_gradient([x], [x * 1], function)
    data = x.graph.as_graph_def()
    with pg.Graph().as_default(), pg.Session() as session:
        x, own = pg.import_graph(data, return_elements=["x:0", own.name])
        (slope,) = pg.gradients(own, [x], [pkg.tensor(3.0)])
        assert session.run(slope, {x: 5.0}).item() == 30


def test_what_cannot_be_read_is_not_written(tmp_path):
    """The last check before a file takes the place of another."""
    graph, data = squared_slope()
    pg.export_graph(graph, tmp_path)
    before = (tmp_path / "graph.json").read_bytes()
    data["nodes"] = data["nodes"][1:]
    with pytest.raises(pg.GraphDefError, match="'x'"):
        write_definition(data, tmp_path)
    assert (tmp_path / "graph.json").read_bytes() == before


def test_a_gradient_of_another_dtype_than_the_file_says():
    """What building it finds is an error of the file."""
    x = pg.placeholder(pkg.float32, [], "x")
    own = pg.with_gradient(
        [x],
        [x * 1],
        lambda grad: pkg.ops.to(pkg.ops.to(grad, pkg.float64), pkg.float32),
    )
    data = x.graph.as_graph_def()
    (function,) = data["functions"].values()
    last = function["nodes"][-1]
    assert last["attributes"]["dtype"] == {"dtype": "float32"}
    last["attributes"]["dtype"] = {"dtype": "float64"}
    with pg.Graph().as_default() as graph:
        with pytest.raises(pg.GraphDefError, match="its gradient: .*float64") as error:
            pg.import_graph(data)
        assert error.value.node == own[0].op.name and graph.version == 0


def test_definitions_of_a_graph_that_grows():
    """Each is one that can be read, whatever another thread adds meanwhile."""
    graph, stop, failed = pg.get_default_graph(), threading.Event(), []
    x = pg.placeholder(pkg.float32, [], "x")

    def grow():
        try:
            with graph.as_default():
                for i in range(150):
                    (own,) = pg.with_gradient([x], [x * 2], lambda grad: grad * x)
                    graph.add_to_collection(f"more_{i}", own)
                    pg.Variable(1.0)
                    pg.cond(x > 0, lambda: x, lambda: x * 2)
        except Exception as error:
            failed.append(error)
        finally:
            stop.set()

    thread = threading.Thread(target=grow)
    thread.start()
    found = []
    while not stop.is_set():
        found.append(graph.as_graph_def())
    thread.join()
    assert not failed
    for data in found[-10:]:
        pg.import_graph(data, pg.Graph())
    assert len(graph.as_graph_def()["gradients"]) == 150


def test_clear_devices_leaves_the_callers_dict_alone():
    """Also one of which the nodes are no list."""
    given = {"nodes": 3, "functions": {"f": {"nodes": [{"device": "cpu:0"}]}}}
    before = copy.deepcopy(given)
    with tf.Graph().as_default():
        with pytest.raises(pg.GraphDefError):
            tf.train.import_meta_graph(given, clear_devices=True)
    assert given == before


def test_variables_that_are_mapped_reach_gradients():
    """What they read is the symbol in their place; one that assigns is refused."""
    x = pg.placeholder(pkg.float32, [], "x")
    w = pg.Variable(2.0, name="w")
    (own,) = pg.with_gradient([x], [x * 1], lambda grad: grad * w)
    data = x.graph.as_graph_def()
    with pg.Graph().as_default(), pg.Session() as session:
        mine = pg.placeholder(pkg.float32, [], "mine")
        x, y = pg.import_graph(
            data, input_map={"w:0": mine}, return_elements=["x:0", own.name]
        )
        (slope,) = pg.gradients(y, [x])
        session.run(pg.global_variables_initializer())
        assert session.run(slope, {x: 1.0, mine: 5.0}).item() == 5
    pg.with_gradient([own], [own * 1], lambda grad: w.assign(grad))
    data = own.graph.as_graph_def()
    with pg.Graph().as_default() as graph:
        other = pg.Variable(3.0, name="other")
        before = graph.version
        with pytest.raises(
            pg.GraphDefError, match="assigns to 'w'.*input_map"
        ) as error:
            pg.import_graph(data, name="net", input_map={"w:0": other})
        assert graph.version == before and error.value.function
