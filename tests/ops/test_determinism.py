# SPDX-License-Identifier: Apache-2.0
"""The same program gives the same bits: over runs, with all threads, in any order."""

from __future__ import annotations

import os

import pytest

import pkg
from pkg import nn
from pkg.nn import functional as F

RUNS = 20


def mlp() -> nn.Module:
    return nn.Sequential(
        nn.Linear(40, 300), nn.GELU(), nn.Dropout(0.3), nn.Linear(300, 7)
    )


def cnn() -> nn.Module:
    return nn.Sequential(
        Reshape(1, 5, 8),
        nn.Conv2d(1, 8, 3, padding=1),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.LayerNorm(64),
        nn.Linear(64, 7),
    )


class Reshape(nn.Module):
    def __init__(self, *sizes: int) -> None:
        super().__init__()
        self.sizes = sizes

    def forward(self, x: pkg.Tensor) -> pkg.Tensor:
        return x.reshape(-1, *self.sizes)


class Attention(nn.Module):
    """Large enough that products and softmax are shared out to threads."""

    def __init__(self) -> None:
        super().__init__()
        self.qkv = nn.Linear(40, 3 * 64)
        self.out = nn.Linear(64, 7)

    def forward(self, x: pkg.Tensor) -> pkg.Tensor:
        q, k, v = self.qkv(x).chunk(3, -1)
        mixed = (q @ k.transpose(-2, -1)).softmax(-1) @ v
        return self.out(mixed + pkg.randn(*mixed.shape) * 0.1)


def trained(make: type[nn.Module]) -> list[bytes]:
    """The bytes of every parameter after five steps from a fixed seed."""
    pkg.manual_seed(11)
    model = make()
    optimizer = pkg.optim.Adam(model.parameters(), lr=1e-2)
    x, y = pkg.randn(512, 40), pkg.arange(512) % 7
    for _ in range(5):
        optimizer.zero_grad()
        F.cross_entropy(model(x), y).backward()
        optimizer.step()
    return [p.detach().numpy().tobytes() for p in model.parameters()]


@pytest.mark.parametrize("make", [mlp, cnn, Attention])
def test_twenty_runs_on_all_threads_are_bitwise_equal(make: type[nn.Module]) -> None:
    before = pkg.get_num_threads()
    # At least two, so that work is shared out on a machine of one processor too.
    pkg.set_num_threads(max(2, len(os.sched_getaffinity(0))))
    try:
        first = trained(make)
        for run in range(1, RUNS):
            assert trained(make) == first, f"run {run} differs"
    finally:
        pkg.set_num_threads(before)
