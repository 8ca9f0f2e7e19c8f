# SPDX-License-Identifier: Apache-2.0
"""pydemo and pydemo_int: functions of two numbers."""

import numpy as np
import pytest

from pkg.walkthrough import pydemo, pydemo_int


def test_pydemo_adds_doubles():
    assert pydemo.add(0.1, 0.2) == 0.30000000000000004
    assert pydemo.add(a=1, b=2) == 3.0
    assert type(pydemo.add(1, 2)) is float
    wrong_kind = r"add\(a: float, b: float\).*got str \(a='1'\)"
    with pytest.raises(TypeError, match=wrong_kind):
        pydemo.add("1", 2)
    for wrong in [(1,), (1, 2, 3)]:
        with pytest.raises(TypeError, match="argument"):
            pydemo.add(*wrong)


def test_pydemo_int_adds_c_ints():
    assert pydemo_int.add(1, 2) == 3
    assert type(pydemo_int.add(1, 2)) is int
    assert pydemo_int.add(np.int8(100), 100) == 200
    with pytest.raises(TypeError, match="got float"):
        pydemo_int.add(1.5, 2)
    for big in [(2**31, 0), (2**31 - 1, 1), (-(2**31), -1), (0, 10**30)]:
        with pytest.raises(OverflowError, match="32-bit"):
            pydemo_int.add(*big)
