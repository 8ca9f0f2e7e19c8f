# SPDX-License-Identifier: Apache-2.0
"""Damaged functions of graph files: an error with the node, and nothing half loaded."""

import copy

import pytest

import pkg
import pkg.graph as pg

BODY, CONDITION = "loop/While:body", "loop/While:condition"
TRUE, FALSE = "cond/If:if_true", "cond/If:if_false"
GRADIENT = "stop_gradient:gradient:0"


@pytest.fixture(scope="module")
def whole():
    """A loop with a variable, a choice and a gradient of one's own."""
    with pg.Graph().as_default() as graph:
        x = pg.placeholder(pkg.float32, [2], "x")
        w = pg.Variable([1.0, 2.0], name="w")
        _, y = pg.while_loop(
            lambda i, v: i < 3, lambda i, v: (i + 1, v * x + w), (0, x), name="loop"
        )
        z = pg.cond(y.sum() > 0, lambda: y * x, lambda: y - 1)
        pg.with_gradient([z], [pkg.sin(z)], lambda grad: grad * x)
        return graph.as_graph_def()


def changed(whole, path, value):
    """A copy in which one thing is another; a function of the old one, or a value."""
    data = copy.deepcopy({k: v for k, v in whole.items() if k != "tensors"})
    data["tensors"] = whole["tensors"]
    place = data
    for key in path[:-1]:
        if isinstance(place, list) and isinstance(key, str):
            place = next(node for node in place if node["name"] == key)
        else:
            place = place[key]
    place[path[-1]] = value(place[path[-1]]) if callable(value) else value
    return data


def refused(data, match, node=None, function=None):
    """Import raises, names the node and function, and leaves a graph as it was."""
    graph = pg.Graph()
    with graph.as_default():
        pg.placeholder(pkg.float32, [2], "there")
    before = graph.version
    with pytest.raises(pg.GraphDefError, match=match) as caught:
        pg.import_graph(data, graph)
    assert (caught.value.node, caught.value.function) == (node, function)
    assert graph.version == before and not graph._own and not graph._parts


def test_the_definition_loads(whole):
    """Else the others would pass for a wrong reason."""
    graph = pg.Graph()
    pg.import_graph(changed(whole, ["version"], 1), graph)
    assert len(graph._own) == 1 and len(graph._parts) == 2


