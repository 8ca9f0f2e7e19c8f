# SPDX-License-Identifier: Apache-2.0
"""Borders over sizes, layouts and dtypes, values and gradients, against NumPy."""

import itertools

import numpy as np
import pytest

import pkg
import pkg.nn.functional as F
from layouts import laid

RNG = np.random.default_rng(5)
LAYOUTS = ["dense", "transposed", "sliced", "broadcast"]
FLOATS = ["float64", "float32", "float16"]
DTYPES = [*FLOATS, "int64", "int32", "uint8", "bool"]
#: Rows as long as the kernel's runs, planes as small as squares that are turned, and a
#: few rows that threads share.
SHAPES = [
    (3, 7), (2, 5, 16), (4, 3, 63), (1, 2, 64), (2, 65, 9), (2, 3, 8, 8),
    (3, 2, 28, 30), (2, 1_100), (2, 40_000), (2, 3, 4, 5, 6), (60, 40, 17),
]  # fmt: skip


def places(size, before, after, mode):
    """Of each element of a padded dimension which one it is; -1: the constant."""
    at = np.arange(-before, size + after)
    inside = (at >= 0) & (at < size)
    if mode == "constant":
        return np.where(inside, at, -1)
    if mode == "replicate":
        return at.clip(0, size - 1)
    if mode == "reflect":
        at = np.abs(at)
        return np.where(at >= size, 2 * (size - 1) - at, at)
    first, past = max(-before, 0), size - max(-after, 0)
    return first + (at - first) % (past - first)


def padded(x, pad, mode, value=0):
    for i, (before, after) in enumerate(zip(pad[::2], pad[1::2], strict=True)):
        d = x.ndim - 1 - i
        at = places(x.shape[d], before, after, mode)
        x = np.where(
            (at >= 0).reshape(-1, *[1] * i), x.take(at, d), np.array(value, x.dtype)
        )
    return x


def borders(shape, mode, cuts):
    """Some borders of each number of dimensions that the mode takes."""
    for count in range(1, len(shape) + 1):
        if mode != "constant" and not (count <= 3 and len(shape) - count in (1, 2)):
            continue
        pad = []
        wide = 19 if count < 5 else 9  # of five dimensions that were 50 MB
        for size in shape[: -count - 1 : -1]:
            most = {"reflect": size - 1, "circular": size - 2}.get(mode, wide)
            pad += RNG.integers(
                -1 if cuts and size > 4 else 0, min(most, wide) + 1, 2
            ).tolist()
        yield pad


def check_equal(got, want, text):
    """NumPy's own check, which looks for NaN first, takes six times as long."""
    if got.shape != want.shape or not (got == want).all():
        np.testing.assert_array_equal(got, want, text)
        raise AssertionError(f"{text}: {got.shape}, expected {want.shape}")


CASES = list(itertools.product(["constant", "reflect", "replicate", "circular"],
                               [False, True]))  # fmt: skip


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("shape", SHAPES)
def test_borders(shape, layout):
    """All modes and dtypes, what is cut off, and the sums that gradients are."""
    for (mode, cuts), dtype in itertools.product(CASES, DTYPES):
        x = RNG.integers(0, 100, shape).astype(dtype)
        given = laid(x, layout)
        x = given.numpy()
        value = 3 if mode == "constant" and dtype != "bool" else 0
        for pad in borders(shape, mode, cuts):
            want = padded(x, pad, mode, value)
            got = F.pad(given, pad, mode, value)
            check_equal(got.numpy(), want, f"{dtype} {mode} {pad}")
            assert got.is_contiguous()
            if dtype in FLOATS:
                check_gradient(given, pad, mode)


def check_gradient(given, pad, mode):
    leaf = given.detach().requires_grad_(True)
    result = F.pad(leaf, pad, mode)
    weight = RNG.integers(-3, 4, tuple(result.shape)).astype("float64")
    (grad,) = pkg.autograd.grad(result, [leaf], pkg.tensor(weight).to(given.dtype))
    numbers = padded(np.arange(1, given.numel() + 1).reshape(given.shape), pad, mode)
    sums = np.bincount(numbers.ravel(), weight.ravel(), given.numel() + 1)[1:]
    check_equal(grad.numpy().ravel(), sums, f"{mode} {pad}")


@pytest.mark.parametrize("mode", ["reflect", "replicate", "circular"])
def test_sums_of_halves_are_rounded_once(mode):
    """Borders of many halves, whose sum in halves would lose the small ones."""
    x = pkg.ones(2, 30, 30, dtype="float16", requires_grad=True)
    F.pad(x, (20, 20, 20, 20), mode).sum().backward()
    numbers = padded(np.arange(1800).reshape(2, 30, 30), (20, 20, 20, 20), mode)
    counts = np.bincount(numbers.ravel()).astype("float16")
    np.testing.assert_array_equal(x.grad.numpy().ravel(), counts)


@pytest.mark.parametrize("mode", ["constant", "reflect", "replicate", "circular"])
def test_gradient_of_the_gradient(mode):
    x = pkg.tensor(RNG.standard_normal((2, 3, 5, 4)), requires_grad=True)
    assert pkg.autograd.gradgradcheck(lambda t: F.pad(t, (2, 1, 0, 3), mode) ** 2, (x,))


def test_nothing_and_everything_is_border():
    assert F.pad(pkg.ones(0, 3), (1, 1, 2, 0), value=7).tolist() == [[7] * 5] * 2
    assert F.pad(pkg.ones(2, 3), (-2, 2), value=7).tolist() == [[1, 7, 7]] * 2
    assert F.pad(pkg.ones(2, 3), (-3, 1), value=7).tolist() == [[7], [7]]
    assert F.pad(pkg.ones(0, 2, 3), (1, 1), "reflect").shape == (0, 2, 5)
    assert F.pad(pkg.tensor(5), ()).item() == 5
