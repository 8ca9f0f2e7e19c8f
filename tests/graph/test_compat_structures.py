# SPDX-License-Identifier: Apache-2.0
"""What loops and choices of pkg.compat.v1 carry, make, and refuse."""

import numpy as np
import pytest

import pkg
import pkg.compat.v1 as tf
import pkg.graph as pg
from default_session import default_session, run

fresh = default_session(tf)


def test_sparse_tensors_and_slices_go_through():
    """Loops and choices have a tensor for each part of them."""
    start = tf.SparseTensor([[0], [2]], [1.0, 3.0], [4])
    _, made = tf.while_loop(
        lambda i, s: i < 3,
        lambda i, s: (i + 1, tf.SparseTensor(s.indices, s.values * 2.0, s.dense_shape)),
        (0, start),
    )
    assert start.get_shape().as_list() == [4] and made.shape.as_list() == [None]
    assert tf.sparse_placeholder(tf.float32).shape.ndims is None
    got = run(made)
    assert got.values.tolist() == [8, 24] and got.indices.tolist() == [[0], [2]]
    rows = tf.IndexedSlices(tf.constant([[1.0, 2.0]]), tf.constant([1]))
    p = tf.placeholder(tf.bool, [])
    chosen = tf.cond(p, lambda: rows, lambda: -rows)
    assert run(chosen, {p: False}).values.tolist() == [[-1, -2]]
    assert run(chosen, {p: True}).indices.tolist() == [1]
    with pytest.raises(ValueError, match="same nested structure"):
        tf.cond(p, lambda: rows, lambda: tf.constant([1.0]))


def test_structures_and_what_changes_in_them():
    """Shapes change where the invariant of a part says so; empty parts stay."""
    growing = tf.while_loop(
        lambda i, d: i < 3,
        lambda i, d: (i + 1, {"x": tf.concat([d["x"], d["x"][:1]], 0), "e": []}),
        (0, {"x": tf.constant([5.0]), "e": []}),
        (tf.TensorShape([]), {"x": tf.TensorShape([None]), "e": []}),
    )
    assert run(growing[1]["x"]).tolist() == [5] * 4 and growing[1]["e"] == []
    pair = tf.while_loop(
        lambda v: v[0] < 20, lambda v: (v[0] + v[1], v[1]), [(1, 3)],
        maximum_iterations=4,
    )  # fmt: skip
    assert run(pair) == [(13, 3)]
    for shape, said in (("shape \\(1,\\)", None), ("the shape invariant", [None, 1])):
        given = None if said is None else [tf.TensorShape(said)]
        value = tf.ones([1]) if said is None else tf.ones([2, 1])
        with pytest.raises(ValueError, match=f"'ones.*enters the loop with {shape}"):
            tf.while_loop(
                lambda x: True, lambda x: tf.concat([x, x], -1), [value], given
            )
    with pytest.raises(TypeError, match="enters the loop with dtype int32.*float32"):
        tf.while_loop(lambda x: x < 3, lambda x: tf.to_float(x), [0])
    with pytest.raises(ValueError, match="same number of elements: 2, 1"):
        tf.while_loop(lambda x, y: x < 3, lambda x, y: [x], [0, 1])
    with pytest.raises(ValueError, match="maximum_iterations must be a scalar"):
        tf.while_loop(lambda x: x < 3, lambda x: x, [0], maximum_iterations=[1, 2])


def test_a_loop_of_pkg_graph_with_one_nested_variable():
    """And a limit: the body gives the variable itself."""
    with pg.Graph().as_default(), pg.Session() as session:
        made = pg.while_loop(
            lambda v: v[0] < 100, lambda v: (v[0] * 2, v[1] + 1), [(1, 0)],
            maximum_iterations=5,
        )  # fmt: skip
        assert [x.item() for x in session.run(made)] == [32, 5]


def test_no_gradient_flows_without_back_prop():
    """Also where the values are those of the loop with it."""
    x = tf.placeholder(tf.float32, [])
    for back_prop, want in ((True, 5.0), (False, 1.0)):
        y = tf.while_loop(
            lambda v: v < 10.0, lambda v: v * 2.0, [x], back_prop=back_prop
        )
        assert run(tf.gradients(y + x, x), {x: 3.0}) == [want]


def test_choices_of_operations_are_tensors():
    """Of the predicate, behind the operation that was chosen."""
    v = tf.Variable(1.0)
    p = tf.placeholder(tf.bool, [])
    done = tf.cond(p, lambda: v.assign(2.0).op, tf.no_op)
    run(v.initializer)
    assert run(done, {p: False}) is np.False_ or not run(done, {p: False})
    assert run(v) == 1 and run(done, {p: True}) and run(v) == 2
    pair = tf.cond(p, lambda: [tf.constant(1)], lambda: tf.constant(2))
    assert run(pair, {p: True}) == 1
    with pytest.raises(ValueError, match="same nested structure"):
        tf.cond(p, lambda: [tf.constant(1)], lambda: tf.constant(2), strict=True)
    with pytest.raises(ValueError, match="must have the same type: int32, float32"):
        tf.cond(p, lambda: tf.constant(1), lambda: tf.constant(2.0))
    with pytest.raises(ValueError, match="true_fn must have a return value"):
        tf.cond(p, lambda: None, lambda: None)


