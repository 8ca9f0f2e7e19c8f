# SPDX-License-Identifier: Apache-2.0
"""Random numbers: what they are functions of, and that they are spread as they should.

The first tests compare with Philox written out in NumPy; the others are statistics with
fixed seeds, so that they pass or fail for good.
"""

from __future__ import annotations

from statistics import NormalDist

import numpy as np
import pytest

import pkg
from levels import every_level

FLOATS = ("float16", "bfloat16", "float32", "float64")
DIGITS = {"float16": 11, "bfloat16": 8, "float32": 24, "float64": 53}
#: Around the sizes of groups, of blocks and of what threads share.
SIZES = (0, 1, 15, 16, 17, 31, 32, 33, 63, 64, 65, 200, 1023, 1025, 70_001)
LANES = 16
UNIFORM, WIDE = 1, 2
LOW = np.uint64(0xFFFFFFFF)


def philox(seed: int, words: list[np.ndarray]) -> list[np.ndarray]:
    """Philox 4x32-10 of counters whose four words are given."""
    c0, c1, c2, c3 = (np.asarray(w, np.uint64) for w in words)
    key = [np.uint64(seed & 0xFFFFFFFF), np.uint64(seed >> 32)]
    for _ in range(10):
        p0, p1 = np.uint64(0xD2511F53) * c0, np.uint64(0xCD9E8D57) * c2
        c0, c1 = (p1 >> np.uint64(32)) ^ c1 ^ key[0], p1 & LOW
        c2, c3 = (p0 >> np.uint64(32)) ^ c3 ^ key[1], p0 & LOW
        key = [(key[0] + np.uint64(0x9E3779B9)) & LOW,
               (key[1] + np.uint64(0xBB67AE85)) & LOW]  # fmt: skip
    return [c0, c1, c2, c3]


def words(seed: int, draw: int, groups: int) -> np.ndarray:
    """The words of groups, (groups, 4, lanes)."""
    counter = np.arange(groups * LANES, dtype=np.uint64)
    zero = np.zeros_like(counter)
    made = philox(
        seed, [counter & LOW, counter >> np.uint64(32), zero + np.uint64(draw), zero]
    )
    return np.stack([w.reshape(groups, LANES) for w in made], axis=1)


def wide(seed: int, groups: int) -> list[int]:
    """Numbers of 64 bits, as Python's."""
    found = words(seed, WIDE, groups)
    high, low = found[:, 0::2], found[:, 1::2]
    return [int(h) << 32 | int(n) for h, n in zip(high.ravel(), low.ravel())]


def drawn(make, seed: int = 5) -> np.ndarray:
    pkg.manual_seed(seed)
    return make().detach().double().numpy()


def chi_square(counts: np.ndarray, expected: np.ndarray | float) -> float:
    """How many deviations the statistic lies above what is expected."""
    free = len(counts) - 1
    return float(
        (((counts - expected) ** 2 / expected).sum() - free) / (2 * free) ** 0.5
    )


def test_the_words_are_philoxs():
    """A known answer of the paper's authors, then uniform numbers and integers."""
    zero = np.zeros(1, np.uint64)
    answer = [int(w[0]) for w in philox(0, [zero] * 4)]
    assert answer == [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]
    seed = 2**63 + 12345
    want = (words(seed, UNIFORM, 5) >> np.uint64(8)).ravel() / 2**24
    assert (drawn(lambda: pkg.rand(300), seed) == want[:300]).all()
    bits = wide(seed, 5)
    got = drawn(lambda: pkg.rand(150, dtype=pkg.float64), seed)
    assert got.tolist() == [(b >> 32 >> 5 << 26 | (b & 0xFFFFFFFF) >> 6) / 2**53
                            for b in bits[:150]]  # fmt: skip


@pytest.mark.parametrize(
    ("low", "high"),
    [(0, 1), (0, 2), (-5, 7), (0, 2**32 - 1), (0, 2**32), (3, 2**32 + 4),
     (0, 2**63 - 1), (-(2**63), 2**63 - 1)],
)  # fmt: skip
def test_integers_are_the_bits_times_the_range(low, high):
    pkg.manual_seed(9)
    got = pkg.randint(low, high, (100,)).tolist()
    assert got == [low + (b * (high - low) >> 64) for b in wide(9, 4)[:100]]


