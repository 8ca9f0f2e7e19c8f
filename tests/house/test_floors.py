# SPDX-License-Identifier: Apache-2.0
"""The floor of a training step counts the products that it makes, and no others."""

import importlib

import pytest

import pkg
from paths import ROOT


@pytest.fixture
def floors(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "tests" / "benchmarks")
    return importlib.import_module("floors")


def test_products_of_matrices_are_those_of_all_passes(floors):
    layer = pkg.nn.Linear(5, 7)
    x = pkg.randn(2, 3, 5, requires_grad=True)

    def step():
        layer(x).sum().backward()

    forward, of_input, of_weight = (1, 6, 5, 7), (1, 6, 7, 5), (1, 7, 6, 5)
    found = list(floors.matrices(floors.calls(step)))
    assert sorted(found) == [forward, of_input, of_weight]


def test_convolutions_count_what_is_least(floors):
    def products(x, *convolutions):
        def step():
            y = x
            for weight, stride, padding in convolutions:
                y = pkg.conv2d(y, weight, None, stride, padding)
            y.sum().backward()

        return floors.convolution_products(floors.calls(step))

    def weight(*sizes):
        return pkg.randn(*sizes, requires_grad=True)

    x = pkg.randn(2, 3, 9, 8)
    # Tiles of 4x4 for a 3x3 kernel with step 1: as many for the maps as for the weight.
    tiles = 2 * 3 * 2
    assert products(x, (weight(5, 3, 3, 3), 1, 1)) == 2 * tiles * 36 * 5 * 3
    # Plain sums where tiles are more, with a step and of other kernels.
    assert products(x, (weight(5, 3, 9, 8), 1, 0)) == 2 * (2 * 5 * 3 * 9 * 8)
    plain = 2 * 5 * 4 * 5 * 3 * 9
    assert products(x, (weight(5, 3, 3, 3), 2, 1)) == 2 * plain
    assert products(x[:, :, :3, :3], (weight(5, 3, 3, 3), 1, 0)) == 2 * 2 * 5 * 3 * 9
    # And once more for the images' gradient, where one is wanted: of the second layer.
    first, second = weight(4, 3, 1, 1), weight(5, 4, 3, 3)
    want = 2 * (2 * 9 * 8 * 4 * 3) + 3 * (tiles * 36 * 5 * 4)
    assert products(x, (first, 1, 0), (second, 1, 1)) == want


def test_a_floor_is_a_time_below_the_step(floors):
    layer = pkg.nn.Linear(512, 512)
    x = pkg.randn(256, 512)

    def step():
        layer.zero_grad()
        layer(x).square().mean().backward()
        pkg.synchronize()

    assert 0 < floors.floor(step) < 10 * floors.fastest(step)