F = "functions"
CASES = [
    ([F], [], "a dict for functions", None, None),
    ([F, BODY], 3, "a dict for the function", None, None),
    ([F, BODY], lambda f: {**f, "more": 1}, "'more'", None, None),
    ([F, BODY, "nodes"], lambda n: [n[0], *n], "twice", "arg", BODY),
    ([F, BODY, "nodes"], lambda n: n[:-1], "no node", None, None),
    ([F, BODY, "nodes"], lambda n: n[::-1], "stands behind it|does not exist",
     "add_1", BODY),
    ([F, BODY, "nodes", "mul", "op"], "frobnicate", "'frobnicate'", None, None),
    ([F, BODY, "nodes", "mul", "inputs", 0], "z:0", "'z:0'|'z' does not", "mul", BODY),
    ([F, BODY, "nodes", "mul", "outputs", 0, "shape"], [3], "the shape", "mul", BODY),
    ([F, BODY, "nodes", "w", "op"], "Placeholder", "expected an input for 'w'",
     "loop/While", None),
    ([F, BODY, "nodes", "w", "attributes"], {"trainable": True}, "without attributes",
     "w", BODY),
    ([F, BODY, "inputs"], ["arg"], "to take", "loop/While", None),
    ([F, BODY, "inputs"], ["arg", "arg"], "there twice", None, None),
    ([F, BODY, "inputs"], ["arg", "mul"], "expected a Placeholder", "mul", BODY),
    ([F, BODY, "inputs"], ["arg", "x"], "there twice", None, None),
    ([F, BODY, "captured"], lambda c: c[::-1], "expected an", "loop/While", None),
    ([F, BODY, "captured"], ["x"], "among what is captured", "w", BODY),
    ([F, BODY, "captured"], 3, "list for the captured", None, None),
    ([F, BODY, "outputs"], ["add:0"], "of its body", "loop/While", None),
    ([F, BODY, "outputs"], lambda o: o[::-1], "of its body", "loop/While", None),
    ([F, BODY, "outputs", 0], "add:7", "of 1 outputs", "add", BODY),
    ([F, BODY, "outputs", 0], "add", "'name:output'", None, None),
    ([F, BODY, "outputs"], lambda o: [*o, o[0]], "3 outputs", "loop/While", None),
    ([F, BODY, "targets"], ["nothing"], "no node 'nothing'", None, None),
    ([F, CONDITION, "outputs"], ["arg:0"], "one bool", "loop/While", None),
    ([F, CONDITION, "outputs"], [], "one bool", "loop/While", None),
    ([F, TRUE, "outputs"], [], "the same of both", "cond/If", None),
    ([F, "more"], lambda _: None, "", None, None),
    (["nodes", "loop/While", "attributes", "body"], {"function": "nothing"},
     "no function 'nothing'", "loop/While", None),
    (["nodes", "loop/While", "attributes", "body"], {"function": CONDITION},
     "a list of 0 as body_captured", "loop/While", None),
    (["nodes", "loop/While", "attributes", "body"], 3, "a function as body",
     "loop/While", None),
    (["nodes", "loop/While", "attributes", "values"], lambda v: v[::-1], "to take",
     "loop/While", None),
    (["nodes", "loop/While", "attributes", "values", 0], {"number": 0}, "inputs once",
     "loop/While", None),
    (["nodes", "loop/While", "attributes", "body_captured"],
     lambda c: [c[0], {"operation": "x"}], "a variable that", "loop/While", None),
    (["nodes", "loop/While", "attributes", "body_captured"],
     lambda c: [c[0], {"operation": "none"}], "no operation 'none'", "loop/While",
     None),
    (["nodes", "loop/While", "attributes"], lambda a: {**a, "more": 1},
     "expected the attributes", "loop/While", None),
    (["nodes", "cond/If", "attributes", "if_false"], {"function": TRUE},
     "captured", "cond/If", None),
    (["nodes", "cond/If", "attributes", "predicate"], [{"input": 0}], "one symbol",
     "cond/If", None),
    (["nodes", "loop/While", "attributes", "values"], {"input": 0}, "inputs once",
     "loop/While", None),
    (["nodes", "cond/If", "outputs"], [], "1 outputs", "cond/If", None),
    (["nodes", "sum", "attributes", "dim"], {"function": TRUE}, "only loops", "sum",
     None),
    (["gradients"], {}, "list for gradients", None, None),
    (["gradients", 0], lambda g: {**g, "more": 1}, "'more'", None, None),
    (["gradients", 0, "outputs"], [], "an output at least", None, None),
    (["gradients", 0, "outputs"], ["nothing:0"], "no node", None, None),
    (["gradients", 0, "outputs"], ["loop/While:0"], "float32 for", "loop/While", None),
    (["gradients", 0, "function"], "nothing", "no function", "stop_gradient", None),
    (["gradients", 0, "function"], TRUE, "expected a function of", "stop_gradient",
     None),
    (["gradients", 0, "captured"], ["w:0"], "cannot stand", "stop_gradient", None),
    (["gradients", 0, "captured"], [], "a function of", "stop_gradient", None),
    (["gradients", 0, "results"], [1], "once among the results", "stop_gradient", None),
    (["gradients", 0, "results"], [None], "once among", "stop_gradient", None),
    (["gradients", 0, "results"], [True], "once among", "stop_gradient", None),
    (["gradients", 0, "inputs"], ["loop/While:0"], "gradient of int64",
     "stop_gradient", None),
    (["gradients", 0, "cut"], 1, "true or false", None, None),
    ([F, GRADIENT, "targets"], ["mul"], "which nothing would run", "stop_gradient",
     None),
    (["nodes", "x", "gradient"], 3, "the gradient", "x", None),
]  # fmt: skip


