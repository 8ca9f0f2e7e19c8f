# SPDX-License-Identifier: Apache-2.0
"""Graphs of pkg.compat.v1: names, texts, dtypes, shapes, devices."""

import numpy as np
import pytest

import pkg
import pkg.compat.v1 as tf
import pkg.graph as pg


@pytest.fixture(autouse=True)
def fresh():
    """A default graph for each test."""
    with tf.Graph().as_default():
        yield


def test_tensors_and_operations_say_what_they_are():
    """In TensorFlow's words."""
    a = tf.constant(1.0, name="a")
    rows = tf.placeholder(tf.int64, [None, 2], name="rows")
    free = tf.placeholder(tf.float32, name="free")
    assert str(a) == 'Tensor("a:0", shape=(), dtype=float32)'
    assert repr(a) == "<tf.Tensor 'a:0' shape=() dtype=float32>"
    assert str(rows) == 'Tensor("rows:0", shape=(?, 2), dtype=int64)'
    assert str(free) == 'Tensor("free:0", dtype=float32)'
    assert repr(a.op) == "<tf.Operation 'a' type=Const>"
    with tf.control_dependencies([rows]):
        b = tf.add(a, a, name="b")
    node = b.op.node_def
    assert (node.name, node.op, node.input) == ("b", "AddV2", ["a", "a", "^rows"])
    assert b.op.get_attr("T") == tf.float32 and b.op.values() == (b,)
    with pytest.raises(ValueError, match="no attr named 'nothing'"):
        b.op.get_attr("nothing")
    for refused in (bool, len, list, float, int):
        with pytest.raises(TypeError):
            refused(a)


def test_tensors_are_keys():
    """A tensor is equal to itself alone."""
    a, b = tf.constant(1.0), tf.constant(1.0)
    assert a == a and a != b and len({a, b, a}) == 2


def test_plain_graphs_keep_their_own_words():
    """Those of pkg.graph, also when this module is there."""
    with pg.Graph().as_default():
        a = pg.constant(1.0, name="a")
    assert type(a) is pg.Symbol and a.dtype is pkg.float32
    assert repr(a) == "<Symbol 'a:0' shape=() dtype=float32>"
    assert pg.get_default_graph() is tf.get_default_graph()


def test_dtypes():
    """Names, limits, kinds, and what stands for them."""
    assert repr(tf.float32) == "tf.float32" and str(tf.int8) == "<dtype: 'int8'>"
    assert tf.float32.as_numpy_dtype is np.float32 and tf.float64.size == 8
    assert (tf.int8.min, tf.int8.max) == (-128, 127)
    for other in ("float32", np.float32, np.dtype("float32"), float, pkg.float32):
        assert tf.as_dtype(other) is tf.float32 and tf.float32 == other
    assert tf.int32 != np.float32 and tf.float32 != None  # noqa: E711
    assert tf.float32.is_floating and tf.int32.is_integer and tf.bool.is_bool
    assert tf.constant(1.0).dtype.base_dtype is tf.float32
    with pytest.raises(TypeError, match="Cannot convert value 'nonsense'"):
        tf.as_dtype("nonsense")


@pytest.mark.parametrize("dtype", ["string", "int16", "complex64"])
def test_dtypes_without_tensors_are_refused(dtype):
    """With their name; modules that mention them can be read."""
    kind = getattr(tf, dtype)
    with pytest.raises(NotImplementedError, match=f"no tensors of tf.{dtype}"):
        tf.placeholder(kind, [2])
    with pytest.raises(NotImplementedError, match="no tensors of tf.string"):
        tf.constant(["a", "b"])


def test_shapes():
    """Sizes are objects, which may be unknown; shapes are joined."""
    shape = tf.placeholder(tf.float32, [None, 3]).shape
    assert (shape[0].value, shape[1].value, int(shape[1])) == (None, 3, 3)
    assert shape == tf.TensorShape([None, 3]) and str(shape) == "(?, 3)"
    assert shape.merge_with([2, None]).as_list() == [2, 3]
    assert (shape[1] * 2).value == 6 and (shape[0] + 1).value is None
    assert shape[1:].as_list() == [3] and tf.TensorShape(None).dims is None
    with pytest.raises(ValueError, match="not compatible"):
        shape.merge_with([2, 4])
    hole = tf.placeholder(tf.float32)
    hole.set_shape([None, 3])
    assert hole.shape.as_list() == [None, 3]
    with pytest.raises(ValueError, match="not compatible"):
        hole.set_shape([5, 5])
    with pytest.raises(ValueError, match="from 0 on|>= 0"):
        tf.placeholder(tf.float32, [-2])


