# SPDX-License-Identifier: Apache-2.0
"""pkg.nn.utils and pkg.nn.init: gradients clipped, vectors, initial values."""

import numpy as np
import pytest

import pkg
from pkg import nn


def test_clip_grad_norm_scales_all_gradients_together():
    p = nn.Parameter(pkg.zeros([2])), nn.Parameter(pkg.zeros([1])), pkg.zeros([1])
    for norm_type, total in [(2.0, 13.0), (1.0, 19.0), (float("inf"), 12.0)]:
        p[0].grad, p[1].grad = pkg.tensor([3.0, 4.0]), pkg.tensor([-12.0])
        norm = nn.utils.clip_grad_norm_(iter(p), 1.0, norm_type)
        assert norm.shape == () and norm.item() == pytest.approx(total)
        np.testing.assert_allclose(
            [*p[0].grad.tolist(), *p[1].grad.tolist()],
            np.array([3.0, 4.0, -12.0]) / total, rtol=1e-5,
        )  # fmt: skip
        before = p[0].grad.tolist()
        nn.utils.clip_grad_norm_(p, 100.0, norm_type)
        assert p[0].grad.tolist() == before
    p[0].grad = pkg.tensor([float("nan"), 1.0])
    with pytest.raises(RuntimeError, match="non-finite"):
        nn.utils.clip_grad_norm_(p, 1.0, error_if_nonfinite=True)
    assert p[0].grad.tolist()[1] == 1.0
    assert nn.utils.clip_grad_norm_([], 1.0).item() == 0.0


def test_clip_grad_value_limits_each_element():
    p = nn.Parameter(pkg.zeros([3]))
    grad = p.grad = pkg.tensor([-3.0, 0.5, 3.0])
    nn.utils.clip_grad_value_(p, 1)
    assert p.grad is grad and grad.tolist() == [-1.0, 0.5, 1.0]


def test_parameters_round_trip_through_a_vector():
    layer = nn.Linear(2, 3)
    vector = nn.utils.parameters_to_vector(layer.parameters())
    assert vector.shape == (9,)
    nn.utils.vector_to_parameters(pkg.arange(9.0), layer.parameters())
    assert layer.bias.tolist() == [6.0, 7.0, 8.0]
    with pytest.raises(ValueError, match="vector of 9 values"):
        nn.utils.vector_to_parameters(pkg.zeros([8]), layer.parameters())


def test_initial_values_have_the_promised_spread():
    pkg.manual_seed(0)
    w = nn.Parameter(pkg.empty([200, 300]))
    fan_in, fan_out, n = 300, 200, 60000
    for fill, std in [
        (lambda: nn.init.kaiming_uniform_(w, a=5**0.5), (1 / 3 / fan_in) ** 0.5),
        (lambda: nn.init.kaiming_normal_(w, mode="fan_out", nonlinearity="relu"),
         (2 / fan_out) ** 0.5),
        (lambda: nn.init.xavier_uniform_(w), (2 / (fan_in + fan_out)) ** 0.5),
        (lambda: nn.init.xavier_normal_(w, gain=2.0), 2 * (2 / 500) ** 0.5),
        (lambda: nn.init.normal_(w, 0.0, 0.02), 0.02),
        (lambda: nn.init.uniform_(w, -1.0, 1.0), 3**-0.5),
    ]:  # fmt: skip
        assert fill() is w and w.requires_grad and w.is_leaf
        values = w.detach().numpy()
        assert abs(values.mean()) < 6 * std / n**0.5
        assert values.std() == pytest.approx(std, rel=0.02)
    values = nn.init.trunc_normal_(w, std=0.5, a=-0.5, b=1.0).detach().numpy()
    assert values.min() >= -0.5 and values.max() <= 1.0 and values.max() > 0.9
    with pytest.raises(ValueError, match="0.1 %"):
        nn.init.trunc_normal_(w, a=8.0, b=9.0)
    assert (nn.init.ones_(w) == 1).all() and (nn.init.zeros_(w) == 0).all()
    np.testing.assert_array_equal(nn.init.eye_(w).detach().numpy(), np.eye(200, 300))
    with pytest.raises(ValueError, match="fewer than 2 dimensions"):
        nn.init.xavier_uniform_(pkg.empty([3]))
    with pytest.raises(ValueError, match="Unsupported nonlinearity"):
        nn.init.calculate_gain("step")


def test_layers_start_within_the_bounds_of_their_inputs():
    pkg.manual_seed(0)
    for layer, fan_in in [(nn.Linear(25, 50), 25), (nn.Conv2d(4, 50, 5, groups=2), 50)]:
        for p in layer.parameters():
            bound = 1 / fan_in**0.5
            assert 0.8 * bound < np.abs(p.detach().numpy()).max() <= bound
    table = nn.Embedding(100, 100).weight.detach().numpy()
    assert table.std() == pytest.approx(1.0, rel=0.05)


@pytest.mark.parametrize("norm_type", [1.0, 2.0, 3.0, 30.0, 100.0, float("inf")])
def test_a_norm_whose_powers_leave_the_range_of_numbers(norm_type):
    for size in (1e-200, 1e-5, 1.0, 1e4, 1e200):
        for count in (1, 3):
            p = [pkg.zeros(1, dtype=pkg.float64).requires_grad_() for _ in range(count)]
            for one in p:
                one.grad = pkg.tensor([size], dtype=pkg.float64)
            want = size * count ** (1 / norm_type)
            norm = nn.utils.clip_grad_norm_(p, 1.0, norm_type)
            assert norm.item() == pytest.approx(want, rel=1e-14)
            clipped = size * min(1.0, 1 / (want + 1e-6))
            assert p[0].grad.item() == pytest.approx(clipped, rel=1e-14)
