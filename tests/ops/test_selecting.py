# SPDX-License-Identifier: Apache-2.0
"""kthvalue, median and mode for every dtype, length and layout, against a stable sort.

Lengths lie around the limits of the ways to select: 8, 16 and 32 elements are compared
with each other, up to 2,000 are counted until few are left, more until an eighth is.
"""

import numpy as np
import pytest

import pkg
from levels import every_level

RNG = np.random.default_rng(7)
DTYPES = "float64 float32 float16 bfloat16 int64 int32 int8 uint8 bool".split()
LENGTHS = [
    1, 2, 7, 8, 9, 15, 16, 17, 31, 32, 33, 34, 64, 127, 128, 129,
    1_999, 2_000, 2_001, 2_002, 16_500, 40_000,
]  # fmt: skip
KINDS = ["any", "few", "sorted", "falling", "nan"]


def lines(kind, dtype, n, count=2):
    """Numbers in lines, of which some are NaN where the dtype has it."""
    x = RNG.standard_normal((count, n)) * 50
    if kind == "few":
        x = RNG.choice(np.array([-0.0, 0.0, 1, 2, 100, 120]), (count, n))
    elif kind in ("sorted", "falling"):
        x = np.sort(x, 1)[:, :: 1 if kind == "sorted" else -1]
    elif kind == "nan":
        x = np.where(RNG.random((count, n)) < 0.3, np.nan, x)
    if not dtype.startswith(("float", "bfloat")):
        x = np.abs(np.nan_to_num(x)) if dtype in ("uint8", "bool") else np.nan_to_num(x)
        x = np.clip(x, -128, 127)
    return pkg.tensor(np.ascontiguousarray(x)).to(getattr(pkg, dtype))