@pytest.mark.parametrize("name", ["_a", "-a", "a b", "a:0", "*", "é", ""])
def test_bad_names_are_refused(name):
    """Of operations and of scopes."""
    with pytest.raises(ValueError, match="is not a valid node name"):
        tf.constant(1.0, name=name)
    if name:
        with pytest.raises(ValueError, match="is not a valid scope name"):
            with tf.name_scope(name):
                pass


def test_operations_without_a_name_are_called_after_their_kind():
    """With capitals as TensorFlow has them; the result of several has the whole's."""
    a = tf.constant([[1.0]])
    made = [
        a + a, tf.add(a, a), a / a, -a, a < a, tf.matmul(a, a), tf.reduce_mean(a),
        tf.random_normal([2]), tf.one_hot([1], 2), a[0], tf.range(3),
    ]  # fmt: skip
    # Names that differ in case only count as equal.
    assert [tensor.op.name for tensor in made] == [
        "add", "Add_1", "truediv", "Neg", "Less", "MatMul", "Mean", "random_normal",
        "one_hot", "strided_slice", "range",
    ]  # fmt: skip


def test_a_finalized_graph_takes_no_more():
    """Operations, or values of collections."""
    graph = tf.get_default_graph()
    a = tf.constant(1.0)
    graph.finalize()
    for add in (lambda: tf.constant(1.0), lambda: a + a,
                lambda: tf.add_to_collections(["k"], 1)):  # fmt: skip
        with pytest.raises(RuntimeError) as caught:
            add()
        assert str(caught.value) == "Graph is finalized and cannot be modified."


def test_devices_are_written_down_and_must_be_there():
    """Inner names win part by part; functions see the operation."""
    with tf.device("/cpu:0"):
        assert tf.constant(1.0).device == "/device:CPU:0"
        with tf.device("/job:ps/task:1"):
            assert tf.constant(1.0).device == "/job:ps/task:1/device:CPU:0"
        with tf.device(lambda op: "/gpu:1" if op.type == "Const" else None):
            far = tf.constant(1.0, name="far")
            assert far.device == "/device:GPU:1"
            assert tf.no_op().device == "/device:CPU:0"
    with pytest.raises(ValueError, match="Unknown attribute 'nonsense'"):
        with tf.device("/nonsense"):
            pass
    near = tf.constant(2.0)
    with tf.Session() as sess:
        with pytest.raises(tf.errors.InvalidArgumentError, match="Cannot assign") as e:
            sess.run(far + near)
        assert e.value.op is far.op
        assert sess.run(far + near, {far: 1.0}) == 3 and sess.run(near) == 2
    with tf.Session(config=tf.ConfigProto(allow_soft_placement=True)) as sess:
        assert sess.run(far) == 1


def test_collections_have_references():
    """A list is a copy; its reference is the list."""
    tf.add_to_collections(["k", "m"], 1)
    tf.get_collection("k").append(2)
    tf.get_collection_ref("m").append(2)
    assert (tf.get_collection("k"), tf.get_collection("m")) == ([1], [1, 2])


def test_operands_of_two_graphs_do_not_mix():
    """Also in a list."""
    with tf.Graph().as_default():
        foreign = tf.constant([1.0])
    for mix in (lambda: tf.concat([tf.constant([1.0]), foreign], 0),
                lambda: tf.constant([1.0]) + foreign):  # fmt: skip
        with pytest.raises(ValueError, match="must be from the same graph"):
            mix()


