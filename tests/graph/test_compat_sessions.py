# SPDX-License-Identifier: Apache-2.0
"""Sessions of pkg.compat.v1: fetches, feeds, options, and what is refused."""

import warnings

import numpy as np
import pytest

import pkg.compat.v1 as tf
from default_session import default_session

fresh = default_session(tf)


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.int32, np.int64, np.bool_])
def test_a_number_comes_as_numpys(kind):
    """Of exactly this class."""
    value = tf.get_default_session().run(tf.constant(kind(1)))
    assert type(value) is kind and value == 1


def test_feeds_become_arrays_of_the_placeholders_dtype():
    """As NumPy reads them; numbers that do not fit are refused."""
    run = tf.get_default_session().run
    whole, small = tf.placeholder(tf.int32), tf.placeholder(tf.float32)
    truth = tf.placeholder(tf.bool)
    assert run(whole + 0, {whole: [1.9, -1.9]}).tolist() == [1, -1]
    assert run(small * 1.0, {small: np.float64(0.1)}) == np.float32(0.1)
    assert run(tf.identity(truth), {truth: [1, 0]}).tolist() == [True, False]
    wide = np.arange(12, dtype=np.float32).reshape(3, 4)
    for value in (wide[:, ::2], np.asfortranarray(wide), wide.T):
        np.testing.assert_array_equal(run(small + 0, {small: value}), value)
    for value in (2**40, 2**80, -(2**31) - 1):
        with pytest.raises(TypeError, match=f"Type of feed value {value} with type"):
            run(whole, {whole: value})
    with pytest.raises(TypeError, match="not compatible with Tensor type"):
        run(truth, {truth: 2})
    with pytest.raises(ValueError, match="could not convert string to float"):
        run(small, {small: "abc"})
    with pytest.raises(ValueError, match="setting an array element"):
        run(small, {small: [[1.0], [2.0, 3.0]]})
    value = tf.constant(5.0, name="value")
    with pytest.raises(TypeError, match="cannot be a tf.Tensor object.*value:0"):
        run(small, {small: value})


def test_tuples_are_fed_by_tuples():
    """Of the same length."""
    run = tf.get_default_session().run
    one, two = tf.zeros([2]), tf.zeros([2])
    fed = {(one, (two,)): (np.ones(2), (np.full(2, 5.0),))}
    assert run(one + two, fed).tolist() == [6, 6]
    assert run(one + two, fed).tolist() == [6, 6]
    with pytest.raises(ValueError, match="Key had 2 elements, but value had 1"):
        run(one, {(one, two): (1.0,)})


def test_sparse_tensors_and_slices_are_fetched_and_fed():
    """As the arrays that they are made of."""
    run = tf.get_default_session().run
    parts = np.array([[0, 1], [2, 0]]), np.float32([1, 2]), np.array([3, 4])
    sparse = tf.SparseTensor(*parts)
    value = run([sparse])[0]
    assert isinstance(value, tf.SparseTensorValue)
    for got, expected in zip(value, parts):
        np.testing.assert_array_equal(got, expected)
    hole = tf.sparse_placeholder(tf.float32)
    np.testing.assert_array_equal(run(hole.values * 2.0, {hole: value}), [2, 4])
    slices = tf.IndexedSlices(tf.ones([2, 2]), tf.constant([2, 2]), tf.constant([3, 2]))
    assert run(slices).indices.tolist() == [2, 2]
    dense = run(tf.convert_to_tensor(slices))
    assert dense.tolist() == [[0, 0], [0, 0], [2, 2]]


def test_own_classes_can_be_fetched_and_fed():
    """Once they are registered, which is possible once."""

    class Twice:
        def __init__(self, tensor):
            self.tensor = tensor

    tf.register_session_run_conversion_functions(
        Twice,
        lambda own: ([own.tensor], lambda values: values[0] * 2),
        lambda own, value: [(own.tensor, value)],
    )
    own = Twice(tf.constant(3.0))
    run = tf.get_default_session().run
    assert run({"a": own}) == {"a": 6.0} and run(own, {own: 5.0}) == 10.0
    with pytest.raises(ValueError, match="already been registered"):
        tf.register_session_run_conversion_functions(Twice, lambda own: ([], list))


def test_what_is_prevented_is_refused():
    """Fetching an operation, feeding a tensor."""
    run, graph = tf.get_default_session().run, tf.get_default_graph()
    a, b = tf.constant(1.0, name="a"), tf.constant(2.0)
    graph.prevent_fetching(a.op)
    graph.prevent_feeding(b)
    assert not graph.is_fetchable(a) and not graph.is_feedable(b)
    assert graph.is_fetchable(b) and graph.is_feedable(a)
    with pytest.raises(ValueError, match="marked as not fetchable"):
        run(a)
    with pytest.raises(ValueError, match="may not be fed"):
        run(a + b, {b: 1.0})
    assert run(a + b, {a: 5.0}) == 7


def test_options_and_metadata():
    """A traced run says how long it took; a config has a timeout for all."""
    sess = tf.get_default_session()
    a = tf.constant(1.0) + 1.0
    plain, traced = tf.RunMetadata(), tf.RunMetadata()
    sess.run(a, run_metadata=plain)
    assert plain.step_stats.dev_stats == []
    options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE, timeout_in_ms=10000)
    step = sess.make_callable(a, accept_options=True)
    assert step(options=options, run_metadata=traced) == 2
    (device,) = traced.step_stats.dev_stats
    assert device.device.endswith("CPU:0")
    assert device.node_stats[0].all_end_rel_micros >= 0
    with tf.Session(config=tf.ConfigProto(operation_timeout_in_ms=60000)) as other:
        assert other.run(a) == 2


def test_sessions_refuse_wrong_arguments():
    """By class; other targets are not found."""
    for name in ("target", "graph", "config"):
        with pytest.raises(TypeError, match=f'{name}` must be .* but got "int"'):
            tf.Session(**{name: 37})
    with pytest.raises(tf.errors.NotFoundError, match="No session factory"):
        tf.Session("nowhere")
    sess = tf.Session()
    with sess, pytest.raises(RuntimeError, match="not re-entrant"):
        sess.__enter__()
    with pytest.raises(TypeError):
        tf.get_default_session().make_callable(tf.constant(1.0))(1.0)


def test_devices_are_listed():
    """As many as the config says."""
    device = tf.get_default_session().list_devices()[0]
    assert (device.device_type, device.name[-5:]) == ("CPU", "CPU:0")
    assert device.memory_limit_bytes > 0
    config = tf.ConfigProto(device_count={"CPU": 2})
    with tf.Session(config=config) as sess:
        assert len(sess.list_devices()) == 2


def test_a_second_interactive_session_is_warned_of():
    """The first one goes on."""
    a = tf.constant(1.0)
    first = tf.InteractiveSession()
    with pytest.warns(UserWarning, match="interactive session is already active"):
        tf.InteractiveSession().close()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert a.eval() == 1 and tf.get_default_session() is first
    first.close()
    assert tf.get_default_session() is not first
