# SPDX-License-Identifier: Apache-2.0
"""NumPy's checks of arrays, which mostly find that all is well: the suite makes some
hundred thousand, and what they do before they compare takes most of their time.

What is equal, or close by NumPy's own rule, is passed here; everything else is asked of
NumPy, which decides and writes the message.
"""

from __future__ import annotations

from math import isfinite
from typing import Any

import numpy as np

_equal, _close = np.testing.assert_array_equal, np.testing.assert_allclose


def _numbers(*values: Any) -> list[np.ndarray] | None:
    """As arrays of one shape; None for all that NumPy has rules of its own for."""
    arrays = [np.asanyarray(value) for value in values]
    plain = all(type(a) is np.ndarray and a.dtype.kind in "biuf" for a in arrays)
    return arrays if plain and arrays[0].shape == arrays[1].shape else None


def assert_array_equal(actual: Any, desired: Any, *more: Any, **options: Any) -> None:
    __tracebackhide__ = True
    known = not more and options.keys() <= {"err_msg", "verbose"}
    found = _numbers(actual, desired) if known else None
    if found is None or not (found[0] == found[1]).all():
        _equal(actual, desired, *more, **options)


def assert_allclose(
    actual: Any,
    desired: Any,
    rtol: Any = 1e-7,
    atol: Any = 0,
    *more: Any,
    **options: Any,
) -> None:
    __tracebackhide__ = True
    known = not more and options.keys() <= {"equal_nan", "err_msg", "verbose"}
    found = _numbers(actual, desired) if known else None
    if found is None or not _are_close(*found, rtol, atol):
        _close(actual, desired, rtol, atol, *more, **options)


def _are_close(x: np.ndarray, y: np.ndarray, *limits: Any) -> bool:
    """Whether they are by the formula of np.isclose, all of them finite."""
    if not all(type(limit) in (int, float) and isfinite(limit) for limit in limits):
        return False
    rtol, atol = limits
    if (x == y).all():
        return True
    y = y.astype(np.result_type(y, 1.0), copy=False)
    with np.errstate(all="ignore"):
        near = np.abs(x - y) <= atol + rtol * np.abs(y)
    return bool(near.all() and np.isfinite(x).all() and np.isfinite(y).all())


def install() -> None:
    """For all tests, which call them as NumPy's."""
    np.testing.assert_array_equal = assert_array_equal
    np.testing.assert_allclose = assert_allclose
