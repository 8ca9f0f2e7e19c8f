# SPDX-License-Identifier: Apache-2.0
"""Blocks and staging (cpp/tensor/staging.cc): every way to lie, against NumPy.

Sizes stand around the limits of the code: vectors, squares of 8 or 4, rows of 64 that
are cut another way, tiles of 128 or 256 columns, blocks of 1,024 elements, cells of
8,192.
"""

import operator

import numpy as np
import pytest

import pkg
from levels import every_level

FLOATS = ["float16", "float32", "float64"]
DTYPES = ["bool", "uint8", "int8", "int32", "int64", *FLOATS]
LENGTHS = [0, 1, 15, 16, 17, 511, 512, 513, 1023, 1024, 1025, 3100, 8193, 40001]
# (rows, columns), (planes, rows, columns), ...
SHAPES = [
    (1, 1),
    (2, 2),
    (3, 70),
    (70, 3),
    (7, 9),
    (3, 4),
    (4, 4),
    (5, 6),
    (6, 67),
    (4, 129),
    (300, 7),
    (8, 64),
    (63, 65),
    (130, 129),
    (257, 136),
    (2, 9000),
    (9000, 2),
    (5, 64, 66),
    (4, 3, 100),
    (2, 3, 5, 7),
    (3, 2, 3, 2, 3, 2, 3),
]


def numbers(rng: np.random.Generator, shape: tuple, dtype: str) -> np.ndarray:
    if dtype == "bool":
        return rng.integers(0, 2, shape).astype(bool)
    if dtype in FLOATS:
        return (rng.integers(-300, 300, shape) / 4).astype(dtype)
    low = 0 if dtype == "uint8" else -100
    return rng.integers(low, 100, shape).astype(dtype)


def dense(rng, shape, dtype):
    x = numbers(rng, shape, dtype)
    return pkg.tensor(x), x


def turned(rng, shape, dtype):
    """All dimensions the other way round in memory."""
    t, x = dense(rng, shape[::-1], dtype)
    dims = tuple(range(len(shape)))[::-1]
    return t.permute(*dims), x.transpose(dims)


def swapped(rng, shape, dtype):
    """The last two dimensions the other way round."""
    t, x = dense(rng, (*shape[:-2], shape[-1], shape[-2]), dtype)
    return t.transpose(-1, -2), x.swapaxes(-1, -2)


def every_other(rng, shape, dtype):
    t, x = dense(rng, (*shape[:-1], 2 * shape[-1]), dtype)
    return t[..., ::2], x[..., ::2]


def every_third(rng, shape, dtype):
    t, x = dense(rng, (*shape[:-1], 3 * shape[-1]), dtype)
    return t[..., 1::3], x[..., 1::3]


def part(rng, shape, dtype):
    """Rows with gaps between them."""
    t, x = dense(rng, (*shape[:-1], shape[-1] + 3), dtype)
    return t[..., 2:-1], x[..., 2:-1]


def row(rng, shape, dtype):
    return dense(rng, shape[-1:], dtype)


def column(rng, shape, dtype):
    return dense(rng, (*shape[:-1], 1), dtype)


def plane(rng, shape, dtype):
    """Repeated in the middle."""
    return dense(rng, (shape[0], *[1] * (len(shape) - 2), shape[-1]), dtype)


def number(rng, shape, dtype):
    return dense(rng, (), dtype)


def repeated(rng, shape, dtype):
    """One element everywhere, in the full shape."""
    t, x = dense(rng, (1,) * len(shape), dtype)
    return t.expand(*shape), np.broadcast_to(x, shape)


LAYOUTS = [
    dense,
    turned,
    swapped,
    every_other,
    every_third,
    part,
    row,
    column,
    plane,
    number,
    repeated,
]


def check(got: pkg.Tensor, want: np.ndarray) -> None:
    assert tuple(got.shape) == want.shape
    np.testing.assert_array_equal(got.numpy(), want.astype(got.numpy().dtype))


