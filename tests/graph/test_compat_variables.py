# SPDX-License-Identifier: Apache-2.0
"""Variables of pkg.compat.v1: assignment, state, scopes, initializers, optimizers."""

import numpy as np
import pytest

import pkg.compat.v1 as tf
from default_session import default_session

fresh = default_session(tf)


def test_what_has_no_value_is_reported():
    """By name; the report changes with the session."""
    sess = tf.get_default_session()
    assert sess.run(tf.report_uninitialized_variables()).size == 0
    assert tf.assert_variables_initialized() is None
    v, w = tf.Variable(1.0, name="v"), tf.Variable(2.0, name="w")
    report, asked = tf.report_uninitialized_variables(), tf.is_variable_initialized(v)
    check = tf.assert_variables_initialized()
    assert report.eval().tolist() == [b"v", b"w"] and not sess.run([asked])[0]
    with pytest.raises(tf.errors.FailedPreconditionError):
        sess.run(check)
    sess.run(tf.initialize_variables([v]))
    assert sess.run(report).tolist() == [b"w"] and sess.run(asked)
    assert sess.run(tf.report_uninitialized_variables([v])).size == 0
    sess.run([w.initializer, tf.initialize_local_variables()])
    sess.run(check)
    assert tf.model_variables() == []


def test_assignments_check_what_they_are_given():
    """Shapes and dtypes when they are written, shapes again when they run."""
    sess = tf.get_default_session()
    v = tf.Variable([1.0, 2.0], name="v")
    sess.run(v.initializer)
    for change in (v.assign, v.assign_add, v.assign_sub):
        with pytest.raises(ValueError, match="must be equal, but are 2 and 3"):
            change([1.0, 2.0, 3.0])
        with pytest.raises(TypeError, match="int32 that does not match type float32"):
            change(tf.constant([1, 2]))
        assert isinstance(change([0.0, 0.0], read_value=False), tf.Operation)
    hole = tf.placeholder(tf.float32)
    change = v.assign(hole)
    with pytest.raises(tf.errors.InvalidArgumentError, match="shapes of both tensors"):
        sess.run(change, {hole: [1, 2, 3]})
    v.load([7.0, 8.0])
    assert v.eval().tolist() == v.eval(sess).tolist() == [7, 8]
    with pytest.raises(ValueError, match="Cannot feed value of shape"):
        v.load([1.0, 2.0, 3.0], sess)
    free = tf.Variable([1.0], validate_shape=False)
    sess.run(free.initializer)
    assert sess.run(tf.assign(free, [1, 2, 3], validate_shape=False)).size == 3
    with pytest.raises(ValueError, match="must have a shape specified: Tensor"):
        tf.Variable(hole)
    with pytest.raises(ValueError, match="constraint"):
        tf.Variable(1.0, constraint=3)


def test_rows_are_written():
    """Those that are named twice are added up."""
    sess = tf.get_default_session()
    v = tf.Variable([[1.0], [2.0], [3.0]])
    sess.run(v.initializer)
    assert sess.run(tf.scatter_update(v, [0], [[9.0]])).ravel().tolist() == [9, 2, 3]
    step = tf.scatter_add(v, [1, 1], [[1.0], [1.0]])
    assert sess.run(step).ravel().tolist() == [9, 4, 3]
    assert sess.run(tf.scatter_sub(v, [2], [[3.0]])).ravel().tolist() == [9, 4, 0]


