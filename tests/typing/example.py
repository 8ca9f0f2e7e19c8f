# SPDX-License-Identifier: Apache-2.0
"""A program as a user types it: ``mypy --strict`` has nothing to say, and it runs."""

from __future__ import annotations

import numpy as np

import pkg
from pkg import nn, optim


class Model(nn.Module):
    """Two layers."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.first = nn.Linear(2, width)
        self.second = nn.Linear(width, 1)

    def forward(self, x: pkg.Tensor) -> pkg.Tensor:
        hidden: pkg.Tensor = self.first(x).relu()
        output: pkg.Tensor = self.second(hidden)
        return output


def train(model: Model, steps: int) -> float:
    """Fits x0 + x1; the last loss."""
    optimizer = optim.SGD(model.parameters(), lr=0.05)
    x = pkg.rand(64, 2)
    y = x.sum(dim=1, keepdim=True)
    loss = pkg.tensor(0.0)
    for _ in range(steps):
        optimizer.zero_grad()
        loss = ((model(x) - y) ** 2).mean()
        loss.backward()
        optimizer.step()
    return float(loss)


def exchange() -> list[float]:
    """NumPy's memory and back."""
    array = np.arange(3.0)
    shared = pkg.from_dlpack(array)
    shared.add_(1)
    shape: tuple[int, ...] = shared.shape
    assert shape == (3,) and shared.dtype is pkg.float64
    doubled: list[float] = (pkg.asarray(array) * 2).tolist()
    return doubled


def main() -> None:
    pkg.manual_seed(0)
    model = Model(16)
    first, last = train(model, 1), train(model, 300)
    assert last < first / 5, (first, last)
    print(exchange(), [symbol.name for symbol in pkg.symbols()][:1])


if __name__ == "__main__":
    main()
