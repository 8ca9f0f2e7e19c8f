# SPDX-License-Identifier: Apache-2.0
"""Graphs to plain data and to folders, and back: bitwise the same results."""

import json
import os

import numpy as np
import pytest
from test_ops_in_graphs import (
    COUNTED,
    DIFFERENTIABLE,
    NOT_IN_GRAPHS,
    equal_bits,
    symbols,
)

import pkg
import pkg.graph as pg
from graph_definitions import without_tensors
from libraries import library, output_of
from op_table import CASES
from op_values import inputs_of, outputs

CASES = [case for case in CASES if case.name not in NOT_IN_GRAPHS]

pytestmark = pytest.mark.usefixtures("fresh_graph")


def imported(graph, folder, **options):
    """The graph, by way of a folder."""
    pg.export_graph(graph, folder, **options)
    made = pg.Graph()
    pg.import_graph(folder, made)
    assert without_tensors(made.as_graph_def()) == without_tensors(graph.as_graph_def())
    return made


def run(graph, names, feeds):
    """Values of symbols by name."""
    return pg.Session(graph=graph).run(names, feeds)


@pytest.mark.parametrize("unknown", ["known", "sizes"])
@pytest.mark.parametrize("case", CASES, ids=str)
def test_every_op(case, unknown, tmp_path):
    """Each row of the op table gives the same bits after a round trip."""
    arrays = inputs_of(case)
    if unknown == "sizes" and (not arrays or case.name in COUNTED):
        pytest.skip("nothing is unknown, or has to be known")
    graph = pg.get_default_graph()
    given = symbols(arrays, unknown)
    if given:
        made = outputs(case.call(pkg, *given))
    else:
        made = outputs(graph.record(None, case.call, pkg))
    names = [symbol.name for symbol in made]
    feeds = {symbol.name: pkg.tensor(a) for symbol, a in zip(given, arrays)}
    pkg.manual_seed(7)
    wanted = run(graph, names, feeds)
    again = imported(graph, tmp_path / "graph")
    pkg.manual_seed(7)
    for result, expected in zip(run(again, names, feeds), wanted, strict=True):
        equal_bits(result, expected)


@pytest.mark.parametrize("case", DIFFERENTIABLE[::3], ids=str)
def test_gradients_of_ops(case, tmp_path):
    """The node of gradients is kept with the places of its inputs."""
    arrays = inputs_of(case)
    graph = pg.get_default_graph()
    given = symbols(arrays, "known")
    made = [y for y in outputs(case.call(pkg, *given)) if y.dtype.is_floating_point]
    found = [g for g in pg.gradients(made, given) if g is not None]
    names = [symbol.name for symbol in found]
    feeds = {symbol.name: pkg.tensor(a) for symbol, a in zip(given, arrays)}
    wanted = run(graph, names, feeds)
    again = imported(graph, tmp_path / "graph")
    for result, expected in zip(run(again, names, feeds), wanted, strict=True):
        equal_bits(result, expected)


def training():
    """A small network with all kinds of operations; the names to run."""
    x = pg.placeholder(pkg.float32, [None, 3], "x")
    rate = pg.placeholder(pkg.float32, [], "rate", default=0.5)
    with pg.name_scope("layer"), pg.get_default_graph().device("cpu:0"):
        w = pg.Variable(np.arange(6, dtype="float32").reshape(3, 2) / 5, name="w")
        b = pg.Variable(lambda: pg.constant([0.0, 1.0]), trainable=False, name="b")
        y = pkg.relu(x @ w + b)
    loss = (y * y).mean()
    steps = pg.Variable(np.int64(0), trainable=False, name="steps")
    (grad,) = pg.gradients(loss, [w], grad_ys=[pkg.tensor(2.0)])
    with pg.control_dependencies([steps.assign_add(1)]):
        update = w.assign_sub(grad * rate, name="update")
    with pg.control_dependencies([update]):
        after = w.read_value()
    pg.group(after, name="all")
    pg.get_default_graph().add_to_collection("results", loss)
    pg.get_default_graph().add_to_collection("others", object())
    pg.global_variables_initializer()
    return [loss.name, after.name, steps.name]


