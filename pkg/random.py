# SPDX-License-Identifier: Apache-2.0
"""The default random stream: seeds and states.

It is Philox 4x32-10 (Salmon et al. 2011): a seed and a counter, so results depend
neither on the number of threads nor on how work is scheduled.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from . import ops
from ._binding import core
from .generator import Generator, checked_seed
from .tensor import Tensor

__all__ = [
    "default_generator",
    "fork_rng",
    "get_rng_state",
    "going_on",
    "initial_seed",
    "manual_seed",
    "seed",
    "set_rng_state",
    "stream",
]

_CHUNK = 1 << 16  # numbers that are held at a time


class _Traces(threading.local):
    depth = 0  # how many functions this thread makes graphs of


_traces = _Traces()


@contextmanager
def going_on() -> Iterator[None]:
    """Context manager: in this thread the stream cannot be restarted or set inside.

    It is for functions that are called once, to be a graph: runs would not do it.
    """
    _traces.depth += 1
    try:
        yield
    finally:
        _traces.depth -= 1


def _check_restart(op: str) -> None:
    if _traces.depth:
        raise NotImplementedError(
            f"[{op}] a compiled function draws from the random stream where it stands "
            f"and cannot restart it. Call {op}() before the function."
        )


def _signed(bits: int) -> int:
    # The binding's 64-bit integers have a sign.
    return bits - 2**64 if bits >= 2**63 else bits


def manual_seed(seed: int) -> Generator:
    """Restart the stream from a seed; return ``pkg.default_generator``.

    Negative seeds are taken modulo 2**64.  TypeError for what is no whole number,
    OverflowError below -2**63 and from 2**64 on, NotImplementedError within a function
    that is traced or compiled.
    """
    number = checked_seed(seed)
    _check_restart("manual_seed")
    core.manual_seed(_signed(number))
    return default_generator


def initial_seed() -> int:
    """The seed that the stream began with, from 0 to 2**64 - 1."""
    return core.initial_seed() % 2**64


def seed() -> int:
    """Restart the stream from a seed of the system, which is returned."""
    fresh = int.from_bytes(os.urandom(7), "little")
    manual_seed(fresh)
    return fresh


def get_rng_state() -> Tensor:
    """Where the stream stands: an int64 Tensor (seed, position)."""
    return core.tensor([core.initial_seed(), core.random_position()])


def set_rng_state(state: Tensor) -> None:
    """Go back to a state of ``get_rng_state``."""
    if not hasattr(state, "tolist"):
        raise TypeError(
            "[set_rng_state] expected a Tensor of get_rng_state(), got "
            f"{type(state).__name__} (state)."
        )
    values = state.tolist()
    if not isinstance(values, list) or len(values) != 2:
        raise ValueError(
            f"[set_rng_state] expected a Tensor of get_rng_state(), got shape "
            f"{tuple(state.shape)} (state)."
        )
    _check_restart("set_rng_state")
    core.set_random_state(*values)


@contextmanager
def fork_rng() -> Iterator[None]:
    """Context manager: random numbers drawn inside do not change those after it."""
    state = get_rng_state()
    try:
        yield
    finally:
        set_rng_state(state)


class _Default(Generator):
    # The library's stream, behind the same methods.

    def __init__(self) -> None:
        pass

    def __reduce__(self) -> str:
        # Copies and pickles give this module's object of that name.
        return "default_generator"

    def manual_seed(self, seed: int) -> Generator:
        return manual_seed(seed)

    def initial_seed(self) -> int:
        return initial_seed()

    def get_state(self) -> Any:
        return get_rng_state()

    def set_state(self, state: Any) -> None:
        set_rng_state(state)

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
