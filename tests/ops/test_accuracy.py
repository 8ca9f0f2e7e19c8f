# SPDX-License-Identifier: Apache-2.0
"""Elementary functions keep the bound that their documentation says, "within N ulp".

On every instruction set that this CPU has, for every floating dtype, over numbers of
all sizes and dense around the places where formulas change.  The truth is NumPy's long
double; that of erf and erfc is the C library's double, which may itself be off by one.
"""

import math
import re

import numpy as np
import pytest

import pkg
from levels import at_level
from pkg._binding import core

LONG = np.finfo(np.longdouble).eps < np.finfo("float64").eps
RNG = np.random.default_rng(11)

erf = np.vectorize(math.erf, otypes=["float64"])
erfc = np.vectorize(math.erfc, otypes=["float64"])


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


# Of each function: the truth, and where its formula changes or its values end.
ONES = (0, 1, 0.5, 0.25, 2)
ANGLES = [n * math.pi / 4 for n in (*range(9), 100, 12345)] + [1e6, 1e7, 1e22]
LIMITS = [87.3, 88.7, 103.9, 708, 709.7, 745]
EXPONENTS = [n * math.log(2) / 2 for n in range(6)] + LIMITS
UNARY = {
    "exp": (np.exp, EXPONENTS),
    "exp2": (np.exp2, (0, 0.5, 1, 126, 128, 149, 1022, 1024, 1074)),
    "expm1": (np.expm1, EXPONENTS),
    "log": (np.log, (*ONES, 0.5**0.5, 2**0.5)),
    "log2": (np.log2, (*ONES, 0.5**0.5, 2**0.5)),
    "log10": (np.log10, (*ONES, 0.5**0.5, 2**0.5, 10, 1000)),
    "log1p": (np.log1p, (*ONES, 2**0.5 - 1, 1 - 0.5**0.5)),
    "sin": (np.sin, ANGLES),
    "cos": (np.cos, ANGLES),
    "tan": (np.tan, ANGLES),
    "asin": (np.arcsin, ONES),
    "acos": (np.arccos, ONES),
    "atan": (np.arctan, ONES),
    "sinh": (np.sinh, (*ONES, 89.4, 710.4)),
    "cosh": (np.cosh, (*ONES, 89.4, 710.4)),
    "tanh": (np.tanh, (*ONES, 0.625, 10, 20)),
    "asinh": (np.arcsinh, (*ONES, 0.75, 1e15, 1e100)),
    "acosh": (np.arccosh, (1, 1.25, 2, 1e15, 1e100)),
    "atanh": (np.arctanh, (*ONES, 0.17, 1 / 3, 0.6)),
    "sigmoid": (sigmoid, (*ONES, 16, 36)),
    "erf": (erf, (*ONES, 3.9, 5.9)),
    "erfc": (erfc, (*ONES, 9.2, 10, 26.5, 27.2)),
}
BINARY = {
    "pow": (np.power, (*ONES, 2**0.5, 127, 128, 149, 1023, 1024, 1074)),
    "atan2": (np.arctan2, ONES),
    "hypot": (np.hypot, (*ONES, 1e19, 1e154)),
}
SPECIAL = (0.0, -0.0, 1.0, -1.0, math.inf, -math.inf, math.nan)


def sweep(dtype, edges, count):
    """Numbers of all sizes, of sizes near 1, and around the edges on both sides."""
    kind = np.dtype(dtype)
    info = np.finfo(kind)
    words = RNG.integers(0, 2 ** (8 * kind.itemsize), count, dtype=f"uint{info.bits}")
    numbers = [SPECIAL, words.view(kind), RNG.standard_normal(count) * 3]
    numbers.append(np.multiply((1, -1, 0.999, -0.999), info.max))
    for scale in (info.tiny, info.smallest_subnormal, info.eps):
        numbers.append(np.multiply((1, 2, 3, -1, -5), scale))
    for edge in (edge for edge in edges if edge < float(info.max)):
        width = RNG.standard_normal(200) * np.logspace(-20, 0, 200) * (edge or 1)
        numbers += [edge + width, -edge + width]
        steps = np.arange(-8, 9) * np.spacing(kind.type(edge or 1))
        numbers += [edge + steps, -edge - steps]
    with np.errstate(all="ignore"):
        return np.concatenate([np.asarray(part).astype(kind) for part in numbers])


def documented_bound(name):
    docs = [str(record["doc"]) for record in core.Operator(name).records]
    return int(re.search(r"[Ww]ithin (\d+) ulp", docs[0])[1])