def test_variables_are_shared_by_name():
    """In scopes that say so, with shape and dtype as they are."""
    with tf.variable_scope("s") as scope:
        first = tf.get_variable("w", [2])
        assert tf.get_variable_scope() is scope
    assert first.name == "s/w:0" and scope.trainable_variables() == [first]
    with tf.variable_scope(scope, reuse=True):
        assert tf.get_variable("w", [2]) is first
        with pytest.raises(ValueError, match="Variable s/v does not exist"):
            tf.get_variable("v", [2])
        with pytest.raises(ValueError, match="specified shape .3,. and found"):
            tf.get_variable("w", [3])
        with pytest.raises(ValueError, match="specified dtype int32 and found"):
            tf.get_variable("w", [2], tf.int32)
    with tf.variable_scope("s", reuse=tf.AUTO_REUSE):
        assert tf.get_variable("w", [2]) is first
        assert tf.get_variable("new", [1], tf.int32).name == "s/new:0"
    with tf.variable_scope("s"), pytest.raises(ValueError, match="already exists"):
        tf.get_variable("w", [2])
    with tf.variable_op_scope(None, "d") as one, tf.name_scope("n"):
        assert one.name == "d" and tf.constant(1.0, name="c").op.name == "d/n/c"
        assert tf.get_variable("w", [1]).name == "d/w:0"
    local = tf.get_local_variable("local", [1])
    assert tf.local_variables() == [local] and not local.trainable
    for shape in (None, [None]):
        with pytest.raises(ValueError, match="must be fully defined"):
            tf.get_variable("x", shape)


INITIALIZERS = {
    "zeros": (tf.zeros_initializer(), lambda x: not x.any()),
    "ones": (tf.ones_initializer(), lambda x: (x == 1).all()),
    "constant": (tf.constant_initializer(3), lambda x: (x == 3).all()),
    "normal": (tf.random_normal_initializer(1.0, 2.0),
               lambda x: abs(x.mean() - 1) < 0.1 and abs(x.std() - 2) < 0.1),
    "truncated": (tf.truncated_normal_initializer(stddev=0.5),
                  lambda x: 0.9 < abs(x).max() <= 1),
    "uniform": (tf.random_uniform_initializer(2, 3),
                lambda x: 2 <= x.min() < 2.01 and 2.99 < x.max() < 3),
    "glorot": (tf.glorot_uniform_initializer(),
               lambda x: 0.98 < abs(x).max() / np.sqrt(6 / 150) <= 1),
    "glorot_normal": (tf.glorot_normal_initializer(),
                      lambda x: abs(x.std() / np.sqrt(2 / 150) - 1) < 0.05),
    "scaling": (tf.variance_scaling_initializer(2.0, "fan_out", "untruncated_normal"),
                lambda x: abs(x.std() / np.sqrt(2 / 50) - 1) < 0.05),
    "unit": (tf.uniform_unit_scaling_initializer(),
             lambda x: 0.98 < abs(x).max() / np.sqrt(3 / 100) <= 1),
}  # fmt: skip


@pytest.mark.parametrize("name", INITIALIZERS)
def test_initializers(name):
    """What a variable begins with."""
    initializer, holds = INITIALIZERS[name]
    v = tf.get_variable("v", [100, 50], initializer=initializer)
    v.initializer.run()
    value = v.eval()
    assert value.shape == (100, 50) and value.dtype == np.float32 and holds(value)


STEPS = {
    "descent": (lambda: tf.train.GradientDescentOptimizer(0.1), lambda g, s: 0.1 * g),
    "adagrad": (lambda: tf.train.AdagradOptimizer(0.1),
                lambda g, s: 0.1 * g / np.sqrt(s.setdefault("sum", []).append(g * g)
                                               or 0.1 + sum(s["sum"]))),
}  # fmt: skip


@pytest.mark.parametrize("name", STEPS)
def test_optimizers(name):
    """Three steps beside the formula."""
    sess = tf.get_default_session()
    v = tf.Variable([1.0, 2.0], name="v")
    make, change = STEPS[name]
    step = make().minimize(tf.reduce_sum(v * v))
    sess.run(tf.global_variables_initializer())
    value, state = np.array([1.0, 2.0]), {}
    for _ in range(3):
        value = value - change(2 * value, state)
        assert sess.run(step) is None
        np.testing.assert_allclose(sess.run(v), value, rtol=1e-5)