@pytest.mark.parametrize("path, value, match, node, function", CASES)
def test_each_rule(whole, path, value, match, node, function):
    """Of functions, of who uses them, and of gradients."""
    if path[-1] == "more":
        data = changed(whole, [F], lambda f: {**f, "more": f[TRUE]})
        refused(data, "nothing uses the function 'more'")
    else:
        refused(changed(whole, path, value), match, node, function)


def test_functions_that_use_themselves_or_each_other(whole):
    """A circle has no way in, and a function that is used twice is refused."""
    loop = next(node for node in whole["nodes"] if node["name"] == "cond/If")
    inner = {
        **loop, "name": "again", "inputs": ["p:0"], "outputs": [],
        "attributes": {
            "predicate": {"input": 0},
            "if_true": {"function": "a"}, "if_true_captured": [],
            "if_false": {"function": "b"}, "if_false_captured": [],
        },
    }  # fmt: skip
    given = {"dtype": "bool", "shape": []}
    p = {**loop, "name": "p", "op": "Placeholder", "inputs": [], "attributes": {},
         "outputs": [given]}  # fmt: skip
    empty = {"inputs": [], "captured": [], "outputs": [], "targets": [], "nodes": []}
    circle = {**empty, "nodes": [p, inner]}
    data = {"format": "pkg.graph", "version": 1, "nodes": []}
    refused({**data, F: {"a": circle, "b": empty}}, "'a' uses itself")
    data["nodes"] = [p, inner]
    refused({**data, F: {"a": circle, "b": empty}}, "'a' is used twice", "again", "a")
    refused({**data, "nodes": [p, inner, {**inner, "name": "more"}],
             F: {"a": empty, "b": empty}}, "'a' is used twice", "more")  # fmt: skip
    pg.import_graph({**data, F: {"a": empty, "b": empty}}, pg.Graph())


def test_functions_that_are_deep(whole):
    """They end before Python's stack does."""
    loop = next(node for node in whole["nodes"] if node["name"] == "cond/If")
    p = {**loop, "name": "p", "op": "Placeholder", "inputs": [], "attributes": {},
         "outputs": [{"dtype": "bool", "shape": []}]}  # fmt: skip
    functions = {}

    def using(number):
        attributes = {
            "predicate": {"input": 0},
            "if_true": {"function": f"a{number}"}, "if_true_captured": [],
            "if_false": {"function": f"b{number}"}, "if_false_captured": [],
        }  # fmt: skip
        node = {**loop, "name": "n", "inputs": ["p:0"], "outputs": [],
                "attributes": attributes}  # fmt: skip
        return [p, node]

    def with_depth(depth):
        empty = {"inputs": [], "captured": [], "outputs": [], "targets": []}
        functions.clear()
        for i in range(depth):
            last = i + 1 == depth
            functions[f"a{i}"] = {**empty, "nodes": [] if last else using(i + 1)}
            functions[f"b{i}"] = {**empty, "nodes": []}
        return {"format": "pkg.graph", "version": 1, "nodes": using(0), F: functions}

    pg.import_graph(with_depth(50), pg.Graph())
    refused(with_depth(51), "50 functions deep")
    refused(with_depth(5000), "50 functions deep")


def test_a_gradient_that_does_not_fit_its_outputs(whole):
    """What its function takes has the shape that the file says, and the output's."""
    wrong = [{"dtype": "float32", "shape": [3]}]
    data = changed(whole, [F, GRADIENT, "nodes", "grad", "outputs"], wrong)
    data[F][GRADIENT]["nodes"][-1]["outputs"] = wrong
    pg.import_graph(data, pg.Graph())  # the real shape counts
    node = data[F][GRADIENT]["nodes"][-1]
    node["inputs"], node["attributes"] = ["grad:0"], {"self": {"input": 0}}
    refused(data, "mul", "mul", GRADIENT)
