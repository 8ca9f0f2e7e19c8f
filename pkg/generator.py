# SPDX-License-Identifier: Apache-2.0
"""Generator: random orders of a stream of one's own, apart from the library's.

What takes ``generator=None`` draws from the library's stream,
``pkg.default_generator``, which ``pkg.manual_seed`` restarts.  The ops draw from that
one always.
"""

from __future__ import annotations

import operator
import os
from collections.abc import Iterator
from typing import Any

from ._binding import core

__all__ = ["Generator", "checked_seed"]


def checked_seed(seed: Any) -> int:
    """The seed modulo 2**64; its errors are those of ``manual_seed``."""
    whole = isinstance(seed, float) and seed.is_integer()
    try:
        number = int(seed) if whole else operator.index(seed)
    except TypeError:
        kind = type(seed).__name__
        raise TypeError(
            f"[manual_seed] expected an int for 'seed', got {kind}"
        ) from None
    if not -(2**63) <= number < 2**64:
        raise OverflowError(
            f"[manual_seed] expected an int of 64 bits for 'seed', got {number}"
        )
    return number % 2**64


class Generator:
    """A stream of random numbers: the same seed gives the same orders."""

    def __init__(self, device: str = "cpu") -> None:
        """Start at an unpredictable seed; the only device is "cpu"."""
        if str(device) != "cpu":
            raise RuntimeError(f"[Generator] expected device 'cpu', got {device!r}.")
        import random  # here: it takes a while, and most programs have no Generator

        self._random = random.Random()
        self.seed()

    def manual_seed(self, seed: int) -> Generator:
        """Restart the stream of ``seed``, as ``pkg.manual_seed``; return self."""
        self._seed = checked_seed(seed)
        self._random.seed(self._seed)
        return self

    @property
    def device(self) -> core.device:
        """The processor."""
        return core.device("cpu")

    def seed(self) -> int:
        """Restart at an unpredictable seed and return it."""
        fresh = int.from_bytes(os.urandom(8), "little") >> 1
        self.manual_seed(fresh)
        return fresh

    def initial_seed(self) -> int:
        """Return the seed of the stream."""
        return self._seed

    def get_state(self) -> Any:
        """Return what ``set_state`` needs to continue from here."""
        return self._seed, self._random.getstate()

    def set_state(self, state: Any) -> None:
        """Continue from where ``get_state`` was called."""
        seed, rest = state
        self._random.setstate(rest)
        self._seed = seed

    def permutation(self, n: int) -> list[int]:
        """Return 0 to n - 1 in random order."""
        order = list(range(n))
        self._random.shuffle(order)
        return order

    def integers(self, high: int, count: int) -> Iterator[int]:
        """Yield ``count`` numbers from 0 to ``high`` - 1, with repetition."""
        return (self._random.randrange(high) for _ in range(count))

    def uniform(self, count: int) -> Iterator[float]:
        """Yield ``count`` numbers in [0, 1)."""
        return (self._random.random() for _ in range(count))