@pytest.mark.parametrize("dtype", DTYPES)
def test_squares_of_what_has_gaps(dtype):
    rng = np.random.default_rng(2)
    for rows, columns in [(8, 8), (9, 17), (31, 40), (130, 129), (7, 300)]:
        for step in (1, 2, 3, 5):
            t, x = dense(rng, (rows, 3, columns * step), dtype)
            t, x = t[:, 1, ::step], x[:, 1, ::step]
            check(t.t().contiguous(), x.T)
            check(t.t().reshape(-1), x.T.reshape(-1))
            to = pkg.zeros(columns, rows, dtype=t.dtype)
            to.copy_(t.t())
            check(to, x.T)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda f: f.__name__)
def test_one_operand(layout, shape):
    rng = np.random.default_rng(1)
    for dtype in DTYPES:
        t, x = layout(rng, shape, dtype)
        check(t.contiguous(), x)
        check(t.clone(), x)
        check(pkg.abs(t), np.abs(x))
        check(pkg.logical_not(t), np.logical_not(x))


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("second", LAYOUTS, ids=lambda f: f.__name__)
def test_two_operands(second, shape):
    rng = np.random.default_rng(2)
    for first in (dense, swapped, part, every_other, repeated):
        for one, other in [
            ("float32", "float32"),
            ("float16", "float16"),
            ("int64", "uint8"),
            ("float32", "int8"),
            ("uint8", "uint8"),
            ("bool", "bool"),
            ("float64", "bool"),
        ]:
            a, x = first(rng, shape, one)
            b, y = second(rng, shape, other)
            wide = np.result_type(x, y)
            if y.ndim == 0 and second is number:
                wide = x.dtype
            check(pkg.maximum(a, b), np.maximum(x.astype(wide), y.astype(wide)))
            check(pkg.maximum(b, a), np.maximum(y.astype(wide), x.astype(wide)))
            check(a == b, x == y)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda f: f.__name__)
def test_an_operand_and_numbers(layout, shape):
    rng = np.random.default_rng(5)
    for dtype in (*FLOATS, "int64", "uint8"):
        t, x = layout(rng, shape, dtype)
        two = x.dtype.type(2)
        check(t * 2, x * two)
        check(2 - t, two - x)
        check(t >= 2, x >= two)
        check(pkg.clamp(t, 1, 2), np.clip(x, 1, 2))
        check(pkg.where(t > 2, t, 2), np.where(x > two, x, two))


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda f: f.__name__)
def test_three_operands(layout, shape):
    rng = np.random.default_rng(3)
    for dtype in ("float32", "float16", "uint8", "int64"):
        for others in ((dense, layout), (layout, dense), (layout, swapped)):
            mask, m = others[0](rng, shape, "bool")
            a, x = others[1](rng, shape, dtype)
            b, y = layout(rng, shape, dtype)
            want = np.broadcast_to(np.where(m, x, y), np.broadcast(m, x, y).shape)
            check(pkg.where(mask, a, b), want)
            if dtype != "uint8":
                c, z = dense(rng, shape, dtype)
                one = np.minimum(np.maximum(z, x), y)
                check(pkg.clamp(c, a, b), one)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("written", [dense, swapped, every_other, part])
def test_in_place(written, layout, shape):
    rng = np.random.default_rng(4)
    for one, other in [
        ("float32", "float32"),
        ("float16", "float16"),
        ("float16", "float32"),
        ("float32", "int32"),
        ("uint8", "uint8"),
        ("int64", "int8"),
        ("bool", "bool"),
    ]:
        a, x = written(rng, shape, one)
        b, y = layout(rng, shape, other)
        x = x.copy()
        if one == "bool":
            x |= y
            check(a.bitwise_or_(b), x)
            continue
        with np.errstate(over="ignore"):
            if one == "float16" and other == "float32" and y.ndim:
                want = (x.astype("float32") + y).astype("float16")
            else:
                want = x + y.astype(x.dtype)
        check(a.add_(b), want)
        a, x = written(rng, shape, one)
        check(a.copy_(b), np.broadcast_to(y, x.shape).astype(x.dtype))


