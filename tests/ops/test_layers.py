# SPDX-License-Identifier: Apache-2.0
"""Network layers against plain loops and central differences."""

import numpy as np
import pytest

import pkg
from gradients import check_gradients


def conv_reference(x, w, b, stride, padding, dilation, groups):
    """Cross-correlation by loops."""
    x = np.pad(x, [(0, 0), (0, 0), (padding, padding), (padding, padding)])
    n, c, h, width = x.shape
    o, cg, kh, kw = w.shape
    oh = (h - dilation * (kh - 1) - 1) // stride + 1
    ow = (width - dilation * (kw - 1) - 1) // stride + 1
    out = np.zeros((n, o, oh, ow))
    for i in range(oh):
        for j in range(ow):
            top, left = i * stride, j * stride
            seen = x[:, :, top : top + dilation * kh : dilation,
                     left : left + dilation * kw : dilation]  # fmt: skip
            for k in range(o):
                g = k // (o // groups)
                part = seen[:, g * cg : (g + 1) * cg]
                out[:, k, i, j] = (part * w[k]).sum((1, 2, 3)) + b[k]
    return out


@pytest.mark.parametrize("options", [(1, 0, 1, 1), (2, 1, 1, 2), (1, 2, 2, 1)])
def test_conv2d(options):
    """Stride, padding, dilation, groups; values and gradients."""
    stride, padding, dilation, groups = options
    rng = np.random.default_rng(0)
    x, w = rng.normal(size=(2, 4, 7, 6)), rng.normal(size=(4, 4 // groups, 3, 2))
    b = rng.normal(size=4)

    def conv(*tensors):
        return pkg.conv2d(
            *tensors, stride=stride, padding=padding, dilation=dilation, groups=groups
        )

    got = conv(*[pkg.tensor(a) for a in (x, w, b)]).numpy()
    np.testing.assert_allclose(got, conv_reference(x, w, b, *options), atol=1e-12)
    check_gradients(conv, [x[:1], w, b])


def test_max_pool2d():
    """Values with padding; gradient goes to the largest."""
    rng = np.random.default_rng(1)
    x = rng.normal(size=(1, 2, 4, 6))
    got = pkg.max_pool2d(pkg.tensor(x), 2).numpy()
    np.testing.assert_array_equal(got, x.reshape(1, 2, 2, 2, 3, 2).max((3, 5)))
    assert pkg.max_pool2d(pkg.tensor(x), 3, 1, 1).shape == (1, 2, 4, 6)
    check_gradients(lambda t: pkg.max_pool2d(t, 2), [x])


def test_norms_and_embedding():
    """Definitions and gradients."""
    rng = np.random.default_rng(2)
    x, w, b = rng.normal(size=(3, 5)), rng.normal(size=5), rng.normal(size=5)
    want = (x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True) + 1e-5)
    got = pkg.layer_norm(*[pkg.tensor(v) if v is not None else None for v in (x,)], [5])
    np.testing.assert_allclose(got.numpy(), want, atol=1e-12)
    check_gradients(lambda *t: pkg.layer_norm(t[0], [5], t[1], t[2]), [x, w, b])
    check_gradients(lambda *t: pkg.rms_norm(t[0], [5], t[1], 1e-6), [x, w])
    index = pkg.tensor([[0, 2], [2, 1]])
    np.testing.assert_array_equal(
        pkg.embedding(pkg.tensor(x), index).numpy(), x[[[0, 2], [2, 1]]]
    )
    check_gradients(lambda t: pkg.embedding(t, index), [x])


def test_random_fills_repeat_with_the_seed_and_fit_their_distribution():
    """Moments within six standard errors; bounds; permutations."""
    pkg.manual_seed(7)
    first = pkg.randn(1000)
    pkg.manual_seed(7)
    assert (first == pkg.randn(1000)).all()
    n = 100_000
    uniform, normal = pkg.rand(n).numpy(), pkg.randn(n).numpy()
    assert 0 <= uniform.min() and uniform.max() < 1
    assert abs(uniform.mean() - 0.5) < 6 * 0.29 / n**0.5
    assert abs(normal.mean()) < 6 / n**0.5 and abs(normal.std() - 1) < 6 / n**0.5
    assert sorted(pkg.randperm(100).tolist()) == list(range(100))
    assert set(pkg.randint(2, 5, (300,)).tolist()) == {2, 3, 4}
    kept = (pkg.dropout(pkg.ones(n), 0.25) != 0).to(pkg.float32).mean().item()
    assert abs(kept - 0.75) < 6 * 0.44 / n**0.5
    x = pkg.ones(3)
    assert pkg.dropout(x, 0.5, False) is x


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize("length", [1, 511, 513, 2_100, 20_000])
def test_softmax_of_long_columns(length, dtype):
    """Strips of columns are narrower the longer these are; one is what is left over."""
    rng = np.random.default_rng(length)
    for width in (3, 130) if length < 20_000 else (21,):
        x = pkg.tensor(rng.standard_normal((2, length, width))).to(getattr(pkg, dtype))
        g = pkg.tensor(rng.standard_normal((2, length, width))).to(getattr(pkg, dtype))
        given, down = x.double().numpy(), g.double().numpy()
        powers = np.exp(given - given.max(1, keepdims=True))
        want = powers / powers.sum(1, keepdims=True)
        slope = want * (down - (down * want).sum(1, keepdims=True))
        limit = {"float16": 2e-3, "bfloat16": 1.6e-2, "float32": 1e-5, "float64": 1e-12}
        for layout in (x, x.transpose(1, 2).contiguous().transpose(1, 2)):
            layout = layout.detach().requires_grad_()
            got = layout.softmax(1)
            (grad,) = pkg.autograd.grad(got, [layout], g)
            for a, b in ((got, want), (grad, slope)):
                error = np.abs(a.detach().double().numpy() - b).max()
                assert error <= limit[dtype] * np.abs(b).max()
