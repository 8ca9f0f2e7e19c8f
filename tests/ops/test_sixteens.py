# SPDX-License-Identifier: Apache-2.0
"""Loops of 16-bit floats (cpp/ops/sixteens.h) and operands of one row, column or number
(cpp/tensor/several_rows.cc): the same as in float32, rounded once, and as in NumPy."""

import numpy as np
import pytest

import pkg
from pkg.nn import functional as F

SIZES = [129, 143, 144, 145, 1000, 4097]
REDUCED = [pkg.float16, pkg.bfloat16]
SPECIAL = [
    0.0,
    -0.0,
    np.inf,
    -np.inf,
    np.nan,
    65504.0,
    1e-7,
    -6e-8,
    3e38,
    1e-40,
    2049.0,
]


def operand(rng, shape, dtype):
    x = rng.standard_normal(shape).astype("float32") * 3
    flat = x.reshape(-1)
    places = rng.integers(0, flat.size, min(flat.size, 40))
    flat[places] = rng.choice(np.array(SPECIAL, "float32"), places.size)
    return pkg.tensor(x).to(dtype)


def agree(ours, wide):
    """Bits of what was computed in 16-bit floats, and of float32 rounded to them."""
    a, b = ours.float().numpy(), wide.to(ours.dtype).float().numpy()
    np.testing.assert_array_equal(a, b)
    np.testing.assert_array_equal(np.signbit(a[a == a]), np.signbit(b[b == b]))


ONE = {
    "sqrt": pkg.sqrt, "rsqrt": pkg.rsqrt, "reciprocal": pkg.reciprocal, "neg": pkg.neg,
    "square": pkg.square, "floor": pkg.floor, "sign": pkg.sign, "relu": pkg.relu,
    "nan_to_num": lambda x: pkg.nan_to_num(x, 1.0, 2.0, 3.0),
    "hardswish": F.hardswish, "hardsigmoid": F.hardsigmoid, "halved": lambda x: x * 0.5,
    "shifted": lambda x: x - 0.25, "divided": lambda x: x / 7, "power": lambda x: x**3,
    "root": lambda x: x**0.5, "clamp": lambda x: pkg.clamp(x, -1, 2),
    "clamp_max": lambda x: pkg.clamp_max(x, 0.5), "modulo": lambda x: x % 3,
    "leaky": lambda x: F.leaky_relu(x, 0.25),
}  # fmt: skip
TWO = {
    "add": pkg.add, "sub": lambda x, y: pkg.sub(x, y, alpha=2), "mul": pkg.mul,
    "div": pkg.div, "maximum": pkg.maximum, "minimum": pkg.minimum,
    "clamp_min": pkg.clamp_min, "lerp": lambda x, y: pkg.lerp(x, y, 0.25),
    "floor_divide": pkg.floor_divide, "fmod": pkg.fmod, "remainder": pkg.remainder,
}  # fmt: skip
THREE = {
    "lerp": pkg.lerp, "clamp": pkg.clamp,
    "addcmul": lambda x, y, z: pkg.addcmul(x, y, z, value=0.5),
    "addcdiv": lambda x, y, z: pkg.addcdiv(x, y, z, value=2),
}  # fmt: skip
ALL = [(1, n) for n in ONE] + [(2, n) for n in TWO] + [(3, n) for n in THREE]


@pytest.mark.parametrize("dtype", REDUCED, ids=str)
@pytest.mark.parametrize(("count", "name"), ALL)
def test_as_float32_rounded_once(count, name, dtype):
    rng = np.random.default_rng(1)
    f = (ONE, TWO, THREE)[count - 1][name]
    for n in SIZES:
        some = [operand(rng, (n,), dtype) for _ in range(count)]
        agree(f(*some), f(*(x.float() for x in some)))
    wide = [operand(rng, (60, 2 * 70), dtype) for _ in range(count)]
    views = [[x[:, ::2] for x in wide], [x.t() for x in wide],
             [wide[0], *(x[:, :1] for x in wide[1:])],
             [wide[0], *(x[:1] for x in wide[1:])]]  # fmt: skip
    for some in views:
        agree(f(*some), f(*(x.float() for x in some)))


@pytest.mark.parametrize("dtype", REDUCED, ids=str)
@pytest.mark.parametrize("name", ["eq", "ne", "lt", "le", "gt", "ge", "logical_and"])
def test_truths(name, dtype):
    rng = np.random.default_rng(2)
    f = getattr(pkg, name)
    for n in SIZES:
        x, y = operand(rng, (n,), dtype), operand(rng, (n,), dtype)
        y[::3] = x[::3]
        np.testing.assert_array_equal(f(x, y).numpy(), f(x.float(), y.float()).numpy())
        if name != "logical_and":
            np.testing.assert_array_equal(f(x, 1).numpy(), f(x.float(), 1).numpy())


@pytest.mark.parametrize("dtype", REDUCED, ids=str)
def test_numbers_keep_their_digits_as_factors_alone(dtype):
    x = pkg.arange(1, 300).to(dtype)
    third = float(np.float32(1 / 3))
    agree(x * third, x.float() * third)
    rounded = pkg.tensor(third).to(dtype).float().item()
    agree(x + third, x.float() + rounded)


NUMBERS = ["bool", "uint8", "int8", "int32", "int64", "float32", "float64", "float16"]
ROWS = [(300, 31), (257, 32), (40, 33), (3, 65), (30, 400), (5, 2000), (3, 9001),
        (2, 3, 100), (3, 4, 700), (2, 2, 5000)]  # fmt: skip


@pytest.mark.parametrize("dtype", NUMBERS)
@pytest.mark.parametrize("shape", ROWS, ids=str)
def test_one_row_column_or_number(shape, dtype):
    rng = np.random.default_rng(3)
    x = rng.integers(0, 100, shape).astype(dtype)
    columns = rng.integers(0, 100, (*shape[:-1], 2)).astype(dtype)
    others = [columns[..., :1], columns[..., 1:], columns[:1, ..., :1],
              x[:1], x[..., :1, ::-1].copy(), columns[(0,) * len(shape)]]  # fmt: skip
    wide = np.zeros((*shape[:-1], 2 * shape[-1]), dtype)
    wide[..., ::2] = x
    for other in others:
        want = np.maximum(x, other)
        got = pkg.maximum(pkg.tensor(x), pkg.tensor(other))
        np.testing.assert_array_equal(got.numpy(), want)
        stepped = pkg.tensor(wide)[..., ::2]
        np.testing.assert_array_equal(
            pkg.maximum(stepped, pkg.tensor(other)).numpy(), want
        )
        stepped.clamp_min_(pkg.tensor(other))
        np.testing.assert_array_equal(stepped.numpy(), want)
        in_place = pkg.tensor(x)
        in_place.clamp_min_(pkg.tensor(other))
        np.testing.assert_array_equal(in_place.numpy(), want)
        in_place.copy_(pkg.tensor(other))
        np.testing.assert_array_equal(in_place.numpy(), np.broadcast_to(other, shape))
        mixed = pkg.tensor(x) + pkg.tensor(other.astype("float64"))
        np.testing.assert_array_equal(mixed.numpy(), x + other.astype("float64"))
