# SPDX-License-Identifier: Apache-2.0
"""Where a cell's text runs: the names it may use, and tensors of the same numbers."""

from __future__ import annotations

import itertools
import math
from functools import lru_cache

import numpy as np

POOL = 1 << 22


@lru_cache(None)
def _normal():
    return np.random.default_rng(0).standard_normal(POOL).astype(np.float32)


@lru_cache(None)
def _words():
    return np.random.default_rng(1).integers(0, 2**62, POOL)


def _taken(pool, start, shape):
    """So many numbers of a pool, from somewhere in it."""
    count = math.prod(shape)
    if start + count <= POOL:
        return pool[start : start + count].reshape(shape)
    return np.resize(pool[start:], count).reshape(shape)


def world(library, functional, ours):
    """The names for one library; tensors made in the same order are the same."""
    steps = itertools.count(0, 7919)

    def dtype(name):
        return getattr(library, name)

    def made(array, name):
        return library.tensor(array).to(dtype(name))

    def arr(name, *shape):
        start = next(steps) % (POOL // 4)
        if name.startswith(("float", "bfloat")):
            return made(_taken(_normal(), start, shape), name)
        high = 2 if name == "bool" else 100
        return made(_taken(_words(), start, shape) % high, name)

    def ints(high, *shape):
        return made(_taken(_words(), next(steps) % (POOL // 4), shape) % high, "int64")

    return {"T": library, "F": functional, "np": np, "arr": arr, "ints": ints,
            "ours": ours}  # fmt: skip
