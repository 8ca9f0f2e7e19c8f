# SPDX-License-Identifier: Apache-2.0
"""pydemo and pydemo_int: functions of two numbers."""

import numpy as np
import pytest
import stages


def test_pydemo_adds_doubles(binding):
    pydemo = stages.load("pydemo", binding)
    assert pydemo.add(0.1, 0.2) == 0.30000000000000004
    assert pydemo.add(a=1, b=2) == 3.0
    assert type(pydemo.add(1, 2)) is float
    with pytest.raises(TypeError):
        pydemo.add("1", 2)
    for wrong in [(1,), (1, 2, 3)]:
        with pytest.raises(TypeError, match="argument"):
            pydemo.add(*wrong)


def test_pydemo_int_adds_c_ints(binding):
    pydemo_int = stages.load("pydemo_int", binding)
    assert pydemo_int.add(1, 2) == 3
    assert type(pydemo_int.add(1, 2)) is int
    assert pydemo_int.add(np.int8(100), 100) == 200
    with pytest.raises(TypeError):
        pydemo_int.add(1.5, 2)
    for big in [(2**31 - 1, 1), (-(2**31), -1)]:
        with pytest.raises(OverflowError, match="32-bit"):
            pydemo_int.add(*big)
    # pybind11 says TypeError of what does not fit a C int.
    for big in [(2**31, 0), (0, 10**30)]:
        with pytest.raises((OverflowError, TypeError)):
            pydemo_int.add(*big)


def test_the_kit_says_which_argument():
    pydemo = stages.load("pydemo", "kit")
    with pytest.raises(TypeError, match=r"\[add\] expected a number for 'a', got str"):
        pydemo.add("1", 2)
    pydemo_int = stages.load("pydemo_int", "kit")
    with pytest.raises(OverflowError):
        pydemo_int.add(2**31, 0)
