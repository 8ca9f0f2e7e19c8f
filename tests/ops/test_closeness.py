# SPDX-License-Identifier: Apache-2.0
"""isclose and allclose in one pass, logspace and rand by vectors, against NumPy."""

import numpy as np
import pytest

import pkg
from levels import every_level

RNG = np.random.default_rng(13)
SPECIAL = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, 1.0005, 1.1, 3e4, -1.0])


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16"])
@pytest.mark.parametrize("equal_nan", [False, True])
def test_close_numbers(dtype, equal_nan):
    x = SPECIAL.astype(dtype)[:, None].repeat(40, 1)
    y = SPECIAL.astype(dtype)[None].repeat(4, 1)
    for rtol, atol in ((1e-5, 1e-8), (1e-2, 0), (0, 0.2), (0, 0), (0, np.inf)):
        a, b = x.astype("float64"), y.astype("float64")
        with np.errstate(invalid="ignore"):
            distance = np.abs(a - b)
            near = np.isfinite(distance) & (distance <= atol + rtol * np.abs(b))
        wanted = (a == b) | near | (equal_nan & np.isnan(a) & np.isnan(b))
        for _ in every_level():
            tx, ty = pkg.tensor(x), pkg.tensor(y)
            found = pkg.isclose(tx, ty, rtol, atol, equal_nan)
            np.testing.assert_array_equal(found.numpy(), wanted)
            assert found.dtype is pkg.bool
            assert pkg.allclose(tx, tx, rtol, atol, equal_nan) == equal_nan


@pytest.mark.parametrize("dtype", ["uint8", "int8", "int32", "int64", "bool"])
def test_close_integers(dtype):
    high = 2 if dtype == "bool" else 127
    x, y = (RNG.integers(0, high, (50, 60)).astype(dtype) for _ in range(2))
    for rtol, atol in ((1e-5, 1e-8), (0.1, 0), (0, 3)):
        a, b = x.astype("float64"), y.astype("float64")
        wanted = np.abs(a - b) <= atol + rtol * np.abs(b)
        tx, ty = pkg.tensor(x), pkg.tensor(y)
        np.testing.assert_array_equal(pkg.isclose(tx, ty, rtol, atol), wanted)
        np.testing.assert_array_equal(
            pkg.isclose(tx.t(), ty.t(), rtol, atol).t(), wanted
        )
        np.testing.assert_array_equal(pkg.isclose(tx, ty[0], rtol, atol)[0], wanted[0])
    assert pkg.allclose(pkg.tensor(x), pkg.tensor(x))
    far = pkg.tensor([2**62 + 1])
    assert pkg.isclose(far, far, 0, 0).item()


def test_closeness_checks_what_it_gets():
    with pytest.raises(RuntimeError, match="did not match"):
        pkg.isclose(pkg.ones(2), pkg.ones(2, dtype=pkg.float64))
    with pytest.raises(RuntimeError, match="must not be negative"):
        pkg.allclose(pkg.ones(2), pkg.ones(2), -1)


@pytest.mark.parametrize("base", [10.0, 2.0, 0.5, 1.0, 0.0, -2.0, np.inf])
def test_powers_evenly_spaced(base):
    for steps in (1, 2, 7, 1_000, 2_049):
        found = pkg.logspace(-3, 3, steps, base=base, dtype=pkg.float64).numpy()
        with np.errstate(all="ignore"):
            wanted = np.power(base, np.linspace(-3, 3, steps))
        np.testing.assert_allclose(found, wanted, rtol=2e-15)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_narrow_numbers_are_those_of_wider_ones(dtype):
    """From 0 to 1 each is the first digits of a word, as in another range."""
    digits = 11 if dtype == "float16" else 8
    kind = getattr(pkg, dtype)
    for _ in every_level():
        pkg.manual_seed(5)
        unit = pkg.rand(70_001, dtype=kind).to(pkg.float64).numpy()
        pkg.manual_seed(5)
        twice = pkg.empty(70_001, dtype=kind).uniform_(0, 2).to(pkg.float64).numpy()
        assert np.array_equal(unit * 2, twice)
        assert np.array_equal(np.unique(unit), np.arange(2**digits) / 2**digits)


SHAPES = [
    (),
    (0,),
    (3, 0, 5),
    (1,),
    (1_025,),
    (40_000,),
    (3, 700),
    (700, 3),
    (1, 1, 5_000),
]
SHAPES += [(2, 1, 3, 2, 5, 2, 40), (2, 2, 1, 3, 2, 1, 5, 2, 30)]


def as_laid(x):
    """The same elements as they may lie in memory."""
    yield pkg.tensor(x)
    if x.ndim:
        yield pkg.tensor(np.ascontiguousarray(x.T)).permute(*range(x.ndim)[::-1])
        yield pkg.tensor(np.repeat(x, 2, -1))[..., ::2]


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "uint8", "bool"])
@pytest.mark.parametrize("shape", SHAPES)
def test_one_element_that_differs(dtype, shape):
    """equal and allclose look at pieces, of 256 elements first: none is left out."""
    x = RNG.integers(0, 2, shape).astype(dtype)
    for a in as_laid(x):
        for b in as_laid(x):
            assert pkg.equal(a, b)
            assert pkg.allclose(a, b)
    edges = {0, 1, 255, 256, 257, 2_303, 2_304, x.size // 2, x.size - 2, x.size - 1}
    for at in edges & set(range(x.size)):
        y = x.copy()
        y.reshape(-1)[at] = 1 - y.reshape(-1)[at]
        for a, b in zip(as_laid(x), as_laid(y)):
            assert not pkg.equal(a, b)
            assert not pkg.allclose(b, a)


def test_equal_tells_nan_and_shapes_apart():
    x = pkg.zeros([50, 60])
    assert pkg.equal(x, x.double())
    assert pkg.equal(x[:1].expand(50, 60), x)
    assert not pkg.equal(x, x[:1])
    assert not pkg.equal(x, x.reshape(60, 50))
    x[49, 59] = float("nan")
    assert not pkg.equal(x, x)
    assert not pkg.allclose(x, x)
    assert pkg.allclose(x, x, equal_nan=True)
    x.requires_grad_()
    assert not pkg.equal(x, x)
    assert not pkg.equal(x * 2, x.detach())
