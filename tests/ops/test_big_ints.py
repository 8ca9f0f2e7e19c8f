# SPDX-License-Identifier: Apache-2.0
"""Ints that no dtype holds: the error names who wanted one, and which."""

import operator
import re

import numpy as np
import pytest

import pkg

BIG = [2**63, -(2**63) - 1, 2**200]
X = pkg.arange(4)
CALLS = {
    "[add] expected an int of 64 bits for 'other', got {}": [
        lambda n: X + n,
        lambda n: n + X,
        lambda n: X.add(n),
        lambda n: pkg.add(X, other=n),
        lambda n: pkg.ones(2).half() + n,
    ],
    "[add] expected an int of 64 bits for 'alpha', got {}": [
        lambda n: X.add(1, alpha=n),
    ],
    "[mul_] expected an int of 64 bits for 'other', got {}": [
        lambda n: operator.imul(pkg.arange(4), n),
        lambda n: pkg.arange(4).mul_(n),
    ],
    "[eq] expected an int of 64 bits for 'other', got {}": [lambda n: X == n],
    "[reshape] expected an int of 64 bits for 'shape', got {}": [
        lambda n: X.reshape(n),
        lambda n: X.reshape(2, n),
        lambda n: X.reshape([n]),
    ],
    "[sum] expected an int of 64 bits for 'dim', got {}": [
        lambda n: X.sum(n),
        lambda n: X.sum(axis=(0, n)),
    ],
    "[tensor] expected an int of 64 bits for 'data', got {}": [
        lambda n: pkg.tensor(n),
        lambda n: pkg.tensor([[1, n]]),
        lambda n: pkg.asarray([n]),
    ],
    "[__setitem__] expected an int of 64 bits for 'value', got {}": [
        lambda n: operator.setitem(pkg.arange(4), 0, n),
        lambda n: operator.setitem(pkg.arange(4), slice(2), [1, n]),
    ],
    "[index] expected an int of 64 bits for 'key', got {}": [lambda n: X[[0, n]]],
}


@pytest.mark.parametrize("text", CALLS)
@pytest.mark.parametrize("number", BIG)
def test_an_int_that_is_too_big_is_named(text, number):
    """With function and parameter, as every wrong argument."""
    for call in CALLS[text]:
        with pytest.raises(OverflowError, match=f"^{re.escape(text.format(number))}$"):
            call(number)


def test_numbers_that_python_does_not_write():
    """More than 4,300 digits."""
    with pytest.raises(OverflowError, match="for 'other', got a larger one"):
        X + 10**5000


def test_numbers_that_fit():
    """The ends of the range, and NumPy's."""
    for number in (2**63 - 1, -(2**63)):
        assert pkg.tensor([number]).item() == (X * 0 + number)[0].item() == number
    with pytest.raises(OverflowError):
        X + np.uint64(2**63)
    with pytest.raises((OverflowError, TypeError)):
        X.size(2**70)


def test_a_float_parameter_takes_ints_of_any_length():
    """A double has a value near each of them, up to its largest."""
    x = pkg.tensor([np.nan, np.inf, 1.0])
    filled = x.nan_to_num(2**64, posinf=-(2**65))
    assert filled.tolist() == [2.0**64, -(2.0**65), 1.0]
    assert pkg.nn.functional.smooth_l1_loss(x[2:], x[2:] + 1, beta=2**70).item() < 1e-9
    assert pkg.isclose(x[2:], x[2:] + 1, atol=2**64).all()
    assert x.nan_to_num(np.uint64(2**63 + 2048))[0].item() == 2**63
    with pytest.raises(OverflowError, match="int too large to convert to float"):
        x.nan_to_num(10**400)
