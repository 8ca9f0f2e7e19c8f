# SPDX-License-Identifier: Apache-2.0
"""Losses of pkg.nn by their definition."""

from functools import partial

import numpy as np
import pytest

import pkg
from gradients import check_gradients
from pkg import nn
from pkg.nn import functional as F


def log_softmax(x, axis):
    """By definition, in float64."""
    x = x - x.max(axis, keepdims=True)
    return x - np.log(np.exp(x).sum(axis, keepdims=True))


def cross_entropy_reference(x, target, weight, ignore, smoothing):
    """(sum, mean) over every position; x is (N, C, ...)."""
    scores = np.moveaxis(log_softmax(x, 1), 1, -1).reshape(-1, x.shape[1])
    total = norm = 0.0
    for row, t in zip(scores, target.reshape(-1)):
        if t == ignore:
            continue
        hot = np.full(len(row), smoothing / len(row))
        hot[t] += 1 - smoothing
        total -= (hot * weight * row).sum()
        norm += weight[t]
    return total, total / norm


@pytest.mark.parametrize("smoothing", [0.0, 0.3])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("shape", [(6, 4), (2, 4, 3), (2, 4, 3, 2)])
def test_cross_entropy_options_follow_the_definition(shape, weighted, smoothing):
    rng = np.random.default_rng(0)
    x = rng.normal(size=shape)
    target = rng.integers(0, 4, size=shape[:1] + shape[2:])
    weight = rng.uniform(0.5, 2.0, size=4) if weighted else np.ones(4)
    for ignore in (-100, 2):
        some = target.copy()
        if ignore < 0:
            some[0] = ignore
        options = {"ignore_index": ignore, "label_smoothing": smoothing}
        if weighted:
            options["weight"] = pkg.tensor(weight)
        want = cross_entropy_reference(x, some, weight, ignore, smoothing)
        for i, reduction in enumerate(("sum", "mean")):
            loss = nn.CrossEntropyLoss(reduction=reduction, **options)
            got = loss(pkg.tensor(x), pkg.tensor(some)).item()
            assert got == pytest.approx(want[i], rel=1e-12), (ignore, reduction)
        loss = nn.CrossEntropyLoss(reduction="none", **options)
        each = loss(pkg.tensor(x), pkg.tensor(some))
        assert each.shape == some.shape and (each.numpy()[some == ignore] == 0).all()
        assert each.sum().item() == pytest.approx(want[0], rel=1e-12)
        loss = partial(F.cross_entropy, target=pkg.tensor(some), **options)
        check_gradients(loss, [x])


def test_cross_entropy_of_probabilities_and_of_one_sample():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(3, 4))
    p = rng.dirichlet(np.ones(4), size=3)
    want = -(p * log_softmax(x, 1)).sum(1).mean()
    assert F.cross_entropy(pkg.tensor(x), pkg.tensor(p)).item() == pytest.approx(want)
    one = F.cross_entropy(pkg.tensor(x[0]), pkg.tensor(2)).item()
    assert one == pytest.approx(-log_softmax(x[0], 0)[2])
    with pytest.raises(ValueError, match="shape of the input"):
        F.cross_entropy(pkg.tensor(x), pkg.tensor(p[:2]))


def test_cross_entropy_refuses_classes_out_of_range_and_wrong_shapes():
    x = pkg.randn([2, 3])
    for wrong in ([0, 3], [-1, 0]):
        with pytest.raises(IndexError):
            F.cross_entropy(x, pkg.tensor(wrong))
    with pytest.raises(ValueError):
        F.cross_entropy(x, pkg.tensor([0, 1, 2]))
    with pytest.raises(ValueError, match="nll_loss"):
        F.nll_loss(x, pkg.tensor([[0], [1]]))
    with pytest.raises(RuntimeError, match="label_smoothing"):
        F.cross_entropy(x, pkg.tensor([0, 1]), label_smoothing=2.0)
    ignored = F.cross_entropy(x, pkg.tensor([-100, -100]))
    assert np.isnan(ignored.item())


