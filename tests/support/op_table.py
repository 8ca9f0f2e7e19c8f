# SPDX-License-Identifier: Apache-2.0
"""One row per op: its NumPy counterpart and the inputs it is tested on.

ELEMENTWISE holds the ops of one or two tensors and nothing else; CASES, assembled here
from op_cases*.py, holds a row for every op, those included.  tests/ops/test_op_table.py
checks values, dtypes, layouts, empty inputs, the Meta device and gradients of first and
second order from these rows, and that no registered op is missing.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

import op_cases
import op_cases_nn
import op_cases_shape
from op_case import Case, floats


@dataclass(frozen=True)
class Row:
    """An elementwise op and its reference."""

    name: str
    reference: Callable
    arity: int = 1
    domain: tuple[float, float] = (-3.0, 3.0)
    dtypes: tuple[str, ...] = ("float32", "float64")
    rtol: float = 2e-6
    differentiable: bool = True


ANY = ("float32", "float64", "int32", "int64", "uint8", "int8")
INTS = ("int32", "int64", "uint8", "int8", "bool")


_erf = np.vectorize(math.erf, otypes=[np.float64])


def _gelu(x):
    return x * 0.5 * (1 + _erf(x / np.sqrt(2)))


def _elu(x, alpha):
    return np.where(x > 0, x, alpha * np.expm1(np.minimum(x, 0)))


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
    Row("erf", _erf),
    Row("gelu", _gelu, rtol=1e-5),
    Row("floor", np.floor),
    Row("ceil", np.ceil),
    Row("round", np.round),
    Row("isnan", np.isnan, dtypes=ANY, differentiable=False),
    Row("isinf", np.isinf, differentiable=False),
    Row("isfinite", np.isfinite, differentiable=False),
    Row("logical_not", np.logical_not, dtypes=ANY, differentiable=False),
    Row("exp2", np.exp2, domain=(-20, 20)),
    Row("log10", np.log10, domain=(1e-6, 100)),
    Row("erfc", lambda x: 1 - _erf(x), domain=(-2, 0.5)),
    Row("tan", np.tan, domain=(-1.4, 1.4)),
    Row("asin", np.arcsin, domain=(-0.95, 0.95)),
    Row("acos", np.arccos, domain=(-0.95, 0.95)),
    Row("atan", np.arctan),
    Row("sinh", np.sinh),
    Row("cosh", np.cosh),
    Row("asinh", np.arcsinh),
    Row("acosh", np.arccosh, domain=(1.1, 20)),
    Row("atanh", np.arctanh, domain=(-0.95, 0.95)),
    Row("deg2rad", np.deg2rad, domain=(-180, 180)),
    Row("rad2deg", np.rad2deg),
    Row("trunc", np.trunc),
    Row("fix", np.fix),
    Row("frac", lambda x: x - np.trunc(x)),
    Row("relu6", lambda x: np.clip(x, 0, 6), domain=(-3, 9)),
    Row("selu", lambda x: 1.0507009873554805 * _elu(x, 1.6732632423543772)),
    Row("mish", lambda x: x * np.tanh(np.log1p(np.exp(x))), rtol=1e-5),
    Row("logsigmoid", lambda x: -np.logaddexp(0, -x), rtol=1e-5),
    Row("hardsigmoid", lambda x: np.clip(x + 3, 0, 6) / 6, domain=(-5, 5)),
    Row("hardswish", lambda x: x * np.clip(x + 3, 0, 6) / 6, domain=(-5, 5)),
    Row("softsign", lambda x: x / (1 + np.abs(x))),
    Row("bitwise_not", np.invert, dtypes=INTS, differentiable=False),
    Row("fmod", np.fmod, 2, domain=(1, 9), dtypes=ANY),
    Row("atan2", np.arctan2, 2),
    Row("hypot", np.hypot, 2),
    Row("xlogy", lambda x, y: x * np.log(y), 2, domain=(0.1, 9)),
    Row("logaddexp", np.logaddexp, 2, rtol=1e-5),
    Row("clamp_min", np.maximum, 2, dtypes=ANY),
    Row("clamp_max", np.minimum, 2, dtypes=ANY),
    Row("bitwise_left_shift", np.left_shift, 2, (0, 6), INTS[:-1],
        differentiable=False),
    Row("bitwise_right_shift", np.right_shift, 2, (0, 6), INTS[:-1],
        differentiable=False),
    Row("add", np.add, 2, dtypes=ANY),
    Row("sub", np.subtract, 2, dtypes=ANY),
    Row("mul", np.multiply, 2, dtypes=ANY),
    Row("div", np.divide, 2, domain=(1, 9)),
    Row("floor_divide", np.floor_divide, 2, domain=(1, 9), dtypes=ANY),
    Row("remainder", np.mod, 2, domain=(1, 9), dtypes=ANY),
    Row("pow", np.power, 2, domain=(1, 3), dtypes=ANY),
    Row("maximum", np.maximum, 2, dtypes=ANY),
    Row("minimum", np.minimum, 2, dtypes=ANY),
    Row("eq", np.equal, 2, dtypes=ANY, differentiable=False),
    Row("ne", np.not_equal, 2, dtypes=ANY, differentiable=False),
    Row("lt", np.less, 2, dtypes=ANY, differentiable=False),
    Row("le", np.less_equal, 2, dtypes=ANY, differentiable=False),
    Row("gt", np.greater, 2, dtypes=ANY, differentiable=False),
    Row("ge", np.greater_equal, 2, dtypes=ANY, differentiable=False),
    Row("logical_and", np.logical_and, 2, dtypes=ANY, differentiable=False),
    Row("logical_or", np.logical_or, 2, dtypes=ANY, differentiable=False),
    Row("logical_xor", np.logical_xor, 2, dtypes=ANY, differentiable=False),
    Row("bitwise_and", np.bitwise_and, 2, dtypes=INTS, differentiable=False),
    Row("bitwise_or", np.bitwise_or, 2, dtypes=INTS, differentiable=False),
    Row("bitwise_xor", np.bitwise_xor, 2, dtypes=INTS, differentiable=False),
]


def _case(row):
    """An elementwise row as a row of the big table, for what all ops have in common."""
    low, high = max(row.domain[0], -4), min(row.domain[1], 4)
    kind = floats if "float64" in row.dtypes else op_cases.integers
    if kind is floats:
        shapes = [(3, 4), (4,)][: row.arity]
        inputs = [kind(*shape, low=low, high=high) for shape in shapes]
    else:
        inputs = [kind(*shape, low=0, high=6) for shape in [(3, 4), (4,)][: row.arity]]
    return Case(
        row.name,
        lambda lib, *xs: getattr(lib, row.name)(*xs),
        row.reference,
        inputs,
        differentiable=row.differentiable,
    )


CASES = [_case(row) for row in ELEMENTWISE]
CASES += op_cases.CASES + op_cases_shape.CASES + op_cases_nn.CASES

#: Derived inputs (ops/test_op_table.py) on which a row's reference is no judge: why,
#: and which of them.
_LEFT_OUT = {
    "0 * log(0) is 0, and log() of 0 is cut at -100, where NumPy has nan": (
        "xlogy: int32 int8 uint8 bool; binary_cross_entropy: int32 int8 uint8 bool; "
        "kl_div: int32 int8 uint8"
    ),
    "differences and negative limits wrap in unsigned types, as in PyTorch": (
        "clamp-numbers: uint8; clip: uint8; hardtanh: uint8; "
        "l1_loss: uint8; "
        "nll_loss-weights: uint8; margin_ranking_loss: uint8; kl_div-log target: uint8"
    ),
    "bools have no sign and no value but True to pad with": (
        "diff: bool; constant_pad_nd: bool"
    ),
    "the reference is for the row's number of dimensions or classes": (
        "min-dim: 0-d; cumsum-bool: 0-d; cumprod-columns: 0-d; argsort: 0-d; dot: 0-d; "
        "vdot: 0-d; outer: 0-d; ger: 0-d; addr: 0-d; einsum-int: 0-d; kl_div: rows "
        "0-d; nll_loss-weights: rows; layer_norm: columns; rms_norm: columns; "
        "einsum-ii->i: rows"
    ),
    "the attributes ask for more than an empty dimension has": (
        "topk: columns; topk-smallest: rows; split-sizes: columns; "
        "constant_pad_nd-cut: columns"
    ),
    "an empty maximum is an error to PyTorch, 0 to NumPy": (
        "linalg_vector_norm-inf: columns"
    ),
    "eps keeps an empty norm from being divided by": "cosine_similarity: columns",
    "NumPy's types: a quotient of integers is float, an empty count is int": (
        "div-trunc: int32 int8 uint8; bincount-weights: rows columns"
    ),
    "a float given as value must fit the tensor's type": (
        "masked_fill: int32 int8 uint8 bool"
    ),
    "a float beside integers loses its fraction, as in PyTorch": (
        "addcmul: int32 int8 uint8; addmm: int32 int8 uint8; baddbmm: int32 int8 uint8"
    ),
    "the row asks for float64": "to-itself: int32 int8 uint8 bool",
    "of equal elements another one may be chosen": "topk-smallest: bool",
}
LEFT_OUT = {
    (name, variant): reason
    for reason, rows in _LEFT_OUT.items()
    for name, variants in (row.split(": ") for row in rows.split("; "))
    for variant in variants.split()
}
