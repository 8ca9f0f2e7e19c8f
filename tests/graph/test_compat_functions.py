# SPDX-License-Identifier: Apache-2.0
"""Every function of pkg.compat.v1 against NumPy: arrays, and symbols of known and of
unknown sizes."""

import inspect
import re

import numpy as np
import pytest

import pkg.compat.v1 as tf
from paths import TESTS

X = np.array([[0.5, -1.5, 2.0], [3.0, -0.25, 1.0]], np.float32)
Y = np.array([[2.0, 1.0, -3.0], [0.5, 4.0, 1.0]], np.float32)
P = np.abs(X)
ONES = np.array([[1.0, 2.0, 2.0]], np.float32)
B = np.array([[True, False, True], [True, True, False]])
I = np.array([1, 0, 1], np.int32)  # noqa: E741
ROWS = np.array([[0.2, 0.3, 0.5], [0.0, 1.0, 0.0]], np.float32)


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def cross_entropy(x, rows):
    return -(rows * np.log(softmax(x))).sum(-1)


NOT_KNOWN = r"number of dimensions is|as many results as a size says"
# name, call, reference, inputs.
TABLE = [
    ("add", tf.add, np.add, X, Y),
    ("subtract", tf.subtract, np.subtract, X, Y),
    ("multiply", tf.multiply, np.multiply, X, Y),
    ("divide", tf.divide, np.divide, X, Y),
    ("truediv", tf.truediv, np.divide, X, Y),
    ("div", tf.div, np.divide, X, Y),
    ("floordiv", tf.floordiv, np.floor_divide, X, Y),
    ("floor_div", tf.floor_div, np.floor_divide, X, Y),
    ("mod", tf.mod, np.mod, X, Y),
    ("floormod", tf.floormod, np.mod, X, Y),
    ("maximum", tf.maximum, np.maximum, X, Y),
    ("minimum", tf.minimum, np.minimum, X, Y),
    ("pow", tf.pow, np.power, P, Y),
    ("equal", tf.equal, np.equal, X, Y),
    ("not_equal", tf.not_equal, np.not_equal, X, Y),
    ("less", tf.less, np.less, X, Y),
    ("less_equal", tf.less_equal, np.less_equal, X, Y),
    ("greater", tf.greater, np.greater, X, Y),
    ("greater_equal", tf.greater_equal, np.greater_equal, X, Y),
    ("logical_and", tf.logical_and, np.logical_and, B, ~B[::-1]),
    ("logical_or", tf.logical_or, np.logical_or, B, ~B[::-1]),
    ("logical_not", tf.logical_not, np.logical_not, B),
    ("negative", tf.negative, np.negative, X),
    ("abs", tf.abs, np.abs, X),
    ("sign", tf.sign, np.sign, X),
    ("square", tf.square, np.square, X),
    ("sqrt", tf.sqrt, np.sqrt, P),
    ("rsqrt", tf.rsqrt, lambda x: 1 / np.sqrt(x), P),
    ("exp", tf.exp, np.exp, X),
    ("log", tf.log, np.log, P),
    ("sin", tf.sin, np.sin, X),
    ("cos", tf.cos, np.cos, X),
    ("tanh", tf.tanh, np.tanh, X),
    ("sigmoid", tf.sigmoid, sigmoid, X),
    ("floor", tf.floor, np.floor, X),
    ("ceil", tf.ceil, np.ceil, X),
    ("identity", tf.identity, lambda x: x, X),
    ("stop_gradient", tf.stop_gradient, lambda x: x, X),
    ("zeros_like", tf.zeros_like, np.zeros_like, X),
    ("ones_like", tf.ones_like, np.ones_like, X),
    ("diag", lambda x: tf.diag(x), np.diag, X[0]),
    ("matmul", lambda x, y: tf.matmul(x, y, transpose_b=True),
     lambda x, y: x @ y.T, X, Y),
    ("matmul", lambda x, y: tf.matmul(x, y, transpose_a=True),
     lambda x, y: x.T @ y, X, Y),
    ("reduce_sum", tf.reduce_sum, np.sum, X),
    ("reduce_sum", lambda x: tf.reduce_sum(x, [0, 1]), np.sum, X),
    ("reduce_sum", lambda x: tf.reduce_sum(x, 1), lambda x: x.sum(1), X),
    ("reduce_sum", lambda x: tf.reduce_sum(x, -1, keepdims=True),
     lambda x: x.sum(1, keepdims=True), X),
    ("reduce_sum", lambda x: tf.reduce_sum(x, keep_dims=True),
     lambda x: x.sum(keepdims=True), X),
    ("reduce_mean", lambda x: tf.reduce_mean(x, reduction_indices=[1]),
     lambda x: x.mean(1), X),
    ("reduce_max", lambda x: tf.reduce_max(x, 0), lambda x: x.max(0), X),
    ("reduce_min", lambda x: tf.reduce_min(x, 0), lambda x: x.min(0), X),
    ("reduce_prod", lambda x: tf.reduce_prod(x, 1), lambda x: x.prod(1), X),
    ("reduce_all", lambda x: tf.reduce_all(x, 0), lambda x: x.all(0), B),
    ("reduce_any", lambda x: tf.reduce_any(x, 0), lambda x: x.any(0), B),
    ("argmax", tf.argmax, lambda x: x.argmax(0), X),
    ("argmax", lambda x: tf.argmax(x, 1), lambda x: x.argmax(1), X),
    ("argmin", lambda x: tf.argmin(x, dimension=1), lambda x: x.argmin(1), X),
    ("reshape", lambda x: tf.reshape(x, [3, -1]), lambda x: x.reshape(3, -1), X),
    ("transpose", tf.transpose, np.transpose, X),
    ("transpose", lambda x: tf.transpose(x, [0, 1]), lambda x: x, X),
    ("transpose", lambda x: tf.transpose(x, perm=[1, 0]), np.transpose, X),
    ("concat", lambda x, y: tf.concat([x, y], 1), lambda x, y: np.hstack([x, y]), X, Y),
    ("stack", lambda x, y: tf.stack([x, y], axis=1),
     lambda x, y: np.stack([x, y], 1), X, Y),
    ("unstack", lambda x: tf.unstack(x, 3, axis=1)[2], lambda x: x[:, 2], X),
    ("split", lambda x: tf.split(x, 3, 1)[1], lambda x: x[:, 1:2], X),
    ("split", lambda x: tf.split(x, [1, 2], axis=1)[1], lambda x: x[:, 1:], X),
    ("expand_dims", lambda x: tf.expand_dims(x, 1), lambda x: x[:, None], X),
    ("expand_dims", lambda x: tf.expand_dims(x, -1), lambda x: x[..., None], X),
    ("squeeze", tf.squeeze, np.squeeze, ONES),
    ("squeeze", lambda x: tf.squeeze(x, [0]), lambda x: x[0], ONES),
    ("squeeze", lambda x: tf.squeeze(x, axis=0), lambda x: x[0], ONES),
    ("cast", lambda x: tf.cast(x, tf.int32), lambda x: x.astype(np.int32), X),
    ("one_hot", lambda i: tf.one_hot(i, 3),
     lambda i: np.eye(3, dtype=np.float32)[i], I),
    ("where", tf.where, np.where, B, X, Y),
    ("where", lambda b: tf.where(b), lambda b: np.argwhere(b), B),
    ("gather", tf.gather, lambda x, i: x[i], X, I),
    ("gather", lambda x, i: tf.gather(x, i, axis=1), lambda x, i: x[:, i], X, I),
    ("gather", tf.gather, lambda x, i: x[i], X, np.array([[0, 1], [1, 1]], np.int32)),
    ("tile", lambda x: tf.tile(x, [2, 1]), lambda x: np.tile(x, (2, 1)), X),
    ("clip_by_value", lambda x: tf.clip_by_value(x, -1.0, 1.0),
     lambda x: np.clip(x, -1, 1), X),
    ("add_n", lambda x, y: tf.add_n([x, y, x]), lambda x, y: x + y + x, X, Y),
    ("zeros", lambda: tf.zeros([2, 3]), lambda: np.zeros((2, 3), np.float32)),
    ("ones", lambda: tf.ones((2,), tf.int32), lambda: np.ones(2, np.int32)),
    ("fill", lambda: tf.fill([2, 1], 3), lambda: np.full((2, 1), 3, np.int32)),
    ("fill", lambda: tf.fill([2], 1.5), lambda: np.full(2, 1.5, np.float32)),
    ("range", lambda: tf.range(3), lambda: np.arange(3, dtype=np.int32)),
    ("range", lambda: tf.range(1, 9, 3), lambda: np.arange(1, 9, 3, dtype=np.int32)),
    ("range", lambda: tf.range(1.0, 2.0, 0.25),
     lambda: np.arange(1, 2, 0.25, dtype=np.float32)),
    ("constant", lambda: tf.constant([1, 2]), lambda: np.array([1, 2], np.int32)),
    ("constant", lambda: tf.constant(7.0, shape=[2, 2]),
     lambda: np.full((2, 2), 7, np.float32)),
    ("constant", lambda: tf.constant(range(6), shape=[2, 3], dtype=tf.float32),
     lambda: np.arange(6, dtype=np.float32).reshape(2, 3)),
    ("convert_to_tensor", tf.convert_to_tensor, lambda x: x, X),
    ("tuple", lambda x, y: tf.tuple([x, y])[1], lambda x, y: y, X, Y),
    ("gradients", lambda x: tf.gradients(tf.square(x), x)[0] if hasattr(x, "op")
     else tf.constant(2 * x), lambda x: 2 * x, X),
    ("placeholder_with_default", lambda: tf.placeholder_with_default(X, [None, 3]),
     lambda: X),
    ("random_uniform", lambda: tf.random_uniform([2, 2], 3, 4, tf.int32),
     lambda: np.full((2, 2), 3, np.int32)),
    ("nn.relu", tf.nn.relu, lambda x: np.maximum(x, 0), X),
    ("nn.elu", tf.nn.elu, lambda x: np.where(x > 0, x, np.expm1(x)), X),
    ("nn.softplus", tf.nn.softplus, lambda x: np.log1p(np.exp(x)), X),
    ("nn.sigmoid", tf.nn.sigmoid, sigmoid, X),
    ("nn.tanh", tf.nn.tanh, np.tanh, X),
    ("nn.softmax", tf.nn.softmax, softmax, X),
    ("nn.log_softmax", tf.nn.log_softmax, lambda x: np.log(softmax(x)), X),
    ("nn.bias_add", tf.nn.bias_add, lambda x, b: x + b, X, Y[0]),
    ("nn.l2_loss", tf.nn.l2_loss, lambda x: (x * x).sum() / 2, X),
    ("nn.softmax_cross_entropy_with_logits",
     lambda x, r: tf.nn.softmax_cross_entropy_with_logits(labels=r, logits=x),
     cross_entropy, X, ROWS),
    ("nn.softmax_cross_entropy_with_logits_v2",
     lambda x, r: tf.nn.softmax_cross_entropy_with_logits_v2(labels=r, logits=x),
     cross_entropy, X, ROWS),
    ("nn.sparse_softmax_cross_entropy_with_logits",
     lambda x, i: tf.nn.sparse_softmax_cross_entropy_with_logits(labels=i, logits=x),
     lambda x, i: -np.log(softmax(x))[[0, 1], i], X, I[:2]),
    ("nn.sigmoid_cross_entropy_with_logits",
     lambda x, z: tf.nn.sigmoid_cross_entropy_with_logits(labels=z, logits=x),
     lambda x, z: -z * np.log(sigmoid(x)) - (1 - z) * np.log(1 - sigmoid(x)), X, ROWS),
    ("nn.dropout", lambda x: tf.nn.dropout(x, keep_prob=1.0), lambda x: x, X),
    ("nn.dropout", lambda x: tf.nn.dropout(x, rate=0.0), lambda x: x, X),
]  # fmt: skip


