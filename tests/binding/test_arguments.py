# SPDX-License-Identifier: Apache-2.0
"""Plain arguments of the functions that SWIG wraps (swig/types.i).

What is taken, and the one text for what is not.
"""

from __future__ import annotations

import os
import re

import pytest

from pkg._binding import core

pytestmark = pytest.mark.skipif(
    bool(os.environ.get("PKG_BINDING")),
    reason="the texts are those of the SWIG binding's typemaps",
)


@pytest.mark.parametrize("threads", ["1", 1.0, None, [1]])
def test_a_wrong_int_names_function_and_parameter(threads: object) -> None:
    got = type(threads).__name__
    text = f"[set_num_threads] expected an int for 'n', got {got}"
    with pytest.raises(TypeError, match=f"^{re.escape(text)}$"):
        core.set_num_threads(threads)


@pytest.mark.parametrize("threads", [2**31, -(2**31) - 1, 2**64, -(2**200)])
def test_an_int_out_of_range_is_refused(threads: int) -> None:
    before = core.num_threads()
    text = f"[set_num_threads] expected an int of 32 bits for 'n', got {threads}"
    with pytest.raises(OverflowError, match=re.escape(text)):
        core.set_num_threads(threads)
    assert core.num_threads() == before


def test_a_wrong_float_names_function_and_parameter() -> None:
    text = "[quiesce] expected a number for 'seconds', got str"
    with pytest.raises(TypeError, match=re.escape(text)):
        core.quiesce(seconds="1")


def test_a_conversions_own_error_stays() -> None:
    class Odd:
        def __index__(self) -> int:
            raise KeyError("mine")

        def __float__(self) -> float:
            raise ZeroDivisionError

        def __bool__(self) -> bool:
            raise LookupError

    with pytest.raises(KeyError, match="mine"):
        core.manual_seed(Odd())
    with pytest.raises(ZeroDivisionError):
        core.quiesce(Odd())
    with pytest.raises(LookupError):
        core.set_async(Odd())


def test_numpy_scalars_are_numbers() -> None:
    np = pytest.importorskip("numpy")
    core.set_num_threads(np.int64(core.num_threads()))
    assert core.quiesce(np.float32(1.0)) in (True, False)
