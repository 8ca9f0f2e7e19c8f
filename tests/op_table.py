# SPDX-License-Identifier: Apache-2.0
"""One row per op: its NumPy counterpart and the inputs it is tested on.

tests/test_ops.py checks values, dtypes, broadcasting, layouts and empty inputs from
these rows, and that no registered op is missing here.
"""

from dataclasses import dataclass
from typing import Callable, Tuple

import numpy as np


@dataclass(frozen=True)
class Row:
    """An elementwise op and its reference."""

    name: str
    reference: Callable
    arity: int = 1
    domain: Tuple[float, float] = (-3.0, 3.0)
    dtypes: Tuple[str, ...] = ("float32", "float64")
    rtol: float = 2e-6


ANY = ("float32", "float64", "int32", "int64", "uint8", "int8")
INTS = ("int32", "int64", "uint8", "int8", "bool")


def _gelu(x):
    from math import erf

    return x * 0.5 * (1 + np.vectorize(erf, otypes=[np.float64])(x / np.sqrt(2)))


def _sigmoid(x):
    return 1 / (1 + np.exp(-x))


ELEMENTWISE = [
    Row("neg", np.negative, dtypes=("float32", "float64", "int32", "int64")),
    Row("abs", np.abs, dtypes=ANY),
    Row("sign", np.sign, dtypes=ANY),
    Row("square", np.square, domain=(-3, 3), dtypes=ANY),
    Row("exp", np.exp, domain=(-80, 80)),
    Row("expm1", np.expm1),
    Row("log", np.log, domain=(1e-6, 100)),
    Row("log2", np.log2, domain=(1e-6, 100)),
    Row("log1p", np.log1p, domain=(-0.9, 100)),
    Row("sqrt", np.sqrt, domain=(0, 100)),
    Row("rsqrt", lambda x: 1 / np.sqrt(x), domain=(0.1, 100)),
    Row("reciprocal", lambda x: 1 / x, domain=(0.1, 10)),
    Row("sin", np.sin),
    Row("cos", np.cos),
    Row("tanh", np.tanh, domain=(-12, 12)),
    Row("sigmoid", _sigmoid, domain=(-20, 20)),
    Row("relu", lambda x: np.maximum(x, 0), dtypes=ANY),
    Row("silu", lambda x: x * _sigmoid(x)),
    Row("erf", lambda x: _gelu(x * np.sqrt(2)) / x * np.sqrt(2) - 1, domain=(0.1, 3)),
    Row("gelu", _gelu, rtol=1e-5),
    Row("floor", np.floor),
    Row("ceil", np.ceil),
    Row("round", np.round),
    Row("isnan", np.isnan, dtypes=ANY),
    Row("isinf", np.isinf),
    Row("isfinite", np.isfinite),
    Row("logical_not", np.logical_not, dtypes=ANY),
    Row("add", np.add, 2, dtypes=ANY),
    Row("sub", np.subtract, 2, dtypes=ANY),
    Row("mul", np.multiply, 2, dtypes=ANY),
    Row("div", np.divide, 2, domain=(1, 9)),
    Row("floor_divide", np.floor_divide, 2, domain=(1, 9), dtypes=ANY),
    Row("remainder", np.mod, 2, domain=(1, 9), dtypes=ANY),
    Row("pow", np.power, 2, domain=(1, 3), dtypes=ANY),
    Row("maximum", np.maximum, 2, dtypes=ANY),
    Row("minimum", np.minimum, 2, dtypes=ANY),
    Row("eq", np.equal, 2, dtypes=ANY),
    Row("ne", np.not_equal, 2, dtypes=ANY),
    Row("lt", np.less, 2, dtypes=ANY),
    Row("le", np.less_equal, 2, dtypes=ANY),
    Row("gt", np.greater, 2, dtypes=ANY),
    Row("ge", np.greater_equal, 2, dtypes=ANY),
    Row("logical_and", np.logical_and, 2, dtypes=ANY),
    Row("logical_or", np.logical_or, 2, dtypes=ANY),
    Row("logical_xor", np.logical_xor, 2, dtypes=ANY),
    Row("bitwise_and", np.bitwise_and, 2, dtypes=INTS),
    Row("bitwise_or", np.bitwise_or, 2, dtypes=INTS),
    Row("bitwise_xor", np.bitwise_xor, 2, dtypes=INTS),
]