@pytest.mark.parametrize(
    "dtype", ["bool", "uint8", "int8", "int32", "float16", "bfloat16", "float32"]
)
@pytest.mark.parametrize("n", [*SIZES, 2049])
def test_integers_of_a_dtype_are_those_of_int64_converted(dtype, n):
    high = 2 if dtype == "bool" else 90

    def made(dtype):
        pkg.rand(7)  # so that blocks do not begin where groups do
        return pkg.randint(0, high, (n,), dtype=dtype)

    wanted = drawn(lambda: made("int64"))
    assert drawn(lambda: made(dtype)).tolist() == wanted.tolist()


DRAWS = {
    **{f"rand {d}": lambda n, d=d: pkg.rand(n, dtype=d) for d in FLOATS},
    **{f"randn {d}": lambda n, d=d: pkg.randn(n, dtype=d) for d in FLOATS},
    **{f"randint {d}": lambda n, d=d: pkg.randint(0, 100, (n,), dtype=d)
       for d in ("int64", "int32", "uint8", "float16")},
    "randint, wide": lambda n: pkg.randint(-5, 2**40, (n,)),
    "bernoulli": lambda n: pkg.bernoulli(pkg.full((n,), 0.3)),
    "dropout": lambda n: pkg.dropout(pkg.arange(float(n)) + 1, 0.3),
}  # fmt: skip


@pytest.fixture
def restored():
    threads = pkg.get_num_threads()
    yield
    pkg.set_num_threads(threads)


@pytest.mark.parametrize("draw", [*DRAWS, "randperm"])
def test_numbers_are_the_same_for_any_threads_and_instruction_set(draw, restored):
    make = DRAWS.get(draw, pkg.randperm)
    first = {}
    for level in every_level():
        for threads in (1, 2, 3):
            pkg.set_num_threads(threads)
            for n in (65, 70_001, 140_000):
                numbers = drawn(lambda n=n: make(n)).tobytes()
                assert first.setdefault(n, numbers) == numbers, (level, threads, n)


@pytest.mark.parametrize("draw", DRAWS)
def test_numbers_are_the_same_for_any_parts(draw):
    """Each number has its position: two draws give what one would."""
    if draw == "dropout":
        pytest.skip("its numbers depend on the input's, too")
    make = DRAWS[draw]
    whole = drawn(lambda: make(3 * SIZES[-1]))
    for n in SIZES:
        pkg.manual_seed(5)
        parts = [make(k) for k in (n, 1, 37, n, 64)]
        got = pkg.cat(parts).double().numpy()
        assert (got == whole[: len(got)]).all(), n


def test_kinds_of_draws_share_no_words():
    """From the same place of the stream they have nothing to do with each other."""
    n = 200_000
    kinds = [DRAWS[k] for k in ("rand float32", "rand float64", "randn float32",
                                "randn float64", "bernoulli")]  # fmt: skip
    numbers = np.stack([drawn(lambda k=k: k(n)) for k in kinds])
    apart = np.corrcoef(numbers) - np.eye(len(kinds))
    assert np.abs(apart).max() < 5 / n**0.5
    ranks = np.corrcoef(numbers**2) - np.eye(len(kinds))
    assert np.abs(ranks).max() < 5 / n**0.5


@pytest.mark.parametrize("dtype", FLOATS)
def test_uniform_numbers_are_spread_evenly(dtype):
    n, digits = 1_000_000, DIGITS[dtype]
    u = drawn(lambda: pkg.rand(n, dtype=dtype))
    assert u.min() >= 0 and u.max() < 1
    counts = np.bincount((u * 256).astype(int), minlength=256)
    assert abs(chi_square(counts, n / 256)) < 5
    whole = (u * 2.0**digits).astype(np.int64)
    assert (whole == u * 2.0**digits).all()
    for bit in range(digits):
        assert abs((whole >> bit & 1).mean() - 0.5) < 5 * 0.5 / n**0.5
    for lag in (1, 2, 15, 16, 32, 64, 1024):
        assert abs(np.corrcoef(u[lag:], u[:-lag])[0, 1]) < 5 / n**0.5
    pairs = np.bincount((u[:-1] * 16).astype(int) * 16 + (u[1:] * 16).astype(int))
    assert abs(chi_square(pairs, (n - 1) / 256)) < 5


