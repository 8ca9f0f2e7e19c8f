# SPDX-License-Identifier: Apache-2.0
"""The classes of errors of pkg.compat.v1, and what a failed run says."""

import pickle

import numpy as np
import pytest

import pkg
import pkg.compat.v1 as tf
import pkg.graph as pg

NAMES = [name for name in dir(tf.errors) if name.endswith("Error")]
NAMES.remove("OpError")


@pytest.fixture(autouse=True)
def fresh():
    """A default graph for each test."""
    with tf.Graph().as_default():
        yield


@pytest.mark.parametrize("name", NAMES)
def test_each_class_has_a_code_and_can_be_pickled(name):
    """From the code to the class and back; text and code stay."""
    kind = getattr(tf.errors, name)
    code = tf.errors.error_code_from_exception_type(kind)
    assert tf.errors.exception_type_from_error_code(code) is kind
    error = pickle.loads(pickle.dumps(kind(None, None, "text")))
    assert type(error) is kind
    assert (error.message, str(error), error.error_code) == ("text", "text", code)


def test_errors_of_plain_graphs_can_be_pickled():
    """Of the class of the code alone, which needs no graph."""
    with pg.Graph().as_default():
        x = pg.placeholder(pkg.float32, [2], "x")
        with pytest.raises(ValueError, match="must feed a value") as caught:
            pg.Session().run(x + 1)
    copy = pickle.loads(pickle.dumps(caught.value))
    assert type(copy) is pg.errors.InvalidArgumentError and copy.op is None
    assert copy.message == caught.value.message


def test_codes_and_classes_without_the_other_are_refused():
    """There are 16; OpError is of no code."""
    assert len(NAMES) == 16
    for code in (0, 17, None):
        with pytest.raises(KeyError):
            tf.errors.exception_type_from_error_code(code)
    with pytest.raises(KeyError):
        tf.errors.error_code_from_exception_type(tf.errors.OpError)


def failing(function, value, dtype=tf.float32, shape=None):
    """The error of a run of a function of one fed tensor."""
    hole = tf.placeholder(dtype, shape, name="hole")
    made = function(hole)
    with tf.Session() as sess, pytest.raises(tf.errors.InvalidArgumentError) as caught:
        sess.run(made, {hole: value})
    assert caught.type is tf.errors.InvalidArgumentError
    assert caught.value.op.graph is hole.graph
    assert "test_compat_errors.py:" in str(caught.value)
    return str(caught.value)