def ranks(n):
    return {1, n, (n + 1) // 2, min(5, n), int(RNG.integers(1, n + 1))}


def check(x, dim):
    """Against a stable sort; PyTorch's way with NaN is that of kthvalue and median."""
    n = x.shape[dim]
    keys = x.to(pkg.float64 if x.dtype.is_floating_point else pkg.int64).numpy()
    order = np.argsort(keys, dim, kind="stable")
    for k in ranks(n):
        found = pkg.kthvalue(x, k, dim)
        np.testing.assert_array_equal(found.indices, order.take(k - 1, dim))
        picked = pkg.gather(x, dim, found.indices.unsqueeze(dim)).squeeze(dim)
        assert found.values.tolist() == picked.tolist() or np.isnan(keys).any()
    middle = order.take((n - 1) // 2, dim)
    nan = np.isnan(keys)
    middle = np.where(nan.any(dim), nan.argmax(dim), middle)
    found = pkg.median(x, dim)
    np.testing.assert_array_equal(found.indices, middle)
    flat = np.sort(keys.ravel())
    whole = np.nan if nan.any() else flat[(flat.size - 1) // 2]
    np.testing.assert_array_equal(pkg.median(x).to(pkg.float64).numpy(), float(whole))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kind", KINDS)
def test_every_length(dtype, kind):
    for n in LENGTHS:
        check(lines(kind, dtype, n), 1)


@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16", "uint8"])
def test_every_level(dtype):
    for _ in every_level():
        for n in (5, 30, 300, 2_500):
            check(lines("any", dtype, n), 1)


@pytest.mark.parametrize("n", [6, 40, 700])
def test_layouts(n):
    x = lines("few", "float32", n, 12)
    check(x.t(), 0)
    check(x.t().contiguous(), 0)
    check(x[:, ::2], 1)
    check(x.reshape(3, 2, 2, n).permute(1, 3, 0, 2), 1)
    check(x[:1].expand(5, n), 1)
    check(x[:1].expand(5, n), 0)
    check(x.reshape(3, 1, 4, n).expand(3, 2, 4, n), 3)
    check(x.reshape(3, 1, 4, n).expand(3, 2, 4, n), 0)
    check(x.reshape(3, 1, 4, n).expand(3, 2, 4, n), 1)


def test_keepdim_and_single_numbers():
    x = lines("any", "float32", 9, 4)
    for dim in (0, 1, -1):
        kept = pkg.kthvalue(x, 2, dim, keepdim=True)
        flat = pkg.kthvalue(x, 2, dim)
        assert kept.indices.squeeze(dim).tolist() == flat.indices.tolist()
        assert pkg.median(x, dim, keepdim=True).values.ndim == 2
    one = pkg.tensor(3.0)
    assert pkg.kthvalue(one, 1).values.item() == 3 and one.median().item() == 3
    assert pkg.median(one, 0).indices.item() == 0
    assert pkg.kthvalue(pkg.empty(0, 4), 2, 1).values.shape == (0,)
    with pytest.raises(IndexError, match="at least one element"):
        pkg.median(pkg.empty(4, 0), 1)
    with pytest.raises(RuntimeError, match="k out of range"):
        pkg.kthvalue(x, 0, 1)


def test_gradients():
    x = pkg.tensor([[3.0, 1.0, 2.0], [5.0, 6.0, 4.0]], requires_grad=True)
    g = pkg.tensor([10.0, 20.0])
    for keepdim in (False, True):
        x.grad = None
        x.median(1, keepdim).values.backward(g.unsqueeze(1) if keepdim else g)
        assert x.grad.tolist() == [[0, 0, 10], [20, 0, 0]]
    x.grad = None
    x.kthvalue(1, 0).values.sum().backward()
    assert x.grad.tolist() == [[1, 1, 1], [0, 0, 0]]
    y = pkg.tensor([1.0, 2.0, 2.0, 3.0], requires_grad=True)
    y.median().backward()
    assert y.grad.tolist() == [0, 0.5, 0.5, 0]
    z = pkg.tensor([1.0, float("nan"), float("nan")], requires_grad=True)
    z.median().backward()
    assert z.grad.tolist() == [0, 0.5, 0.5]


def mode_of(line):
    """The last place of the smallest of the most frequent; each NaN is single."""
    numbers, counts = np.unique(line[~np.isnan(line)], return_counts=True)
    if not numbers.size:
        return 0
    return np.flatnonzero(line == numbers[counts.argmax()])[-1]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kind", KINDS)
def test_modes(dtype, kind):
    near = (127, 128, 129, 191, 192, 193, 255, 256, 257)
    for n in (1, 2, 7, 8, 9, 16, 17, 31, 32, 33, 64, 65, *near, 300, 5_000):
        x = lines(kind, dtype, n, 3)
        wanted = [mode_of(line) for line in x.to(pkg.float64).numpy()]
        found = pkg.mode(x, 1)
        assert found.indices.tolist() == wanted
        assert pkg.mode(x.t().contiguous(), 0).indices.tolist() == wanted
        picked = pkg.gather(x, 1, found.indices.unsqueeze(1)).squeeze(1)
        np.testing.assert_array_equal(
            found.values.to(pkg.float64), picked.to(pkg.float64)
        )
        alike = pkg.mode(x[:1].expand(4, n), 1)
        assert alike.indices.tolist() == wanted[:1] * 4
    for n in (40, 100, 190, 400):
        none = pkg.full((2, n), float("nan"))
        assert pkg.mode(none, 1).indices.tolist() == [0, 0]
        assert pkg.mode(none, 0, keepdim=True).indices.tolist() == [[0] * n]


def test_gradient_of_mode():
    x = pkg.tensor([[3.0, 1.0, 3.0], [5.0, 6.0, 4.0]], requires_grad=True)
    pkg.mode(x, 1).values.backward(pkg.tensor([10.0, 20.0]))
    assert x.grad.tolist() == [[0, 0, 10], [0, 0, 20]]


def test_sorting_repeated_lines():
    x = lines("few", "float32", 70, 3)
    for rows in (x[:1].expand(5, 70), x.reshape(3, 1, 70).expand(3, 4, 70)):
        for dim in range(rows.ndim):
            for got, wanted in (
                (rows.sort(dim), rows.contiguous().sort(dim)),
                (rows.topk(3, dim), rows.contiguous().topk(3, dim)),
            ):
                assert got.indices.tolist() == wanted.indices.tolist()
                assert got.values.tolist() == wanted.values.tolist()