@pytest.mark.parametrize("given", ["arrays", "lists", "known", "unknown", "anything"])
@pytest.mark.parametrize(
    "row", TABLE, ids=[f"{i}-{row[0]}" for i, row in enumerate(TABLE)]
)
def test_is_what_numpy_gives(row, given):
    """Values, shape and dtype."""
    name, call, reference, *inputs = row
    if not inputs and given != "arrays":
        pytest.skip("it takes no tensors")
    with tf.Graph().as_default(), tf.Session() as sess:
        if given == "arrays":
            args = inputs
        elif given == "lists":  # Python's numbers are float32 and int32
            args = [array.tolist() for array in inputs]
            if name in ("identity", "convert_to_tensor", "gradients"):
                args = inputs
        else:
            shape = {"known": np.shape, "anything": lambda array: None}.get(
                given, lambda array: [None] * array.ndim
            )
            args = [tf.placeholder(a.dtype.name, shape(a)) for a in inputs]
        feeds = {} if given in ("arrays", "lists") else dict(zip(args, inputs))
        try:
            symbol = call(*args)
        except ValueError as error:
            # A form that needs to know how many dimensions there are may say so.
            assert given == "anything" and re.search(NOT_KNOWN, str(error)), error
            return
        found = sess.run(symbol, feeds)
    expected = np.asarray(reference(*inputs))
    assert found.shape == expected.shape
    assert np.asarray(found).dtype == expected.dtype
    np.testing.assert_allclose(found, expected, rtol=2e-5, atol=1e-6)


