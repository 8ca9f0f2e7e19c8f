# SPDX-License-Identifier: Apache-2.0
"""Python functions in graphs: what they get and give, when they are called, errors."""

import gc
import threading
import weakref

import numpy as np
import pytest

import pkg
import pkg.graph as pg
from default_session import default_session, run

fresh = default_session(pg)


DTYPES = "bool uint8 int8 int32 int64 float16 float32 float64".split()


@pytest.mark.parametrize("dtype", DTYPES)
def test_arrays_of_every_dtype_go_in_and_out(dtype):
    value = np.array([[0, 1, 1], [1, 0, 1]], dtype)
    seen = []
    x = pg.placeholder(getattr(pkg, dtype), [None, 3])
    y = pg.py_func(lambda a: seen.append((type(a), a.dtype)) or a[::-1], [x], x.dtype)
    assert y.shape.ndims is None and y.dtype == x.dtype
    found = run(y, {x: value}).numpy()
    assert seen == [(np.ndarray, value.dtype)]
    np.testing.assert_array_equal(found, value[::-1])
    assert found.dtype == value.dtype


def test_several_results_one_result_and_none():
    x, seen = pg.placeholder(pkg.float64, []), []
    two = pg.py_func(lambda a: (a * 2, np.int64(3)), [x], [pkg.float64, pkg.int64])
    assert [v.item() for v in run(two, {x: 4.0})] == [8.0, 3]
    (one,) = pg.py_func(lambda a: a, [x], [pkg.float64])
    assert run(one, {x: 4.0}).item() == 4.0
    step = pg.py_func(lambda a: seen.append(float(a)), [x], [])
    assert isinstance(step, pg.Operation) and run(step, {x: 5.0}) is None
    assert seen == [5.0]


def test_called_once_in_every_run_that_needs_it():
    calls = []
    y = pg.py_func(lambda: calls.append(0) or float(len(calls)), [], pkg.float64)
    z = y + 1
    assert [v.item() for v in run([y, z, y])] == [1.0, 2.0, 1.0]
    assert run(z, {y: 10.0}).item() == 11.0 and len(calls) == 1
    assert run(y).item() == 2.0


def test_control_dependencies_order_functions():
    seen = []
    first = pg.py_func(lambda: seen.append(1), [], [])
    with pg.control_dependencies([first]):
        second = pg.py_func(lambda: seen.append(2), [], [])
    for _ in range(5):
        run(second)
    assert seen == [1, 2] * 5


def test_functions_in_loops_and_branches():
    seen, p = [], pg.placeholder(pkg.bool, [])

    def body(i):
        return pg.py_func(lambda a: seen.append(int(a)) or a + 1, [i], pkg.int64)

    loop = pg.while_loop(
        lambda i: i < 3, body, [0], shape_invariants=[pg.TensorShape(None)]
    )
    with pytest.raises(ValueError, match="known|shape"):
        pg.while_loop(lambda i: i < 3, body, [0])  # its shape is not known
    assert loop is not None and run(loop).item() == 3 and seen == [0, 1, 2]
    y = pg.cond(p, lambda: body(pg.constant(7)), lambda: pg.constant(0))
    assert run(y, {p: False}).item() == 0 and seen == [0, 1, 2]
    assert run(y, {p: True}).item() == 8 and seen == [0, 1, 2, 7]


def test_what_the_function_keeps_stays_as_it_was():
    kept, given = [], np.ones(3)
    x = pg.placeholder(pkg.float64, [2])
    step = pg.py_func(kept.append, [x * 1.0], [])
    for value in (1.0, 2.0, 3.0):
        run(step, {x: [value, value]})
    assert [array.tolist() for array in kept] == [[1, 1], [2, 2], [3, 3]]
    y = pg.py_func(lambda: given, [], pkg.float64)
    assert (run(y * -1.0).numpy() == -1).all() and (given == 1).all()


def test_a_function_may_run_the_session_and_many_threads_may_run_it():
    session = pg.get_default_session()
    two, x = pg.constant(2.0), pg.placeholder(pkg.float32, [])
    y = pg.py_func(lambda a: a * session.run(two).numpy(), [x], pkg.float32)
    wrong = []

    def work(n):
        for k in range(30):
            if session.run(y, {x: n * 100 + k}).item() != 2 * (n * 100 + k):
                wrong.append((n, k))

    threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert wrong == [] and not any(thread.is_alive() for thread in threads)


def test_it_lives_as_long_as_the_graph():
    class Function:
        def __call__(self):
            return 1.0

    function = Function()
    watch = weakref.ref(function)
    with pg.Graph().as_default(), pg.Session() as session:
        y = pg.py_func(function, [], pkg.float64)
        del function
        gc.collect()
        assert session.run(y).item() == 1.0
    del y, session
    gc.collect()
    assert watch() is None


def test_no_gradient_flows_through():
    x = pg.placeholder(pkg.float32, [])
    assert pg.gradients(pg.py_func(np.sin, [x], pkg.float32), [x]) == [None]


@pytest.mark.parametrize(
    "kind, name",
    [
        (ValueError, "InvalidArgumentError"),
        (UnicodeError, "InvalidArgumentError"),
        (TypeError, "InvalidArgumentError"),
        (StopIteration, "OutOfRangeError"),
        (MemoryError, "ResourceExhaustedError"),
        (NotImplementedError, "UnimplementedError"),
        (KeyError, "UnknownError"),
        (ZeroDivisionError, "UnknownError"),
    ],
)
def test_an_exception_becomes_an_error_of_the_run(kind, name):
    def fails(a):
        if a < 0:
            raise kind("what went wrong")
        return a

    x = pg.placeholder(pkg.float64, [])
    y = pg.py_func(fails, [x], pkg.float64, name="mine")
    for _ in range(2):
        with pytest.raises(getattr(pg.errors, name)) as caught:
            run(y, {x: -1.0})
        assert caught.value.op is y.op and y.op.name == "mine"
        text = str(caught.value)
        assert f"{kind.__name__}: " in text and "what went wrong" in text
        assert "in fails" in text  # the line that raised
        assert isinstance(caught.value.__cause__, kind)
        assert run(y, {x: 2.0}).item() == 2.0


@pytest.mark.parametrize(
    "value, dtypes, words",
    [
        (np.float64(1), pkg.float32, "is double, but expects float"),
        (np.int32(1), pkg.float32, "is int32, but expects float"),
        ((1.0, 2.0), pkg.float64, "returns 2 values, but expects to see 1 values"),
        (1.0, [pkg.float64] * 2, "returns 1 values, but expects to see 2 values"),
        (None, pkg.float64, "returns 0 values"),
        (object(), pkg.float64, "Unsupported object type object"),
        (np.array([object()]), pkg.float64, "Unsupported numpy type object"),
    ],
    ids=["double", "int", "two", "one", "none", "object", "objects"],
)
def test_results_must_be_what_was_said(value, dtypes, words):
    y = pg.py_func(lambda: value, [], dtypes)
    with pytest.raises(pg.errors.OpError, match=words):
        run(y)


def test_what_cannot_be_called_is_refused():
    with pytest.raises(ValueError, match="Expected func to be callable"):
        pg.py_func(3, [], pkg.float32)