@pytest.mark.parametrize("n", LENGTHS)
def test_lengths(n):
    rng = np.random.default_rng(n)
    for dtype in DTYPES:
        a, x = dense(rng, (n,), dtype)
        b, y = every_other(rng, (n,), dtype)
        check(pkg.maximum(a, b), np.maximum(x, y))
        check(pkg.minimum(b, a), np.minimum(x, y))
        check(a == a[:1] if n else a == a, x == x[:1] if n else x == x)
        out = pkg.zeros(n, 3, dtype=getattr(pkg, dtype))
        out[:, 1].copy_(a)
        check(out[:, 1], x)
        check(out[:, 2], np.zeros_like(x))
        out[:, 1].fill_(1)
        check(out[:, 1], np.ones_like(x))
        check(out[:, 0], np.zeros_like(x))


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "int64"])
@pytest.mark.parametrize("n", [1, 31, 32, 33, 64, 100, 1_024, 3_100])
def test_truths_of_wide_numbers(n, dtype):
    """Put together in vectors of 32, by every instruction set."""
    rng = np.random.default_rng(n)
    x = rng.integers(-2, 3, 2 * n).astype(dtype)
    y = rng.integers(-2, 3, 2 * n).astype(dtype)
    if dtype in FLOATS:
        for odd in (np.nan, -0.0, np.inf, -np.inf):
            x[rng.random(2 * n) < 0.1] = odd
            y[rng.random(2 * n) < 0.1] = odd
    if dtype == "int64":  # which differ beyond 32 bits alone
        x, y = x << 40, y << 40
    for _ in every_level():
        for step in (1, 2, -1):
            v, w = x[::step][:n], y[::step][:n]
            a, b = pkg.tensor(x), pkg.tensor(y)
            if step > 0:
                a, b = a[::step][:n], b[::step][:n]
            else:
                a, b = a.flip([0])[:n], b.flip([0])[:n]
            for name in ("eq", "ne", "lt", "le", "gt", "ge"):
                compare = getattr(operator, name)
                check(compare(a, b), compare(v, w))
                check(compare(a, 1), compare(v, 1))
            check(pkg.logical_and(a, b), np.logical_and(v, w))
            check(pkg.logical_xor(a, b), np.logical_xor(v, w))
            check(pkg.logical_not(a), np.logical_not(v))
            for name in ("isnan", "isinf", "isfinite"):
                check(getattr(pkg, name)(a), getattr(np, name)(v))
            bytes_of = pkg.eq(a, b).numpy().view("uint8")
            np.testing.assert_array_equal(bytes_of, np.equal(v, w).view("uint8"))


def test_far_and_near_elements_apart():
    """What lies apart over more than caches hold is read ahead, in shorter blocks."""
    x = np.arange(5_000_000, dtype="float64")
    t = pkg.tensor(x)
    for step in (2, 7, 1_000):
        check(-t[::step], -x[::step])
        check(t[::step] + t[::step], 2 * x[::step])
    t[1::2].neg_()
    x[1::2] *= -1
    check(t, x)


@pytest.mark.parametrize("dtype", ["float32", "int8", "float16", "float64"])
@pytest.mark.parametrize("columns", [40, 224])
def test_far_rows_beside_a_row_and_a_column(dtype, columns):
    """Several short rows are one block, and of another operand each is one row or one
    element: the block must not be cut in two because elements lie far apart."""
    step = 4 * 32 // np.dtype(dtype).itemsize
    rows = (48 << 20) // (columns * 4 * 32)
    far = np.zeros((rows, columns, step), dtype)
    far[:, :, 0] = np.arange(rows * columns).reshape(rows, columns) % 97
    row = (np.arange(columns) % 23).astype(dtype)
    column = (np.arange(rows) % 19).astype(dtype)[:, None]
    x, t = far[:, :, 0], pkg.tensor(far)[:, :, 0]
    both = pkg.tensor(column) + pkg.tensor(row)
    for other in (row, column):
        check(t + pkg.tensor(other), x + other)
        check(t < pkg.tensor(other), x < other)
        check(pkg.where(t > 50, t, pkg.tensor(other)), np.where(x > 50, x, other))
        check(
            t.clone().masked_fill_(pkg.tensor(other) > 11, 3),
            np.where(other > 11, 3, x),
        )
    t.copy_(pkg.tensor(row))
    check(t, np.broadcast_to(row, x.shape))
    t.add_(pkg.tensor(column))
    check(t, both.numpy())