def test_training_goes_on_as_before(tmp_path):
    """Variables, assignments, gradients, controls, groups, devices and collections."""
    names = training()
    graph = pg.get_default_graph()
    session = pg.Session()
    session.run("init")
    feeds = {"x": np.float32([[1, 2, 3], [4, -5, 6]])}
    feeds = {"x:0": feeds["x"]}
    session.run("all", feeds)
    again = imported(graph, tmp_path / "g", session=session)
    other = pg.Session(graph=again)
    restored = pg.restore_variables(tmp_path / "g", other)
    assert restored == ["layer/w", "layer/b", "steps"]
    for _ in range(3):
        for a, b in zip(session.run(names, feeds), other.run(names, feeds)):
            equal_bits(b, a)
    assert other.run("steps:0").item() == 4
    assert again.get_operation_by_name("layer/relu").device == "cpu:0"
    assert again.get_collection("results") == [again.get_tensor_by_name(names[0])]
    assert "others" not in again.get_all_collection_keys()
    trainable = again.get_collection("trainable_variables")
    assert [v.name for v in trainable] == ["layer/w:0"]
    assert [v.name for v in again.get_collection("variables")][1:] == [
        "layer/b:0", "steps:0",
    ]  # fmt: skip
    assert isinstance(trainable[0], pg.Variable)
    other.run(trainable[0].initializer)
    assert other.run(trainable[0])[2, 1].item() == 1.0
    with again.as_default():
        other.run(pg.global_variables_initializer())
    assert other.run("steps:0").item() == 0


ODD = [
    (pkg.full, ([2], float("inf")), {"dtype": pkg.float64}),
    (pkg.full, ([2], float("-inf")), {}),
    (pkg.full, ([2], float("nan")), {}),
    (pkg.full, ([2], -0.0), {}),
    (pkg.full, ([2], 2**63 - 1), {"dtype": pkg.int64}),
    (pkg.full, ([], -(2**63)), {"dtype": pkg.int64}),
    (pkg.full, ([1], True), {}),
    (pkg.full, ([1], 1e300), {"dtype": pkg.float64}),
    (pkg.full, ([1], 5e-324), {"dtype": pkg.float64}),
    (pkg.full, ([1], 1e22), {"dtype": pkg.float64}),
    (pkg.full, ([1], 0.1), {"dtype": pkg.float64}),
    (pkg.full, ([1], 1), {"dtype": pkg.bfloat16}),
]


@pytest.mark.parametrize("function, args, options", ODD)
def test_numbers_come_back_as_they_were(function, args, options, tmp_path):
    """Infinities, NaN, signs of zeros, ints of 64 bits, bools, each with its type."""
    graph = pg.get_default_graph()
    made = graph.record("odd", function, *args, **options)
    again = imported(graph, tmp_path)
    equal_bits(run(again, made.name, {}), run(graph, made.name, {}))
    kept = graph.as_graph_def()["nodes"][0]["attributes"]["fill_value"]
    assert json.loads(json.dumps(kept)) == kept
    assert type(kept) in (type(args[1]), dict)


def test_text_of_ops_and_names(tmp_path):
    """Quotes, control characters and what is not ASCII."""
    name = 'a "quoted" \\ \n\t é 漢 \U0001f600'
    x = pg.placeholder(pkg.float32, [2, 3], name)
    made = pkg.einsum("ij->ji", [x])
    again = imported(pg.get_default_graph(), tmp_path)
    assert again.get_tensor_by_name(f"{name}:0").shape == (2, 3)
    value = np.ones((2, 3), "float32")
    assert run(again, made.name, {f"{name}:0": value}).shape == (3, 2)


def test_all_dtypes_of_tensors(tmp_path):
    """Constants, captured tensors and defaults, each kept once."""
    names = "bool uint8 int8 int32 int64 float16 bfloat16 float32 float64".split()
    tensors = [pkg.tensor([0, 1, 3]).to(getattr(pkg, name)) for name in names]
    fetches = [pg.constant(tensor).name for tensor in tensors]
    x = pg.placeholder(pkg.float64, [3], "x", default=[1, 2, 3])
    shared = pkg.tensor([1.0, 2.0, 3.0])
    fetches += [(x + shared).name, (x * shared).name]
    graph = pg.get_default_graph()
    assert len(graph.as_graph_def()["tensors"]) == len(names) + 2
    again = imported(graph, tmp_path)
    for got, wanted in zip(run(again, fetches, {}), run(graph, fetches, {})):
        equal_bits(got, wanted)


def test_plain_data_is_json_beside_the_tensors():
    """Nothing but dicts, lists and what JSON has."""
    training()
    definition = pg.get_default_graph().as_graph_def()
    plain = without_tensors(definition)
    assert json.loads(json.dumps(plain, allow_nan=False)) == plain
    copy = pg.Graph()
    pg.import_graph({**plain, "tensors": definition["tensors"]}, copy)
    assert without_tensors(copy.as_graph_def()) == plain


