# SPDX-License-Identifier: Apache-2.0
"""Variances, running sums, norms and channels, around the limits of their blocks."""

import numpy as np
import pytest

import pkg
import pkg.nn.functional as F
from pkg import Tensor

BOUND = {"float32": 1e-5, "float64": 1e-11, "float16": 4e-3, "bfloat16": 3e-2}
LENGTHS = [2, 3, 11, 17, 31, 33, 64, 65, 511, 513, 1025, 2049, 2300]


def numbers(shape: tuple[int, ...], dtype: str = "float32", seed: int = 0) -> Tensor:
    x = np.random.default_rng(seed).standard_normal(shape)
    return pkg.tensor(x).to(getattr(pkg, dtype))


def wide(x: Tensor) -> np.ndarray:
    return x.detach().to(pkg.float64).numpy()


def layouts(x: Tensor):
    n = x.ndim
    turned = tuple(reversed(range(n)))
    yield x
    yield x.permute(*turned).contiguous().permute(*turned)
    yield pkg.cat([x, x], n - 1)[..., : x.shape[-1]]


def close(result: Tensor, expected: np.ndarray, dtype: str, scale: float = 1.0):
    bound = BOUND[dtype]
    np.testing.assert_allclose(wide(result), expected, rtol=bound, atol=bound * scale)


@pytest.mark.parametrize("dtype", list(BOUND))
def test_variances(dtype):
    for n in LENGTHS:
        for shape in [(3, n), (n, 3), (n, 70)]:
            for x in layouts(numbers(shape, dtype, n)):
                a = wide(x)
                for dim in (0, 1, None):
                    close(x.var(dim), a.var(dim, ddof=1), dtype)
                    close(x.std(dim, correction=0), a.std(dim), dtype)


RANGE = {"float32": 1e37, "float64": 1e150, "float16": 1e4, "bfloat16": 1e37}


@pytest.mark.parametrize("dtype", list(BOUND))
def test_deviations_whose_squares_are_out_of_range(dtype):
    """Also those that a variance of this dtype could not tell from zero."""
    tiny = 1e-150 if dtype == "float64" else 1e-30 if dtype != "float16" else 1e-3
    for scale in (RANGE[dtype], tiny):
        for shape, dim in [((5,), None), ((3, 40), 1), ((40, 3), 0), ((2, 70, 3), 1)]:
            x = numbers(shape, dtype) * scale
            x.requires_grad_()
            result = x.std(dim)
            a = wide(x) / scale
            expected = a.std(dim, ddof=1)
            np.testing.assert_allclose(wide(result) / scale, expected, BOUND[dtype])
            result.sum().backward()
            apart = a - a.mean(dim, keepdims=True)
            n = a.size if dim is None else a.shape[dim]
            slope = apart / ((n - 1) * a.std(dim, ddof=1, keepdims=True))
            close(x.grad, slope, dtype)


def test_variance_far_from_zero():
    a = np.float32(10000) + np.random.default_rng(0).standard_normal(300_000).astype(
        "f4"
    )
    for shape, dim in [((300_000,), 0), ((100_000, 3), 0), ((3, 100_000), 1)]:
        expected = a.reshape(shape).astype("f8").var(dim, ddof=1)
        result = pkg.tensor(a).reshape(*shape).var(dim).numpy()
        np.testing.assert_allclose(result, expected, rtol=1e-6)


def test_variance_of_special_values():
    for correction in (-2, 0, 1, 5):
        for spread in (pkg.zeros(0).var, pkg.zeros(0, 3).std):
            assert spread(0, correction=correction).isnan().all().item()
    assert np.isnan(pkg.tensor([1.0, np.inf]).var().item())
    assert np.isnan(pkg.tensor([1.0]).var().item())
    assert np.isnan(pkg.zeros(0).var().item())
    assert pkg.tensor([1.0]).var(correction=0).item() == 0