def check(name, got, exact, inputs, slack, bound=None):
    """Values that are finite lie within the bound, all others are the same."""
    info = np.finfo(got.dtype)
    with np.errstate(all="ignore"):
        want = exact.astype(got.dtype)
        unit = np.maximum(np.spacing(np.abs(want)), info.smallest_subnormal)
        error = np.abs(got.astype(exact.dtype) - exact) / unit
    bound = (documented_bound(name) if bound is None else bound) + slack
    # Next to infinity the truth and the result may lie on two sides of the last number.
    last = np.nextafter(info.max, 0, dtype=got.dtype)
    close = (np.abs(got) >= last) & (np.abs(want) >= last)
    close &= np.signbit(got) == np.signbit(want)
    right = np.where(np.isfinite(want), (error <= bound) | close, (got == want) | close)
    right |= np.isnan(got) & np.isnan(want)
    right &= (want != 0) | (got != 0) | (np.signbit(got) == np.signbit(want))
    if not right.all():
        at = np.flatnonzero(~right)[:5]
        rows = [f"{[x[i] for x in inputs]}: {got[i]!r}, not {exact[i]!r}" for i in at]
        raise AssertionError(f"{name} beyond {bound} ulp at {(~right).sum()}: {rows}")


def of_halves(dtype):
    """All numbers of a 16-bit type, as float32."""
    words = np.arange(2**16, dtype="uint32")
    if dtype is pkg.float16:
        return words.astype("uint16").view("float16").astype("float32")
    return (words << 16).view("float32")


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", UNARY)
def test_unary(name, dtype, level):
    truth, edges = UNARY[name]
    x = sweep(dtype, edges, 4000)
    if name == "sigmoid":  # its results below the normal range are 0
        x = x[~(x < math.log(np.finfo(dtype).tiny))]
    got = getattr(pkg, name)(pkg.tensor(x)).numpy()
    assert got.dtype == dtype
    with np.errstate(all="ignore"):
        exact = truth(x.astype("float64" if "erf" in name else np.longdouble))
    exact = exact.astype(np.longdouble)
    check(name, got, exact, [x], 0 if LONG and "erf" not in name else 1)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", BINARY)
def test_binary(name, dtype, level):
    truth, edges = BINARY[name]
    x, y = sweep(dtype, edges, 6000), sweep(dtype, edges, 6000)
    RNG.shuffle(y)
    a, b = (part.ravel().astype(dtype) for part in np.meshgrid(SPECIAL, SPECIAL))
    x, y = np.concatenate([x, a]), np.concatenate([y, b])
    got = getattr(pkg, name)(pkg.tensor(x), pkg.tensor(y)).numpy()
    with np.errstate(all="ignore"):
        exact = truth(x.astype(np.longdouble), y.astype(np.longdouble))
    check(name, got, exact, [x, y], 0 if LONG else 1)


#: Of these 16-bit types have formulas of their own, with as many digits as they have.
SHORT = {
    pkg.float16: "exp log log2 log10 log1p sin cos tan atan erf".split(),
    pkg.bfloat16: "sin cos tan atan erf".split(),
}


def short_bound(name, digits):
    """In ulp: formulas but logarithms are within 2^-14 of the result, then rounded."""
    return documented_bound(name) if "log" in name else 0.5 + 2.0 ** (digits - 14)


def check_bfloats(name, got, exact, inputs):
    """As `check`, by float32's numbers: the digits of bfloat16 are its upper half."""
    with np.errstate(all="ignore"):
        want = exact.astype("float32")
        size = np.maximum(np.abs(want), np.finfo("float32").tiny)
        unit = np.ldexp(np.float32(1), np.frexp(size)[1] - 8)
        right = np.abs(got - exact) <= short_bound(name, 8) * unit
    right |= (got == want) | (np.isnan(got) & np.isnan(want))
    right &= (want != 0) | (got != 0) | (np.signbit(got) == np.signbit(want))
    bad = np.flatnonzero(~right)[:5]
    assert right.all(), [(inputs[i], got[i], exact[i]) for i in bad]