def test_variables_made_in_parts_belong_to_the_graph():
    """They begin with what is computed outside; parts read and change them."""
    p = tf.placeholder(tf.bool, [])
    made = []

    def branch(value):
        def call():
            made.append(tf.Variable(lambda: tf.constant(value) * 2.0, name="v"))
            return made[-1].assign_add(1.0)

        return call

    chosen = tf.cond(p, branch(5.0), branch(50.0))
    assert [v.name for v in tf.global_variables()] == ["cond/v:0", "cond/v_1:0"]
    with pytest.raises(tf.errors.FailedPreconditionError):
        run(chosen, {p: True})
    run(tf.global_variables_initializer())
    assert run(chosen, {p: True}) == 11 and run(made) == [11, 100]
    with pytest.raises(ValueError, match="inside a control-flow construct.*lambda"):
        tf.cond(p, lambda: tf.Variable(tf.constant(1.0)), lambda: tf.constant(1.0))
    with pg.Graph().as_default(), pg.Session() as session:
        kept = []
        y = pg.while_loop(
            lambda i: i < 3, lambda i: kept.append(pg.Variable(4)) or i + kept[0], [0]
        )
        session.run(kept[0].initializer)
        assert session.run(y).item() == 4
        with pytest.raises(ValueError, match="inside a control-flow construct"):
            pg.while_loop(lambda i: i < 3, lambda i: pg.Variable(i + 1), [0])


def test_init_scope_leaves_the_part():
    """What is made in it can be used outside, and waits for nothing."""
    x, p = tf.placeholder(tf.float32, []), tf.placeholder(tf.bool, [])
    kept = []

    def part():
        with tf.init_scope():
            kept.append(tf.constant(3.0) * 2.0)
        return kept[0] + x

    y = tf.cond(p, part, lambda: x)
    assert run([kept[0], y], {x: 1.0, p: True}) == [6, 7]
    with tf.control_dependencies([x]), tf.init_scope():
        alone = tf.constant(1.0)
    assert alone.op.control_inputs == []


def test_symbols_of_parts_stay_inside():
    """In no other graph, in no other part, and not in theirs once it is complete."""
    inner = []

    def body(i):
        inner.append(i + 1)
        return inner[-1]

    x = tf.constant(1)
    tf.while_loop(lambda i: i < 3, body, [0])
    count = len(inner[0].graph.get_operations())
    for wrong in (
        lambda: inner[0] + x,
        lambda: tf.cond(x > 0, lambda: inner[0] * 2, lambda: x),
        lambda: tf.while_loop(lambda i: i < 3, lambda i: i + inner[0], [0]),
        lambda: tf.while_loop(lambda i: i < 3, lambda i: inner[0], [0]),
    ):
        with pytest.raises(ValueError, match="in a while loop|not an element"):
            wrong()
    assert len(inner[0].graph.get_operations()) == count
    with pg.Graph().as_default():
        pg.while_loop(lambda i: i < 3, body, [0])
        with pytest.raises(ValueError, match="a part of a loop or choice.*complete"):
            inner[-1] * 2


def test_in_place_operators_make_new_tensors():
    """As of Python's numbers; of a variable, too."""
    v = tf.Variable(2.0)
    x = y = tf.constant(3.0)
    x += v
    x *= 2.0
    x -= 1.0
    x /= 3.0
    x **= 2.0
    v += 1.0
    run(tf.global_variables_initializer())
    assert run([x, y, v]) == [9, 3, 3] and run(tf.global_variables()) == [2]


def test_rows_of_variables_are_written_in_loops():
    """Once in each turn."""
    v = tf.Variable([0.0, 0.0, 0.0])
    made = tf.while_loop(
        lambda i: i < 3,
        lambda i: tf.tuple([i + 1], control_inputs=[
            tf.scatter_update(v, [i], [10.0 + tf.to_float(i)])])[0],
        [0],
    )  # fmt: skip
    run(v.initializer)
    assert run(made) == 3 and run(v).tolist() == [10, 11, 12]


def test_names_have_no_colons():
    """They stand before the number of an output."""
    with pg.Graph().as_default() as graph:
        with pytest.raises(ValueError, match="name without ':'"):
            pg.placeholder(pkg.float32, [], "a:b")
        assert graph.get_operations() == []


def test_variables_outlive_their_python_names():
    """One that is in no collection stays a variable."""
    v = tf.Variable(1.0, collections=[], trainable=False, name="v")
    assign = v.initializer
    del v
    found = tf.get_default_graph().get_tensor_by_name("v:0")
    assert isinstance(found, tf.Variable) and found.initializer is assign
    assert "dtype=float32_ref" in repr(found)
