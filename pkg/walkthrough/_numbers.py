# SPDX-License-Identifier: Apache-2.0
"""What counts as a number at the border of the walkthrough modules.

| given                                     | taken as                             |
|-------------------------------------------|--------------------------------------|
| int, bool, NumPy integers, `__index__`    | its exact double, else OverflowError |
| float, Fraction, Decimal, `__float__`     | float(x)                             |
| str, bytes, complex, arrays of any length | TypeError                            |
"""

from __future__ import annotations

import operator
from typing import Any, SupportsFloat, SupportsIndex

Number = SupportsFloat | SupportsIndex

_NOT_NUMBERS = (str, bytes, bytearray, memoryview, complex)


def as_double(function: str, name: str, value: Any) -> float:
    """The float64 value of a Python or NumPy number.

    TypeError for anything else; OverflowError for an integer without exact double.
    """
    if type(value) is float:
        return value
    if not isinstance(value, _NOT_NUMBERS) and getattr(value, "ndim", 0) == 0:
        if hasattr(value, "__index__"):
            try:
                return _exact(function, name, operator.index(value))
            except TypeError:  # a 0-d array of floats
                pass
        if hasattr(value, "__float__"):
            return float(value)
    kind = type(value).__name__
    raise TypeError(
        f"[{function}] expected a number, got {kind} ({name}={value!r:.50})."
    )


def _exact(function: str, name: str, value: int) -> float:
    try:
        double = float(value)
        if int(double) == value:
            return double
    except OverflowError:
        pass
    raise OverflowError(
        f"[{function}] expected an integer that float64 holds exactly, got "
        f"{str(value)[:50]} ({name}). Hint: pass a float to round it."
    )


def as_int32(function: str, name: str, value: Any) -> int:
    """A C int: TypeError for what is not an integer, OverflowError beyond 32 bits."""
    try:
        number = operator.index(value)
    except TypeError:
        kind = type(value).__name__
        raise TypeError(
            f"[{function}] expected an int, got {kind} ({name}={value!r:.50})."
        ) from None
    return check_int32(function, name, number)


def check_int32(function: str, name: str, number: int) -> int:
    """The number itself if it fits a C int, else OverflowError."""
    if -(2**31) <= number < 2**31:
        return number
    raise OverflowError(f"[{function}] expected a 32-bit int, got {number} ({name}).")
