# SPDX-License-Identifier: Apache-2.0
"""Rewriting: what is replaced, what the new graph gives; the old one stays."""

import numpy as np
import pytest

import pkg
import pkg.graph as pg

pytestmark = pytest.mark.usefixtures("fresh_graph")

X = np.float32([[-1, 0.5, 2], [3, -2, 0.25]])


def plain(graph):
    """What describes a graph and can be compared."""
    return {k: v for k, v in graph.as_graph_def().items() if k != "tensors"}


def relu(x):
    """The reference."""
    return np.maximum(x, 0)


def test_an_op_for_another():
    """By name: the operation keeps its name, and its arguments theirs."""
    x = pg.placeholder(pkg.float32, [None, 3], "x")
    y = pkg.softmax(pkg.relu(x), 1)
    graph = pg.get_default_graph()
    before = plain(graph)
    new = pg.rewrite(graph).replace_op("relu", "tanh").apply()
    assert plain(graph) == before
    assert [op.type for op in new.get_operations()] == [
        "Placeholder",
        "tanh",
        "softmax",
    ]
    assert new.get_operation_by_name("relu").type == "tanh"
    found = pg.Session(graph=new).run(y.name, {"x:0": X}).numpy()
    powers = np.exp(np.tanh(X))
    np.testing.assert_allclose(found, powers / powers.sum(1, keepdims=True), rtol=1e-6)


def test_a_function_for_an_op():
    """It gets the tensors and the arguments that are not the defaults."""
    x = pg.placeholder(pkg.float32, [2, 3], "x")
    y = pg.record(pkg.add, x, pkg.ones(3), alpha=2, name="sum")
    z = pkg.cumsum(pkg.add(x, y), 1)
    seen = []

    def add(self, other, **named):
        seen.append(named)
        return self - other * (-named.get("alpha", 1))

    change = pg.rewrite(pg.get_default_graph())
    new = change.replace_op("add", add).apply()
    assert seen == [{"alpha": 2}, {}]
    assert {op.type for op in new.get_operations()} == {
        "Placeholder", "mul", "sub", "cumsum",
    }  # fmt: skip
    found = pg.Session(graph=new).run(change.element(z), {"x:0": X})
    np.testing.assert_allclose(found.numpy(), np.cumsum(X + X + 2, 1), rtol=1e-6)
    assert change.element("sum:0").name == "sum/sub:0"
    assert change.element("sum").name == "sum/sub"
    assert change.element(x) is new.get_tensor_by_name("x:0")


def test_tensors_behind_other_arguments_come_by_name():
    """As they have no place among the first ones."""
    x = pg.placeholder(pkg.float32, [2, 3], "x")
    index = pg.placeholder(pkg.int64, [2], "index")
    y = pkg.index_select(x, 1, index)

    def select(self, dim, index):
        assert dim == 1
        return pkg.gather(self, 1, pkg.stack([index, index], 0))

    change = pg.rewrite(pg.get_default_graph()).replace_op("index_select", select)
    new = change.apply()
    feeds = {"x:0": X, "index:0": [2, 0]}
    found = pg.Session(graph=new).run(change.element(y), feeds)
    assert found.tolist() == X[:, [2, 0]].tolist()
    assert change.check({"index": [2, 0]}) == {"index_select:0": 0}


def test_names_of_arguments_are_mapped():
    """By a dict, None leaves one out; or by a function."""
    x = pg.placeholder(pkg.float32, [2, 3], "x")
    pkg.leaky_relu(x, 0.5)
    graph = pg.get_default_graph()

    def changed(attr_map):
        change = pg.rewrite(graph).replace_op("leaky_relu", "elu", attr_map)
        node = change.apply().as_graph_def()["nodes"][1]
        assert node["op"] == "elu" and node["attributes"]["self"] == {"input": 0}
        return node["attributes"]["alpha"]

    assert changed({"negative_slope": "alpha"}) == 0.5
    assert changed({"negative_slope": None}) == 1
    assert changed(lambda a: {"alpha": a["negative_slope"] * 4}) == 2
    with pytest.raises(pg.GraphDefError, match="negative_slope") as caught:
        pg.rewrite(graph).replace_op("leaky_relu", "elu").apply()
    assert caught.value.node == "leaky_relu"


def test_where_says_which():
    """And the first replacement that matches counts."""
    x = pg.placeholder(pkg.float32, [2, 3], "x")
    with pg.name_scope("a"):
        first = pkg.relu(x)
    second = pkg.relu(first)
    graph = pg.get_default_graph()
    change = pg.rewrite(graph).replace_op(
        "relu", "tanh", where=lambda op: op.name.startswith("a/")
    )
    assert [op.name for op in change.matches()] == ["a/relu"]
    change.replace_op("relu", "sigmoid")
    assert [op.type for op in change.apply().get_operations()[1:]] == [
        "tanh", "sigmoid",
    ]  # fmt: skip
    with pytest.raises(RuntimeError, match="predicate"):

        def fail(op):
            raise RuntimeError("predicate")

        pg.rewrite(graph).replace_op("relu", "tanh", where=fail).apply()
    assert second.op.type == "relu"


