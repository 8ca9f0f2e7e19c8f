# SPDX-License-Identifier: Apache-2.0
"""An infinite gradient, as of a root at zero or of a loss that left the range.

It reaches only what the result depends on; all else gets zero and not 0 * inf.
"""

import numpy as np
import pytest

import pkg
from pkg.nn import functional as F

inf = float("inf")
DTYPES = [pkg.float32, pkg.float64, pkg.float16]


# What is differentiated at 1, 2, 3, and for which elements the slope is not zero.
PICKS = {
    "max": (lambda x: x.max(), [2]),
    "min": (lambda x: x.min(), [0]),
    "median": (lambda x: x.median(), [1]),
    "amax": (lambda x: x.amax(0), [2]),
    "amin": (lambda x: x.amin(0), [0]),
    "max.dim": (lambda x: x.max(0).values, [2]),
    "aminmax": (lambda x: x.aminmax().max, [2]),
    "kthvalue": (lambda x: x.kthvalue(2).values, [1]),
    "norm inf": (lambda x: x.norm(p=inf), [2]),
    "norm -inf": (lambda x: x.norm(p=-inf), [0]),
    "maximum": (lambda x: pkg.maximum(x, pkg.tensor([0.0, 9, 9])), [0]),
    "clamp": (lambda x: x.clamp(2.5, 9), [2]),
    "clamp by a tensor": (lambda x: x.clamp(pkg.full([3], 2.5)), [2]),
    "where": (lambda x: pkg.where(x > 1, x, 0), [1, 2]),
    "relu": (lambda x: (x - 1).relu(), [1, 2]),
    "index": (lambda x: x[1], [1]),
    "masked_fill": (lambda x: x.masked_fill(x > 1, 0), [0]),
    "sign": (lambda x: x.sign(), []),
    "floor": (lambda x: x.floor(), []),
    "round": (lambda x: x.round(), []),
    "pow 0": (lambda x: x**0, []),
    "pow zeros": (lambda x: x ** pkg.zeros(3), []),
    "logsumexp": (lambda x: (x * pkg.tensor([1, 1, inf])).logsumexp(0), None),
}


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", PICKS)
def test_what_is_not_picked_gets_zero(name, dtype):
    function, picked = PICKS[name]
    x = pkg.tensor([1.0, 2.0, 3.0], dtype=dtype, requires_grad=True)
    y = function(x)
    if picked is None:
        assert y.item() == inf
        y.backward()
        assert x.grad.tolist()[:2] == [0, 0]
        return
    y.backward(pkg.full_like(y, inf))
    want = [inf if i in picked else 0 for i in range(3)]
    assert x.grad.tolist() == want


def test_entropy_of_scores_has_one_slope():
    x = pkg.tensor([1.0, -3.0], requires_grad=True)
    F.binary_cross_entropy_with_logits(x, pkg.ones(2)).backward(pkg.tensor(inf))
    assert x.grad.tolist() == [-inf, -inf]


@pytest.mark.parametrize("loss", ["l1_loss", "smooth_l1_loss"])
@pytest.mark.parametrize("dtype", [pkg.float32, pkg.float64])
def test_the_smallest_distance_has_the_whole_slope(loss, dtype):
    least = pkg.finfo(dtype).tiny * pkg.finfo(dtype).eps
    x = pkg.tensor([least, -least, 0.0], dtype=dtype, requires_grad=True)
    numbers = {"beta": 0.0} if loss == "smooth_l1_loss" else {}
    getattr(F, loss)(
        x, pkg.zeros(3, dtype=dtype), reduction="sum", **numbers
    ).backward()
    assert x.grad.tolist() == [1, -1, 0]


@pytest.mark.parametrize("order", [2, 2.5, 3, 4, 8, 10])
@pytest.mark.parametrize("size", [1e-30, 1e-12, 1e-6, 1.0, 1e12, 1e30])
def test_slopes_of_norms_do_not_depend_on_the_size(order, size):
    """They are sign(x) (|x| / norm)^(p - 1)."""
    x = np.array([1.0, -2.0, 0.0, 1.5])
    want = np.sign(x) * (np.abs(x) / np.linalg.norm(x, order)) ** (order - 1)
    t = pkg.tensor((x * size).astype("float32"), requires_grad=True)
    t.norm(p=order).backward()
    np.testing.assert_allclose(t.grad.numpy(), want, rtol=2e-5, atol=1e-30)


@pytest.mark.parametrize("name", ["SGD", "Adam", "AdamW"])
@pytest.mark.parametrize("momentum", [0, 0.9])
def test_without_decay_an_infinite_weight_stays(name, momentum):
    p = pkg.nn.Parameter(pkg.tensor([inf, 1.0]))
    numbers = {"momentum": momentum} if name == "SGD" else {}
    optimizer = getattr(pkg.optim, name)([p], lr=0.1, weight_decay=0, **numbers)
    p.grad = pkg.tensor([1.0, 1.0])
    optimizer.step()
    assert p[0].item() == inf
    assert p[1].item() == pytest.approx(0.9)


def test_the_slope_of_hardswish_can_be_differentiated_at_infinity():
    x = pkg.tensor([inf, -inf, 3.0, -3.0, 0.5], requires_grad=True)
    g = pkg.ones(5, requires_grad=True)
    (slope,) = pkg.autograd.grad(F.hardswish(x), x, g, create_graph=True)
    (of_g,) = pkg.autograd.grad(slope.sum(), g)
    assert of_g.tolist() == slope.tolist()
    assert slope.tolist()[:4] == [1, 0, 1, 0]