def test_gradients_have_tensorflows_options():
    """Zeros where nothing is connected, weights as arrays, reads of variables."""
    x, other = tf.constant([2.0, 3.0]), tf.constant([1.0])
    zero = tf.UnconnectedGradients.ZERO
    weight = np.array([1, 10], np.float32)
    v = tf.Variable(3.0)
    made = [
        tf.gradients(x * x, [x, other], unconnected_gradients=zero),
        tf.gradients(x * x, x, grad_ys=weight),
        tf.gradients(v * v, [v.value()]),
    ]
    assert made[0][0].op.name == "gradients/grad"
    assert made[1][0].op.name == "gradients_1/grad"
    with tf.Session() as sess:
        sess.run(v.initializer)
        got = sess.run(made)
    assert [part.tolist() for part in got[0]] == [[4, 6], [0]]
    assert got[1][0].tolist() == [4, 60] and got[2] == [6]
    for options, said in (
        ({"unconnected_gradients": "no"}, "unconnected_gradients: 'no'"),
        ({"aggregation_method": 77}, "aggregation_method"),
        ({"grad_ys": [1.0, 1.0]}, "Passed 2 grad_ys for 1 ys"),
        ({"grad_ys": tf.ones([3])}, "must have its shape"),
    ):
        with pytest.raises(ValueError, match=said):
            tf.gradients(x * x, x, **options)


def test_elements_are_found_by_name():
    """Also by bytes; what is none of these is refused."""
    graph = tf.get_default_graph()
    a = tf.constant(1.0, name="a")
    assert graph.as_graph_element(b"a:0") is a and graph.as_graph_element("a") is a.op
    with graph.name_scope("s"), graph.name_scope("t"):
        assert graph.get_name_scope() == "s/t"
    assert graph.get_name_scope() == ""
    for wrong, kind, said in (
        ("a:z", ValueError, "'a:z' looks a like a Tensor name, but is not a valid one"),
        ("no", KeyError, "refers to an Operation not in the graph"),
        ("a:1", KeyError, "only has 1 outputs"),
        (3, TypeError, "Can not convert a int into a Tensor or Operation"),
    ):
        with pytest.raises(kind, match=said):
            graph.as_graph_element(wrong)
    with pytest.raises(ValueError, match="can't both be False"):
        graph.as_graph_element("a", allow_tensor=False, allow_operation=False)


def test_constants_are_numbers_where_numbers_are_wanted():
    """A run may not feed such a constant; other tensors are refused there."""
    x = tf.constant(np.arange(6.0).reshape(2, 3))
    times = tf.constant([1, 2])
    i = tf.placeholder(tf.int32, [])
    made = [
        tf.tile(x, times), tf.pad(x, tf.constant([[1, 0], [0, 2]])),
        tf.transpose(x, tf.constant([1, 0])), tf.reduce_sum(x, tf.constant(0)),
        tf.concat([x, x], tf.constant(1)), tf.zeros(tf.constant([2, 3])),
    ]  # fmt: skip
    a = np.arange(6.0).reshape(2, 3)
    want = [
        np.tile(a, (1, 2)), np.pad(a, ((1, 0), (0, 2))), a.T, a.sum(0),
        np.concatenate([a, a], 1), np.zeros((2, 3)),
    ]  # fmt: skip
    assert [y.shape.as_list() for y in made] == [list(w.shape) for w in want]
    with tf.Session() as sess:
        for got, expected in zip(sess.run(made), want):
            np.testing.assert_array_equal(got, expected)
        with pytest.raises(ValueError, match="may not be fed"):
            sess.run(made[0], {times: [2, 2]})
        part = tf.slice(x, [i, 0], [1, 2])
        assert part.shape.as_list() == [1, 2]
        assert sess.run(part, {i: 1}).tolist() == [[3, 4]]
        sizes = tf.placeholder(tf.int32, [2])
        assert sess.run(tf.slice(x, sizes, [1, -1]), {sizes: [0, 1]}).tolist() == [[1,
        2]]
    with pytest.raises(NotImplementedError, match="only a run knows"):
        tf.tile(x, tf.placeholder(tf.int32, [2]))


