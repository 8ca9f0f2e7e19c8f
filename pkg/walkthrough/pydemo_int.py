# SPDX-License-Identifier: Apache-2.0
"""pybind11 demo doc: the variant that registers a lambda of two C ints."""

from __future__ import annotations

from typing import SupportsIndex

from .. import ops
from .._binding import core
from ._numbers import as_int32, check_int32


def add(a: SupportsIndex, b: SupportsIndex) -> int:
    """add(a: int, b: int) -> int

    Adds two 32-bit integers; TypeError for a float, OverflowError beyond 32 bits.
    """
    signature = "pydemo_int.add(a: int, b: int)"
    a, b = as_int32(signature, "a", a), as_int32(signature, "b", b)
    total = ops.add(core.tensor(a, dtype=core.int64), b).item()
    return check_int32(signature, "result", total)