def test_rmsprop_with_and_without_a_mean():
    """Hinton's formula; centered, the variance is what it is divided by."""
    sess = tf.get_default_session()
    for centered in (False, True):
        v = tf.Variable([1.0, 2.0])
        optimizer = tf.train.RMSPropOptimizer(0.1, momentum=0.5, centered=centered)
        step = optimizer.minimize(tf.reduce_sum(v * v), var_list=[v])
        sess.run(tf.global_variables_initializer())
        value, mean, first, moved = np.array([1.0, 2.0]), 1.0, 0.0, 0.0
        for _ in range(3):
            g = 2 * value
            mean = 0.9 * mean + 0.1 * g * g
            first = 0.9 * first + 0.1 * g if centered else 0.0
            moved = 0.5 * moved + 0.1 * g / np.sqrt(mean - first * first + 1e-10)
            value = value - moved
            sess.run(step)
            np.testing.assert_allclose(sess.run(v), value, rtol=1e-5)


def test_slots_are_named_after_their_variables():
    """And are no variables to train."""
    v = tf.Variable([1.0, 2.0], name="v")
    optimizer = tf.train.AdamOptimizer(0.1)
    step = optimizer.minimize(tf.reduce_sum(v * v))
    assert step.name == "Adam" and optimizer.get_slot_names() == ["m", "v"]
    assert optimizer.get_slot(v, "m").name == "v/Adam:0"
    assert [var.name for var in optimizer.variables()] == [
        "beta1_power:0", "beta2_power:0", "v/Adam:0", "v/Adam_1:0"
    ]  # fmt: skip
    assert tf.trainable_variables() == [v]
    x = tf.constant(1.0)
    with pytest.raises(NotImplementedError, match="Trying to update a Tensor"):
        optimizer.minimize(x * x, var_list=[x])
    with pytest.raises(ValueError, match="Invalid type tf.int32"):
        optimizer.minimize(tf.constant(1))


def test_steps_rates_and_averages():
    """The global step is made once; averages follow their variables."""
    sess = tf.get_default_session()
    assert tf.train.get_global_step() is None
    step = tf.train.get_or_create_global_step()
    assert tf.train.get_or_create_global_step() is step
    rate = tf.train.exponential_decay(0.1, step, 10, 0.5, staircase=True)
    v = tf.Variable(1.0)
    averages = tf.train.ExponentialMovingAverage(0.9)
    with tf.control_dependencies([v.assign_add(1.0), step.assign(25)]):
        update = averages.apply([v])
    sess.run(tf.global_variables_initializer())
    sess.run(update)
    assert tf.train.global_step(sess, step) == 25
    np.testing.assert_allclose(
        sess.run([averages.average(v), rate]), [1.1, 0.025], rtol=1e-6
    )


def test_losses_are_collected():
    """Their weighted means, and the sum of all."""
    sess = tf.get_default_session()
    x, y = np.float32([1, 2, 4]), np.float32([2, 4, 4])
    squares = tf.losses.mean_squared_error(y, x)
    apart = tf.losses.absolute_difference(y, x, weights=np.float32([1, 1, 0]))
    logits, rows = np.float32([[1, 2], [3, 0]]), np.float32([[1, 0], [0, 1]])
    entropy = tf.losses.softmax_cross_entropy(rows, logits)
    same = tf.losses.sparse_softmax_cross_entropy([0, 1], logits)
    binary = tf.losses.sigmoid_cross_entropy(rows, logits)
    odds = np.exp(logits) / np.exp(logits).sum(1, keepdims=True)
    expected = -np.log(odds[[0, 1], [0, 1]]).mean()
    chance = 1 / (1 + np.exp(-logits))
    crossed = -(rows * np.log(chance) + (1 - rows) * np.log(1 - chance)).mean()
    got = sess.run([squares, apart, entropy, same, binary])
    np.testing.assert_allclose(got, [5 / 3, 1.5, expected, expected, crossed], 1e-5)
    total = sess.run(tf.losses.get_total_loss())
    np.testing.assert_allclose(total, sum(got), 1e-5)


