# SPDX-License-Identifier: Apache-2.0
"""Every function of pkg.compat.v1 against NumPy: arrays, and symbols of known and of
unknown sizes."""

import inspect
import math
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


IMAGE = np.random.default_rng(3).standard_normal((1, 4, 4, 2)).astype(np.float32)
KERNEL = np.random.default_rng(4).standard_normal((2, 2, 2, 3)).astype(np.float32)


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
    ("logical_xor", tf.logical_xor, np.logical_xor, B, ~B[::-1]),
    ("squared_difference", tf.squared_difference, lambda x, y: (x - y) ** 2, X, Y),
    ("truncatediv", tf.truncatediv, lambda i, j: np.trunc(i / j).astype(np.int32),
     np.array([7, -7, 6], np.int32), np.array([2, 2, -4], np.int32)),
    ("div", tf.div, np.floor_divide,
     np.array([7, -7, 6], np.int32), np.array([2, 2, -4], np.int32)),
    ("truediv", tf.truediv, np.true_divide,
     np.array([7, -7, 6], np.int32), np.array([2, 2, -4], np.int32)),
    ("reciprocal", tf.reciprocal, lambda x: 1 / x, X),
    ("expm1", tf.expm1, np.expm1, X),
    ("log1p", tf.log1p, np.log1p, P),
    ("tan", tf.tan, np.tan, X),
    ("asin", tf.asin, np.arcsin, ROWS),
    ("acos", tf.acos, np.arccos, ROWS),
    ("atan", tf.atan, np.arctan, X),
    ("sinh", tf.sinh, np.sinh, X),
    ("cosh", tf.cosh, np.cosh, X),
    ("erf", tf.erf, lambda x: np.vectorize(math.erf)(x).astype(np.float32), X),
    ("round", tf.round, np.round, X),
    ("is_nan", lambda x: tf.is_nan(tf.sqrt(x)), lambda x: x < 0, X),
    ("is_inf", lambda x: tf.is_inf(x), np.isinf, X),
    ("is_finite", lambda x: tf.is_finite(x), np.isfinite, X),
    ("to_float", tf.to_float, np.float32, I),
    ("to_double", tf.to_double, np.float64, X),
    ("to_int32", tf.to_int32, lambda x: x.astype(np.int32), X),
    ("to_int64", tf.to_int64, lambda x: x.astype(np.int64), X),
    ("tensordot", lambda x, y: tf.tensordot(x, y, [[0, 1], [0, 1]]),
     lambda x, y: np.tensordot(x, y, 2), X, Y),
    ("accumulate_n", lambda x, y: tf.accumulate_n([x, y]), np.add, X, Y),
    ("reduce_mean", tf.reduce_mean, lambda i: np.int32(0), I),
    ("reduce_mean", lambda i: tf.reduce_mean(i, 0, keepdims=True),
     lambda i: np.array([-1], np.int32), np.array([-2, -1, -1], np.int32)),
    ("reduce_sum", tf.reduce_sum, lambda i: i.sum(dtype=np.int32), I),
    ("reduce_logsumexp", lambda x: tf.reduce_logsumexp(x, 1),
     lambda x: np.log(np.exp(x).sum(1)), X),
    ("arg_max", tf.arg_max, lambda x: x.argmax(0), X),
    ("arg_min", lambda x: tf.arg_min(x, 1), lambda x: x.argmin(1), X),
    ("argmax", lambda x: tf.argmax(x, 1, output_type=tf.int32),
     lambda x: x.argmax(1).astype(np.int32), X),
    ("cumsum", lambda x: tf.cumsum(x, 1), lambda x: x.cumsum(1), X),
    ("cumsum", lambda x: tf.cumsum(x, 1, exclusive=True),
     lambda x: x.cumsum(1) - x, X),
    ("cumsum", lambda x: tf.cumsum(x, reverse=True), lambda x: x[::-1].cumsum(0)[::-1],
     X),
    ("norm", tf.norm, np.linalg.norm, X),
    ("norm", lambda x: tf.norm(x, 1, axis=1), lambda x: np.abs(x).sum(1), X),
    ("boolean_mask", tf.boolean_mask, lambda x, b: x[b], X, B),
    ("gather_nd", lambda x, i: tf.gather_nd(x, tf.reshape(i, [2, 2])),
     lambda x, i: x[i[:, 0], i[:, 1]], X,
     np.array([[0, 1], [1, 2]], np.int32)),
    ("sparse_to_dense",
     lambda x, i: tf.sparse_to_dense(
         tf.reshape(i, [2, 2]), [2, 3], tf.convert_to_tensor(x)[:, 0], 7),
     lambda x, i: np.array([[7, x[0, 0], 7], [7, 7, x[1, 0]]], np.float32), X,
     np.array([[0, 1], [1, 2]], np.int32)),
    ("sparse_to_dense", lambda x: tf.sparse_to_dense([1, 0], tf.shape(x), tf.size(x)),
     lambda x: np.array([3, 3, 0], np.int32), X[0]),
    ("reverse", lambda x: tf.reverse(x, [1]), lambda x: x[:, ::-1], X),
    ("pad", lambda x: tf.pad(x, [[1, 0], [0, 2]], constant_values=3),
     lambda x: np.pad(x, [[1, 0], [0, 2]], constant_values=3), X),
    ("pad", lambda x: tf.pad(x, [[1, 1], [2, 0]], "REFLECT"),
     lambda x: np.pad(x, [[1, 1], [2, 0]], "reflect"), X),
    ("slice", lambda x: tf.slice(x, [0, 1], [2, -1]), lambda x: x[:, 1:], X),
    ("strided_slice", lambda x: tf.convert_to_tensor(x)[:, 1], lambda x: x[:, 1], X),
    ("strided_slice", lambda x: tf.convert_to_tensor(x)[::-1, None, 1:],
     lambda x: x[::-1, None, 1:], X),
    ("strided_slice", lambda x: tf.convert_to_tensor(x)[..., -1], lambda x: x[..., -1],
     X),
    ("strided_slice", lambda x, i: tf.convert_to_tensor(x)[tf.reduce_max(i), :2],
     lambda x, i: x[i.max(), :2], X, I),
    ("strided_slice", lambda x, i: tf.convert_to_tensor(x)[:, :tf.reduce_max(i)],
     lambda x, i: x[:, :1], X, I),
    ("strided_slice", lambda x, i: tf.convert_to_tensor(x)[:, -tf.reduce_max(i):],
     lambda x, i: x[:, -1:], X, I),
    ("diag_part", lambda x: tf.diag_part(x), np.diagonal, X[:, :2]),
    ("meshgrid", lambda x, y: tf.meshgrid(x, y)[1],
     lambda x, y: np.meshgrid(x, y)[1], X[0], Y[1]),
    ("dynamic_partition", lambda x, i: tf.dynamic_partition(x, i, 2)[1],
     lambda x, i: x[i == 1], Y[0], I),
    ("unsorted_segment_sum", lambda x, i: tf.unsorted_segment_sum(x, i, 3),
     lambda x, i: np.bincount(i, x, 3).astype(np.float32), Y[0], I),
    ("one_hot", lambda i: tf.one_hot(i, 2, on_value=5, off_value=-1, axis=0),
     lambda i: np.where(np.arange(2)[:, None] == i, 5, -1).astype(np.int32), I),
    ("linspace", lambda: tf.linspace(1.0, 2.0, 5),
     lambda: np.linspace(1, 2, 5, dtype=np.float32)),
    ("lin_space", lambda: tf.lin_space(0.0, 1.0, 2), lambda: np.float32([0, 1])),
    ("eye", lambda: tf.eye(2, 3, [2]),
     lambda: np.stack([np.eye(2, 3)] * 2).astype("f")),
    ("range", lambda i: tf.range(tf.reduce_sum(i)), lambda i: np.arange(2, dtype="i4"),
     I),
    ("fill", lambda x: tf.fill([2], tf.reduce_max(x)),
     lambda x: np.full(2, x.max()), X),
    ("hessians", lambda x: tf.hessians(tf.reduce_sum(x * x * x), x)[0]
     if hasattr(x, "op") and x.shape.is_fully_defined()
     else tf.diag(tf.multiply(x, 6.0)),
     lambda x: np.diag(6 * x), X[0]),
    ("global_norm", lambda x, y: tf.global_norm([x, None, y]),
     lambda x, y: np.sqrt((x * x).sum() + (y * y).sum()), X, Y),
    ("clip_by_norm", lambda x: tf.clip_by_norm(x, 1.0),
     lambda x: x / np.linalg.norm(x), X),
    ("clip_by_norm", lambda x: tf.clip_by_norm(x, 100.0), lambda x: x, X),
    ("clip_by_global_norm", lambda x, y: tf.clip_by_global_norm([x, y], 1.0)[0][1],
     lambda x, y: y / np.sqrt((x * x).sum() + (y * y).sum()), X, Y),
    ("nn.relu6", lambda x: tf.nn.relu6(tf.multiply(x, 4.0)),
     lambda x: np.clip(x * 4, 0, 6), X),
    ("nn.leaky_relu", tf.nn.leaky_relu, lambda x: np.where(x > 0, x, x * 0.2), X),
    ("nn.selu", tf.nn.selu, lambda x: np.float32(1.0507009873554805) * np.where(
        x > 0, x, 1.6732632423543772 * np.expm1(x)).astype(np.float32), X),
    ("nn.softsign", tf.nn.softsign, lambda x: x / (1 + np.abs(x)), X),
    ("nn.xw_plus_b", lambda x, y, b: tf.nn.xw_plus_b(x, tf.transpose(y, [1, 0]), b),
     lambda x, y, b: x @ y.T + b, X, Y, X[0, :2]),
    ("nn.l2_normalize", lambda x: tf.nn.l2_normalize(x, 1),
     lambda x: x / np.linalg.norm(x, axis=1, keepdims=True), X),
    ("nn.moments", lambda x: tf.nn.moments(x, [0])[1], lambda x: x.var(0), X),
    ("nn.moments", lambda x: tf.nn.moments(x, [1], keep_dims=True)[0],
     lambda x: x.mean(1, keepdims=True), X),
    ("nn.batch_normalization",
     lambda x, y: tf.nn.batch_normalization(x, 0.5, tf.square(y), 1.0, 2.0, 1e-3),
     lambda x, y: (x - 0.5) / np.sqrt(y * y + 1e-3) * 2 + 1, X, Y),
    ("nn.top_k", lambda x: tf.nn.top_k(x, 2)[1],
     lambda x: np.argsort(-x, 1)[:, :2].astype(np.int32), X),
    ("nn.in_top_k", lambda x, i: tf.nn.in_top_k(x, i, 2),
     lambda x, i: np.array([False, True]), X, I[:2]),
    ("nn.embedding_lookup", tf.nn.embedding_lookup, lambda x, i: x[i], X, I),
    ("nn.conv2d", lambda x, w: tf.nn.conv2d(x, w, [1, 1, 1, 1], "VALID"),
     lambda x, w: np.stack([[[
         (x[0, r : r + 2, c : c + 2, :, None] * w).sum((0, 1, 2))
         for c in range(3)] for r in range(3)]]), IMAGE, KERNEL),
    ("nn.max_pool", lambda x: tf.nn.max_pool(x, [1, 2, 2, 1], [1, 2, 2, 1], "VALID"),
     lambda x: x.reshape(1, 2, 2, 2, 2, 2).max((2, 4)), IMAGE),
    ("nn.avg_pool", lambda x: tf.nn.avg_pool(x, [1, 2, 2, 1], [1, 2, 2, 1], "VALID"),
     lambda x: x.reshape(1, 2, 2, 2, 2, 2).mean((2, 4)), IMAGE),
    ("nn.dropout", lambda x: tf.nn.dropout(x, keep_prob=1.0), lambda x: x, X),
    ("nn.dropout", lambda x: tf.nn.dropout(x, rate=0.0), lambda x: x, X),
]  # fmt: skip


