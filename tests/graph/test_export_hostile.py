# SPDX-License-Identifier: Apache-2.0
"""Damaged definitions and files of graphs: a precise error each, and nothing added."""

import copy
import json
import os
import subprocess
import sys

import pytest

import pkg
import pkg.graph as pg
from child import child_environment
from paths import TESTS

LARGE = 2**40


def spec(shape, dtype="float32"):
    """An output of a node."""
    return {"dtype": dtype, "shape": shape}


def node(name, op, inputs=(), attributes=None, outputs=None, device=""):
    """A node of a definition."""
    return {
        "name": name,
        "op": op,
        "inputs": list(inputs),
        "attributes": attributes or {},
        "device": device,
        "outputs": [spec([2, 3])] if outputs is None else outputs,
    }


def definition(*nodes, **more):
    """A whole one."""
    return {"format": "pkg.graph", "version": 1, "nodes": list(nodes), **more}


X = node("x", "Placeholder")
SELF = {"self": {"input": 0}}
RELU = node("y", "relu", ["x:0"], SELF)


def refused(data, match, name=None):
    """Import raises, names the node, and leaves a graph as it was."""
    graph = pg.Graph()
    with graph.as_default():
        pg.placeholder(pkg.float32, [2], "there")
        before = graph.version
        with pytest.raises(pg.GraphDefError, match=match) as caught:
            pg.import_graph(data)
    assert caught.value.node == name
    assert len(str(caught.value)) < 2000
    assert graph.version == before
    assert graph.unique_name("y", False) == "y"


def test_the_helpers_make_what_loads():
    """Else the other tests would pass for a wrong reason."""
    graph = pg.Graph()
    pg.import_graph(definition(X, RELU), graph)
    assert [op.type for op in graph.get_operations()] == ["Placeholder", "relu"]


def test_unknown_ops_are_listed_all_at_once():
    """With the first node of each, also a known op's unknown overload."""
    data = definition(
        X,
        node("a", "frobnicate", ["x:0"], SELF),
        node("b", "lib::op.Tensor", ["x:0"], SELF),
        node("c", "relu.Overload", ["x:0"], SELF),
        node("d", "../evil", ["x:0"], SELF),
        node("e", "frobnicate", ["x:0"], SELF),
        RELU,
    )
    refused(
        data,
        r"'frobnicate' \(node 'a'\), 'lib::op.Tensor' \(node 'b'\), "
        r"'relu.Overload' \(node 'c'\), '../evil' \(node 'd'\)\. Hint",
    )


STRUCTURE = [
    (definition(X, X), "twice", "x"),
    (definition(RELU), "'x' does not exist", "y"),
    (definition(RELU, X), "stands behind it", "y"),
    (definition(node("y", "relu", ["y:0"], SELF)), "a cycle", "y"),
    (definition(X, node("y", "relu", ["x:1"], SELF)), "has only 1", "y"),
    (definition(X, node("y", "relu", ["x"], SELF)), "'name:output'", "y"),
    (definition(X, node("y", "relu", ["x:-1"], SELF)), "'name:output'", "y"),
    (definition(X, node("y", "relu", ["x:" + "9" * 99], SELF)), "'name:output'", "y"),
    (definition(X, node("y", "relu", ["^z"], SELF)), "'z' does not exist", "y"),
    (definition(X, node("y", "relu", ["^x", "x:0"], SELF)), "stands behind a", "y"),
    (definition(X, node("y", "relu", ["x:0"])), "each of its 1 inputs once", "y"),
    (
        definition(X, node("y", "add", ["x:0"], {**SELF, "other": {"input": 0}})),
        "each of its 1 inputs once",
        "y",
    ),
    (definition(X, node("y", "relu", ["x:0"], {"self": {"input": 1}})), "once", "y"),
    (definition(node("^x", "Placeholder")), "begin with", "^x"),
    (definition(node("x", "Placeholder", device=3)), "for the device", "x"),
    (definition(node("a\0b", "Placeholder")), "valid text", None),
    (definition(node("\ud800", "Placeholder")), "valid text", None),
    (definition(node("", "Placeholder")), "empty string", None),
    (definition(node("x", "Placeholder", outputs=[])), "1 outputs, got 0", "x"),
    (definition(node("x", "Placeholder", attributes={"a": 1})), "the attributes", "x"),
    (definition(3), "position 0", None),
    (definition({**X, "more": 1}), "'more'", None),
    (definition({"name": "x"}), "lacks the entry 'attributes'", None),
    ({**definition(X), "version": 2}, "expected version 1, got 2", None),
    ({**definition(X), "version": True}, "expected version 1, got True", None),
    ({**definition(X), "format": "other"}, "'pkg.graph', got 'other'", None),
    ({**definition(X), "nodes": {}}, "list for nodes", None),
    (definition(X, collections={"c": ["nothing"]}), "'nothing'", None),
    (definition(X, collections={"c": ["x:4"]}), "'x:4' of 1 outputs", "x"),
    (definition(X, collections={"variables": ["x:0"]}), "with initializers", "x"),
    (definition(node("c", "Const", (), {"value": {"tensor": "t"}})), "tensor 't'", "c"),
    (definition(node("c", "Const", (), {"value": 3})), "a tensor as value", "c"),
    (definition(X, tensors={"t": 3}), "got int for 't'", None),
]


