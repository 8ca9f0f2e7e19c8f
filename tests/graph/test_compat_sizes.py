# SPDX-License-Identifier: Apache-2.0
"""Sizes and places of pkg.compat.v1 that a program gives as tensors, or wrongly."""

import numpy as np
import pytest

import pkg.compat.v1 as tf
from default_session import default_session, run

X = np.arange(24, dtype=np.float32).reshape(4, 2, 3)


fresh = default_session(tf)


@pytest.mark.parametrize(
    ("shape", "known", "fed", "made"),
    [
        (lambda x, v: tf.constant([-1, 3]), [None, 3], None, (8, 3)),
        (lambda x, v: [tf.shape(x)[0], -1], [None, None], None, (4, 6)),
        (lambda x, v: [-1, tf.shape(x)[0]], [None, None], None, (6, 4)),
        (lambda x, v: [tf.shape(x)[0] * 2, 3], [None, 3], None, (8, 3)),
        (lambda x, v: tf.stack([tf.shape(x)[0], -1]), [None, None], None, (4, 6)),
        (lambda x, v: tf.concat([tf.shape(x)[:1], [-1]], 0), None, None, (4, 6)),
        (lambda x, v: v, [None, None], [-1, 8], (3, 8)),
        (lambda x, v: v, [None, None], [3, 8], (3, 8)),
        (lambda x, v: [v[0], 2, v[1]], [None, 2, None], [4, -1], (4, 2, 3)),
    ],
)
def test_reshape_finds_the_size_that_is_left(shape, known, fed, made):
    x, v = tf.placeholder(tf.float32, [None, 2, 3]), tf.placeholder(tf.int32, [2])
    y = tf.reshape(x, shape(x, v))
    assert known is None or y.shape.as_list() == known
    feeds = {x: X} if fed is None else {x: X, v: fed}
    value, slope = run([y, tf.gradients(y * y, x)[0]], feeds)
    assert np.array_equal(value, X.reshape(made)) and np.array_equal(slope, 2 * X)


@pytest.mark.parametrize("shape", [[], [1], [2, 3], [0, 4], [-1, 3]])
def test_what_follows_a_reshape_of_anything_knows_the_shape(shape):
    """Nothing is known of what comes, but the result has the shape asked for."""
    made = tf.reshape(tf.placeholder(tf.float32), shape)
    known = [None if size == -1 else size for size in shape]
    for symbol in (made, made * made, tf.exp(made), made + tf.zeros([])):
        assert symbol.shape.as_list() == known


@pytest.mark.parametrize("fed", [[3, 9], [-1, -1], [0, -1], [-1, 7], [-2, -12]])
def test_reshape_refuses_what_does_not_fit_in_the_run(fed):
    x, v = tf.placeholder(tf.float32, [None, 2, 3]), tf.placeholder(tf.int32, [2])
    with pytest.raises(tf.errors.InvalidArgumentError):
        run(tf.reshape(x, v), {x: X, v: fed})
    with pytest.raises(ValueError, match="Only one input size may be -1, got 2"):
        tf.reshape(x, [v[0], -1, -1])


@pytest.mark.parametrize(
    ("begin", "size", "said"),
    [
        ([0, 0], [9, 1], r"Expected size\[0\] in \[0, 4\], but got 9"),
        ([2, 0], [3, 1], r"Expected size\[0\] in \[0, 2\], but got 3"),
        ([5, 0], [-1, 1], r"Expected begin\[0\] in \[0, 4\], but got 5"),
        ([0, -1], [1, 1], r"Expected begin\[1\] in \[0, 3\], but got -1"),
        ([0, 0], [1, -2], r"Expected size\[1\] in \[0, 3\], but got -2"),
        ([0], [1], r"1-D tensors of size 2, but got shapes \[1\] and \[1\]"),
    ],
)
def test_slices_out_of_known_bounds_are_refused(begin, size, said):
    x = tf.placeholder(tf.float32, [4, 3])
    with pytest.raises(ValueError, match=said):
        tf.slice(x, begin, size)
    if len(begin) == 2:
        rows = tf.placeholder(tf.float32, [None, 3])
        bounds = tf.placeholder(tf.int32, [2]), tf.placeholder(tf.int32, [2])
        feeds = dict(zip(bounds, (begin, size)))
        part = tf.slice(rows, *bounds)
        with pytest.raises(tf.errors.InvalidArgumentError):
            run(part, {rows: np.ones((4, 3)), **feeds})
        with pytest.raises((tf.errors.InvalidArgumentError, ValueError)):
            run(tf.slice(rows, begin, size), {rows: np.ones((4, 3))})