def test_shuffled_rows_are_the_same_rows():
    """In another order."""
    sess = tf.get_default_session()
    rows = sess.run(tf.random_shuffle(tf.range(100)))
    assert sorted(rows) == list(range(100)) and rows.tolist() != list(range(100))


def test_getters_of_scopes_are_asked():
    """The innermost first; each may call the one around, and may change what it
    gives."""
    asked = []

    def getter(factor):
        def get(getter, name, *args, **options):
            asked.append((factor, name, options["reuse"]))
            return getter(name, *args, **options) * factor

        return get

    ones = tf.ones_initializer()
    with tf.variable_scope("a", custom_getter=getter(2.0)) as scope:
        with tf.variable_scope("b", custom_getter=getter(3.0)):
            x = tf.get_variable("x", [], initializer=ones)
        y = tf.get_variable("y", [], initializer=ones)
        plain = tf.get_variable("z", [], custom_getter=lambda getter, **o: getter(**o))
    with tf.variable_scope(scope, reuse=True):
        again = tf.get_variable("y")
    assert asked == [(3, "a/b/x", False), (2, "a/b/x", False), (2, "a/y", False),
                     (2, "a/y", True)]  # fmt: skip
    names = [v.name for v in tf.global_variables()]
    assert names == ["a/b/x:0", "a/y:0", "a/z:0"] and isinstance(plain, tf.Variable)
    sess = tf.get_default_session()
    sess.run(tf.global_variables_initializer())
    assert sess.run([x, y, again]) == [6, 2, 2]
    with pytest.raises(ValueError, match="not callable: 3"):
        tf.get_variable("w", [], custom_getter=3)
    for make in (
        lambda: tf.get_variable("w", [], partitioner=3),
        lambda: tf.variable_scope("c", partitioner=3).__enter__(),
    ):
        with pytest.raises(NotImplementedError, match="in one piece"):
            make()


def test_getters_are_called_by_position():
    """Without reuse they give what is there, or make it."""
    ones = tf.ones_initializer()

    def place(getter, name, shape, dtype, initializer, regularizer, reuse, **_):
        return getter(name, shape, dtype, initializer, regularizer, reuse)

    def bare(getter, name, shape=None, **_):
        return getter(name, shape)

    def cut(getter, name, **_):
        return getter(name, [2], partitioner=3)

    with tf.variable_scope("a", custom_getter=place):
        x = tf.get_variable("x", [2], tf.float64, ones)
        with pytest.raises(ValueError, match="already exists"):
            tf.get_variable("x", [2], tf.float64)
    assert x.dtype == tf.float64 and x.shape.as_list() == [2]
    with tf.variable_scope("a", custom_getter=bare):
        assert tf.get_variable("x") is x
        with pytest.raises(ValueError, match=r"specified shape \(3,\)"):
            tf.get_variable("x", [3])
        y = tf.get_variable("y", [3])
        assert y.dtype == tf.float32 and tf.get_variable("y", [3]) is y
    with pytest.raises(NotImplementedError, match="in one piece"):
        tf.get_variable("z", custom_getter=cut)


def test_variable_scopes_know_the_graph_of_their_values():
    graph = tf.Graph()
    with graph.as_default():
        there = tf.constant(1.0)
        tf.get_variable("s/v", [])
    for name, default in (("s", None), (None, "s")):
        with tf.variable_scope(name, default, [None, there, 2.0]) as scope:
            assert tf.get_default_graph() is graph
            made = tf.get_variable("w" if name else "u", [])
        assert made.graph is graph and scope.name == ("s" if name else "s_1")
    assert tf.global_variables() == []
    with pytest.raises(ValueError, match="must be from the same graph"):
        with tf.variable_scope("s", values=[there, tf.constant(1.0)]):
            pass


