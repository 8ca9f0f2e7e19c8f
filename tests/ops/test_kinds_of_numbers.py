# SPDX-License-Identifier: Apache-2.0
"""isnan, isinf, isfinite by bits, and strided blocks around their limits."""

import numpy as np
import pytest

import pkg

KINDS = ("isnan", "isinf", "isfinite")


def every_half():
    return np.arange(1 << 16, dtype=np.uint16).view(np.float16)


@pytest.mark.parametrize("name", KINDS)
def test_of_every_float16_and_bfloat16(name):
    halves = every_half()
    wanted = getattr(np, name)(halves)
    assert (getattr(pkg, name)(pkg.tensor(halves)).numpy() == wanted).all()
    # A bfloat16 is the upper half of a float32.
    wide = (np.arange(1 << 16, dtype=np.uint32) << 16).view(np.float32)
    brain = pkg.tensor(wide).to(pkg.bfloat16)
    assert (getattr(pkg, name)(brain).numpy() == getattr(np, name)(wide)).all()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", KINDS)
def test_of_the_ends_of_the_range(name, dtype):
    info = np.finfo(dtype)
    some = [0.0, -0.0, info.max, -info.max, info.tiny, np.inf, -np.inf, np.nan, -np.nan]
    for count in (1, 20, 3000):
        x = np.tile(np.array(some, dtype), count)
        assert (getattr(pkg, name)(pkg.tensor(x)).numpy() == getattr(np, name)(x)).all()
        stepped = getattr(pkg, name)(pkg.tensor(x)[::2]).numpy()
        assert (stepped == getattr(np, name)(x[::2])).all()


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int8", "int32", "int64"])
@pytest.mark.parametrize("name", KINDS)
def test_of_integers(name, dtype):
    for shape in ((), (0,), (7,), (40, 50), (300, 200)):
        x = pkg.ones(shape, dtype=getattr(pkg, dtype))
        for view in (x, x.t() if x.ndim == 2 else x):
            made = getattr(pkg, name)(view)
            assert made.dtype == pkg.bool and made.shape == view.shape
            assert made.sum().item() == (view.numel() if name == "isfinite" else 0)


def test_bitwise_not_of_bools():
    for n in (1, 63, 130, 5000):
        x = np.random.default_rng(n).integers(0, 2, (n, 3)).astype(bool)
        assert (pkg.bitwise_not(pkg.tensor(x)).numpy() == ~x).all()
        assert (pkg.bitwise_not(pkg.tensor(x).t()).numpy() == ~x.T).all()
        assert (pkg.bitwise_not(pkg.tensor(x)[:, ::2]).numpy() == ~x[:, ::2]).all()


@pytest.mark.parametrize("dtype", ["uint8", "float16", "int32", "float64"])
def test_stepped_operands_around_the_limits_of_a_block(dtype):
    """A block of what lies apart has 2,048 bytes; what is not dense is left alone."""
    for n in (127, 129, 255, 256, 257, 512, 1025, 2049, 4100):
        for step in (2, 3, 9):
            x = np.arange(n * step).astype(dtype) % 100
            mine = pkg.tensor(x.astype("float32")).to(getattr(pkg, dtype))
            wanted = x.copy()
            wanted[::step] += 1
            mine[::step].add_(1)
            assert (mine.to(pkg.float64).numpy() == wanted.astype("float64")).all()
            doubled = (mine[::step] + mine[::step]).to(pkg.float64).numpy()
            assert (doubled == (wanted[::step] * 2).astype("float64")).all()


@pytest.mark.parametrize("dtype", ["uint8", "bfloat16", "float16", "float32"])
def test_transposed_operands_around_the_limits_of_a_tile(dtype):
    """Tiles have 128 columns, or 256 where elements have two bytes or less."""
    for rows, columns in ((63, 127), (65, 129), (33, 255), (31, 256), (70, 257)):
        x = np.arange(rows * columns).reshape(columns, rows) % 97
        y = np.arange(rows * columns).reshape(rows, columns) % 89
        mine = pkg.tensor(x).to(getattr(pkg, dtype)).t()
        other = pkg.tensor(y).to(getattr(pkg, dtype))
        for made in (mine + other, other + mine):
            assert (made.to(pkg.float64).numpy() == x.T + y).all()
        assert (mine.contiguous().to(pkg.float64).numpy() == x.T).all()
        assert (pkg.le(other, mine).numpy() == (y <= x.T)).all()


def test_a_slope_of_integers_wraps_as_products_do():
    x, least = pkg.tensor([-3, 3], dtype=pkg.int32), -(2**31)
    weight = pkg.tensor([least], dtype=pkg.int32)
    assert pkg.ops._prelu(x, weight).tolist() == [(x * weight).tolist()[0], 3]


@pytest.mark.parametrize("sizes", [[1, -(2**63)], [-(2**63), 1], [-1, -1]])
@pytest.mark.parametrize("offset", [-1, 0, 1, 2**63 - 1, -(2**63)])
def test_a_diagonal_of_negative_sizes_is_refused(sizes, offset):
    with pytest.raises(RuntimeError):
        pkg.ops._diagonal_backward(pkg.ones(1), sizes, offset, 0, 1)


@pytest.mark.parametrize("size", [-1, -(2**63)])
def test_a_slice_of_a_negative_size_is_refused(size):
    with pytest.raises(RuntimeError, match="sizes of 0 or more"):
        pkg.ops._slice_backward(pkg.ones(1), [1, size], 1, -(2**31), 1000, 1000)
