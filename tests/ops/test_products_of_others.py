# SPDX-License-Identifier: Apache-2.0
"""Gradients of products along a dimension, and of halves that gate each other."""

import itertools

import numpy as np
import pytest

import pkg
from layouts import ways_to_lie

DTYPES = ["float64", "float32", "float16", "bfloat16"]
# Blocks of 2,048 elements, of at most 256 lines; 64 lines of what is longer; a line in
# runs of 256 (prod_backward.cc); squares of 64 columns and of 512 elements (stage.cc).
SHAPES = [
    (), (0,), (1,), (255,), (257,), (2047,), (2049,), (4500,), (8, 256), (8, 257),
    (256, 8), (257, 8), (2, 1025), (1025, 2), (63, 33), (65, 33), (33, 65), (9, 2100),
    (2100, 9), (3, 70, 70), (70, 3, 5), (5, 70, 3), (2, 2, 2, 3, 2, 2, 3), (0, 3),
    (3, 0), (2, 0, 3),
]  # fmt: skip
SPECIAL = [0.0, np.inf, np.nan, -np.inf]


def others(a, axis):
    """The product of all others along an axis: of those before and of those after."""

    def before(a):
        one = np.ones_like(np.take(a, [0], axis))
        rest = np.delete(a, -1, axis)
        return np.cumprod(np.concatenate([one, rest], axis), axis)

    if a.size == 0:
        return a
    return before(a) * np.flip(before(np.flip(a, axis)), axis)


def check(x, dim):
    x = x.detach().requires_grad_()
    a = x.detach().to(pkg.float64).numpy()
    if dim is None or a.ndim == 0:
        want = others(a.reshape(-1), 0).reshape(a.shape)
    else:
        want = others(a, dim)
    y = x.prod() if dim is None else x.prod(dim)
    rng = np.random.default_rng(3)
    g = pkg.tensor(rng.choice([1.0, 2.0, -0.5], y.shape)).to(y.dtype)
    scale = g if dim is None or a.ndim == 0 else g.unsqueeze(dim)
    with np.errstate(all="ignore"):
        want = want * scale.to(pkg.float64).numpy()
    for graph in (False, True):
        (got,) = pkg.autograd.grad(y, [x], g, retain_graph=True, create_graph=graph)
        assert got.shape == x.shape and got.dtype == x.dtype
        with np.errstate(all="ignore"):
            want_here = pkg.tensor(want).to(x.dtype)
        np.testing.assert_array_equal(
            got.detach().to(pkg.float64).numpy(), want_here.to(pkg.float64).numpy()
        )


@pytest.mark.parametrize("dtype", DTYPES)
def test_gradient_of_a_product(dtype):
    """Of powers of two, whose products are exact, with zeros, infinities and NaN."""
    rng = np.random.default_rng(7)
    for shape, special in itertools.product(SHAPES, (False, True)):
        a = rng.choice([0.5, 1.0, 2.0, -1.0, -2.0, -0.5], shape)
        if special and a.size:
            flat = np.asarray(a).reshape(-1)
            count = min(3, flat.size)
            flat[rng.integers(0, flat.size, count)] = rng.choice(SPECIAL, count)
            a = flat.reshape(shape)
        for x in ways_to_lie(pkg.tensor(np.asarray(a)).to(getattr(pkg, dtype))):
            for dim in {None, *range(x.ndim)} - ({None} if special else set()):
                with np.errstate(all="ignore"):
                    check(x, dim)


def test_a_product_that_overflows_in_between():
    """Parts of it do in any other order; what comes before each element does not."""
    a = np.tile([1e200, 1e-200], 300)
    x = pkg.tensor(a, requires_grad=True)
    (got,) = pkg.autograd.grad(x.prod(), [x])
    np.testing.assert_allclose(got.numpy(), 1 / a, rtol=1e-12)


def test_second_gradient_of_a_product():
    rng = np.random.default_rng(1)
    for shape, dim in [((3, 5), 1), ((4, 3), 0), ((6,), 0), ((2, 0), 1)]:
        x = pkg.tensor(rng.standard_normal(shape), requires_grad=True)
        assert pkg.autograd.gradgradcheck(lambda x, d=dim: x.prod(d), [x])


def test_any_number_of_threads():
    rng = np.random.default_rng(2)
    x = pkg.tensor(rng.standard_normal((300, 700)), requires_grad=True)
    threads = pkg.get_num_threads()
    try:
        for dim in (0, 1):
            both = []
            for count in (1, 3):
                pkg.set_num_threads(count)
                both.append(pkg.autograd.grad(x.prod(dim).sum(), [x])[0].numpy())
            np.testing.assert_array_equal(*both)
    finally:
        pkg.set_num_threads(threads)


def test_wrong_gradients_of_products_and_gates():
    with pytest.raises(RuntimeError, match="expected a gradient of shape"):
        pkg.ops._prod_backward(pkg.ones(3), pkg.ones(3, 3), 0)
    with pytest.raises(RuntimeError, match="expected a gradient of shape"):
        pkg.ops._glu_backward(pkg.ones(3, 3), pkg.ones(3, 4), 1)
    with pytest.raises(RuntimeError, match="even size"):
        pkg.glu(pkg.ones(3, 3))


@pytest.mark.parametrize("dtype", DTYPES)
def test_glu_and_its_gradient(dtype):
    rng = np.random.default_rng(5)
    tolerance = {"float64": 1e-13, "float32": 1e-5, "float16": 4e-3, "bfloat16": 3e-2}
    close = {"rtol": tolerance[dtype], "atol": tolerance[dtype]}
    for shape in [(4, 6), (6, 4), (300, 200), (2, 50, 8), (0, 4), (4, 0), (8,)]:
        source = pkg.tensor(rng.standard_normal(shape)).to(getattr(pkg, dtype))
        for x, dim in itertools.product(ways_to_lie(source), range(len(shape))):
            if x.shape[dim] % 2:
                continue
            x = x.detach().requires_grad_()
            a, b = np.split(x.detach().to(pkg.float64).numpy(), 2, dim)
            s = 1 / (1 + np.exp(-b))
            y = pkg.glu(x, dim)
            half = x.detach().chunk(2, dim)[0]
            assert y.stride() == (half * 1).stride()
            value = y.detach().to(pkg.float64).numpy()
            np.testing.assert_allclose(value, a * s, **close)
            g = pkg.tensor(rng.standard_normal(y.shape)).to(y.dtype)
            wide = g.to(pkg.float64).numpy()
            want = np.concatenate([wide * s, wide * a * s * (1 - s)], dim)
            for graph in (False, True):
                (got,) = pkg.autograd.grad(
                    y, [x], g, retain_graph=True, create_graph=graph
                )
                np.testing.assert_allclose(
                    got.detach().to(pkg.float64).numpy(), want, **close
                )


def test_second_gradient_of_glu():
    x = pkg.tensor(np.random.default_rng(0).standard_normal((3, 4)), requires_grad=True)
    assert pkg.autograd.gradgradcheck(lambda x: pkg.glu(x, 1), [x])


def test_parts_of_a_long_line_may_leave_the_range():
    """Their product does not: they are multiplied in turn."""
    for big, small in ((1e100, 1e-5), (1e-100, 1e5), (1e300, 1e-20)):
        x = np.ones(4096)
        x[0], x[256:320], x[320:384] = big, small, small**-0.6
        t = pkg.tensor(x).requires_grad_()
        t.prod().backward()
        want = np.prod(x) / x[3000]
        np.testing.assert_allclose(t.grad[3000].item(), want, rtol=1e-12)