def test_names_and_mapped_inputs(tmp_path):
    """A name stands before all names; symbols take the place of inputs."""
    x = pg.placeholder(pkg.float32, [None], "x")
    pkg.add(x, 1.0)
    pg.export_graph(pg.get_default_graph(), tmp_path)
    with pg.Graph().as_default() as graph:
        mine = pg.placeholder(pkg.float32, [4], "mine")
        (first,) = pg.import_graph(
            tmp_path, name="part", input_map={"x": mine}, return_elements=["add:0"]
        )
        assert first.name == "part/add:0" and first.shape == (4,)
        assert first.op.inputs == (mine,)
        (second,) = pg.import_graph(
            tmp_path, name="part", input_map={"x:0": first}, return_elements=["add:0"]
        )
        assert second.name == "part_1/add:0"
        assert run(graph, second, {mine: [1, 2, 3, 4]}).tolist() == [3, 4, 5, 6]
        with pg.name_scope("scope"):
            (op,) = pg.import_graph(tmp_path, return_elements=["x"])
        assert op.name == "scope/x"
        assert pg.placeholder(pkg.float32, [], "scope/x").op.name == "scope/x_1"
        assert pg.import_graph(tmp_path) is None
        before = graph.version
        with pytest.raises(ValueError, match="names are taken: .x, add"):
            pg.import_graph(tmp_path)
        for key, value, error in [
            ("nothing", mine, ValueError), ("x:1", mine, ValueError),
            ("x", 3.0, TypeError), (3, mine, TypeError),
            ("x", pkg.ones(4), TypeError), ("x", mine > 0, ValueError),
        ]:  # fmt: skip
            count = graph.version
            with pytest.raises(error):
                pg.import_graph(tmp_path, name="n", input_map={key: value})
            assert graph.version == count
        with pytest.raises(ValueError, match="'nothing'"):
            pg.import_graph(tmp_path, name="n", return_elements=["nothing"])
        assert graph.version == before + 1  # mine > 0
        graph.finalize()
        with pytest.raises(RuntimeError, match="finalized"):
            pg.import_graph(tmp_path, name="n")


def test_mapped_inputs_that_do_not_fit_change_nothing(tmp_path):
    """The shapes of what takes them are inferred again before anything is added."""
    x = pg.placeholder(pkg.float32, [2, 3], "x")
    x @ pkg.ones(3, 2)
    pg.export_graph(pg.get_default_graph(), tmp_path)
    with pg.Graph().as_default() as graph:
        mine = pg.placeholder(pkg.float32, [2, 5])
        with pytest.raises(pg.GraphDefError, match="matmul") as caught:
            pg.import_graph(tmp_path, name="n", input_map={"x": mine})
        assert caught.value.node == "matmul"
        assert [op.name for op in graph.get_operations()] == ["Placeholder"]


def test_writing_again_replaces_the_graph(tmp_path):
    """And leaves one file of tensors; a failure leaves what was there."""
    pg.export_graph(pg.constant([1.0]).graph, tmp_path)
    pg.constant([2.0])
    pg.export_graph(pg.get_default_graph(), tmp_path)
    assert len(os.listdir(tmp_path)) == 2
    with pg.Graph().as_default() as other:
        x = pg.placeholder(pkg.float32, [2])
        x + pkg.empty([2], device="meta")
        with pytest.raises(ValueError, match="meta"):
            pg.export_graph(other, tmp_path)
    again = pg.Graph()
    pg.import_graph(tmp_path, again)
    assert run(again, "Const_1:0", {}).item() == 2
    assert len(os.listdir(tmp_path)) == 2


def test_crash_while_writing_leaves_the_old_graph(tmp_path, monkeypatch):
    """The last step is one renaming."""
    pg.export_graph(pg.constant([1.0]).graph, tmp_path)
    pg.constant([2.0])
    replace = os.replace

    def stop_at(name):
        def stopping(source, target):
            if str(target).endswith(name):
                raise OSError("no space")
            replace(source, target)

        return stopping

    for name in ("safetensors", "graph.json"):
        monkeypatch.setattr(os, "replace", stop_at(name))
        with pytest.raises(OSError, match="no space"):
            pg.export_graph(pg.get_default_graph(), tmp_path)
        again = pg.Graph()
        pg.import_graph(tmp_path, again)
        assert [op.name for op in again.get_operations()] == ["Const"]
        assert not [file for file in os.listdir(tmp_path) if file.endswith("tmp")]