@pytest.mark.parametrize("data, match, name", STRUCTURE, ids=lambda value: None)
def test_structure(data, match, name):
    """Each rule of the format."""
    refused(data, match, name)


VALUES = [
    (spec([2, -3]), "got -3"),
    (spec([2, 2**63]), "got 9223372036854775808"),
    (spec([2, 10**400]), "an int of 1329 bits"),
    (spec([2, 1.0]), "got 1.0"),
    (spec([True]), "got True"),
    (spec("x"), "list for a shape"),
    (spec([2, 3], "float"), "name of a dtype, got 'float'"),
    (spec([2, 3], "float33"), "name of a dtype"),
    (spec([2, 3], 3), "name of a dtype, got 3"),
    (spec([2, 4]), r"expected the shape \[2, 4\]"),
    (spec([2]), r"expected the shape \[2\]"),
    (spec([2, 3], "float64"), "expected float64 as output 0"),
]


@pytest.mark.parametrize("output, match", VALUES, ids=lambda value: None)
def test_outputs(output, match):
    """Dtypes and shapes, and that they are those which are inferred again."""
    refused(definition(X, {**RELU, "outputs": [output]}), match, "y")


@pytest.mark.parametrize(
    "value, match",
    [
        ("1", "dim"),
        (1.5, "dim"),
        ([[1]], "expected a value"),
        (2, "Dimension out of range"),
        (2**63, "int of 64 bits"),
        ({"float": 1}, "expected a value"),
        ({"float": "infinity"}, "expected a value"),
        ({"input": -1}, "expected a value"),
        ({"input": True}, "expected a value"),
        ({"number": "1"}, "expected a value"),
        ({"number": {"number": 1}}, "expected a value"),
        ({"device": "cuda:0"}, "expected a device"),
        ({"a": 1, "b": 2}, "expected a value"),
        ({"operation": "x"}, "refer to operations"),
        ({"tensor": "x"}, "no tensor 'x'"),
        ("\ud800", "valid text"),
        ({"dtype": "float32"}, "dim"),
    ],
)
def test_attributes(value, match):
    """What no attribute is, and what the op does not take."""
    data = definition(X, node("y", "softmax", ["x:0"], {**SELF, "dim": value}))
    refused(data, match, "y")


def test_a_node_after_many_good_ones_fails_and_nothing_is_added():
    """What is built first is thrown away."""
    good = [node(f"r{i}", "relu", ["x:0"], SELF) for i in range(20)]
    bad = node("bad", "matmul", ["x:0", "r3:0"], {**SELF, "other": {"input": 1}})
    refused(definition(X, *good, bad), "matmul", "bad")


def variable(**changes):
    """A variable, its initial value and its initializer."""
    nodes = {
        "c": node("c", "Const", (), {"value": {"tensor": "t"}}, [spec([2])]),
        "w": node("w", "Variable", (), {
            "initializer": {"operation": "a"}, "trainable": True,
        }, [spec([2])]),
        "a": node("a", "Assign", ["c:0"], {
            "variable": {"operation": "w"}, "value": {"input": 0},
        }, [spec([2])]),
    }  # fmt: skip
    for key, value in changes.items():
        name, field = key.split("_")
        nodes[name][field] = value
    return definition(*nodes.values(), tensors={"t": pkg.ones(2)})