@pytest.mark.parametrize(("dtype", "name"), [(d, n) for d in SHORT for n in SHORT[d]])
def test_short_formulas_of_sixteen_bits(dtype, name, level):
    """Each number there is, within the bound; the same alone and in every layout."""
    wide = of_halves(dtype)
    f, x = getattr(pkg, name), pkg.tensor(wide).to(dtype)
    assert f(x).dtype is dtype
    got = f(x).float().numpy()
    with np.errstate(all="ignore"):
        exact = UNARY[name][0](
            wide.astype("float64" if name == "erf" else np.longdouble)
        )
        exact = exact.astype(np.longdouble)
    if dtype is pkg.float16:
        slack = 0 if LONG else 1
        bound = short_bound(name, 11)
        check(name, got.astype("float16"), exact, [wide], slack, bound)
    else:
        check_bfloats(name, got, exact, wide)
    grid = x.reshape(256, 256)
    np.testing.assert_array_equal(f(grid.t()).float().numpy().T.ravel(), got)
    np.testing.assert_array_equal(
        f(grid[:, ::3]).float().numpy(), got.reshape(256, 256)[:, ::3]
    )
    for at in (40, 18500, 65000):
        for size in (1, 15, 16, 17, 100):
            some = f(x[at : at + size]).float().numpy()
            np.testing.assert_array_equal(some, got[at : at + size])
    in_place = getattr(x.clone(), f"{name}_")().float().numpy()
    np.testing.assert_array_equal(in_place, got)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", ["log", "log2", "log10"])
def test_the_same_bits_beside_numbers_that_do_not_fit(name, dtype, level):
    """Those are put in after the loop, or computed on their own."""
    x = np.abs(sweep(dtype, (1, 2, 0.5), 1000))
    x = x[(x >= np.finfo(dtype).tiny) & (x < np.inf)]
    f = getattr(pkg, name)
    want = f(pkg.tensor(x)).numpy()
    for special in (0.0, -1.5, math.inf, math.nan, np.finfo(dtype).tiny / 2):
        y = x.copy()
        y[::100] = special
        got = f(pkg.tensor(y)).numpy()
        kept = np.arange(x.size) % 100 > 0
        np.testing.assert_array_equal(got[kept], want[kept])
        alone = f(pkg.tensor(np.array([special], dtype))).numpy()
        np.testing.assert_array_equal(got[::100], np.repeat(alone, got[::100].size))


@pytest.mark.parametrize("name", UNARY)
def test_halves_are_float32_rounded(name):
    for dtype in (pkg.float16, pkg.bfloat16):
        if name in SHORT[dtype]:
            continue
        x = of_halves(dtype)
        f = getattr(pkg, name)
        got = f(pkg.tensor(x).to(dtype)).float().numpy()
        want = f(pkg.tensor(x)).to(dtype).float().numpy()
        np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_levels_differ_by_the_bound_at_most(dtype, level):
    """Where one level contracts a * b + c to one rounding, another does not."""
    x = sweep(dtype, ANGLES, 1000)
    for name in UNARY:
        f = getattr(pkg, name)
        got = f(pkg.tensor(x)).numpy()
        with at_level("baseline"):
            base = f(pkg.tensor(x)).numpy()
        np.testing.assert_array_equal(np.isnan(got), np.isnan(base))
        both = np.isfinite(got) & np.isfinite(base)
        apart = np.abs(got[both] - base[both])
        limit = 2 * documented_bound(name) * np.spacing(np.abs(base[both]))
        assert (apart <= limit).all(), name


def test_powers_by_numbers_are_products_and_roots():
    x = pkg.tensor([0.0, 0.3, 2.0, 7.0, math.inf], dtype=pkg.float64)
    powers = {2: x * x, 3: x * x * x, 0.5: x.sqrt(), -1: 1 / x, -2: 1 / (x * x)}
    powers |= {-0.5: 1 / x.sqrt(), 1: x, 0: pkg.ones_like(x)}
    for number, want in powers.items():
        assert pkg.equal(x**number, want)
        if abs(number) != 0.5:  # which is C's power, where its infinities differ
            assert pkg.equal(pkg.pow(x, pkg.tensor(number + 0.0)), want)
    n = pkg.tensor([-3, 0, 5])
    assert (n**2).tolist() == [9, 0, 25] and (n**3).tolist() == [-27, 0, 125]


def test_a_zero_dimensional_tensor_to_its_own_power():
    e = pkg.tensor(2.0)
    e.pow_(e)
    assert e.item() == 4


@pytest.mark.parametrize("size", [1, 7, 255, 256, 257, 1000])
def test_large_angles_beside_small_ones(size):
    """One beyond the range of the fast formula, at each place, also in place."""
    x = RNG.standard_normal(size) * 3
    for at in {0, size // 2, size - 1}:
        y = x.copy()
        y[at] = 1e9
        for name in ("sin", "cos", "tan"):
            t = pkg.tensor(y)
            want = getattr(np, name)(y)
            np.testing.assert_allclose(getattr(pkg, name)(t).numpy(), want, rtol=1e-14)
            getattr(t, f"{name}_")()
            np.testing.assert_allclose(t.numpy(), want, rtol=1e-14)
