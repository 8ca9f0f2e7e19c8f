# SPDX-License-Identifier: Apache-2.0
"""The model of docs/scaling.md: its formulas, and that measurements give its costs."""

import sys

import pytest

from paths import ROOT

sys.path.append(str(ROOT / "docs" / "programs"))
import step_time as model  # noqa: E402

COSTS = model.Costs(decide=40e-6, ask=10e-6, alpha=20e-6, beta=0.5e-9, gamma=0.25e-9)


def test_formulas_by_hand():
    # Two ranks send half of a megabyte twice, in one message, and reduce half each.
    size = 1 << 20
    moved = 2 * 20e-6 + size * 0.5e-9
    assert model.ring(COSTS, 2, size) == pytest.approx(moved + size / 2 * 0.25e-9)
    assert model.halving_doubling(COSTS, 2, size) == model.ring(COSTS, 2, size)
    assert model.allreduce(COSTS, 2, size) == pytest.approx(
        40e-6 + moved + size * 0.25e-9
    )
    assert model.recursive_doubling(COSTS, 8, 1000) == pytest.approx(
        3 * (20e-6 + 1000 * 0.75e-9)
    )
    assert model.tree(COSTS, 8, 1000) == pytest.approx(
        3 * (2 * (20e-6 + 500e-9) + 250e-9)
    )
    # Short: gathered by all in two rounds; each reduces all four.
    assert model.allreduce(COSTS, 4, 1000) == pytest.approx(
        40e-6 + 2 * 10e-6 + 2 * 20e-6 + 3000 * 0.5e-9 + 4000 * 0.25e-9
    )


def test_more_buffers_cost_more_messages():
    whole = model.exchange(COSTS, 64, 8 << 20, 128 << 20)
    cut = model.exchange(COSTS, 64, 8 << 20, 1 << 20)
    each = 40e-6 + 62 * 10e-6 + 126 * 20e-6
    assert cut - whole == pytest.approx(7 * each)
    assert model.step(3.0, 1.0) == (3.0, 4.0) and model.step(3.0, 6.0) == (7.0, 9.0)


def test_costs_are_found_again():
    """From what the model itself says of one and two ranks."""
    times = [
        {str(size): model.allreduce(COSTS, ranks, size) for size in model.SIZES}
        for ranks in (1, 2)
    ]
    found = model.fit(*({**each, "barrier": COSTS.decide} for each in times))
    assert found == pytest.approx(COSTS)