@pytest.fixture
def fresh():
    """A default graph with a session, which the test asks for."""
    with tf.Graph().as_default(), tf.Session():
        yield


@pytest.mark.usefixtures("fresh")
def test_variables_and_their_collections():
    """Global, local and trainable ones, each with its initializer."""
    sess = tf.get_default_session()
    a = tf.Variable([1.0, 2.0], name="a")
    b = tf.Variable(3, trainable=False, name="b")
    c = tf.Variable(
        5.0, trainable=False, collections=[tf.GraphKeys.LOCAL_VARIABLES], name="c"
    )
    assert tf.global_variables() == tf.all_variables() == [a, b]
    assert tf.local_variables() == [c] and tf.trainable_variables() == [a]
    with pytest.raises(tf.errors.FailedPreconditionError, match="uninitialized"):
        sess.run(a)
    sess.run(tf.variables_initializer([a]))
    with pytest.raises(tf.errors.FailedPreconditionError, match="uninitialized"):
        sess.run(b)
    sess.run([tf.initialize_all_variables(), tf.local_variables_initializer()])
    assert sess.run([b, c]) == [3, 5.0]
    np.testing.assert_array_equal(sess.run(tf.assign_add(a, [1, 1])), [2, 3])
    np.testing.assert_array_equal(sess.run(tf.assign_sub(a, X[0, :2])), [1.5, 4.5])
    assert sess.run(tf.assign_add(b, 4)) == 7 and sess.run(b).dtype == np.int32
    tf.add_to_collection("mine", a)
    tf.add_to_collection("mine", b)
    assert tf.get_collection("mine") == [a, b] and tf.get_collection("other") == []
    assert tf.get_collection("mine", scope="b") == [b]