def test_variables_and_assignments():
    """The two refer to each other, and only so."""
    pg.import_graph(variable(), pg.Graph())
    for changes, match, name in [
        ({"w_outputs": [spec([3])]}, "Dimensions must be equal", "a"),
        ({"w_outputs": [spec([2], "int64")]}, "int64", "a"),
        ({"w_attributes": {"initializer": 3, "trainable": True}}, "initializer", "w"),
        (
            {"w_attributes": {"initializer": {"operation": "c"}, "trainable": True}},
            "does not assign to it",
            "w",
        ),
        (
            {"w_attributes": {"initializer": {"operation": "a"}, "trainable": 1}},
            "bool for trainable",
            "w",
        ),
        (
            {
                "a_attributes": {
                    "variable": {"operation": "c"},
                    "value": {"input": 0},
                },
                "w_attributes": {},
            },
            "'c' is no variable",
            "a",
        ),
    ]:
        refused(variable(**changes), match, name)


def test_gradients_nodes():
    """As many gradients as ys, of floats."""
    index = node("i", "Placeholder", outputs=[spec([2], "int64")])
    for ys, grad_ys, xs, inputs, match in [
        ([{"input": 0}], [], [{"input": 1}], ["y:0", "x:0"], "as many grad_ys"),
        ([], [], [{"input": 0}], ["x:0"], "as many grad_ys"),
        ([{"input": 0}], [None], [], ["y:0"], "as many grad_ys"),
        ([{"input": 0}], [None], [{"input": 1}], ["y:0", "i:0"], "of floats"),
        ([None], [None], [{"input": 0}], ["x:0"], "symbols for ys"),
        ([{"input": 0}], [2], [{"input": 1}], ["y:0", "x:0"], "tensors or None"),
        ([{"input": 0}], None, [{"input": 1}], ["y:0", "x:0"], "expected lists"),
    ]:
        attributes = {"ys": ys, "grad_ys": grad_ys, "xs": xs}
        data = definition(X, index, RELU, node("g", "Gradients", inputs, attributes))
        refused(data, match, "g")


MANY = [
    ("unbind", {"dim": 0}, [LARGE]),
    ("split", {"split_size": 1, "dim": 0}, [LARGE]),
    ("chunk", {"chunks": LARGE, "dim": 0}, [3]),
    ("tensor_split", {"sections": LARGE, "dim": 0}, [3]),
    ("bincount", {"minlength": LARGE}, [3]),
    ("full", {"size": [2**62, 8], "fill_value": 1}, None),
    ("eye", {"n": 2**31}, None),
]


@pytest.mark.parametrize("op, attributes, shape", MANY)
def test_numbers_that_would_need_much_memory(op, attributes, shape):
    """Are refused, not tried."""
    dtype = "int64" if op == "bincount" else "float32"
    nodes = [node("x", "Placeholder", outputs=[spec(shape or [1], dtype)])]
    if shape:
        attributes = {**SELF, **attributes}
    nodes.append(node("y", op, ["x:0"] if shape else [], attributes))
    before = pkg._binding.core.bytes_in_use()
    refused(definition(*nodes), "results|too large", "y")
    assert pkg._binding.core.bytes_in_use() - before < 1 << 20


@pytest.mark.parametrize("op", ["repeat_interleave.each", "tensor_split.tensor"])
def test_tensors_whose_values_would_need_much_memory(op):
    """The same for what a tensor says."""
    name = op.startswith("r") and "repeats" or "tensor_indices_or_sections"
    call = node("y", op, ["x:0"], {**SELF, name: {"tensor": "t"}, "dim": 0})
    refused(definition(X, call, tensors={"t": pkg.tensor(LARGE)}), "y", "y")


def test_large_numbers_that_are_fine_load():
    """A big vocabulary, and parts of a long list."""
    data = definition(
        node("x", "Placeholder", outputs=[spec([3], "int64")]),
        node("y", "one_hot", ["x:0"], {**SELF, "num_classes": 2**22},
             [spec([3, 2**22], "int64")]),
        node("long", "Placeholder", outputs=[spec([2**22, 2])]),
        node("z", "split", ["long:0"], {**SELF, "split_size": 2**21, "dim": 0},
             [spec([2**21, 2])] * 2),
        node("u", "unbind", ["long:0"], {**SELF, "dim": 1}, [spec([2**22])] * 2),
    )  # fmt: skip
    pg.import_graph(data, pg.Graph())


def test_wrong_arguments_of_import():
    """TypeError, before anything is looked at."""
    for options in [{"graph": 3}, {"name": 3}, {"input_map": 3}]:
        with pytest.raises(TypeError):
            pg.import_graph(definition(X), **{"graph": pg.Graph(), **options})
    with pytest.raises(TypeError):
        pg.import_graph(definition(X), pg.Graph(), return_elements=[3])
    with pytest.raises(TypeError):
        pg.import_graph(3)
    for name in ("a\0b", "^a"):
        with pytest.raises(pg.GraphDefError, match="another name"):
            pg.import_graph(definition(X), pg.Graph(), name)


