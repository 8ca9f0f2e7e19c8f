# SPDX-License-Identifier: Apache-2.0
"""nn.functional in PyTorch's argument order: the adapters and the names."""

import numpy as np
import pytest

import pkg
from pkg.nn import functional as F


def rows(*shape, seed=0):
    """Normal float64."""
    return np.random.default_rng(seed).normal(size=shape)


ACTIVATIONS = {
    "relu6": ((), lambda x: np.clip(x, 0, 6)),
    "selu": ((), lambda x: 1.0507009873554805 * _elu(x, 1.6732632423543772)),
    "celu": ((2.0,), lambda x: np.maximum(x, 0) + np.minimum(0, 2 * np.expm1(x / 2))),
    "mish": ((), lambda x: x * np.tanh(np.log1p(np.exp(x)))),
    "hardtanh": ((-0.5, 0.25), lambda x: np.clip(x, -0.5, 0.25)),
    "hardsigmoid": ((), lambda x: np.clip(x / 6 + 0.5, 0, 1)),
    "hardswish": ((), lambda x: x * np.clip(x / 6 + 0.5, 0, 1)),
    "threshold": ((0.1, 20.0), lambda x: np.where(x > 0.1, x, 20)),
    "softsign": ((), lambda x: x / (1 + np.abs(x))),
}


def _elu(x, alpha):
    return np.where(x > 0, x, alpha * np.expm1(x))


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_activations(name):
    """Values, positional arguments and the keyword `input`."""
    args, reference = ACTIVATIONS[name]
    x = 4 * rows(5, 6)
    np.testing.assert_allclose(
        getattr(F, name)(pkg.tensor(x), *args).numpy(),
        reference(x),
        rtol=1e-9,
        atol=1e-12,
    )
    if not args:
        getattr(F, name)(input=pkg.tensor(x))


def test_what_takes_two_inputs():
    """prelu, glu, cosine_similarity."""
    x, y = rows(4, 6), rows(4, 6, seed=1)
    slope = np.linspace(0.1, 0.6, 6)
    got = F.prelu(pkg.tensor(x), pkg.tensor(slope)).numpy()
    np.testing.assert_allclose(got, np.where(x > 0, x, slope * x))
    got = F.glu(pkg.tensor(x)).numpy()
    np.testing.assert_allclose(got, x[:, :3] / (1 + np.exp(-x[:, 3:])))
    got = F.cosine_similarity(pkg.tensor(x), pkg.tensor(y), dim=0).numpy()
    norms = np.linalg.norm(x, axis=0) * np.linalg.norm(y, axis=0)
    np.testing.assert_allclose(got, (x * y).sum(0) / norms)
    got = pkg.tensordot(pkg.tensor(x), pkg.tensor(y), dims=(np.int64(0), [0])).numpy()
    np.testing.assert_allclose(got, np.tensordot(x, y, (0, 0)))
    for a, b, dim in ((x, y[0], 0), (x[:, :1], y[0], -1), (x[0], y, 1)):
        got = F.cosine_similarity(pkg.tensor(a), pkg.tensor(b), dim=dim).numpy()
        a, b = np.broadcast_arrays(a, b)
        norms = np.linalg.norm(a, axis=dim) * np.linalg.norm(b, axis=dim)
        np.testing.assert_allclose(got, (a * b).sum(dim) / norms)


def test_losses():
    """Keywords and the place of reduction."""
    x, y = pkg.tensor(rows(8)), pkg.tensor(rows(8, seed=1))
    d = np.abs(rows(8) - rows(8, seed=1))
    want = np.where(d < 0.5, 0.5 * d**2, 0.5 * (d - 0.25))
    np.testing.assert_allclose(F.huber_loss(x, y, "none", 0.5).numpy(), want)
    assert F.huber_loss(x, y, delta=0.5).item() == pytest.approx(want.mean())
    with pytest.warns(UserWarning, match="target size"):
        F.huber_loss(x, y[None])
    p, q = x.sigmoid(), y.sigmoid()
    got = F.binary_cross_entropy(p, q, reduction="sum").item()
    assert got == pytest.approx(
        F.binary_cross_entropy_with_logits(x, q, reduction="sum").item()
    )
    got = F.kl_div(p.log(), q, reduction="batchmean").item()
    assert got == pytest.approx((q * (q.log() - p.log())).sum().item() / 8)
    sign = pkg.tensor([1.0, -1.0] * 4).double()
    tie = pkg.zeros(4, requires_grad=True)
    F.margin_ranking_loss(tie, pkg.zeros(4), pkg.ones(4)).backward()
    assert tie.grad.tolist() == [0] * 4
    got = F.margin_ranking_loss(x, y, sign, margin=0.5).item()
    assert got == pytest.approx((0.5 - sign * (x - y)).clamp(min=0).mean().item())
    got = F.hinge_embedding_loss(x, sign, margin=2.0).item()
    want = pkg.where(sign == 1, x, (2.0 - x).clamp(min=0)).mean().item()
    assert got == pytest.approx(want)