def test_bounds_and_masks_of_slices():
    """The same as x[begin:end:strides]."""
    x = tf.constant(np.arange(24).reshape(2, 3, 4))
    a = np.arange(24).reshape(2, 3, 4)
    end = tf.constant([2, 3, 3])
    made = [
        (tf.strided_slice(x, [0, 1, 0], end, [1, 1, 2]), a[0:2, 1:3, 0:3:2]),
        (tf.strided_slice(x, [0, 1], [1, 2], begin_mask=1, end_mask=2), a[:1, 1:]),
        (tf.strided_slice(x, [1, 0, 2], [0, 0, 0], ellipsis_mask=2, shrink_axis_mask=5),
         a[1, ..., 2]),
        (tf.strided_slice(x, [0, 1], [0, 2], new_axis_mask=1), a[None, 1:2]),
    ]  # fmt: skip
    with tf.Session() as sess:
        for got, want in made:
            np.testing.assert_array_equal(sess.run(got), want)
    with pytest.raises(ValueError, match="one length, got 2 and 1|got 2, 1 and 2"):
        tf.strided_slice(x, [0, 1], [1])


def test_sizes_that_tensors_say_are_checked():
    """By the run; the name is that of the last operation."""
    x = tf.placeholder(tf.float32, [None, 2])
    n = tf.placeholder(tf.int32, [])
    y, z = tf.reshape(x, [n, 4], name="y"), tf.reshape(x, tf.constant([2, 2]))
    assert y.name == "y:0" and z.shape.as_list() == [2, 2]
    with tf.Session() as sess:
        assert sess.run(y, {x: np.ones((4, 2)), n: 2}).shape == (2, 4)
        with pytest.raises(tf.errors.InvalidArgumentError, match="shape has 12"):
            sess.run(y, {x: np.ones((4, 2)), n: 3})


def test_scopes_know_the_graph_of_their_values():
    """It is the default one inside; without a name they are refused."""
    other = tf.Graph()
    with other.as_default():
        a = tf.constant(1.0)
    with tf.name_scope(None, "scope", [a]) as name:
        assert tf.get_default_graph() is other and name == "scope/"
    with pytest.raises(ValueError, match="must be from the same graph"):
        with tf.name_scope("s", values=[a, tf.constant(1.0)]):
            pass
    with pytest.raises(ValueError, match="At least one of name"):
        with tf.name_scope(None, None, [a]):
            pass


def test_where_operations_stand():
    """Beside another one, in a container; collections by name."""
    with tf.device("/cpu:0"):
        a = tf.constant(1.0)
    with tf.colocate_with(a), tf.container("box") as name:
        b = tf.constant(2.0)
        with tf.colocate_with(None, ignore_existing=True):
            c = tf.constant(3.0)
    assert b.device == a.device != "" and c.device == "" and name == "box"
    with pytest.raises(ValueError, match="ignore_existing is not True"):
        with tf.colocate_with(None):
            pass
    tf.add_to_collection("mine", a)
    assert tf.get_default_graph().collections == ["mine"]


def test_print_shows_values(capfd):
    """In the error output, at each run or at the first ones."""
    x = tf.placeholder(tf.float32, [None])
    y = tf.Print(x, [x, tf.reduce_sum(x)], "here: ", first_n=2, summarize=2)
    with tf.Session() as sess:
        for n in range(3):
            assert sess.run(y, {x: [n, 1.0, 2.0]}).tolist() == [n, 1, 2]
    first, second = capfd.readouterr().err.splitlines()
    assert first == "here: [0.0 1.0...][3.0]" and second == "here: [1.0 1.0...][4.0]"


def test_scalars_times_tensors():
    """Of slices the rows."""
    with tf.Session() as sess:
        assert sess.run(tf.scalar_mul(3, tf.constant([1.0, 2.0]))).tolist() == [3, 6]
        rows = tf.IndexedSlices(tf.constant([[2.0]]), tf.constant([1]))
        assert sess.run(tf.scalar_mul(2.0, rows)).values.tolist() == [[4]]
    with pytest.raises(ValueError, match="Only scalar"):
        tf.scalar_mul([1.0, 2.0], tf.constant([1.0, 2.0]))
    with pytest.raises(TypeError, match="Can't convert Operation 'NoOp.*' to Tensor"):
        tf.add(tf.no_op(), 1.0)