@pytest.fixture(params=[1, 2])
def threads(request):
    before = pkg.get_num_threads()
    pkg.set_num_threads(request.param)
    yield request.param
    pkg.set_num_threads(before)


@pytest.mark.parametrize(
    ("dtype", "ndim"), [("bfloat16", 7), ("float32", 9), ("uint8", 5), ("int64", 3)]
)
def test_far_elements_of_any_number_of_dimensions(dtype, ndim, threads):
    """In any order, beside what repeats along some of the dimensions; sums stay below
    256, which all dtypes have."""
    rng = np.random.default_rng(100 * ndim + len(dtype) + threads)
    n, sizes = (40 << 20) // 128, []
    for left in range(ndim, 0, -1):
        most = max(1, round(n ** (1 / left) * rng.choice([0.5, 1, 2])))
        sizes.append(min(n, most) if left > 1 else n)
        n //= sizes[-1]
    sizes = rng.permutation(sizes).tolist()
    step = 128 // {"bfloat16": 2, "float32": 4, "uint8": 1, "int64": 8}[dtype]
    to = getattr(pkg, dtype)
    order = rng.permutation(ndim).tolist()
    t = pkg.zeros(*sizes, step, dtype=to)[..., int(rng.integers(step))]
    t = t.permute(order)
    x = rng.integers(0, 97, t.shape)
    t.copy_(pkg.tensor(x))
    few = [int(rng.choice([1, size])) for size in t.shape]
    y = rng.integers(0, 97, few)
    other = pkg.tensor(y).to(to)
    check((t + other).to(pkg.int64), x + y)
    check(t < other, x < y)
    chosen = pkg.where(t > 50, t, other)
    check(chosen.to(pkg.int64), np.where(x > 50, x, y))
    t.add_(other)
    check(t.to(pkg.int64), x + y)
    t.copy_(other)
    check(t.to(pkg.int64), np.broadcast_to(y, x.shape))


def values_for(source: str, target: str) -> np.ndarray:
    """Numbers that both NumPy and C++ convert to the target, and have to."""
    if source == "bool":
        return np.array([True, False])
    if source in FLOATS:
        x = [0.0, -0.0, 0.4, 0.5, 0.9, 1.0, 1.5, 2.5, 100.25]
        if target != "uint8":
            x += [-0.9, -1.5, -100.75]
        if target in FLOATS or target == "bool":
            x += [np.nan, np.inf, -np.inf, 1e-7, -1e-8, 6e-5, 65504.0, 1e6, 1e39, 3e-42]
        if target in ("int32", "int64"):
            x += [32000.0, -31999.5]
        if target == "int64" and source != "float16":
            x += [2.0**40, -(2.0**40)]
    else:
        info = np.iinfo(source)
        x = [0, 1, 2, 77, 127, 128, 255, 256, 65535, 2**24 + 1, 2**31 - 1, -1, -128]
        x += [info.min, info.max]
        x = [v for v in x if info.min <= v <= info.max]
    with np.errstate(over="ignore"):
        return np.array(x, source)


@pytest.mark.parametrize("by", [0, 1, 3])
@pytest.mark.parametrize(
    ("source", "target"),
    [("float64", "int64"), ("int64", "float64"), ("float32", "int32")],
)
def test_conversions_where_memory_overlaps(source, target, by):
    """What does not fit the short way is read before it is written over."""
    size = np.dtype(source).itemsize
    far = 2.0**40 if size == 8 else 2.0**30
    memory = np.zeros(3010 * size, "uint8")
    begin = 5 * size
    x = memory[begin + by * size :][: 3000 * size].view(source)
    x[:] = np.arange(3000)
    x[[0, 1, 1500, 2999]] = far
    expected = x.astype(target)
    to = pkg.from_numpy(memory[begin:][: 3000 * size].view(target))
    to.copy_(pkg.from_numpy(x))
    check(to, expected)