GIVEN = ("arrays", "lists", "known", "unknown", "anything")
# Of a function that takes no tensors there is one way to call it.
CALLS = [
    pytest.param(row, given, id=f"{i}-{row[0]}-{given}")
    for i, row in enumerate(TABLE)
    for given in (GIVEN if row[3:] else GIVEN[:1])
]


@pytest.mark.parametrize("row, given", CALLS)
def test_is_what_numpy_gives(row, given):
    """Values, shape and dtype."""
    name, call, reference, *inputs = row
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
    assert (x.device, y.device) == ("/device:CPU:0", "")
    with pytest.raises(AssertionError, match="Do not use tf.reset"):
        tf.reset_default_graph()
    tf.disable_v2_behavior()
    tf.disable_eager_execution()
    assert tf.get_default_graph() is graph


@pytest.mark.usefixtures("fresh")
def test_shapes_as_tensors():
    """Of known shapes, and of those that only a run knows."""
    sess = tf.get_default_session()
    x = tf.placeholder(tf.float32, [2, 3])
    assert sess.run(tf.shape(x)).tolist() == [2, 3]
    assert sess.run(tf.shape(x, out_type=tf.int64)).dtype == np.int64
    assert sess.run([tf.size(x), tf.rank(x)]) == [6, 2]
    rows = tf.placeholder(tf.float32, [None, 3])
    for n in (0, 1, 5):
        feeds = {rows: np.ones((n, 3))}
        got = sess.run([tf.shape(rows), tf.shape(rows)[0], tf.size(rows)], feeds)
        assert [got[0].tolist(), *got[1:]] == [[n, 3], n, 3 * n]
        made = [
            tf.zeros([tf.shape(rows)[0], 2]),
            tf.reshape(rows, [tf.shape(rows)[0], 1, 3]),
            tf.ones(tf.shape(rows)), tf.fill([tf.shape(rows)[0]], 2.5),
            tf.random_normal(tf.shape(rows)), tf.broadcast_to([[7.0]], tf.shape(rows)),
            tf.range(tf.shape(rows)[0]),
        ]  # fmt: skip
        shapes = [value.shape for value in sess.run(made, feeds)]
        assert shapes == [(n, 2), (n, 1, 3), (n, 3), (n,), (n, 3), (n, 3), (n,)]
    free = tf.placeholder(tf.float32)
    got = sess.run([tf.shape(free), tf.shape(free)[1]], {free: np.zeros((5, 3))})
    assert got[0].tolist() == [5, 3] and got[1] == 3 and got[0].dtype == np.int32
    count = tf.placeholder(tf.int32, [2])
    assert sess.run(tf.zeros(count), {count: [2, 4]}).shape == (2, 4)


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


