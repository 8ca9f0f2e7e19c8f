# SPDX-License-Identifier: Apache-2.0
"""Random shapes, tensors and numbers: what the families of ops draw from."""

from __future__ import annotations

import math
from random import Random
from typing import Any

from fuzz import values
from fuzz.values import Data

LAYOUTS = ("permuted", "strided", "expanded", "offset", "overlapping")
#: More elements than this in one tensor are work for nobody.
MOST = 30_000
#: Elements from which work is handed to the scheduler, or split over threads.
LARGE = (70_000, 300_000)
#: What a family gives for a parameter that is to be left out.
OMIT = object()


class Chooser:
    """Random choices; the families build their tensors with it."""

    def __init__(self, rng: Random) -> None:
        self.rng = rng
        self.dtype = rng.choices(values.DTYPES, (40, 22, 5, 5, 10, 5, 4, 4, 5))[0]
        self.grad = rng.random() < 0.5
        self.written = False  # whether the op writes to its first tensor
        self.large = rng.random() < 0.004

    def chance(self, p: float) -> bool:
        return self.rng.random() < p

    def one(self, *items: Any) -> Any:
        return self.rng.choice(items)

    def size(self) -> int:
        """The size of a dimension."""
        return self.rng.choices((0, 1, 2, 3, 4, 5, 7, 16), (4, 20, 25, 25, 8, 8, 8, 2))[
            0
        ]

    def sized(self, least: int = 1) -> int:
        """A size of at least so much."""
        return max(least, self.size())

    def ndim(self, low: int = 0, high: int = 9) -> int:
        n = self.rng.choices(range(10), (8, 20, 26, 20, 10, 4, 3, 4, 3, 2))[0]
        return min(max(n, low), high)

    def shape(self, low: int = 0, high: int = 9) -> tuple[int, ...]:
        """Any shape that is no work."""
        if self.large and low <= 2 <= high and self.chance(0.7):
            side = self.one(270, 600)
            return (side, side) if self.chance(0.5) or high > 2 else (side, 3)
        if self.large and low <= 1 <= high:
            return (self.one(*LARGE),)
        shape = tuple(self.size() for _ in range(self.ndim(low, high)))
        while math.prod(shape) > MOST // 10:
            shape = tuple(max(1, n // 2) for n in shape)
        return shape

    def floating(self, double: float = 0.3) -> str:
        """A dtype with fractions."""
        if self.dtype in values.FLOATS:
            return self.dtype
        return "float64" if self.chance(double) else "float32"

    def integral(self) -> str:
        if self.dtype in (*values.INTS, "bool"):
            return self.dtype
        return self.one("int64", "int32", "uint8", "int8", "bool")

    def index_type(self) -> str:
        return "int64" if self.chance(0.93) else self.one("int32", "uint8", "bool")

    def tensor(
        self,
        shape: tuple[int, ...],
        dtype: str | None = None,
        fill: str | None = None,
        layouts: bool = True,
    ) -> Data:
        """A tensor of this shape: of the call's dtype, seldom of another one."""
        rng = self.rng
        if dtype is None:
            dtype = self.dtype if rng.random() < 0.93 else rng.choice(values.DTYPES)
        shape = tuple(int(n) for n in shape)
        data = Data(dtype, shape, length=math.prod(shape))
        pools = values.FLOAT_FILLS if dtype in values.FLOATS else values.INT_FILLS
        weights = (50, 15, 10, 12, 8, 5) if dtype in values.FLOATS else (60, 10, 15, 15)
        fill = fill or rng.choices(pools, weights)[0]
        data.fill = (fill, rng.randrange(values.POOL // 2))
        if layouts and rng.random() < 0.3:
            weights = (5, 4, 1, 2, 0.3) if self.written else (5, 4, 3, 2, 1)
            values.laid_out(data, rng.choices(LAYOUTS, weights)[0], rng)
        if dtype in values.FLOATS and self.grad and rng.random() < 0.8:
            data.grad = True
            data.clone = self.written and rng.random() < 0.9
        return data

    def floats(self, shape: tuple[int, ...], fill: str | None = None) -> Data:
        return self.tensor(shape, self.floating(), fill)

    def bools(self, shape: tuple[int, ...]) -> Data:
        return self.tensor(shape, "bool" if self.chance(0.97) else None)

    def index(self, shape: tuple[int, ...], n: int, dtype: str | None = None) -> Data:
        """Indices below n, seldom of some other range."""
        if n < 1:
            n = 1
        data = self.tensor(shape, dtype or self.index_type())
        data.fill = ("index", self.rng.randrange(values.POOL // 2), n)
        if data.length > values.POOL:
            data.fill = ("small", 0)
        if self.chance(0.03):
            data.fill = self.one(("small", 0), ("extreme", 0))
        return data

    def broadcastable(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """A shape that broadcasts to this one."""
        if self.chance(0.5):
            return shape
        cut = self.rng.randrange(len(shape) + 1)
        return tuple(1 if self.chance(0.3) else n for n in shape[cut:])

    def dim(self, n: int) -> int:
        """A dimension, counted from either end."""
        n = max(n, 1)
        return self.rng.randrange(-n, n)

    def dims(self, n: int, least: int = 0) -> list[int]:
        chosen = self.rng.sample(range(n), self.rng.randint(min(least, n), n))
        return [d - n if self.chance(0.3) else d for d in chosen]

    def scalar(self) -> Any:
        return self.rng.choices(
            (1, 2, 0, -1, 0.5, 2.5, -1.5, 3, True, math.nan, math.inf, 1e10),
            (20, 15, 8, 8, 15, 10, 8, 8, 2, 1, 1, 1),
        )[0]