def test_scopes_by_default_names_are_counted():
    """Within the scope around, from the beginning when that is entered anew."""

    def two():
        made = []
        for _ in range(2):
            with tf.variable_scope(None, "layer"):
                made.append(tf.get_variable_scope().name)
        return made

    with tf.variable_scope("net") as net:
        assert two() == ["net/layer", "net/layer_1"]
        with tf.variable_scope(net):
            pass
        assert two() == ["net/layer_2", "net/layer_3"]
    with tf.variable_scope("net"):
        assert two() == ["net/layer", "net/layer_1"]
    with tf.variable_scope(net, reuse=True) as again:
        assert again.original_name_scope == "net/" and again.reuse
    with tf.variable_scope("out"), tf.variable_scope("in", auxiliary_name_scope=False):
        assert tf.get_variable_scope().original_name_scope == "out/"
        assert tf.get_default_graph().get_name_scope() == "out"
    for options, kind, said in (
        ({"name_or_scope": None}, TypeError, "default_name is None"),
        ({"name_or_scope": 3}, TypeError, "string or VariableScope"),
        ({"name_or_scope": None, "default_name": "x", "reuse": True}, ValueError, "re"),
        ({"name_or_scope": "x", "auxiliary_name_scope": 1}, TypeError, "or `False`"),
    ):
        with pytest.raises(kind, match=said):
            tf.variable_scope(**options).__enter__()


def test_what_a_scope_says_of_its_variables():
    """Initializer, dtype, regularizer and constraint; and lists of them."""
    with tf.variable_scope("a") as scope:
        scope.set_initializer(tf.constant_initializer(4))
        scope.set_dtype(tf.float64)
        scope.set_regularizer(lambda v: v * 2)
        v = scope.get_variable("v", [])
        w = tf.get_variable("w", [], regularizer=tf.no_regularizer)
        local = tf.get_local_variable("l", [], collections=["mine"])
    assert v.dtype == tf.float64 and not local.trainable
    assert tf.no_regularizer(v) is None
    assert scope.local_variables() == [local] == scope.get_collection("mine")
    assert scope.trainable_variables() == [v, w] == scope.global_variables()
    loss, _ = tf.losses.get_regularization_losses()
    sess = tf.get_default_session()
    sess.run([v.initializer, local.initializer])
    assert sess.run([loss, local]) == [8, 4]
    with pytest.raises(ValueError, match="'int32' and explicit dtype 'float64' don't"):
        tf.get_variable("s", initializer=tf.constant(1), dtype=tf.float64)


def test_constraints_hold_after_each_step():
    """Of every optimizer."""
    positive = lambda v: tf.maximum(v, 0.0)  # noqa: E731
    v = tf.Variable([1.0, -1.0], constraint=positive)
    assert v.constraint is positive and tf.Variable(1.0).constraint is None
    loss = tf.reduce_sum(v * tf.constant([3.0, -3.0]))
    sess = tf.get_default_session()
    for optimizer in (
        tf.train.GradientDescentOptimizer(1.0), tf.train.MomentumOptimizer(1.0, 0.9),
        tf.train.AdamOptimizer(5.0), tf.train.AdagradOptimizer(9.0),
        tf.train.RMSPropOptimizer(9.0),
    ):  # fmt: skip
        step = optimizer.minimize(loss)
        sess.run(tf.global_variables_initializer())
        sess.run(step)
        assert sess.run(v)[0] == 0 and sess.run(v)[1] > 0


def test_a_variable_counts():
    """Up to a limit."""
    v = tf.Variable(0)
    up = v.count_up_to(2)
    sess = tf.get_default_session()
    sess.run(v.initializer)
    assert [sess.run(up), sess.run(up)] == [0, 1]
    with pytest.raises(tf.errors.OutOfRangeError, match="limit of 2"):
        sess.run(up)


def test_a_step_sees_what_the_step_before_it_made():
    v = tf.Variable(2.0)
    optimizer = tf.train.GradientDescentOptimizer(0.1)
    first = optimizer.minimize(v * v)
    with tf.control_dependencies([first]):
        loss = v * v * v
        second = optimizer.minimize(loss)
    session = tf.get_default_session()
    for fetches in ([second], [loss, second]):
        session.run(v.initializer)
        session.run(fetches)
        # 2 - 0.1 * 4 = 1.6, and 1.6 - 0.1 * 3 * 1.6 ** 2
        np.testing.assert_allclose(session.run(v), 0.832, rtol=1e-6)


