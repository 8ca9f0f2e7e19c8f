# SPDX-License-Identifier: Apache-2.0
"""float16 and bfloat16: sums beyond 65504, and steps that are rounded once."""

import numpy as np
import pytest

import pkg
from pkg import nn, optim
from pkg.nn import functional as F

HALVES = [pkg.float16, pkg.bfloat16]


def close(x, expected, dtype):
    tolerance = 1e-3 if dtype is pkg.float16 else 1e-2
    assert x.dtype is dtype
    np.testing.assert_allclose(x.float().numpy(), expected, tolerance, tolerance)


@pytest.mark.parametrize("dtype", HALVES, ids=str)
def test_averages_do_not_overflow(dtype):
    """The sums behind them are 140,000 and more."""
    x = pkg.full((70000, 2), 2.0, dtype=dtype)
    wave = x + pkg.tensor([1.0, -1.0], dtype=dtype)
    close(x.mean(), 2.0, dtype)
    close(x.mean(0), [2.0, 2.0], dtype)
    close(wave.var(), 1.0, dtype)
    close(F.mse_loss(x, pkg.zeros_like(x)), 4.0, dtype)
    close(F.l1_loss(x, pkg.zeros_like(x)), 2.0, dtype)
    image = pkg.full((1, 1, 300, 300), 4.0, dtype=dtype)
    close(F.avg_pool2d(image, 300), [[[[4.0]]]], dtype)
    close(F.adaptive_avg_pool2d(image, 1), [[[[4.0]]]], dtype)


@pytest.mark.parametrize("dtype", HALVES, ids=str)
def test_normalisation_is_computed_in_full_precision(dtype):
    """Against NumPy in float64, from the rounded input."""
    pkg.manual_seed(1)
    x = (pkg.randn(4, 3, 60, 60) * 3 + 20).to(dtype)
    exact = x.double().numpy()
    mean = exact.mean((0, 2, 3), keepdims=True)
    std = exact.std((0, 2, 3), keepdims=True)
    y = F.batch_norm(x, None, None, training=True)
    assert y.dtype is dtype and np.isfinite(y.float().numpy()).all()
    step = 2.0**-10 if dtype is pkg.float16 else 2.0**-7  # of values up to 4
    want = (exact - mean) / std
    np.testing.assert_allclose(y.double().numpy(), want, step, step)
    of = F.group_norm(x, 3).double().numpy()
    for sample, got in zip(exact, of):
        flat = sample.reshape(3, -1)
        want = (flat - flat.mean(1, keepdims=True)) / flat.std(1, keepdims=True)
        np.testing.assert_allclose(got.reshape(3, -1), want, step, step)


STEPS = {
    "sgd": lambda p: optim.SGD(p, lr=0.125),
    "momentum": lambda p: optim.SGD(p, lr=0.125, momentum=0.5),
    "adam": lambda p: optim.Adam(p, lr=0.125),
    "adamw": lambda p: optim.AdamW(p, lr=0.125),
}


@pytest.mark.parametrize("dtype", HALVES, ids=str)
@pytest.mark.parametrize("make", STEPS.values(), ids=STEPS)
def test_optimizers_step_in_float32_and_round_once(make, dtype):
    """Each step is that of float32, rounded; with clipped gradients."""

    def steps(kind, rounded):
        p = nn.Parameter(pkg.tensor([1.0, -2.0, 0.5]).to(kind))
        optimizer = make([p])
        for _ in range(5):
            optimizer.zero_grad()
            (p * p).sum().backward()
            nn.utils.clip_grad_norm_([p], 1.0)
            optimizer.step()
            if rounded:  # as what is stored in the other
                p.data = p.detach().to(dtype).float()
                for entry in optimizer.state[p].values():
                    if isinstance(entry, pkg.Tensor):
                        entry.copy_(entry.to(dtype).float())
        return p

    half, full = steps(dtype, False), steps(pkg.float32, True)
    assert half.dtype is dtype
    close(half.detach(), full.detach().numpy(), dtype)
    start = pkg.tensor([1.0, -2.0, 0.5])
    assert ((half.detach().float() - start).abs() > 0.1).all()
