# SPDX-License-Identifier: Apache-2.0
"""Scans along dimensions before the last, shared among threads; norms of power 3."""

import numpy as np
import pytest

import pkg

SHAPES = [
    (3, 1), (5, 63), (4, 64), (6, 65), (3, 257), (2, 1023), (3, 1025), (2, 2500),
    (9, 300), (2, 3, 129), (9, 4, 1030), (0, 5), (5, 0), (2, 4, 0),
]  # fmt: skip


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int32", "uint8"])
@pytest.mark.parametrize("shape", SHAPES)
def test_scans_of_every_dim_agree_with_numpy(shape, dtype):
    x = np.random.default_rng(0).integers(1, 4, shape).astype(dtype)
    t = pkg.tensor(x)
    wide = x.astype("float64" if dtype.startswith("float") else "int64")
    for d in range(len(shape)):
        sums = np.cumsum(wide, d)
        if dtype.startswith("float"):
            sums = sums.astype(dtype)
        assert (pkg.cumsum(t, d).numpy() == sums).all()
        if shape[d] < 10:
            products = np.cumprod(wide, d)
            if dtype.startswith("float"):
                products = products.astype(dtype)
            assert (pkg.cumprod(t, d).numpy() == products).all()
        if x.size == 0:
            continue
        for name, best in (("cummax", np.maximum), ("cummin", np.minimum)):
            values, places = getattr(pkg, name)(t, d)
            assert (values.numpy() == best.accumulate(x, d)).all()
            found = np.take_along_axis(x, places.numpy(), d)
            assert (found == values.numpy()).all()


@pytest.mark.parametrize("columns", [63, 300, 1030])
def test_gradient_of_cumprod_by_columns(columns):
    """It is a linear scan."""
    x = np.random.default_rng(1).uniform(0.5, 1.5, (4, columns))
    t = pkg.tensor(x, requires_grad=True)
    t.cumprod(0).sum().backward()
    wanted = np.zeros_like(x)
    for k in range(4):
        for i in range(k, 4):
            wanted[k] += x[: i + 1].prod(0) / x[k]
    assert np.allclose(t.grad.numpy(), wanted, rtol=1e-12)


def test_norm_of_the_third_power():
    x = np.random.default_rng(2).standard_normal((30, 700)) * 1e60
    for d in (0, 1, None):
        wanted = (np.abs(x / 1e60) ** 3).sum(d) ** (1 / 3) * 1e60
        mine = pkg.tensor(x).norm(3, d) if d is not None else pkg.tensor(x).norm(3)
        assert np.allclose(mine.numpy(), wanted, rtol=1e-13)
    assert pkg.tensor([-2.0, 0.0]).norm(3).item() == 2.0
    assert np.isnan(pkg.tensor([1.0, float("nan")]).norm(3).item())
    assert pkg.tensor([1.0, -float("inf")]).norm(3).item() == float("inf")