ROWS = np.ones((2, 3))
RUNS = {
    "Integer division by zero": lambda: failing(lambda x: 1 // x, 0, tf.int32, []),
    "Matrix size-incompatible: In[0]: [2,3], In[1]: [2,3]": lambda: failing(
        lambda x: tf.matmul(x, x), ROWS
    ),
    "Incompatible shapes: [4] vs. [2,3]": lambda: failing(
        lambda x: x + tf.ones([2, 3]), np.ones(4)
    ),
    "with 4 values, but the requested shape has 21": lambda: failing(
        lambda x: tf.reshape(x, [3, 7]), np.ones(4)
    ),
    "shape[0] = [2,3] vs. shape[1] = [2,2]": lambda: failing(
        lambda x: tf.concat([x, tf.ones([2, 2])], 0), ROWS
    ),
    "slice index 5 of dimension 0 out of bounds": lambda: failing(
        lambda x: x[5], np.ones(2), shape=[None]
    ),
    "label value of 7 which is outside the valid range of [0, 2)": lambda: failing(
        lambda x: tf.nn.sparse_softmax_cross_entropy_with_logits(
            labels=[x], logits=[[1.0, 2.0]]
        ), 7, tf.int32, [],
    ),
}  # fmt: skip


@pytest.mark.parametrize("said", RUNS)
def test_a_run_says_it_in_tensorflows_words(said):
    """With the class, the operation and the line that made it."""
    assert said in RUNS[said]()


def test_what_is_not_fed_is_named():
    """With TensorFlow's words for dtype and shape."""
    hole = tf.placeholder(tf.float64, [2, None], name="hole")
    with tf.Session() as sess, pytest.raises(tf.errors.InvalidArgumentError) as caught:
        sess.run(hole + 1.0)
    said = "placeholder tensor 'hole' with dtype double and shape [2,?]"
    assert said in str(caught.value)
    assert caught.value.op is hole.op
    assert caught.value.node_def.name == "hole"


BUILDS = {
    "Dimensions must be equal, but are 3 and 4": lambda: tf.ones([2, 3]) + tf.ones([4]),
    "Dimensions must be equal, but are 3 and 2": lambda: tf.matmul(
        tf.ones([2, 3]), tf.ones([2, 3])
    ),
    "Shape must be rank 2 but is rank 1": lambda: tf.matmul(tf.ones([2]), tf.ones([2])),
    "3 elements to shape [2,2] (4 elements)": lambda: tf.reshape(
        tf.constant([1.0, 2.0, 3.0]), [2, 2]
    ),
    "Dimension 0 in both shapes must be equal, but are 1 and 2": lambda: tf.concat(
        [tf.ones([1, 1]), tf.ones([1, 2])], 0
    ),
    "evenly divisible by 2 but is 3": lambda: tf.split(tf.ones([3]), 2),
    "Dimension must be 2 but is 3": lambda: tf.transpose(tf.ones([1, 1]), [0, 1, 2]),
    "Invalid reduction dimension 5": lambda: tf.reduce_sum(tf.ones([1]), 5),
    "Can not squeeze dim[1]": lambda: tf.squeeze(tf.ones([1, 2]), [1]),
    "slice index 5 of dimension 0": lambda: tf.ones([2])[5],
}


@pytest.mark.parametrize("said", BUILDS)
def test_what_cannot_fit_is_refused_when_it_is_written(said):
    """A ValueError, after which the graph can be used."""
    with pytest.raises(ValueError) as caught:
        BUILDS[said]()
    assert said in str(caught.value)
    with tf.Session() as sess:
        assert sess.run(tf.constant(1.0) + 1) == 2


def test_operands_of_two_dtypes_are_refused():
    """Tensors as well as Python's floats where integers are wanted."""
    with pytest.raises(TypeError, match="int32 that does not match type float32"):
        tf.constant(1.0) + tf.constant(1)
    with pytest.raises(TypeError, match="'b' of 'MatMul' Op has type int32"):
        tf.matmul(tf.constant([[1.0]]), tf.constant([[1]]))
    with pytest.raises(TypeError, match="Expected int32, but got 1.5"):
        tf.constant(1) + 1.5
    with pytest.raises(TypeError, match="DataType int32 not in list of allowed"):
        tf.exp(tf.constant(1))
    with pytest.raises(TypeError, match="Expected int32, but got 1.5"):
        tf.constant(1.5, tf.int32)


CHECKS = {
    "equal": (lambda x: tf.assert_equal(x, [1.0, 2.0]), [1, 2], [1, 3]),
    "none_equal": (lambda x: tf.assert_none_equal(x, [1.0, 2.0]), [2, 3], [1, 3]),
    "less": (lambda x: tf.assert_less(x, 2.0), [1, 1], [1, 2]),
    "less_equal": (lambda x: tf.assert_less_equal(x, 2.0), [1, 2], [1, 3]),
    "greater": (lambda x: tf.assert_greater(x, 2.0), [3, 3], [3, 2]),
    "greater_equal": (lambda x: tf.assert_greater_equal(x, 2.0), [3, 2], [3, 1]),
    "positive": (lambda x: tf.assert_positive(x), [3, 2], [3, 0]),
    "negative": (lambda x: tf.assert_negative(x), [-3, -2], [-3, 0]),
    "non_negative": (lambda x: tf.assert_non_negative(x), [3, 0], [3, -1]),
    "non_positive": (lambda x: tf.assert_non_positive(x), [-3, 0], [-3, 1]),
    "own": (lambda x: tf.Assert(x < 3.0, ["too large", x]), [1, 2], [1, 3]),
}


@pytest.mark.parametrize("name", CHECKS)
def test_assertions_fail_where_they_do_not_hold(name):
    """As operations, and before what depends on them."""
    make, good, bad = CHECKS[name]
    hole = tf.placeholder(tf.float32, [2], name="hole")
    check = make(hole)
    assert isinstance(check, tf.Operation)
    with tf.control_dependencies([check]):
        double = hole * 2.0
    with tf.Session() as sess:
        for _ in range(2):
            assert sess.run(check, {hole: good}) is None
            assert sess.run(double, {hole: good}).tolist() == [2 * n for n in good]
            for fetch in (check, double):
                with pytest.raises(tf.errors.InvalidArgumentError) as caught:
                    sess.run(fetch, {hole: bad})
                assert "assertion failed: [" in str(caught.value)
                assert "hole:0" in str(caught.value) and caught.value.op is check


def test_assertions_of_constants_fail_too():
    """When they run."""
    check = tf.assert_equal(1, 2, message="one is not two")
    with tf.Session() as sess:
        with pytest.raises(tf.errors.InvalidArgumentError, match="one is not two"):
            sess.run(check)
        assert sess.run(tf.assert_equal(1, 1)) is None


def test_what_is_known_is_asserted_at_once():
    """Ranks and dtypes."""
    x = tf.placeholder(tf.float32, [None, 2])
    with tf.Session() as sess:
        assert sess.run(tf.assert_rank(x, 2)) is None
        sess.run([tf.assert_rank_at_least(x, 1), tf.assert_type(x, tf.float32)])
        sess.run(tf.assert_integer(3))
    assert tf.assert_scalar(1.0).shape.as_list() == []
    for wrong in (lambda: tf.assert_rank(x, 1), lambda: tf.assert_scalar(x),
                  lambda: tf.assert_rank_at_least(x, 3)):  # fmt: skip
        with pytest.raises(ValueError, match="rank|scalar"):
            wrong()
    for wrong in (lambda: tf.assert_type(x, tf.int32), lambda: tf.assert_integer(x)):
        with pytest.raises(TypeError, match="type"):
            wrong()


def test_a_variable_counts_up_to_a_limit():
    """At which it stays."""
    count = tf.Variable(0)
    step = tf.count_up_to(count, 3)
    with tf.Session() as sess:
        sess.run(count.initializer)
        assert [sess.run(step) for _ in range(3)] == [0, 1, 2]
        with pytest.raises(tf.errors.OutOfRangeError, match="Reached limit of 3"):
            sess.run(step)
        assert sess.run(count) == 3