@pytest.mark.parametrize("dtype", FLOATS)
def test_normal_numbers_are_normal(dtype):
    n = 2_000_000
    x = drawn(lambda: pkg.randn(n, dtype=dtype))
    moments = [0, 1, 0, 3, 0, 15]
    for power, moment in enumerate(moments, 1):
        spread = [1, 3, 15, 105, 945, 10395][power - 1] ** 0.5
        rounding = 2.0 ** (1 - DIGITS[dtype]) * moment
        assert abs((x**power).mean() - moment) < 5 * spread / n**0.5 + rounding
    tail = [(abs(x) > limit).sum() for limit in (3, 4, 4.8)]
    for limit, found in zip((3, 4, 4.8), tail):
        want = 2 * n * NormalDist().cdf(-limit)
        if DIGITS[dtype] > 11:
            assert abs(found - want) < 5 * want**0.5 + 1
    assert abs(x).max() > 4.5
    for lag in (1, 15, 16, 17, 32, 64):  # 16: the sine of a cosine
        assert abs(np.corrcoef(x[lag:], x[:-lag])[0, 1]) < 5 / n**0.5
        squares = x * x
        assert abs(np.corrcoef(squares[lag:], squares[:-lag])[0, 1]) < 5 / n**0.5
    if DIGITS[dtype] > 11:
        ends = [NormalDist().inv_cdf(k / 200) for k in range(1, 200)]
        counts = np.bincount(np.searchsorted(ends, x), minlength=200)
        assert abs(chi_square(counts, n / 200)) < 5


def test_uniform_numbers_end_below_the_end():
    """Rounding does not reach it."""
    x = pkg.empty(1_000_000)
    for low, high in [(1000.0, 1001.0), (-1.0, -0.999), (3.0, 3.0)]:
        pkg.manual_seed(1)
        numbers = x.uniform_(low, high).double().numpy()
        assert numbers.min() >= np.float32(low)
        assert numbers.max() < np.float32(high) or low == high
    mean, std = drawn(lambda: pkg.empty(200_000).uniform_(-2, 6)).mean(), 8 / 12**0.5
    assert abs(mean - 2) < 5 * std / 200_000**0.5
    moved = drawn(lambda: pkg.empty(200_000).normal_(3, 0.5))
    assert abs(moved.mean() - 3) < 0.01 and abs(moved.std() - 0.5) < 0.01


def test_integers_are_spread_evenly():
    for dtype in ("int64", "int32", "uint8", "float32"):
        numbers = drawn(lambda d=dtype: pkg.randint(3, 103, (500_000,), dtype=d))
        counts = np.bincount(numbers.astype(int) - 3, minlength=100)
        assert len(counts) == 100 and abs(chi_square(counts, 5_000)) < 5


@pytest.mark.parametrize("n", [*SIZES, 65_535, 65_536, 65_537, 131_073, 300_000])
def test_a_permutation_has_every_number_once(n):
    assert (np.sort(drawn(lambda: pkg.randperm(n))) == np.arange(n)).all()


@pytest.mark.parametrize("shape", [(6, 8), (300, 400)])
def test_a_permutation_of_a_view_leaves_what_is_beside(shape):
    whole = pkg.full(shape, -1, dtype=pkg.int64)
    part = whole[::3, 1::2]
    pkg.ops._permutation_(part)
    assert sorted(part.flatten().tolist()) == [*range(part.numel())]
    part.fill_(-1)
    assert (whole == -1).all()


def test_all_orders_are_equally_likely():
    pkg.manual_seed(3)
    counts: dict[tuple[int, ...], int] = {}
    for _ in range(12_000):
        order = tuple(pkg.randperm(4).tolist())
        counts[order] = counts.get(order, 0) + 1
    assert len(counts) == 24
    assert abs(chi_square(np.array([*counts.values()]), 500)) < 5