@pytest.mark.parametrize("dim", [None, 0, 1])
def test_gradient_of_variance(dim):
    x = numbers((7, 40), "float64").requires_grad_()
    x.var(dim).sum().backward()
    a = wide(x)
    count = a.size if dim is None else a.shape[dim]
    expected = 2 * (a - a.mean(dim, keepdims=True)) / (count - 1)
    np.testing.assert_allclose(wide(x.grad), expected, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64", "uint8", "float16"])
@pytest.mark.parametrize("name", ["cumsum", "cumprod"])
def test_running_totals(name, dtype):
    for n in [1, *LENGTHS]:
        for rows in (1, 3, 4, 5, 9):
            shape = (rows, n)
            rng = np.random.default_rng(n)
            signs = rng.integers(0, 2, shape) * 2 - 1  # exact in every dtype
            x = pkg.tensor(signs).to(getattr(pkg, dtype))
            for y in layouts(x):
                a = wide(y) if dtype.startswith("float") else y.to(pkg.int64).numpy()
                for dim in (0, 1):
                    expected = getattr(np, name)(a, axis=dim)
                    result = getattr(pkg, name)(y, dim)
                    result = (
                        wide(result) if dtype.startswith("float") else result.numpy()
                    )
                    np.testing.assert_array_equal(result, expected)


@pytest.mark.parametrize("rows", [1, 2, 4, 6])
def test_a_row_does_not_depend_on_its_neighbours(rows):
    x = numbers((rows, 5000), "float64")
    whole = pkg.cumsum(x, 1).numpy()
    np.testing.assert_allclose(whole, np.cumsum(x.numpy(), 1), rtol=1e-9, atol=1e-11)
    pkg.set_num_threads(1)
    try:
        assert (pkg.cumsum(x, 1).numpy() == whole).all()
    finally:
        pkg.set_num_threads(2)


@pytest.mark.parametrize("dtype", ["float32", "int64", "uint8"])
def test_running_extremes_of_rows(dtype):
    for n in [1, 2, 17, 1000]:
        x = pkg.tensor(np.random.default_rng(n).integers(0, 9, (3, n)))
        x = x.to(getattr(pkg, dtype))
        values, places = pkg.cummax(x, 1)
        a = x.to(pkg.int64).numpy()
        expected = np.maximum.accumulate(a, 1)
        np.testing.assert_array_equal(values.to(pkg.int64).numpy(), expected)
        at = places.numpy()
        np.testing.assert_array_equal(np.take_along_axis(a, at, 1), expected)
        latest = [
            [max(k for k in range(i + 1) if r[k] == r[: i + 1].max()) for i in range(n)]
            for r in a[:1]
        ]
        np.testing.assert_array_equal(at[:1], latest)


SHAPES = [
    (5, 3),
    (70, 300),
    (4, 3, 2),
    (3, 5, 15),
    (3, 5, 16),
    (2, 3, 9, 11),
    (2, 3, 2100),
]


def reference(a, mean, var, weight, bias, eps=1e-5):
    shape = (1, -1) + (1,) * (a.ndim - 2)
    mean, var, weight, bias = (v.reshape(shape) for v in (mean, var, weight, bias))
    return (a - mean) / np.sqrt(var + eps) * weight + bias


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
@pytest.mark.parametrize("training", [False, True])
def test_batch_norm(shape, dtype, training):
    c = shape[1]
    weight, bias = numbers((c,), dtype, 1), numbers((c,), dtype, 2)
    for x in layouts(numbers(shape, dtype)):
        a = wide(x)
        axes = (0, *range(2, x.ndim))
        n = a.size // c
        mean, var = numbers((c,), "float32", 3), numbers((c,), "float32", 4).abs() + 1
        before = wide(mean), wide(var)
        own = (a.mean(axes), a.var(axes)) if training else before
        y = F.batch_norm(x, mean, var, weight, bias, training=training)
        close(y, reference(a, *own, wide(weight), wide(bias)), dtype, 8)
        assert y.dtype == x.dtype
        if training:
            unbiased = own[1] * n / (n - 1)
            close(mean, before[0] * 0.9 + own[0] * 0.1, "float32", 1)
            close(var, before[1] * 0.9 + unbiased * 0.1, "float32", 1)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("training", [False, True])
def test_gradient_of_batch_norm(shape, training):
    c = shape[1]
    x, weight, bias = (
        numbers(s, "float64", k).requires_grad_()
        for k, s in enumerate([shape, (c,), (c,)])
    )
    mean, var = numbers((c,), "float64", 3), numbers((c,), "float64", 4).abs() + 1
    grad = numbers(shape, "float64", 5)

    def run(create_graph):
        y = F.batch_norm(x, mean.clone(), var.clone(), weight, bias, training=training)
        return pkg.autograd.grad(
            (y * grad).sum(), (x, weight, bias), create_graph=create_graph
        )

    # In one pass, and in ordinary ops, which the gradient's own gradient needs.
    for one, other in zip(run(False), run(True), strict=True):
        np.testing.assert_allclose(wide(one), wide(other), rtol=1e-9, atol=1e-9)
    step = 1e-6
    for at in [0, x.numel() // 2, x.numel() - 1]:

        def loss(change, at=at):
            moved = x.detach().clone().reshape(-1)
            moved[at] = moved[at].item() + change
            y = F.batch_norm(
                moved.reshape(*shape),
                mean.clone(),
                var.clone(),
                weight.detach(),
                bias.detach(),
                training=training,
            )
            return float((y * grad).sum())

        slope = (loss(step) - loss(-step)) / (2 * step)
        assert abs(wide(run(False)[0]).reshape(-1)[at] - slope) < 1e-6 * (
            1 + abs(slope)
        )


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
def test_group_norm(dtype):
    for shape in [(3, 4), (2, 6, 5), (2, 4, 7, 9), (1, 8, 700)]:
        x = numbers(shape, dtype)
        weight, bias = numbers(shape[1:2], dtype, 1), numbers(shape[1:2], dtype, 2)
        for groups in (1, 2):
            a = wide(x).reshape(shape[0], groups, -1)
            flat = (a - a.mean(2, keepdims=True)) / np.sqrt(
                a.var(2, keepdims=True) + 1e-5
            )
            ones = np.ones(shape[1]), np.zeros(shape[1])
            zeros = np.zeros(shape[1]), np.ones(shape[1]) - 1e-5
            plain = reference(flat.reshape(shape), *zeros, *ones)
            close(F.group_norm(x, groups), plain, dtype, 4)
            expected = reference(flat.reshape(shape), *zeros, wide(weight), wide(bias))
            close(F.group_norm(x, groups, weight, bias), expected, dtype, 8)


def test_norm_of_the_third_power():
    x = np.random.default_rng(2).standard_normal((30, 700)) * 1e60
    for d in (0, 1, None):
        wanted = (np.abs(x / 1e60) ** 3).sum(d) ** (1 / 3) * 1e60
        mine = pkg.tensor(x).norm(3, d) if d is not None else pkg.tensor(x).norm(3)
        assert np.allclose(mine.numpy(), wanted, rtol=1e-13)
    assert pkg.tensor([-2.0, 0.0]).norm(3).item() == 2.0
    assert np.isnan(pkg.tensor([1.0, float("nan")]).norm(3).item())
    assert pkg.tensor([1.0, -float("inf")]).norm(3).item() == float("inf")


@pytest.mark.parametrize("place", [0, 1500, 4999])
@pytest.mark.parametrize("number", [np.inf, -np.inf])
def test_an_infinite_mean_is_infinite_in_every_layout(number, place):
    x = np.ones((5000, 3))
    x[place, 1] = number
    t = pkg.tensor(x)
    for laid in (t, t.t().contiguous().t(), pkg.stack([t, t], -1)[..., 0]):
        _, mean, _ = pkg.ops._batch_norm(laid, None, None, 1e-5)
        assert mean.tolist() == [1, number, 1]
