# SPDX-License-Identifier: Apache-2.0
"""The default random stream: seeds and states.

It is Philox 4x32-10 (Salmon et al. 2011): a seed and a counter, so results depend
neither on the number of threads nor on how work is scheduled.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ._binding import core
from .tensor import Tensor

if TYPE_CHECKING:
    from .generator import Generator

__all__ = [
    "fork_rng",
    "get_rng_state",
    "initial_seed",
    "manual_seed",
    "seed",
    "set_rng_state",
]


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


def _signed(bits: int) -> int:
    # The binding's 64-bit integers have a sign.
    return bits - 2**64 if bits >= 2**63 else bits


def manual_seed(seed: int) -> Generator:
    """Restart the stream from a seed; return ``pkg.default_generator``.

    Negative seeds are taken modulo 2**64.  TypeError for what is no whole number,
    OverflowError below -2**63 and from 2**64 on.
    """
    core.manual_seed(_signed(checked_seed(seed)))
    from .generator import default_generator

    return default_generator


def initial_seed() -> int:
    """The seed that the stream began with, from 0 to 2**64 - 1."""
    return core.initial_seed() % 2**64


def seed() -> int:
    """Restart the stream from a seed of the system, which is returned."""
    import os

    fresh = int.from_bytes(os.urandom(7), "little")
    manual_seed(fresh)
    return fresh


def get_rng_state() -> Tensor:
    """Where the stream stands: an int64 Tensor (seed, position)."""
    return core.tensor([core.initial_seed(), core.random_position()])


def set_rng_state(state: Tensor) -> None:
    """Go back to a state of ``get_rng_state``."""
    values = state.tolist()
    if not isinstance(values, list) or len(values) != 2:
        raise ValueError(
            f"[set_rng_state] expected a Tensor of get_rng_state(), got shape "
            f"{tuple(state.shape)} (state)."
        )
    core.set_random_state(*values)


@contextmanager
def fork_rng() -> Iterator[None]:
    """Context manager: random numbers drawn inside do not change those after it."""
    state = get_rng_state()
    try:
        yield
    finally:
        set_rng_state(state)