def test_elementwise_losses_follow_their_formula():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, 3, 4)) * 2
    size = np.abs(x - y)
    cases = [
        (nn.MSELoss, (x - y) ** 2),
        (nn.L1Loss, size),
        (nn.SmoothL1Loss, np.where(size < 1, 0.5 * size**2, size - 0.5)),
        (lambda **k: nn.SmoothL1Loss(beta=0.0, **k), size),
    ]
    for make, want in cases:
        for reduction, reduced in [
            ("none", want), ("sum", want.sum()), ("mean", want.mean()),
        ]:  # fmt: skip
            got = make(reduction=reduction)(pkg.tensor(x), pkg.tensor(y)).numpy()
            np.testing.assert_allclose(got, reduced, rtol=1e-12)
        with pytest.raises(ValueError, match="not a valid value for reduction"):
            make(reduction="most")
    with pytest.warns(UserWarning, match="broadcasting"):
        F.mse_loss(pkg.ones([3, 1]), pkg.ones([3]))


def test_bce_is_the_formula_with_weights():
    rng = np.random.default_rng(0)
    p, t, weight = rng.uniform(0.1, 0.9, size=(3, 3, 4))
    want = -(t * np.log(p) + (1 - t) * np.log(1 - p)) * weight
    for reduction, reduced in [
        ("none", want), ("sum", want.sum()), ("mean", want.mean()),
    ]:  # fmt: skip
        loss = nn.BCELoss(pkg.tensor(weight), reduction=reduction)
        got = loss(pkg.tensor(p), pkg.tensor(t)).numpy()
        np.testing.assert_allclose(got, reduced, rtol=1e-12)
        assert list(loss.state_dict()) == ["weight"]
    check_gradients(lambda x: nn.BCELoss()(x, pkg.tensor(t)), [p])
    with pytest.raises(ValueError, match="not a valid value for reduction"):
        nn.BCELoss(reduction="most")


def test_bce_with_logits_is_stable_weighted_and_smooth_at_zero():
    rng = np.random.default_rng(0)
    x, t = rng.normal(size=(3, 4)), rng.uniform(size=(3, 4))
    weight, positive = rng.uniform(size=(3, 4)), rng.uniform(1, 3, size=4)
    p = 1 / (1 + np.exp(-x))
    want = -(positive * t * np.log(p) + (1 - t) * np.log(1 - p)) * weight
    options = {"weight": pkg.tensor(weight), "pos_weight": pkg.tensor(positive)}
    loss = nn.BCEWithLogitsLoss(**options, reduction="none")
    got = loss(pkg.tensor(x), pkg.tensor(t)).numpy()
    np.testing.assert_allclose(got, want, rtol=1e-12)
    assert list(loss.state_dict()) == ["weight", "pos_weight"]
    x = pkg.tensor([1000.0, -1000.0, 0.0], requires_grad=True)
    loss = F.binary_cross_entropy_with_logits(x, pkg.tensor([1.0, 0.0, 1.0]))
    loss.backward()
    assert loss.item() == pytest.approx(np.log(2) / 3)
    np.testing.assert_allclose(x.grad.tolist(), [0.0, 0.0, -0.5 / 3], atol=1e-7)
    with pytest.raises(ValueError, match="must be the same as input size"):
        F.binary_cross_entropy_with_logits(x, pkg.ones([1]))


@pytest.mark.parametrize("reduction", ["none", "sum", "mean"])
@pytest.mark.parametrize("shape", [(5,), (6, 3), (2, 4, 5), (3, 2, 4, 2), (2, 3, 0)])
def test_nll_loss_of_any_dimensions(shape, reduction):
    rng, at = np.random.default_rng(8), min(len(shape), 2) - 1
    x, classes = rng.normal(size=shape), shape[at]
    target = np.array(rng.integers(0, classes, shape[:at] + shape[at + 1 :]))
    ignored = int(target.flat[0]) if target.size else 0
    for ignore in (-100, ignored):
        kept = target != ignore
        picked = np.take_along_axis(x, np.expand_dims(target, at), at)
        want = -picked.reshape(target.shape) * kept
        if reduction != "none":
            with np.errstate(invalid="ignore"):
                want = want.sum() / (kept.sum() if reduction == "mean" else 1)
        for given in (x, np.asfortranarray(x)):
            leaf = pkg.tensor(given, requires_grad=True)
            got = F.nll_loss(
                leaf, pkg.tensor(target), ignore_index=ignore, reduction=reduction
            )
            np.testing.assert_allclose(got.detach().numpy(), want, rtol=1e-12)
            got.sum().backward()
            hot = np.arange(classes).reshape((-1,) + (1,) * (len(shape) - 1 - at))
            hot = (hot == np.expand_dims(target, at)) & np.expand_dims(kept, at)
            share = max(kept.sum(), 1) if reduction == "mean" else 1
            np.testing.assert_allclose(
                leaf.grad.numpy(), -1.0 * hot / share, rtol=1e-12
            )
    if target.size:
        with pytest.raises(IndexError, match="out of bounds: expected 0 to"):
            F.nll_loss(pkg.tensor(x), pkg.tensor(target) + classes)