@pytest.mark.parametrize("source", DTYPES)
@pytest.mark.parametrize("target", DTYPES)
@pytest.mark.usefixtures("level")
def test_conversions(source, target):
    few = values_for(source, target)
    for n in (0, 1, 7, 16, 33, 1024, 1025, 5000):
        x = np.resize(few, n)
        with np.errstate(over="ignore"):
            middle = x.astype("float32") if target == "float16" else x
            want = middle.astype(target)
        t = pkg.tensor(x)
        to = getattr(pkg, target)
        check(t.to(to), want)
        wide = pkg.tensor(np.repeat(x, 3))
        check(wide[::3].to(to), want)
        out = pkg.zeros(2 * n, dtype=to)
        out[::2].copy_(t)
        check(out[::2], want)
        assert not out[1::2].to(pkg.bool).any()


@pytest.mark.parametrize("target", DTYPES)
def test_conversions_with_bfloat16(target):
    few = values_for("float32", target)
    for n in (1, 17, 1025):
        x = np.resize(few, n)
        rounded = pkg.tensor(x).to(pkg.bfloat16)
        exact = rounded.to(pkg.float32).numpy()
        # The bits are those of the upper half.
        assert not (exact.view("uint32") & 0xFFFF).any()
        with np.errstate(over="ignore", invalid="ignore"):
            check(rounded.to(getattr(pkg, target)), exact.astype(target))
            back = pkg.tensor(exact.astype(target)).to(pkg.bfloat16)
            through = pkg.tensor(exact.astype(target).astype("float32"))
            check(back.float(), through.bfloat16().float().numpy())


def test_every_half():
    bits = np.arange(65536, dtype="uint16")
    x = bits.view("float16")
    check(pkg.tensor(x).float(), x.astype("float32"))
    rng = np.random.default_rng(0)
    some = rng.integers(0, 2**32, 200_000, dtype="uint32").view("float32")
    near = rng.standard_normal(200_000) * 2.0 ** rng.integers(-26, 17, 200_000)
    half = x[np.isfinite(x)].astype("float64")
    ties = ((np.sort(half)[1:] + np.sort(half)[:-1]) / 2).astype("float32")
    for y in (some, near.astype("float32"), ties):
        with np.errstate(over="ignore", invalid="ignore"):
            check(pkg.tensor(y).half(), y.astype("float16"))


@pytest.mark.usefixtures("level")
def test_out_of_range_is_the_same_on_every_level():
    x = np.array([np.nan, np.inf, -np.inf, 1e30, -1e30, 3e9, -3e9, 300.0, -1.0] * 20)
    for source in ("float32", "float64"):
        t = pkg.tensor(x.astype(source))
        for target in ("uint8", "int8", "int32"):
            to = getattr(pkg, target)
            through = t.to(pkg.int64).to(to)
            check(t.to(to), through.numpy())


@pytest.mark.parametrize("at", [0, 7, 1_023, 1_024, 2_500])
def test_one_number_that_does_not_fit_the_short_way(at):
    """It is found while its thousand is converted, all of which is right then."""
    small = np.arange(-1_250, 1_251)
    for source, target, odd in [
        ("float64", "int64", 2.0**40 + 1),
        ("float32", "int64", -(2.0**40)),
        ("int64", "float64", 2**62 + 1),
        ("int64", "float32", -(2**62) - 1),
    ]:
        x = small.astype(source)
        x[at] = odd
        for _ in every_level():
            check(pkg.tensor(x).to(getattr(pkg, target)), x.astype(target))
            wide = pkg.zeros(2_501, 2, dtype=getattr(pkg, target))
            wide[:, 1].copy_(pkg.tensor(x))
            check(wide[:, 1], x.astype(target))


