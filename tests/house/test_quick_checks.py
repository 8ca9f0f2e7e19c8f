# SPDX-License-Identifier: Apache-2.0
"""The suite's quick checks of arrays pass nothing that NumPy's refuse."""

import itertools

import numpy as np
import pytest

import quick_checks

VALUES = [
    np.array([np.inf]),
    np.array([-np.inf]),
    np.array([np.nan]),
    np.array([1.0]),
    np.array([1e38], "f4"),
    np.array([6e4], "f2"),
    np.array([2**63 - 1]),
    np.array([2**63], "u8"),
    np.array([250], "u1"),
    np.array([5], "u1"),
    np.array([True]),
    1.0,
    np.array([]),
    np.array([1.0, 2.0, 3.0]),
    np.ma.array([1.0, 2.0], mask=[0, 1]),
    np.array([1, "a"], object),
]
LIMITS = [0, 1e-2, 1, -1, np.inf, np.nan, None, np.array([1e-3])]
OPTIONS = [{}, {"equal_nan": False}, {"strict": True}, {"err_msg": "x"}, {"foo": 1}]


def verdict(check, *args, **options):
    """The error's class and text; None where the check passes."""
    try:
        check(*args, **options)
    except Exception as error:
        return type(error), str(error)
    return None


@pytest.mark.filterwarnings("ignore:One of rtol or atol")
@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_they_agree_with_numpy(options):
    """Whatever the values, tolerances and options are."""
    refused = 0
    for a, b in itertools.product(VALUES, VALUES):
        equal = verdict(quick_checks._equal, a, b, **options)
        assert verdict(quick_checks.assert_array_equal, a, b, **options) == equal
        for rtol, atol in itertools.product(LIMITS, (0, 1, np.inf)):
            close = verdict(quick_checks._close, a, b, rtol, atol, **options)
            quick = verdict(quick_checks.assert_allclose, a, b, rtol, atol, **options)
            assert quick == close, (a, b, rtol, atol)
            refused += close is not None
    assert refused