def test_large_orders_are_random():
    """Above one bucket: where numbers go, what stays, what is next to what."""
    n, rounds = 140_000, 30
    pkg.manual_seed(4)
    stays, cells = 0, np.zeros(400)
    for _ in range(rounds):
        order = pkg.randperm(n).numpy()
        stays += (order == np.arange(n)).sum()
        cells += np.bincount((np.arange(n) // 7000) * 20 + order // 7000, minlength=400)
        assert abs(np.corrcoef(order[1:], order[:-1])[0, 1]) < 5 / n**0.5
        rises = (order[1:] > order[:-1]).mean()
        assert abs(rises - 0.5) < 5 * (1 / 12 / n) ** 0.5
    assert abs(stays - rounds) < 5 * rounds**0.5
    assert chi_square(cells, rounds * n / 400) < 5


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("p", [0.1, 0.5, 0.9])
def test_dropout_drops_so_many(dtype, p):
    n = 300_000
    x = pkg.full((n,), 2.0, dtype=dtype, requires_grad=True)
    pkg.manual_seed(8)
    y = pkg.dropout(x, p)
    y.backward(pkg.full((n,), 3.0, dtype=dtype))
    values, slopes = (t.detach().double().numpy() for t in (y, x.grad))
    kept = values != 0
    assert abs(kept.mean() - (1 - p)) < 5 * (p * (1 - p) / n) ** 0.5
    tolerance = 2.0 ** -DIGITS[dtype] * 2
    np.testing.assert_allclose(values[kept], 2 / (1 - p), rtol=tolerance)
    np.testing.assert_allclose(slopes, kept * 3 / (1 - p), rtol=tolerance)


def test_dropout_of_other_layouts():
    """The same elements are dropped wherever they lie, and in gradients."""
    base = pkg.rand(60, 70) + 1
    views = (base, base.t().contiguous().t(), base.repeat(1, 2)[:, :70])
    for given in views:
        x = given.detach().requires_grad_()
        pkg.manual_seed(2)
        y = pkg.dropout(x, 0.4)
        (slope,) = pkg.autograd.grad(y.sum(), x, create_graph=True)
        assert (y.detach() != 0).tolist() == (slope.detach() != 0).tolist()
        pkg.manual_seed(2)
        assert pkg.dropout(base, 0.4).tolist() == y.tolist()
    whole = pkg.dropout(pkg.arange(10), 0.5)
    assert whole.dtype is pkg.float32  # integers become floats
    not_a_number = pkg.dropout(pkg.full((100,), float("nan")), 0.5)
    assert not_a_number.isnan().all()


def test_dropout_twice_differentiated():
    x = (pkg.rand(50, dtype=pkg.float64) + 1).requires_grad_()
    pkg.manual_seed(6)
    y = pkg.dropout(x, 0.5)
    (first,) = pkg.autograd.grad((y**2).sum(), x, create_graph=True)
    (second,) = pkg.autograd.grad(first.sum(), x)
    mask = (y.detach() != 0).double()
    assert (second - mask * 8).abs().max().item() < 1e-12


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("n", [1, 2, 31, 32, 33, 64, 65, 1000])
def test_choices_follow_the_weights(n, dtype):
    """Whole blocks and parts of them; what weighs nothing is never drawn."""
    rng = np.random.default_rng(n)
    weights = rng.uniform(0.1, 1, (2, n))
    weights[0, rng.uniform(size=n) < 0.4] = 0
    weights[0, -1], weights[0, 0] = 0, 1
    given = pkg.tensor(weights).to(dtype)
    if n == 1:
        given = given[:1] + 1
    count = 100_000
    pkg.manual_seed(n)
    drawn = pkg.multinomial(given, count, replacement=True).numpy()
    for row, chances in zip(drawn, given.double().numpy()):
        found = np.bincount(row, minlength=n)
        assert len(found) == n and found[chances == 0].sum() == 0
        some = chances > 0
        want = count * chances[some] / chances.sum()
        if some.sum() > 1:
            assert chi_square(found[some], want) < 5


def test_choices_of_any_layout_and_threads(restored):
    weights = pkg.rand(300, 70) + 0.1
    first = None
    for level in every_level():
        for threads in (1, 2, 3):
            pkg.set_num_threads(threads)
            for given in (weights, weights.t().contiguous().t()):
                pkg.manual_seed(3)
                drawn = pkg.multinomial(given, 100, replacement=True).tolist()
                first = first or drawn
                assert drawn == first, (level, threads)


@pytest.mark.parametrize(
    "low, high", [(100, 101), (1, 1.5), (-2, -1), (0.3, 0.7), (-1, 0)]
)
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32"])
def test_the_upper_end_is_never_drawn(dtype, low, high):
    """Not by rounding to 16 bits either."""
    drawn = pkg.empty(200_000, dtype=getattr(pkg, dtype)).uniform_(low, high)
    end = pkg.tensor(high, dtype=drawn.dtype).item()
    assert drawn.max().item() < max(end, high) and drawn.min().item() >= min(
        low, pkg.tensor(low, dtype=drawn.dtype).item()
    )
