# SPDX-License-Identifier: Apache-2.0
"""layer_norm, rms_norm and batch_norm of rows of any length, and their gradients,
against the formulas in float64."""

import numpy as np
import pytest

import pkg
import pkg.nn.functional as F
from levels import every_level

LENGTHS = [
    1,
    2,
    3,
    4,
    7,
    8,
    9,
    12,
    15,
    16,
    17,
    31,
    33,
    64,
    65,
    100,
    511,
    512,
    513,
    2_049,
]
TOLERANCE = {"float64": 1e-9, "float32": 2e-5, "float16": 4e-3, "bfloat16": 3e-2}


def formula(x, w, b, g, centred):
    """Result and gradients for x, w and b."""
    mean = x.mean(1, keepdims=True) if centred else 0.0
    scale = 1 / np.sqrt(((x - mean) ** 2).mean(1, keepdims=True) + 1e-5)
    h = (x - mean) * scale
    d = g * w
    rest = d - h * (d * h).mean(1, keepdims=True)
    if centred:
        rest = rest - d.mean(1, keepdims=True)
    return h * w + b, scale * rest, (g * h).sum(0), g.sum(0)


def close(got, want, dtype, what, terms=0.0):
    """`terms`: the size of what cancels, of which rounding is a part."""
    size = max(1.0, float(np.abs(want).max()), terms)
    error = float(np.abs(got.double().numpy() - want).max()) / size
    assert error < TOLERANCE[dtype], (what, error)


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("name", ["layer_norm", "rms_norm"])
def test_rows_of_any_length(name, dtype):
    rng = np.random.default_rng(0)
    kind = getattr(pkg, dtype)
    for _ in every_level():
        for n in LENGTHS:
            rows = max(3, min(2_100 // n, 700))
            x, g = (pkg.tensor(rng.standard_normal((rows, n))).to(kind) for _ in "xg")
            w, b = (pkg.tensor(rng.standard_normal(n) + 1).to(kind) for _ in "wb")
            centred = name == "layer_norm"
            if not centred:
                b = pkg.zeros(n, dtype=kind)
            exact = [t.double().numpy() for t in (x, w, b, g)]
            want = formula(*exact, centred)
            for leaf in (x, w, b):
                leaf.requires_grad_()
            if centred:
                y = F.layer_norm(x, (n,), w, b, eps=1e-5)
            else:
                y = F.rms_norm(x, (n,), w, eps=1e-5)
            leaves = [x, w, b] if centred else [x, w]
            grads = pkg.autograd.grad(y, leaves, g)
            close(y.detach(), want[0], dtype, (n, "y"))
            apart = exact[0].std(1) if centred else np.sqrt((exact[0] ** 2).mean(1))
            terms = float(
                (np.abs(exact[3] * exact[1]).max(1) / np.hypot(apart, 3e-3)).max()
            )
            for i, grad in enumerate(grads):
                close(grad, want[1 + i], dtype, (n, "gradient", i), terms * (i == 0))


@pytest.mark.parametrize("n", [1, 5, 16, 40, 600, 20_000])
def test_gradients_of_some_and_without_weights(n):
    """Those of x are the same, whatever else is asked for; other layouts, too."""
    rng = np.random.default_rng(1)
    rows = 7 if n > 1000 else 50
    x = pkg.tensor(rng.standard_normal((n, rows))).t().requires_grad_()
    g = pkg.tensor(rng.standard_normal((rows, 2 * n)))[:, ::2]
    w, b = (pkg.tensor(rng.standard_normal(n)) for _ in "wb")
    ones, zeros = np.ones(n), np.zeros(n)
    given = x.detach().numpy(), g.numpy()
    for weight, bias in ((None, None), (w, None), (w, b)):
        want = formula(
            given[0],
            ones if weight is None else w.numpy(),
            zeros if bias is None else b.numpy(),
            given[1],
            True,
        )
        y = F.layer_norm(x, (n,), weight, bias)
        np.testing.assert_allclose(y.detach().numpy(), want[0], atol=1e-9)
        (grad,) = pkg.autograd.grad(y, [x], g)
        np.testing.assert_allclose(grad.numpy(), want[1], atol=1e-8)
    leaf = w.clone().requires_grad_()
    (grad,) = pkg.autograd.grad(F.layer_norm(x.detach(), (n,), leaf, b), [leaf], g)
    of_w = formula(given[0], w.numpy(), b.numpy(), given[1], True)[2]
    np.testing.assert_allclose(grad.numpy(), of_w, atol=1e-8)


def test_rows_of_equal_elements_have_no_deviation():
    """And rows far from zero lose no more than rounding their elements takes."""
    rng = np.random.default_rng(4)
    for _ in every_level():
        for n in [*LENGTHS, 16_384, 32_768, 32_769]:
            for value in (0.1, 123.456, 1000.1):
                x = pkg.full((3, n), value)
                assert not F.layer_norm(x, (n,)).any().item(), (n, value)
            if n < 3:
                continue
            x = (rng.standard_normal((5, n)) + 1000).astype("float32")
            wide = x.astype("float64")
            apart = wide - wide.mean(1, keepdims=True)
            want = apart / np.sqrt((apart**2).mean(1, keepdims=True) + 1e-5)
            error = np.abs(F.layer_norm(pkg.tensor(x), (n,)).numpy() - want).max()
            assert error < 1e-4 * max(1, np.abs(want / apart).max()), (n, error)


def test_any_number_of_threads_gives_the_same_bits():
    before = pkg.get_num_threads()
    rng = np.random.default_rng(2)
    try:
        for rows, n in ((5_000, 7), (3_000, 40), (12, 17_000), (700, 300)):
            x, g = (pkg.tensor(rng.standard_normal((rows, n))).float() for _ in "xg")
            w = pkg.ones(n).requires_grad_()
            x.requires_grad_()
            found = []
            for threads in (1, 2, 3):
                pkg.set_num_threads(threads)
                y = F.layer_norm(x, (n,), w)
                grads = pkg.autograd.grad(y, [x, w], g)
                found.append([t.detach().numpy().tobytes() for t in (y, *grads)])
            assert found[0] == found[1] == found[2], (rows, n)
    finally:
        pkg.set_num_threads(before)


def from_turned(shape, turned):
    """What lies as (channels, everything else), in a shape of batches again."""
    return np.moveaxis(turned.reshape(shape[1], shape[0], *shape[2:]), 0, 1)


@pytest.mark.parametrize("dtype", TOLERANCE)
def test_batch_norm_of_short_samples(dtype):
    """Channels and places of a few elements, of which samples are taken together."""
    rng = np.random.default_rng(3)
    kind = getattr(pkg, dtype)
    for _ in every_level():
        for shape in [
            (400, 1),
            (301, 3),
            (130, 16),
            (9, 300),
            (77, 3, 5),
            (65, 2, 2, 2),
        ]:
            x, g = (pkg.tensor(rng.standard_normal(shape)).to(kind) for _ in "xg")
            channels = shape[1]
            w, b = (
                pkg.tensor(rng.standard_normal(channels) + 1).to(kind) for _ in "wb"
            )
            turned = np.moveaxis(x.double().numpy(), 1, 0).reshape(channels, -1)
            g_turned = np.moveaxis(g.double().numpy(), 1, 0).reshape(channels, -1)
            wide = [t.double().numpy()[:, None] for t in (w, b)]
            y, dx, _, _ = formula(turned, wide[0], wide[1], g_turned, True)
            h = (y - wide[1]) / wide[0]
            leaves = [t.requires_grad_() for t in (x, w, b)]
            out = F.batch_norm(x, None, None, w, b, True)
            grads = pkg.autograd.grad(out, leaves, g)
            close(out.detach(), from_turned(shape, y), dtype, (shape, "y"))
            close(grads[0], from_turned(shape, dx), dtype, (shape, "x"))
            close(grads[1], (g_turned * h).sum(1), dtype, (shape, "w"))
            close(grads[2], g_turned.sum(1), dtype, (shape, "b"))
            m, v = (pkg.tensor(rng.random(channels) + 0.5).to(kind) for _ in "mv")
            means, variances = (t.double().numpy()[:, None] for t in (m, v))
            want = (turned - means) / np.sqrt(variances + 1e-5) * wide[0] + wide[1]
            got = F.batch_norm(x.detach(), m, v, w.detach(), b.detach(), False)
            close(got, from_turned(shape, want), dtype, (shape, "eval"))
