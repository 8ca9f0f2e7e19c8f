# SPDX-License-Identifier: Apache-2.0
"""pybind11 demo doc"""

from __future__ import annotations

from .. import ops
from .._binding import core
from ._numbers import Number, as_double


def add(a: Number, b: Number) -> float:
    """add(a: float, b: float) -> float

    Adds two doubles; TypeError for what is not a number.
    """
    signature = "pydemo.add(a: float, b: float)"
    a, b = as_double(signature, "a", a), as_double(signature, "b", b)
    total: float = ops.add(core.tensor(a, dtype=core.float64), b).item()
    return total