@pytest.fixture
def folder(tmp_path):
    """A written graph."""
    with pg.Graph().as_default() as graph:
        w = pg.Variable([1.0, 2.0], name="w")
        w * pkg.tensor([3.0, 4.0])
        session = pg.Session()
        session.run(w.initializer)
        pg.export_graph(graph, tmp_path, session=session)
    return tmp_path


def refused_folder(folder, match):
    """The same for files."""
    graph = pg.Graph()
    with pytest.raises(pg.GraphDefError, match=match):
        pg.import_graph(folder, graph)
    assert graph.version == 0


@pytest.mark.parametrize(
    "content, match",
    [
        (b"", "graph.json is damaged"),
        (b"\xff\xfe", "graph.json is damaged"),
        (b'{"format": "pkg.gr', "graph.json is damaged"),
        (b'{"format": "\xc3\x28"}', "graph.json is damaged"),
        (b"[" * 10**6, "nested too deeply|damaged"),
        (b'{"a":' * 10**6, "nested too deeply|damaged"),
        (b'{"version": ' + b"1" * 10**5 + b"}", "damaged"),
        (b'{"version": NaN}', "NaN is no JSON"),
        (b'{"version": 1e999999}', "tensors_file"),
        (b"[]", "expected a dict"),
        (b"{}", "tensors_file"),
        (b'{"tensors_file": "../../secret.safetensors"}', "tensors_file"),
        (b'{"tensors_file": 3}', "tensors_file"),
    ],
)
def test_wrong_text(folder, content, match):
    """Truncated, nested, of no UTF-8, no JSON, or of another folder's tensors."""
    (folder / "graph.json").write_bytes(content)
    refused_folder(folder, match)


def test_wrong_tensors(folder):
    """Truncated at every place, with other sizes, or none at all."""
    (name,) = [name for name in os.listdir(folder) if name.startswith("tensors")]
    path = folder / name
    content = path.read_bytes()
    for end in range(0, len(content), 7):
        path.write_bytes(content[:end])
        refused_folder(folder, f"{name} is damaged")
    for wrong in [2**63, 2**62, len(content) * 2]:
        path.write_bytes(wrong.to_bytes(8, "little") + content[8:])
        refused_folder(folder, f"{name} is damaged")
    path.write_bytes(content.replace(b'"shape":[2]', b'"shape":[9]', 1))
    refused_folder(folder, f"{name} is damaged")
    path.unlink()
    with pytest.raises(FileNotFoundError):
        pg.import_graph(folder, pg.Graph())
    with pytest.raises(FileNotFoundError):
        pg.import_graph(folder / "nowhere", pg.Graph())


@pytest.mark.parametrize("kind", ["pipe", "folder", "device"])
@pytest.mark.parametrize("name", ["graph.json", "tensors"])
def test_what_is_no_file_is_not_waited_for(folder, name, kind):
    """A pipe has no end before somebody writes to it, and a device has none at all."""
    (path,) = [folder / file for file in os.listdir(folder) if file.startswith(name)]
    path.unlink()
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    else:
        path.symlink_to("/dev/zero")
    refused_folder(folder, f"{path.name}: expected a file, got a folder, pipe or dev")


def test_wrong_values_of_variables(folder):
    """Restoring changes nothing then."""
    graph = pg.Graph()
    pg.import_graph(folder, graph)
    session = pg.Session(graph=graph)
    pg.restore_variables(folder, session)
    text = json.loads((folder / "graph.json").read_text())
    for wrong, error in [
        ({"w": "nothing"}, pg.GraphDefError),
        ({"w": 3}, pg.GraphDefError),
        ([], pg.GraphDefError),
        ({"v": "w:variable"}, KeyError),
        ({"mul": "w:variable"}, ValueError),
    ]:
        changed = {**copy.deepcopy(text), "variables": wrong}
        (folder / "graph.json").write_text(json.dumps(changed))
        with pytest.raises(error):
            pg.restore_variables(folder, session)
        assert session.run("w:0").tolist() == [1, 2]


def test_seeded_damage():
    """Each of 300 cases loads or is refused; the command makes more of them."""
    done = subprocess.run(
        [sys.executable, str(TESTS / "fuzz" / "graph_files.py"), "--cases", "300"],
        env=child_environment(),
        capture_output=True,
        text=True,
        timeout=300,
    )
    said = done.stdout + done.stderr[-2000:]
    assert done.returncode == 0 and "300 cases, nothing found" in said, said
    assert "values loaded" in said and "tensors refused" in said