def test_many_float16_losses_are_averaged_without_overflow():
    x = pkg.full((70000, 2), -2.0, dtype=pkg.float16)
    assert F.nll_loss(x, pkg.zeros(70000, dtype=pkg.int64)).item() == 2.0


def test_class_numbers_may_be_bytes():
    scores = pkg.tensor([[0.0, 1.0, 3.0], [2.0, 0.0, 5.0]])
    target = pkg.tensor([2, 0])
    want = F.nll_loss(scores, target).item()
    assert F.nll_loss(scores, target.to(pkg.uint8)).item() == want == -2.5


def test_cosine_similarity_promotes():
    x, y = pkg.tensor([3, 4]), pkg.tensor([6.0, 8.0], dtype=pkg.float64)
    for pair in ((x, y), (y, x)):
        got = F.cosine_similarity(*pair, dim=0)
        assert got.dtype is pkg.float64 and abs(got.item() - 1) < 1e-15


def test_losses_beside_bools_and_of_other_dimensions():
    x, mask = pkg.tensor([0.5, 2.0]), pkg.tensor([True, False])
    assert F.mse_loss(x, mask, reduction="none").tolist() == [0.25, 4.0]
    assert F.mse_loss(mask, x, reduction="none").tolist() == [0.25, 4.0]
    with pytest.raises(RuntimeError, match="should have same dimension"):
        F.margin_ranking_loss(x, pkg.tensor([x.tolist()]), pkg.ones(2))


def test_probabilities_have_no_class_to_ignore_and_a_weight_for_each():
    scores, target = pkg.zeros(2, 3), pkg.ones(2, 3) / 3
    with pytest.raises(RuntimeError, match="ignore_index is not supported"):
        F.cross_entropy(scores, target, ignore_index=1)
    for weight in (pkg.ones(2), pkg.ones(1), pkg.ones(3, 1)):
        with pytest.raises(RuntimeError, match="for all 3 classes or no classes"):
            F.cross_entropy(scores, target, weight)
    loss = F.cross_entropy(scores, target, pkg.ones(3)).item()
    assert loss == pytest.approx(np.log(3))


def test_huber_loss_of_a_delta_beyond_the_dtype_is_half_the_square():
    for delta in (1e10, 1e39, float("inf")):
        x = pkg.zeros(3, dtype=pkg.float16, requires_grad=True)
        y = pkg.tensor([0.0, 1.0, -3.0], dtype=pkg.float16)
        loss = F.huber_loss(x, y, reduction="none", delta=delta)
        loss.sum().backward()
        assert loss.tolist() == [0, 0.5, 4.5] and x.grad.tolist() == [0, -1, 3]


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
def test_both_gradients_of_cross_entropy_agree(dtype, reduction):
    """That which can be differentiated again counts targets that float16 cannot."""
    rng = np.random.default_rng(1)
    for rows, classes, ignored in [(70_000, 2, 0), (2049, 3, 40), (5, 4, 5), (3, 0, 3)]:
        x = pkg.tensor(rng.standard_normal((rows, classes))).to(getattr(pkg, dtype))
        x.requires_grad_()
        target = np.full(rows, -100)
        target[ignored:] = rng.integers(0, max(classes, 1), rows - ignored)
        y = F.cross_entropy(x, pkg.tensor(target), reduction=reduction)
        g = pkg.ones(y.shape, dtype=x.dtype)
        (once,) = pkg.autograd.grad(y, x, g, retain_graph=True)
        (again,) = pkg.autograd.grad(y, x, g, create_graph=True)
        np.testing.assert_array_equal(np.isfinite(again.double().detach()), True)
        got, want = (t.detach().double().numpy() for t in (again, once))
        np.testing.assert_allclose(got, want, rtol=2e-2 if x.itemsize == 2 else 1e-5)
        (second,) = pkg.autograd.grad((again * again).sum(), x)
        assert second.isfinite().all().item()
        assert not second[:ignored].any().item()
