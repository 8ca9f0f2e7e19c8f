# SPDX-License-Identifier: Apache-2.0
"""Generator: random orders of a stream of one's own, apart from the library's.

What takes ``generator=None`` draws from the library's stream,
``pkg.default_generator``, which ``pkg.manual_seed`` restarts.  The ops draw from that
one always.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

from . import ops, random as library
from ._binding import core

__all__ = ["Generator", "default_generator", "stream"]

_CHUNK = 1 << 16  # numbers that are held at a time


class Generator:
    """A stream of random numbers: the same seed gives the same orders."""

    def __init__(self, device: str = "cpu") -> None:
        """Start at an unpredictable seed; the only device is "cpu"."""
        if str(device) != "cpu":
            raise RuntimeError(f"[Generator] expected device 'cpu', got {device!r}.")
        self._random = random.Random()
        self.seed()

    def manual_seed(self, seed: int) -> Generator:
        """Restart the stream of ``seed``, as ``pkg.manual_seed``; return self."""
        self._seed = library.checked_seed(seed)
        self._random.seed(self._seed)
        return self

    @property
    def device(self) -> core.device:
        """The processor."""
        return core.device("cpu")

    def seed(self) -> int:
        """Restart at an unpredictable seed and return it."""
        fresh = random.SystemRandom().getrandbits(63)
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
        self._seed = state[0]
        self._random.setstate(state[1])

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


class _Default(Generator):
    # The library's stream, behind the same methods.

    def __init__(self) -> None:
        pass

    def __reduce__(self) -> str:
        # Copies and pickles give this module's object of that name.
        return "default_generator"

    def manual_seed(self, seed: int) -> Generator:
        return library.manual_seed(seed)

    def initial_seed(self) -> int:
        return library.initial_seed()

    def get_state(self) -> Any:
        return library.get_rng_state()

    def set_state(self, state: Any) -> None:
        library.set_rng_state(state)

    def permutation(self, n: int) -> list[int]:
        order: list[int] = ops.randperm(n).tolist()
        return order

    # The stream has a number per element: chunks give what one draw would give.

    def integers(self, high: int, count: int) -> Iterator[int]:
        for start in range(0, count, _CHUNK):
            size = min(_CHUNK, count - start)
            yield from ops.randint(0, high, [size]).tolist()

    def uniform(self, count: int) -> Iterator[float]:
        for start in range(0, count, _CHUNK):
            yield from ops.rand([min(_CHUNK, count - start)]).tolist()


default_generator: Generator = _Default()


def stream(generator: Generator | None) -> Generator:
    """Return the generator, or the library's for None; TypeError for anything else."""
    if generator is None:
        return default_generator
    if not isinstance(generator, Generator):
        raise TypeError(
            "expected a pkg.Generator or None as generator, got "
            f"{type(generator).__name__}"
        )
    return generator