def test_variables_that_are_written(tmp_path):
    """Those asked for; all with a value; an error for one without."""
    a, b = pg.Variable([1.0], name="a"), pg.Variable([2.0], name="b")
    graph = pg.get_default_graph()
    session = pg.Session()
    session.run(a.initializer)
    with pytest.raises(ValueError, match="'b'"):
        pg.export_graph(graph, tmp_path, [a, b], session)
    with pytest.raises(ValueError, match="session"):
        pg.export_graph(graph, tmp_path, [a])
    with pytest.raises(ValueError, match="of this graph"):
        pg.export_graph(pg.Graph(), tmp_path, session=session)
    pg.export_graph(graph, tmp_path, session=session)
    with pg.Graph().as_default():
        pg.import_graph(tmp_path, name="part")
        other = pg.Session()
        with pytest.raises(KeyError):
            pg.restore_variables(tmp_path, other)
        assert pg.restore_variables(tmp_path, other, "part") == ["part/a"]
        assert other.run("part/a:0").item() == 1
    session.run(b.initializer)
    pg.export_graph(graph, tmp_path, [b], session)
    with pg.Graph().as_default():
        pg.import_graph(tmp_path)
        assert pg.restore_variables(tmp_path, pg.Session()) == ["b"]
    session.close()
    with pytest.raises(RuntimeError, match="closed"):
        pg.export_graph(graph, tmp_path, session=session)


LIBRARY = """
#include "dispatcher/library.h"
PKG_LIBRARY(mine, m) {
  m.def("same.plain(Tensor self, *, float factor=2.5, str mode='a') -> Tensor")
      .composite([](const pkg::Tensor& x, double, const std::string&) { return x; });
}
"""
PROGRAM = """
import pkg, pkg.graph as pg
if {load}:
    pkg.ops.load_library("mine.so")
graph = pg.Graph()
if {write}:
    with graph.as_default():
        x = pg.placeholder(pkg.float32, [2], "x")
        pkg.ops.mine.same(x, mode="b")
    pg.export_graph(graph, "written")
else:
    try:
        pg.import_graph("written", graph)
    except pg.GraphDefError as error:
        print(error)
    else:
        attributes = graph.as_graph_def()["nodes"][1]["attributes"]
        print(graph.get_operations()[1].type, attributes)
"""


def test_ops_of_libraries(tmp_path):
    """Have their namespace; without the library they are not known."""
    source = tmp_path / "mine.cc"
    source.write_text(LIBRARY)
    library(source)
    output_of(PROGRAM.format(load=True, write=True), tmp_path)
    said = output_of(PROGRAM.format(load=True, write=False), tmp_path)
    assert said == (
        "mine::same.plain {'self': {'input': 0}, 'factor': 2.5, 'mode': 'b'}\n"
    )
    said = output_of(PROGRAM.format(load=False, write=False), tmp_path)
    assert "'mine::same.plain' (node 'mine__same_plain')" in said


def test_what_was_added_under_no_grad_stays_without_gradients(tmp_path):
    """Through a file and back: the gradient is that of the graph before."""
    with pg.Graph().as_default() as graph:
        x = pg.placeholder(pkg.float32, [], "x")
        with pkg.no_grad():
            held = x * 3
        y = pg.record(pkg.mul, x, held, name="y")
    pg.export_graph(graph, tmp_path / "g")
    with pg.Graph().as_default(), pg.Session() as session:
        x, y = pg.import_graph(tmp_path / "g", return_elements=["x:0", "y:0"])
        (slope,) = pg.gradients(y, [x])
        assert session.run([y, slope], {x: 2.0}) == [pkg.tensor(12.0), pkg.tensor(6.0)]


def test_what_runs_functions_is_no_data():
    """A function of Python is refused by name."""
    with pg.Graph().as_default() as graph:
        i = pg.py_func(lambda: 1.0, [], pkg.float64, name="mine")
        with pytest.raises(ValueError, match="mine.*PyFunc runs a function"):
            graph.as_graph_def()
    assert isinstance(i, pg.Symbol)


def test_graphs_with_tensorflows_words_are_files_too(tmp_path):
    """Types, sizes and variables are written by the names that this library has."""
    import pkg.compat.v1 as tf

    with tf.Graph().as_default() as graph, tf.Session() as session:
        x = tf.placeholder(tf.float32, [None, 2], name="x")
        bias = tf.Variable([1.0, 2.0])
        tf.nn.bias_add(tf.cast(x, tf.float32) * 2.0, bias, name="y")
        session.run(tf.global_variables_initializer())
        pg.export_graph(graph, tmp_path, session=session)
    with pg.Graph().as_default(), pg.Session() as session:
        (y,) = pg.import_graph(tmp_path, return_elements=["y:0"])
        pg.restore_variables(tmp_path, session)
        assert session.run(y, {"x:0": [[1.0, 1.0]]}).tolist() == [[3, 4]]