@pytest.mark.parametrize("dilation", [1, 2])
def test_conv1d(dilation):
    """Batched, single, "same" and "valid" against sums of products."""
    x, w, b = rows(2, 3, 11), rows(4, 3, 4, seed=1), rows(4, seed=2)
    reach = 3 * dilation
    wide = np.pad(x, ((0, 0), (0, 0), (reach // 2, reach - reach // 2)))
    want = sum(
        np.einsum("ncl,oc->nol", wide[..., k * dilation :][..., :11], w[..., k])
        for k in range(4)
    ) + b[:, None]
    x_, w_, b_ = (pkg.tensor(a) for a in (x, w, b))
    got = F.conv1d(x_, w_, b_, padding="same", dilation=dilation)
    np.testing.assert_allclose(got.numpy(), want, rtol=1e-10, atol=1e-12)
    one = F.conv1d(x_[1], w_, b_, padding="same", dilation=dilation)
    np.testing.assert_allclose(one.numpy(), want[1], rtol=1e-10, atol=1e-12)
    inner = F.conv1d(x_, w_, b_, padding="valid", dilation=dilation).numpy()
    kept = slice(reach // 2, reach // 2 + 11 - reach)
    np.testing.assert_allclose(inner, want[..., kept], rtol=1e-10, atol=1e-12)
    with pytest.raises(
        ValueError, match=r"\[conv1d\] expected padding 'valid' or 'same'"
    ):
        F.conv1d(x_, w_, padding="full")
    with pytest.raises(ValueError, match="not supported for strided"):
        F.conv1d(x_, w_, padding="same", stride=2)


def test_numbers_for_each_side():
    """One for all, of NumPy's too; the wrong count of them is an error by name."""
    image, weight = pkg.ones(1, 1, 8, 8), pkg.ones(1, 1, 3, 3)
    for dilation in (2, (2,), [2, 2], np.int64(2)):
        assert F.conv2d(image, weight, padding="same", dilation=dilation).shape == (
            *(1, 1, 8, 8),
        )
    for size in (2, (2,), np.int64(2)):
        assert F.max_pool2d(image, size).shape == (1, 1, 4, 4)
    for options in (
        {"kernel_size": []},
        {"kernel_size": 2, "padding": ()},
        {"kernel_size": 2, "stride": (1, 1, 1)},
    ):
        with pytest.raises(TypeError, match="expected an int or a list of 2 ints"):
            F.max_pool2d(image, **options)
    assert pkg.nn.LayerNorm(np.int64(4))(pkg.ones(2, 4)).shape == (2, 4)
    assert pkg.nn.Conv2d(1, 1, np.int64(3))(image).shape == (1, 1, 6, 6)


def test_images_without_elements_have_gradients():
    for shape in ((1, 3, 0, 4), (0, 3, 4, 4), (2, 3, 0, 0), (1, 3, 4, 0)):
        for groups in (1, 3):
            x = pkg.zeros(*shape, requires_grad=True)
            w = pkg.ones(6, 3 // groups, 1, 1, requires_grad=True)
            F.conv2d(x, w, padding=1, groups=groups).sum().backward()
            assert w.grad.tolist() == pkg.zeros_like(w).tolist()
            assert x.grad.shape == shape
    x, w = pkg.zeros(1, 3, 0), pkg.ones(6, 3, 1, requires_grad=True)
    F.conv1d(x, w, padding=1).sum().backward()
    assert w.grad.abs().sum().item() == 0


def test_losses_of_no_classes_are_zero():
    for dtype in (pkg.float32, pkg.float64, pkg.float16):
        pkg.full((64,), 3.0, dtype=dtype).sum().item()  # leaves its memory
        losses = F.cross_entropy(
            *(pkg.zeros(64, 0, dtype=dtype), pkg.full((64,), 1)),
            ignore_index=1,
            reduction="none",
        )
        assert losses.tolist() == [0.0] * 64


def test_a_padding_row_that_is_counted_from_the_end():
    for padding in (3, -1):
        weight = pkg.ones(4, 2, requires_grad=True)
        index = pkg.tensor([-1, 3, 2, -2])
        F.embedding(index, weight, padding).sum().backward()
        assert weight.grad.tolist() == [[0, 0], [0, 0], [2, 2], [0, 0]]


def test_pools_of_one_dimension():
    """Batched and single; a border of more than half the window is an error."""
    x = rows(2, 3, 8)
    x_ = pkg.tensor(x)
    windows = x.reshape(2, 3, 4, 2)
    assert F.max_pool1d(x_, 2).tolist() == windows.max(-1).tolist()
    assert F.max_pool1d(x_[0], 2).tolist() == windows[0].max(-1).tolist()
    np.testing.assert_allclose(F.avg_pool1d(x_, 2).numpy(), windows.mean(-1))
    got = F.adaptive_avg_pool1d(x_, 4).numpy()
    np.testing.assert_allclose(got, windows.mean(-1))
    with pytest.raises(
        RuntimeError, match=r"\[max_pool1d\] expected padding of at most"
    ):
        F.max_pool1d(x_, 2, padding=2)


def test_instance_norm():
    """By the statistics of the input, or by given ones."""
    x, w, b = rows(2, 3, 10), rows(3, seed=1), rows(3, seed=2)
    x_, w_, b_ = (pkg.tensor(a) for a in (x, w, b))
    mean, var = x.mean(-1, keepdims=True), x.var(-1, keepdims=True)
    want = (x - mean) / np.sqrt(var + 1e-3) * w[:, None] + b[:, None]
    got = F.instance_norm(x_, weight=w_, bias=b_, eps=1e-3).numpy()
    np.testing.assert_allclose(got, want)
    given = [pkg.tensor(a) for a in (b, w**2)]
    got = F.instance_norm(x_, *given, use_input_stats=False, eps=0.0).numpy()
    np.testing.assert_allclose(got, (x - b[:, None]) / np.abs(w)[:, None])
    with pytest.raises(NotImplementedError, match="no running statistics"):
        F.instance_norm(x_, *given)


# Of NumPy's the same; "reflect" and "symmetric" are others' names.
NUMPY_MODES = {"reflect": "reflect", "replicate": "edge", "circular": "wrap"}


@pytest.mark.parametrize("mode", NUMPY_MODES)
@pytest.mark.parametrize(
    "shape, borders",
    [
        ((3, 4), (2, 1)),
        ((2, 3, 4), (0, 3)),
        ((2, 3, 4), (1, 2, 2, 0)),
        ((2, 1, 3, 4), (3, 3, 1, 1)),
        ((2, 3, 4, 5), (2, 1, 1, 1, 1, 0)),
        ((1, 2, 3, 4, 5), (0, 4, 2, 2, 1, 1)),
    ],
)
def test_pad_modes(mode, shape, borders):
    """Values as NumPy's; the gradient of each element is how often it appears."""
    x = rows(*shape)
    pairs = [borders[i : i + 2] for i in range(0, len(borders), 2)]
    widths = [(0, 0)] * (len(shape) - len(pairs)) + pairs[::-1]
    got = F.pad(pkg.tensor(x), borders, mode)
    assert got.tolist() == np.pad(x, widths, mode=NUMPY_MODES[mode]).tolist()
    leaf = pkg.tensor(x, requires_grad=True)
    F.pad(leaf, borders, mode=mode).sum().backward()
    numbers = np.arange(x.size).reshape(shape)
    padded = np.pad(numbers, widths, mode=NUMPY_MODES[mode])
    times = np.bincount(padded.reshape(-1), minlength=x.size)
    assert leaf.grad.numpy().reshape(-1).tolist() == times.tolist()


def test_pad_cuts_off():
    """Borders below 0; the one that goes around leaves out what is cut."""
    x = pkg.arange(4).reshape(1, 4)
    for mode, borders, want in [
        ("reflect", (-1, 2), [1, 2, 3, 2, 1]),
        ("reflect", (-3, 3), [3, 2, 1, 0]),
        ("replicate", (-1, 2), [1, 2, 3, 3, 3]),
        ("circular", (-1, 2), [1, 2, 3, 1, 2]),
        ("circular", (1, -2), [1, 0, 1]),
        ("circular", (1, -5), []),
        ("circular", (-6, 2), []),
        ("constant", (-1, 2), [1, 2, 3, 0, 0]),
        ("reflect", (0, 0), [0, 1, 2, 3]),
    ]:
        got = F.pad(x, borders, mode)
        assert got.tolist() == [want] and got is not x, (mode, borders)


def test_pad_refuses():
    """Borders that there is nothing for, shapes, modes and values."""
    x = pkg.ones(2, 4)
    for mode, borders in [
        ("reflect", (4, 0)), ("circular", (0, 5)), ("replicate", (-3, -2)),
        ("circular", (-3, 2)),
    ]:  # fmt: skip
        with pytest.raises(RuntimeError, match=rf"mode '{mode}' can fill, got \("):
            F.pad(x, borders, mode)
    with pytest.raises(RuntimeError, match="can fill"):
        F.pad(pkg.ones(2, 0), (1, 1), "replicate")
    with pytest.raises(NotImplementedError, match="borders of 1 to 3 dimensions"):
        F.pad(x, (1, 1, 1, 1), "reflect")
    with pytest.raises(RuntimeError, match="an even number of borders"):
        F.pad(x, (1,), "reflect")
    with pytest.raises(RuntimeError, match="no value with mode 'reflect', got 0.5"):
        F.pad(x, (1, 1), "reflect", 0.5)
    with pytest.raises(NotImplementedError, match="'circular', got 'mirror'"):
        F.pad(x, (1, 1), "mirror")


def test_every_name_is_there_and_has_help():
    """__all__ is what the module has."""
    for name in F.__all__:
        assert getattr(F, name).__doc__, name