def test_overloads_are_told_apart():
    """'squeeze.dim' is one of them, 'squeeze' all."""
    x = pg.placeholder(pkg.float32, [1, 3, 1], "x")
    pkg.squeeze(pkg.squeeze(pkg.squeeze(x, 0), [1]))
    change = pg.rewrite(pg.get_default_graph())
    types = [op.type for op in change.graph.get_operations()[1:]]
    assert types == ["squeeze.dim", "squeeze.dims", "squeeze"]
    change.replace_op("squeeze.dims", "sum", where=lambda op: False)
    assert change.matches() == []
    assert len(change.remove("squeeze.dim").matches()) == 1
    assert len(change.remove("squeeze").matches()) == 3
    assert len(change.apply().get_operations()) == 1


def test_removing():
    """Who used the output uses the tensor; shapes and dtypes are inferred again."""
    x = pg.placeholder(pkg.float32, [2, 3], "x")
    y = pkg.relu(pkg.dropout(x, 0.5, True).sum(0, keepdim=True).to(pkg.float64))
    graph = pg.get_default_graph()
    change = pg.rewrite(graph).remove("dropout").remove("to", lambda op: True)
    types = {op.type.partition(".")[0] for op in graph.get_operations()}
    assert {"dropout", "to"} <= types
    new = change.apply()
    assert change.element(y).dtype == pkg.float32
    found = pg.Session(graph=new).run(change.element(y), {"x:0": X})
    np.testing.assert_allclose(found.numpy(), relu(X.sum(0, keepdims=True)), rtol=1e-6)
    assert change.element("dropout:0") is new.get_tensor_by_name("x:0")
    with pytest.raises(pg.GraphDefError, match="no tensor"):
        pg.rewrite(pg.record(pkg.zeros, [2]).graph).remove("zeros").apply()


def training():
    """A network, its variables and a step."""
    x = pg.placeholder(pkg.float32, [None, 3], "x")
    with pg.get_default_graph().device("cpu:0"):
        w = pg.Variable(pkg.tensor(X), name="w")
    hidden = pg.record(pkg.relu, x @ w.t(), name="act")
    loss = (hidden * hidden).mean()
    (grad,) = pg.gradients(loss, [w])
    with pg.control_dependencies([hidden]):
        step = w.assign_sub(grad, name="step")
    pg.group(step, name="train")
    pg.global_variables_initializer()
    return loss, step


def test_gradients_variables_and_controls_follow():
    """They are of the new operations."""
    loss, step = training()
    graph = pg.get_default_graph()
    change = pg.rewrite(graph).replace_op("relu", lambda x: x * x)
    new = change.apply()
    session = pg.Session(graph=new)
    session.run("init")
    found = session.run(["step:0", change.element(loss)], {"x:0": X})
    w, x = X.astype(float), X.astype(float)
    z = x @ w.T
    np.testing.assert_allclose(found[1].item(), (z**4).mean(), rtol=1e-5)
    np.testing.assert_allclose(
        found[0].numpy(), w - (4 * z**3 / z.size).T @ x, rtol=1e-4
    )
    after = new.get_operation_by_name("step").control_inputs
    assert [op.name for op in after] == ["act/mul"]
    assert [v.name for v in new.get_collection("trainable_variables")] == ["w:0"]
    assert isinstance(new.get_collection("variables")[0], pg.Variable)
    assert new.get_operation_by_name("w").device == "cpu:0"
    assert [op.name for op in new.get_operation_by_name("train").control_inputs] == [
        "step"
    ]


def test_check_compares_by_runs():
    """Equal within the tolerance, or an error that says where."""
    training()
    graph = pg.get_default_graph()
    before, version = plain(graph), graph.version
    state = pkg._binding.core.random_position()
    same = pg.rewrite(graph).replace_op("relu", lambda x: pkg.maximum(x, 0.0))
    assert same.check() == {"step:0": 0}
    near = pg.rewrite(graph).replace_op("relu", lambda x: pkg.relu(x) * 1.0001)
    with pytest.raises(ValueError, match="elements differ"):
        near.check(rtol=1e-7, atol=0, fetches=["act:0"])
    (largest,) = near.check({"x": X}, rtol=1e-3, fetches=["act:0"]).values()
    assert 0 < largest <= 1.1e-4 * relu(X @ X.T).max()
    other = pg.rewrite(graph).replace_op("relu", "sigmoid")
    with pytest.raises(ValueError, match=r"\[check\] step:0: .* the old graph gives"):
        other.check()
    kind = pg.rewrite(graph).replace_op("relu", lambda x: pkg.relu(x).double())
    with pytest.raises(ValueError, match="expected the dtype"):
        kind.check(fetches=["act:0"])
    assert plain(graph) == before and graph.version == version
    assert pkg._binding.core.random_position() == state