@pytest.mark.parametrize("shape", [[None, None], None], ids=["sizes", "rank"])
@pytest.mark.parametrize("axis", [0, 1, -1])
def test_sizes_that_only_a_run_knows_are_checked_there(fresh, axis, shape):
    """Equal parts, axes of one element: what does not fit is an error, not a guess."""
    sess = tf.get_default_session()
    x = tf.placeholder(tf.float32, shape)
    parts, flat = tf.split(x, 2, axis), tf.squeeze(x, [axis])
    value = np.arange(16, dtype=np.float32).reshape(4, 4)
    for found, wanted in zip(sess.run(parts, {x: value}), np.split(value, 2, axis)):
        np.testing.assert_array_equal(found, wanted)
    one = value[:1] if axis == 0 else value[:, :1]
    np.testing.assert_array_equal(sess.run(flat, {x: one}), one.squeeze(axis))
    for symbol, wrong in ((parts[0], value[:3, :3]), (flat, value)):
        with pytest.raises(tf.errors.InvalidArgumentError):
            sess.run(symbol, {x: wrong})


def functions():
    """All that the table has to have."""
    for prefix, module in (("", tf), ("nn.", tf.nn)):
        for name, value in vars(module).items():
            home = getattr(value, "__module__", "")
            if not inspect.isfunction(value) or name.startswith("_"):
                continue
            helper = home.rpartition(".")[2] in ("convert", "record", "exporting")
            if home.startswith("pkg.") and not helper:
                yield prefix + name


def test_every_function_is_tested():
    """In the table above, or by name in one of the other files here."""
    here = {row[0] for row in TABLE}
    others = "".join(p.read_text("utf-8") for p in (TESTS / "graph").glob("*.py"))
    called = set(re.findall(r"\btf\.((?:nn\.)?\w+)\(", others))
    called.add("load_op_library")  # tests/framework
    missing = set(functions()) - here - called
    assert missing == set()