@pytest.mark.parametrize("begin", range(5))
@pytest.mark.parametrize("size", range(-1, 6))
@pytest.mark.parametrize("told", ["", "begin", "size", "both"])
def test_slices_of_sizes_that_only_a_run_knows(begin, size, told):
    """What is in bounds is NumPy's; the rest is refused in the run."""
    x = tf.placeholder(tf.float32, [None, 3])
    a, b = tf.placeholder(tf.int32, [2]), tf.placeholder(tf.int32, [2])
    starts, counts = [begin, 1], [size, 2]
    feeds = {x: X[:, 0], a: starts, b: counts}
    part = tf.slice(
        x, a if told in ("begin", "both") else starts,
        b if told in ("size", "both") else counts,
    )  # fmt: skip
    slope = tf.gradients(part, x)[0]
    if begin + max(size, 0) > 4:
        with pytest.raises(tf.errors.InvalidArgumentError):
            run(part, feeds)
        return
    stop = 4 if size == -1 else begin + size
    expected = np.zeros((4, 3))
    expected[begin:stop, 1:] = 1
    value, got = run([part, slope], feeds)
    assert np.array_equal(value, X[begin:stop, 0, 1:]) and np.array_equal(got, expected)


def test_arrays_refuse_places_and_sizes_that_are_not_theirs():
    empty = tf.TensorArray(tf.float32, 3, element_shape=[2])
    full = empty.unstack(X[:3, 0, :2])
    i = tf.placeholder(tf.int32, [])
    row = tf.constant([1.0, 2.0])
    for place in (-1, i):
        for made in (
            empty.write(place, row).stack(), full.read(place),
            full.gather(tf.stack([place, 0])),
            empty.scatter(tf.stack([0, place]), [row, row]).stack(),
        ):  # fmt: skip
            with pytest.raises(tf.errors.InvalidArgumentError, match="index -1"):
                run(made, {i: -1})
    with pytest.raises(tf.errors.InvalidArgumentError, match="index 3 is out"):
        run(full.read(i), {i: 3})
    assert run(full.read(i), {i: 2}).tolist() == X[2, 0, :2].tolist()


@pytest.mark.parametrize("width", [2, None])
@pytest.mark.parametrize("known", [True, False])
def test_arrays_take_as_many_parts_as_they_have_places(width, known):
    x, n = tf.placeholder(tf.float32, [None, width]), tf.placeholder(tf.int32, [])
    array = tf.TensorArray(tf.float32, 3 if known else n, element_shape=[2]).unstack(x)
    for rows in (0, 2, 6):
        for fetch in (array.stack(), array.read(0)):
            with pytest.raises(tf.errors.InvalidArgumentError):
                run(fetch, {x: np.ones((rows, 2)), n: 3})
    assert np.array_equal(run(array.stack(), {x: X[:3, 0, :2], n: 3}), X[:3, 0, :2])


@pytest.mark.parametrize("sizes", [[None, None], [2, None], [None, 2], [None] * 3])
def test_loops_take_elements_of_one_number(sizes):
    several = [tf.placeholder(tf.float32, [n, 3]) for n in sizes]

    def feeds(counts):
        return {x: X[:n, 0] for x, n in zip(several, counts)}

    good = [2] * len(sizes)
    makes = (
        lambda: tf.map_fn(sum, several, dtype=tf.float32),
        lambda: tf.scan(lambda a, rows: a + sum(rows), several, tf.zeros([3])),
        lambda: tf.foldl(lambda a, rows: a + sum(rows), several, tf.zeros([3])),
    )
    whole = X[:2, 0] * len(sizes)
    for make, expected in zip(makes, (whole, whole.cumsum(0), whole.sum(0))):
        y = make()
        assert np.array_equal(run(y, feeds(good)), expected)
        slopes = run(tf.gradients(y, several), feeds(good))
        assert all(slope.shape == (2, 3) for slope in slopes)
        for place, n in enumerate(sizes):
            for other in (1, 3):
                counts = [*good]
                counts[place] = other
                if n is None:
                    with pytest.raises(tf.errors.InvalidArgumentError):
                        run(y, feeds(counts))


def test_loops_refuse_elements_in_their_own_words():
    free, wide = tf.placeholder(tf.float32), tf.placeholder(tf.float32, [None, None])
    loops = {
        "map_fn": tf.map_fn, "scan": tf.scan, "foldl": tf.foldl, "foldr": tf.foldr,
    }  # fmt: skip
    for name, loop in loops.items():

        def call(elems, loop=loop, **options):
            first = lambda *values: values[0]  # noqa: E731
            return loop(first, elems, **options)

        with pytest.raises(ValueError, match=rf"\[{name}\] .*a tensor at least"):
            call([])
        with pytest.raises(NotImplementedError, match=rf"\[{name}\] .*of dimensions"):
            call(free)
        if name in ("map_fn", "scan"):
            with pytest.raises(NotImplementedError, match=rf"\[{name}\] .*got \(\?,\)"):
                call(wide)
            with pytest.raises(NotImplementedError, match=rf"\[{name}\] .*one shape"):
                call(wide, infer_shape=False)
    with pytest.raises(NotImplementedError, match="TensorArray.*one shape"):
        tf.TensorArray(tf.float32, 3, infer_shape=False)