def test_operands_that_cross_the_result():
    for dtype in DTYPES[1:]:
        x = numbers(np.random.default_rng(5), (200, 200), dtype)
        t = pkg.tensor(x)
        check(t.add_(t.t()), x + x.T)
        t, y = pkg.tensor(x), x.copy()
        y[1:] += x[:-1]
        t[1:].add_(t[:-1])
        check(t, y)
        t, y = pkg.tensor(x), x.copy()
        y += x[:1]
        check(t.add_(t[:1]), y)
        t, y = pkg.tensor(x), x.copy()
        t[:, 1:].copy_(t[:, :-1])
        y[:, 1:] = x[:, :-1]
        check(t, y)
        t, y = pkg.tensor(x).view(-1), x.copy().reshape(-1)
        check(t.add_(t[:1]), y + y[0])
        t = pkg.tensor(x)
        check(t.add_(t), x + x)
        check(pkg.tensor(x).t().add_(pkg.tensor(x)), x.T + x)


def test_many_dimensions():
    shape = (2,) * 12
    rng = np.random.default_rng(6)
    for dtype in ("float32", "float16", "uint8"):
        a, x = dense(rng, shape, dtype)
        b, y = turned(rng, shape, dtype)
        check(pkg.maximum(a, b), np.maximum(x, y))
        check(b.contiguous(), y)
        check(a[:, 0, :, :1].contiguous(), x[:, 0, :, :1])


@pytest.mark.parametrize("dtype", ["uint8", "int8", "int32", "int64"])
def test_shifts_by_any_number(dtype):
    info = np.iinfo(dtype)
    some = [0, 1, 7, 8, 31, 32, 63, 64, 100, -1, -8, info.min, info.max]
    by = [n for n in some if info.min <= n <= info.max]
    values = [v for v in [0, 1, 3, 100, -1, -100, info.min, info.max] if v >= info.min]
    pairs = [(v, n) for v in values for n in by] * 5
    a = pkg.tensor(np.array([v for v, _ in pairs], dtype))
    n = pkg.tensor(np.array([n for _, n in pairs], dtype))
    bits = 2**info.bits - 1
    left = [(v << n) & bits if 0 <= n < info.bits else 0 for v, n in pairs]
    right = [v >> n if 0 <= n < info.bits else -(v < 0) for v, n in pairs]
    assert (a << n).tolist() == np.array(left, "uint64").astype(dtype).tolist()
    assert (a >> n).tolist() == right


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_the_sign_of_halves(dtype):
    to = getattr(pkg, dtype)
    for n in (1, 31, 1025):
        x = np.resize([0.0, -0.0, 1.5, -2.0, np.inf, -np.inf, np.nan, 6e-8], n)
        t = pkg.tensor(x.astype("float32")).to(to)
        for got, want in ((-t, -x), (abs(t), np.abs(x)), (t.clone().neg_(), -x)):
            assert got.dtype == to
            back = got.float().numpy()
            np.testing.assert_array_equal(np.signbit(back), np.signbit(want))
            np.testing.assert_array_equal(np.abs(back), t.float().abs().numpy())


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("columns", [1, 4, 5, 7, 8, 15, 16, 17, 31, 32, 33])
def test_short_rows_beside_an_element_for_each(columns, dtype):
    """Of the rows of a block, those beside the last one are filled in whole vectors."""
    rng = np.random.default_rng(columns)
    rows = 1_100
    x, column = (numbers(rng, (rows, n), dtype) for n in (columns, 1))
    gaps, row = (
        numbers(rng, (rows, 2 * columns), dtype),
        numbers(rng, (columns,), dtype),
    )
    a, c, r = pkg.tensor(x), pkg.tensor(column), pkg.tensor(row)
    wide, apart = pkg.tensor(gaps), gaps[:, ::2]
    planes = numbers(rng, (3, rows, columns), dtype)
    for _ in every_level():
        for left, right in ((a, c), (c, a), (r, c), (wide[:, ::2], c)):
            v, w = left.numpy(), right.numpy()
            check(pkg.maximum(left, right), np.maximum(v, w))
            check(left < right, v < w)
        check(pkg.where(a < c, r, c), np.where(x < column, row, column))
        check(pkg.maximum(pkg.tensor(planes), c), np.maximum(planes, column))
        check(pkg.maximum(c, wide[:, ::2]), np.maximum(column, apart))
        check(a.clone().copy_(c), np.broadcast_to(column, x.shape))
