# SPDX-License-Identifier: Apache-2.0
"""Whole quotients and remainders: vectorised formulas, and what they leave to fmod."""

import math

import numpy as np
import pytest

import pkg

SIZES = [1, 7, 16, 255, 256, 257, 3000]


def limits(dtype: str) -> list[int]:
    info = np.iinfo(dtype)
    some = [0, 1, 2, 3, 7, 10, 100, 127, 255, 2**24 + 1, 2**31 - 1, 2**51, 2**53 + 1]
    both = some + [-v for v in some] + [info.min, info.max, info.max - 1]
    return sorted({v for v in both if info.min <= v <= info.max})


def wrapped(value: int, dtype: str) -> int:
    return int(np.array(value & (2**64 - 1), "uint64").astype(dtype))


@pytest.mark.parametrize("dtype", ["uint8", "int8", "int32", "int64"])
def test_integers(dtype):
    xs, ys = [], []
    for x in limits(dtype):
        for y in limits(dtype):
            if y:
                xs.append(x)
                ys.append(y)
    rng = np.random.default_rng(0)
    info = np.iinfo(dtype)
    more = rng.integers(info.min, info.max, 2000, dtype=dtype, endpoint=True)
    less = more[::-1] >> rng.integers(0, info.bits - 1, 2000, dtype=dtype)
    xs += more[less != 0].tolist()
    ys += less[less != 0].tolist()
    a, b = pkg.tensor(np.array(xs, dtype)), pkg.tensor(np.array(ys, dtype))
    floors = [wrapped(x // y, dtype) for x, y in zip(xs, ys)]
    whole = [
        abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1) for x, y in zip(xs, ys)
    ]
    assert (a // b).tolist() == floors
    assert (a % b).tolist() == [wrapped(x % y, dtype) for x, y in zip(xs, ys)]
    trunc = pkg.div(a, b, rounding_mode="trunc")
    assert trunc.tolist() == [wrapped(q, dtype) for q in whole]
    rest = [wrapped(x - q * y, dtype) for x, y, q in zip(xs, ys, whole)]
    assert pkg.fmod(a, b).tolist() == rest
    few = pkg.tensor(np.array(xs[:40], dtype))
    for y in (3, 7):
        assert (few // y).tolist() == [wrapped(x // y, dtype) for x in xs[:40]]
    for n in SIZES:
        zero = np.ones(n, dtype)
        zero[-1] = 0
        for op in (pkg.floor_divide, pkg.remainder, pkg.fmod):
            with pytest.raises(RuntimeError, match="ZeroDivisionError"):
                op(pkg.ones(n, dtype=a.dtype), pkg.tensor(zero))


@pytest.mark.parametrize("dtype", ["uint8", "int8", "int32", "int64"])
def test_one_number_divides_as_a_tensor_of_it_does(dtype):
    info = np.iinfo(dtype)
    if info.bits == 8:
        divisors = [d for d in range(info.min, info.max + 1) if d]
        x = np.arange(info.min, info.max + 1).astype(dtype)
    else:
        divisors = [2, -2, 3, -7, 10, 641, -(2**16), 10**6 + 3, info.max, info.min]
        divisors += [2**49 - 1, 2**49, -(2**49) + 1] if info.bits == 64 else []
        rng = np.random.default_rng(5)
        most = min(info.max, 2**49)  # whole vectors without a larger one
        x = np.concatenate([rng.integers(-most, most, 600), np.array(limits(dtype))])
        x = x.astype(dtype)
    for d in divisors:
        if info.bits > 8:  # around multiples, where a quotient steps
            times = np.linspace(-(2**48) // abs(d), 2**48 // abs(d), 64).astype("int64")
            steps = (times[:, None] * d + np.array([-1, 0, 1])).ravel()
            x = np.concatenate([x, steps.clip(info.min, info.max).astype(dtype)])
        t, y = pkg.tensor(x), pkg.full(x.shape, d, dtype=pkg.tensor(x).dtype)
        for op in (pkg.floor_divide, pkg.remainder, pkg.fmod):
            np.testing.assert_array_equal(op(t, d).numpy(), op(t, y).numpy(), str(d))
        found = pkg.div(t, d, rounding_mode="trunc").numpy()
        wanted = pkg.div(t, y, rounding_mode="trunc").numpy()
        np.testing.assert_array_equal(found, wanted, str(d))


@pytest.mark.parametrize("op", ["floor_divide", "remainder", "fmod", "div"])
@pytest.mark.parametrize("dtype", ["uint8", "int8", "int32", "int64"])
def test_a_zero_is_found_in_every_layout_before_anything_is_written(op, dtype):
    how = {"rounding_mode": "trunc"} if op == "div" else {}
    x, wide = np.full((60, 80), 7, dtype), np.full((80, 160), 2, dtype)
    wide[41, 40] = 0
    divisors = [pkg.tensor(wide)[:, ::2][:60], pkg.tensor(wide[:, :60].copy()).t()]
    divisors += [pkg.tensor(wide[41:42, :80]), pkg.tensor(wide[:60, 40:41].copy())]
    divisors.append(pkg.tensor(wide[41, 40]))
    for y in divisors:
        t = pkg.tensor(x)
        with pytest.raises(RuntimeError, match=rf"ZeroDivisionError: \[{op}_?\]"):
            getattr(pkg, op)(t, y, **how)
        with pytest.raises(RuntimeError, match=rf"ZeroDivisionError: \[{op}_?\]"):
            getattr(t, f"{op}_")(y, **how)
        np.testing.assert_array_equal(t.numpy(), x)


def remainder(x: float, y: float) -> float:
    if y == 0 or not math.isfinite(x) or math.isnan(y):
        return math.nan
    r = math.fmod(x, y)
    return r + y if r != 0 and (r < 0) != (y < 0) else r


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("n", SIZES)
def test_floats(dtype, n):
    rng = np.random.default_rng(n)
    special = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        0.1,
        -0.1,
        3.0,
        1e-8,
        6e4,
        math.inf,
        -math.inf,
        math.nan,
    ]
    pairs = [(x, y) for x in special for y in special]
    plain = np.round(rng.standard_normal((n, 2)) * 100, 1)
    for kind in ("plain", "special", "huge"):
        both = plain.copy()
        if kind == "special":
            both[:] = [pairs[i % len(pairs)] for i in range(n)]
        elif kind == "huge" and dtype != "float16":
            both[:, 1] *= 10.0 ** rng.integers(-30, 3, n)
        with np.errstate(over="ignore"):
            x, y = both.astype(dtype).T.copy()
        a, b = pkg.tensor(x), pkg.tensor(y)
        with np.errstate(invalid="ignore"):
            want = np.fmod(x.astype("float64"), y.astype("float64")).astype(dtype)
        got = pkg.fmod(a, b).numpy()
        np.testing.assert_array_equal(got, want)
        np.testing.assert_array_equal(
            np.signbit(got[got == 0]), np.signbit(want[got == 0])
        )
        narrow = np.float32 if dtype == "float16" else np.dtype(dtype).type
        pairwise = zip(x.astype(float), y.astype(float))
        if kind != "huge":
            mod = [narrow(remainder(p, q)) for p, q in pairwise]
            np.testing.assert_array_equal((a % b).numpy(), np.array(mod).astype(dtype))
            ok = np.isfinite(x) & np.isfinite(y) & (y != 0)
            exact = np.floor_divide(x[ok].astype(narrow), y[ok].astype(narrow))
            with np.errstate(over="ignore"):
                np.testing.assert_array_equal((a // b).numpy()[ok], exact.astype(dtype))


@pytest.mark.parametrize("n", [7, 300, 5000])
@pytest.mark.parametrize("dtype", ["uint8", "int64", "float16", "float32", "float64"])
def test_a_number_divides_as_a_full_tensor_does(dtype, n):
    """Those that the vectorised formula is not for, too: huge, zero, not a number."""
    rng = np.random.default_rng(n)
    if dtype.startswith("float"):
        top = 1e4 if dtype == "float16" else 1e38
        a = pkg.tensor(rng.standard_normal(n) * top ** rng.random(n))
        a = a.to(getattr(pkg, dtype))
        numbers = [2.1578966676264475, -0.1, 1e-3, math.inf, math.nan, 0.0]
    else:
        info = np.iinfo(dtype)
        a = pkg.tensor(rng.integers(info.min, info.max, n, dtype, endpoint=True))
        numbers = [y for y in limits(dtype) if y]
        with pytest.raises(RuntimeError, match="ZeroDivisionError"):
            pkg.remainder(a, 0)
    ops = [pkg.floor_divide, pkg.remainder, pkg.fmod]
    ops += [lambda x, y: pkg.div(x, y, rounding_mode="trunc")]
    for y in numbers:
        number = pkg.tensor(y, dtype=a.dtype)
        for op in ops:
            want = op(a, number.expand(n).contiguous())
            np.testing.assert_array_equal(op(a, number), want)
