# SPDX-License-Identifier: Apache-2.0
"""NumPy's spelling of ops, for the cells that it has a counterpart of."""

from __future__ import annotations

import numpy as np

RENAMED = {
    "asin": "arcsin", "acos": "arccos", "atan": "arctan", "asinh": "arcsinh",
    "acosh": "arccosh", "atanh": "arctanh", "atan2": "arctan2", "neg": "negative",
    "sub": "subtract", "mul": "multiply", "div": "divide", "eq": "equal",
    "ne": "not_equal", "lt": "less", "le": "less_equal", "gt": "greater",
    "ge": "greater_equal", "bitwise_not": "invert", "bitwise_left_shift": "left_shift",
    "bitwise_right_shift": "right_shift", "clamp_min": "maximum",
    "clamp_max": "minimum",
}  # fmt: skip


def numpy_call(made, words):
    """The call for NumPy, or nothing."""
    if not made.numpy:
        return ""
    name = RENAMED.get(words["op"], words["op"])
    if "{np}" in made.numpy and not hasattr(np, name):
        return ""
    return made.numpy.format(np=name, **words)