def assigned_first(way, x):
    """What `v` is read as, times `x`, after it is assigned `x * x`; and that square."""
    v = tf.Variable([0.0, 0.0])
    y = x * x
    if way == "cond":

        def branch():
            with tf.control_dependencies([tf.assign(v, y)]):
                return v * x

        return v, y, tf.cond(tf.reduce_sum(x) > 0, branch, lambda: x)
    assigned = tf.assign(v, y)
    with tf.control_dependencies([assigned]):
        z = v * x
        if way == "nonzero":  # no plan: the nodes are called one by one
            z = z + tf.zeros_like(x) * tf.cast(tf.shape(tf.where(x > 0))[0], tf.float32)
    return v, y, z


@pytest.mark.parametrize("way", ["plan", "nonzero", "cond"])
def test_no_gradient_flows_through_an_assignment(way):
    x = tf.placeholder(tf.float32, [2])
    v, y, z = assigned_first(way, x)
    of_x = tf.gradients(z, x)[0]
    of_v = tf.gradients(z, v)[0]
    of_y = tf.gradients(y, x)[0]
    session = tf.get_default_session()
    session.run(v.initializer)
    for fetches in ([z, of_x], [z, of_x, of_y], [z, of_x, of_v, of_y]):
        values = session.run(fetches, {x: [1.0, 2.0]})
        np.testing.assert_array_equal(values[0], [1.0, 8.0])
        np.testing.assert_array_equal(values[1], [1.0, 4.0])  # the value of v
        if of_v in fetches:
            np.testing.assert_array_equal(values[2], [1.0, 2.0])
        if of_y in fetches:
            np.testing.assert_array_equal(values[-1], [2.0, 4.0])


@pytest.mark.parametrize("planned", [True, False])
def test_a_gradient_of_a_variable_is_that_of_all_its_reads(planned):
    v = tf.Variable(3.0)
    before = v * v
    if not planned:
        before = before + 0 * tf.cast(tf.shape(tf.where([True]))[0], tf.float32)
    with tf.control_dependencies([before]):
        assigned = tf.assign(v, before + v)
    with tf.control_dependencies([assigned]):
        after = v * v * v
        both = before + after
        gradients = [tf.gradients(part, v)[0] for part in (before, after, both)]
        of_assigned = tf.gradients(assigned * 5.0 + v, [assigned, v])
    alone = tf.gradients(assigned * 5.0, v)[0]
    assert tf.gradients(tf.assign(v, before * 2.0), before) == [None]
    session = tf.get_default_session()
    session.run(v.initializer)
    assert session.run(alone) == 5.0
    session.run(v.initializer)
    found = session.run([*gradients, *of_assigned, both])
    # v is 3 and then 12: 2 * 3, 3 * 12 ** 2 and their sum
    np.testing.assert_allclose(found, [6.0, 432.0, 438.0, 5.0, 6.0, 9.0 + 12.0**3])


def test_gradients_of_a_value_that_a_loop_assigned():
    v = tf.Variable(1.0)
    x = tf.placeholder(tf.float32, [])

    def body(i, total):
        with tf.control_dependencies([tf.assign(v, v * x)]):
            return i + 1, total + v * x

    _, total = tf.while_loop(lambda i, _: i < 3, body, [tf.constant(0), v * 1.0])
    session = tf.get_default_session()
    gradients = tf.gradients(total, [v, x])
    session.run(v.initializer)
    found = session.run([total, *gradients], {x: 2.0})
    # v is 1, 2, 4 and 8: 1 + x * (2 + 4 + 8); 1 + 3 * x; 2 + 4 + 8
    np.testing.assert_allclose(found, [29.0, 7.0, 14.0])