def test_check_with_values_of_a_session():
    """Of its variables; the session goes on as before."""
    loss, _ = training()
    graph = pg.get_default_graph()
    session = pg.Session()
    session.run("init")
    session.swap_weights({"w": -X})
    change = pg.rewrite(graph).replace_op("relu", "abs")
    # Where products are not negative, both are the same; then they are not.
    with pytest.raises(ValueError, match="mean"):
        change.check({"x": X}, fetches=[loss], session=session)
    session.swap_weights({"w": np.zeros((2, 3), "float32")})
    assert change.check({"x": X}, fetches=[loss], session=session) == {loss.name: 0}
    assert session.run("w:0").numpy().any() == np.False_
    with pytest.raises(ValueError, match="session of the graph"):
        change.check(session=pg.Session(graph=change.apply()))


def test_random_numbers_are_the_same_in_both():
    """The seed is set before each run."""
    x = pg.placeholder(pkg.float32, [50], "x")
    pkg.relu(x + pg.record(pkg.rand, [50]))
    change = pg.rewrite(pg.get_default_graph()).replace_op(
        "relu", lambda x: pkg.where(x > 0, x, 0.0)
    )
    assert change.check(seed=3) == {"relu:0": 0}


def test_diff_is_text():
    """A line for each operation that changes."""
    x = pg.placeholder(pkg.float32, [None, 3], "x")
    y = pkg.relu(x)
    pkg.add(y, pkg.ones(3), alpha=2.5)
    graph = pg.get_default_graph()
    change = pg.rewrite(graph)
    assert change.diff() == ""
    change.replace_op("relu", "tanh")
    assert change.diff().splitlines() == [
        "@@ -2 +2 @@",
        "-relu = relu(self=x:0) -> float32 [?, 3]",
        "+relu = tanh(self=x:0) -> float32 [?, 3]",
    ]
    change.remove("add")
    assert "-add = add(self=relu:0, other=<float32 (3,)>, alpha=2.5)" in change.diff()


def test_results_as_lists_and_tensors_with_values():
    """As many as before; what has values becomes a constant."""
    x = pg.placeholder(pkg.float32, [2, 3], "x")
    values, places = pkg.max(x, 1)
    total = values.sum() + places.sum()
    graph = pg.get_default_graph()
    types = [op.type for op in graph.get_operations()]
    change = pg.rewrite(graph).replace_op(
        types[1], lambda x, dim: (pkg.tensor([1.0, 2.0]), pkg.argmax(x, dim))
    )
    run = pg.Session(graph=change.apply()).run(change.element(total), {"x:0": X})
    assert run.item() == 3 + 2
    for wrong, match in [
        (lambda x, dim: x, "expected 2 tensors"),
        (lambda x, dim: (x, 3), "got int"),
        (lambda x, dim: None, "got NoneType"),
        (lambda x: x, "dim"),
        (lambda x, dim: (values, places), "not an element of this graph"),
        (lambda x, dim: 1 // 0, "division"),
    ]:
        with pytest.raises(pg.GraphDefError, match=match) as caught:
            pg.rewrite(graph).replace_op(types[1], wrong).apply()
        assert caught.value.node == values.op.name


def test_new_names_do_not_meet_old_ones():
    """Functions get what no operation of the graph has."""
    x = pg.placeholder(pkg.float32, [2, 3], "x")
    pkg.relu(x)
    with pg.get_default_graph().name_scope("relu/"):
        pkg.tanh(x)
    new = pg.rewrite(pg.get_default_graph()).replace_op("relu", pkg.tanh).apply()
    assert [op.name for op in new.get_operations()] == ["x", "relu/tanh_1", "relu/tanh"]


def test_apply_is_remembered_until_something_changes():
    """The same graph; another one after the old one grew, or with another rule."""
    x = pg.placeholder(pkg.float32, [2, 3], "x")
    pkg.relu(x)
    change = pg.rewrite(pg.get_default_graph()).replace_op("relu", "tanh")
    first = change.apply()
    assert change.apply() is first
    pkg.relu(x)
    second = change.apply()
    assert second is not first and len(second.get_operations()) == 3
    assert change.replace_op("tanh", "sin").apply() is not second


def test_wrong_arguments():
    """TypeError and ValueError, at once."""
    with pytest.raises(TypeError, match="Graph"):
        pg.rewrite(3)
    change = pg.rewrite(pg.get_default_graph())
    with pytest.raises(TypeError):
        change.replace_op(3, "relu")
    with pytest.raises(TypeError):
        change.replace_op("relu", 3)
    for name in ("frobnicate", "lib::relu", ""):
        with pytest.raises(ValueError, match="name of an op"):
            change.replace_op("relu", name)
    with pytest.raises(ValueError, match="no output"):
        change.check()
    with pytest.raises(pg.GraphDefError, match="no call of an op"):
        pg.constant(1.0)
        change.replace_op("Const", "relu").apply()