@pytest.mark.usefixtures("fresh")
def test_groups_and_operations_without_a_value():
    """None is what they give; all of their parts run."""
    sess = tf.get_default_session()
    a, b = tf.Variable(1.0), tf.Variable(2.0)
    sess.run(tf.global_variables_initializer())
    both = tf.group(a.assign(3.0), [b.assign(4.0)], name="both")
    assert both.name == "both" and sess.run(both) is None
    assert sess.run([a, b]) == [3.0, 4.0]
    assert sess.run(tf.no_op(name="nothing")) is None
    assert sess.run(tf.group()) is None


@pytest.mark.usefixtures("fresh")
def test_default_graphs_sessions_and_devices():
    """What stands where nothing is said."""
    sess = tf.get_default_session()
    graph = tf.get_default_graph()
    assert sess.graph is graph
    with tf.device("/cpu:0"):
        x = tf.constant(1.0)
        with tf.device(None):
            y = tf.constant(2.0)
    assert (x.device, y.device) == ("/cpu:0", "")
    with pytest.raises(AssertionError, match="Do not use reset"):
        tf.reset_default_graph()
    tf.disable_v2_behavior()
    tf.disable_eager_execution()
    assert tf.get_default_graph() is graph


@pytest.mark.usefixtures("fresh")
def test_shapes_as_tensors():
    """Of known shapes."""
    sess = tf.get_default_session()
    x = tf.placeholder(tf.float32, [2, 3])
    assert sess.run(tf.shape(x)).tolist() == [2, 3]
    assert sess.run(tf.shape(x, out_type=tf.int64)).dtype == np.int64
    for sizes in ([None, 3], None):
        y = tf.placeholder(tf.float32, sizes)
        found = sess.run(tf.shape(y), {y: np.zeros((5, 3))})
        assert found.tolist() == [5, 3] and found.dtype == np.int32


@pytest.mark.usefixtures("fresh")
def test_random_numbers_are_those_of_the_seed():
    """Mean and deviation as asked for; the same again after the same seed."""
    sess = tf.get_default_session()
    x = tf.random_normal([20000], mean=1.0, stddev=2.0)
    y = tf.random_uniform([20000], -1.0, 3.0)
    tf.set_random_seed(5)
    first, uniform = sess.run([x, y])
    other = sess.run(x)
    tf.set_random_seed(5)
    again = sess.run([x, y])[0]
    np.testing.assert_array_equal(first, again)
    assert (first != other).any()
    assert abs(first.mean() - 1) < 0.06 and abs(first.std() - 2) < 0.06
    assert uniform.min() >= -1 and uniform.max() < 3 and abs(uniform.mean() - 1) < 0.05


def functions():
    """All that the table has to have."""
    for prefix, module in (("", tf), ("nn.", tf.nn)):
        for name, value in vars(module).items():
            home = getattr(value, "__module__", "")
            if not inspect.isfunction(value) or name.startswith("_"):
                continue
            if home != "pkg.compat.v1.convert" and home.startswith("pkg."):
                yield prefix + name


def test_every_function_is_tested():
    """In the table above, or by name in one of the other files here."""
    here = {row[0] for row in TABLE}
    others = "".join(p.read_text("utf-8") for p in (TESTS / "graph").glob("*.py"))
    called = set(re.findall(r"\btf\.((?:nn\.)?\w+)\(", others))
    missing = set(functions()) - here - called
    assert missing == set()
