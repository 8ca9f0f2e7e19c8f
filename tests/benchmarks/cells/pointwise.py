# SPDX-License-Identifier: Apache-2.0
"""Recipes: ops of single elements."""

from .recipe import ALL, FLOATS, INTS, NO_BOOL, SHORT, VECTOR, recipe

BOTH = {"numpy": "np.{np}(x)"}
TWO = {"numpy": "np.{np}(x, y)", "broadcasts": True}
FAMILY = "pointwise"

FREE = "exp expm1 sin cos tan atan sinh cosh asinh tanh sigmoid erf erfc exp2 deg2rad \
rad2deg"
BOUNDED = "asin acos atanh"
POSITIVE = "log log2 log1p log10 sqrt rsqrt reciprocal acosh"
ROUND = "floor ceil round trunc"
ANY = "neg abs sign square relu"
F_ONLY = "gelu silu relu6 mish logsigmoid hardsigmoid hardswish softsign"

UNARY = [
    recipe(FAMILY, FREE, "T.{op}(x)", "x:RC", grads="x", **BOTH),
    recipe(FAMILY, BOUNDED, "T.{op}(x)", "x:RC:unit", grads="x", **BOTH),
    recipe(FAMILY, POSITIVE, "T.{op}(x)", "x:RC:positive", grads="x", **BOTH),
    recipe(FAMILY, ROUND, "T.{op}(x)", "x:RC", dtypes=NO_BOOL, **BOTH),
    recipe(FAMILY, "fix frac", "T.{op}(x)", "x:RC", **BOTH),
    recipe(FAMILY, ANY, "T.{op}(x)", "x:RC", dtypes=NO_BOOL, grads="x", **BOTH),
    recipe(FAMILY, F_ONLY, "F.{base}(x)", "x:RC", grads="x"),
    recipe(FAMILY, "gelu", "F.gelu(x, approximate='tanh')", "x:RC", grads="x"),
    recipe(FAMILY, "selu celu", "T.{op}(x)", "x:RC", grads="x"),
    recipe(FAMILY, "elu", "F.elu(x, 0.7)", "x:RC", grads="x"),
    recipe(FAMILY, "leaky_relu", "F.leaky_relu(x, 0.1)", "x:RC", grads="x"),
    recipe(FAMILY, "hardtanh", "F.hardtanh(x, -1.0, 2.0)", "x:RC", grads="x"),
    recipe(FAMILY, "softplus", "F.softplus(x)", "x:RC", grads="x"),
    recipe(FAMILY, "threshold", "F.threshold(x, 0.5, 2.0)", "x:RC", grads="x"),
    recipe(FAMILY, "prelu", "F.prelu(x, w)", "x:RC w:C", grads="x w"),
    recipe(FAMILY, "glu", ("F.glu(x, 1)", "F.glu(x, 0)"), "x:RC", grads="x"),
    recipe(FAMILY, "isnan isinf isfinite", "T.{op}(x)", "x:RC", dtypes=NO_BOOL, **BOTH),
    recipe(FAMILY, "logical_not", "T.{op}(x)", "x:RC", dtypes=ALL, **BOTH),
    recipe(FAMILY, "bitwise_not", "T.{op}(x)", "x:RC", dtypes=(*INTS, "bool"), **BOTH),
    recipe(FAMILY, "nan_to_num", "T.nan_to_num(x)", "x:RC", dtypes=NO_BOOL, grads="x",
           **BOTH),
    recipe(FAMILY, "round.decimals", "T.round(x, decimals=2)", "x:RC"),
    recipe(FAMILY, "exp sin sigmoid tanh neg abs sqrt", "T.{op}(x)", "x:N:positive",
           dims=VECTOR, grads="x", **BOTH),
]  # fmt: skip

BINARY = [
    recipe(FAMILY, "add sub mul maximum minimum", "T.{op}(x, y)", "x:RC y:RC",
           dtypes=NO_BOOL, grads="x y", **TWO),
    recipe(FAMILY, "add mul maximum", "T.{op}(x, y)", "x:RC y:RC", dtypes=("bool",),
           **TWO),
    recipe(FAMILY, "add sub mul div", "T.{op}(x, y)", "x:N y:N:positive", dims=VECTOR,
           dtypes=NO_BOOL, grads="x y", **TWO),
    recipe(FAMILY, "add sub mul div", "T.{op}(x, y)", "x:ABC y:=C:positive",
           dims="A=4/25/100 B=8/20/100 C=16/200/400", grads="x y"),
    recipe(FAMILY, "add sub mul div", "T.{op}(x, y)", "x:ABC y:=BK:positive",
           dims="A=4/25/100 B=8/20/100 C=16/200/400 K=1", grads="x y"),
    recipe(FAMILY, "add mul maximum eq", "T.{op}(x, y)", "x:RC y:RC", dims=SHORT,
           dtypes=ALL, broadcasts=True),
    recipe(FAMILY, "add sub", "T.{op}(x, y, alpha=2)", "x:RC y:RC", dtypes=NO_BOOL,
           grads="x y"),
    recipe(FAMILY, "max.other min.other", "T.{op}(x, y)", "x:RC y:RC", dtypes=ALL,
           broadcasts=True),
    recipe(FAMILY, "div", "T.div(x, y)", "x:RC y:RC:positive", dtypes=NO_BOOL,
           grads="x y", **TWO),
    recipe(FAMILY, "div.rounded", ("T.div(x, y, rounding_mode='floor')",
                                   "T.div(x, y, rounding_mode='trunc')"),
           "x:RC y:RC:positive", dtypes=NO_BOOL),
    recipe(FAMILY, "fmod remainder floor_divide", "T.{op}(x, y)", "x:RC y:RC:positive",
           dtypes=NO_BOOL, **TWO),
    recipe(FAMILY, "fmod remainder floor_divide", "T.{op}(x, 3)", "x:RC",
           dtypes=NO_BOOL, numpy="np.{np}(x, 3)"),
    recipe(FAMILY, "atan2 hypot logaddexp", "T.{op}(x, y)", "x:RC y:RC", grads="x y",
           **TWO),
    recipe(FAMILY, "xlogy", "T.xlogy(x, y)", "x:RC y:RC:positive", grads="x y",
           broadcasts=True),
    recipe(FAMILY, "pow", "T.pow(x, y)", "x:RC:near y:RC:near", dtypes=NO_BOOL,
           grads="x y", broadcasts=True, numpy="np.power(x, y)"),
    recipe(FAMILY, "pow", ("T.pow(x, 2)", "T.pow(x, 3)", "T.pow(x, 2.5)",
                           "T.pow(x, 0.5)", "T.pow(2, x)"), "x:RC:near", grads="x"),
    recipe(FAMILY, "pow", "T.pow(x, 2)", "x:RC", dtypes=INTS, numpy="np.power(x, 2)"),
    recipe(FAMILY, "eq ne lt le gt ge", "T.{op}(x, y)", "x:RC y:RC", dtypes=ALL, **TWO),
    recipe(FAMILY, "eq ne lt le gt ge", "T.{op}(x, 1)", "x:RC", dtypes=ALL,
           numpy="np.{np}(x, 1)"),
    recipe(FAMILY, "logical_and logical_or logical_xor", "T.{op}(x, y)", "x:RC y:RC",
           dtypes=ALL, **TWO),
    recipe(FAMILY, "bitwise_and bitwise_or bitwise_xor", "T.{op}(x, y)", "x:RC y:RC",
           dtypes=(*INTS, "bool"), **TWO),
    recipe(FAMILY, "bitwise_left_shift bitwise_right_shift", "T.{op}(x, y)",
           "x:RC y:RC:7", dtypes=INTS, **TWO),
    recipe(FAMILY, "bitwise_left_shift bitwise_right_shift", "T.{op}(x, 2)", "x:RC",
           dtypes=INTS),
    recipe(FAMILY, "add sub mul div", "T.{op}(x, 3)", "x:RC", dtypes=NO_BOOL,
           grads="x", numpy="np.{np}(x, 3)"),
    recipe(FAMILY, "add sub mul div", "T.{op}(x, 1.5)", "x:RC", grads="x"),
    recipe(FAMILY, "sub div", "T.{op}(y, x)", "x:RC:positive y:=:positive", grads="x"),
    recipe("mixed dtypes", "add mul sub lt", "T.{op}(x, y)", "x:RC y:RC:normal:float32",
           dtypes=("float64", "int64", "bool", "float16"), broadcasts=True),
    recipe("mixed dtypes", "add mul div", "T.{op}(x, y)", "x:RC y:RC:positive:int64",
           dtypes=("float32", "float16", "int32", "uint8"), broadcasts=True),
]  # fmt: skip

MORE = [
    recipe(FAMILY, "lerp", "T.lerp(x, y, w)", "x:RC y:RC w:RC:unit", grads="x y",
           broadcasts=True),
    recipe(FAMILY, "lerp", "T.lerp(x, y, 0.3)", "x:RC y:RC", grads="x y"),
    recipe(FAMILY, "addcmul", "T.addcmul(x, y, z, value=2)", "x:RC y:RC z:RC",
           dtypes=NO_BOOL, grads="x y z", broadcasts=True),
    recipe(FAMILY, "addcdiv", "T.addcdiv(x, y, z, value=0.5)",
           "x:RC y:RC z:RC:positive",
           grads="x y z", broadcasts=True),
    recipe(FAMILY, "where", ("T.where(m, x, y)", "T.where(m, x, 0)"),
           "m:RC:mask x:RC y:RC", dtypes=ALL, grads="x", broadcasts=True,
           numpy="np.where(m, x, y)"),
    recipe(FAMILY, "masked_fill", "T.masked_fill(x, m, 1)", "x:RC m:RC:mask",
           dtypes=ALL,
           grads="x", broadcasts=True),
    recipe(FAMILY, "clamp clip", "T.{op}(x, 0, 1)", "x:RC", dtypes=NO_BOOL, grads="x",
           numpy="np.clip(x, 0, 1)"),
    recipe(FAMILY, "clamp clip", "T.{op}(x, y, z)", "x:RC y:RC:unit z:RC:positive",
           dtypes=NO_BOOL, grads="x y", broadcasts=True),
    recipe(FAMILY, "clamp_min clamp_max", "T.{op}(x, y)", "x:RC y:RC", dtypes=NO_BOOL,
           grads="x y", **TWO),
    recipe(FAMILY, "clamp_min clamp_max", "T.{op}(x, 1)", "x:RC", dtypes=NO_BOOL,
           grads="x", numpy="np.{np}(x, 1)"),
    recipe(FAMILY, "isclose", "T.isclose(x, y)", "x:RC y:RC", dtypes=NO_BOOL,
           broadcasts=True),
    recipe(FAMILY, "allclose equal", "T.{op}(x, y)", "x:RC y:RC",
           dtypes=NO_BOOL, setup="y = x.clone()"),
]  # fmt: skip

#: In place; the numbers are such that many calls in a row do not leave the range.
IN_PLACE_F = "elu_ leaky_relu_ mish_ silu_ hardsigmoid_ relu_"
WRITES = {"writes": True, "layouts": ("transposed", "stepped")}
IN_PLACE = [
    recipe("in place", "abs_ neg_ sign_ square_ acos_ acosh_ asin_ asinh_ atan_ atanh_ "
           "ceil_ cos_ cosh_ erf_ erfc_ exp_ exp2_ expm1_ floor_ log_ log10_ "
           "log1p_ log2_ nan_to_num_ reciprocal_ round_ rsqrt_ sigmoid_ sin_ sinh_ "
           "sqrt_ tan_ tanh_ trunc_", "x.{op}()", "x:RC:unit", **WRITES),
    recipe("in place", "abs_ neg_ sign_ square_ relu_", "x.{op}()", "x:RC",
           dtypes=INTS, **WRITES),
    recipe("in place", "round_.decimals", "x.round_(decimals=1)", "x:RC", **WRITES),
    recipe("in place", "hardtanh_", "x.hardtanh_()", "x:RC", torch="F.hardtanh_(x)",
           **WRITES),
    recipe("in place", IN_PLACE_F, "F.{base}(x, inplace=True)", "x:RC", **WRITES),
    recipe("in place", "add_ sub_", ("x.{op}(y)", "x.{op}(y, alpha=2)"), "x:RC y:RC",
           dtypes=NO_BOOL, broadcasts=True, **WRITES),
    recipe("in place", "add_ sub_ mul_", "x.{op}(1)", "x:RC", dtypes=NO_BOOL, **WRITES),
    recipe("in place", "mul_", "x.{op}(y)", "x:RC y:RC:signs", dtypes=NO_BOOL,
           broadcasts=True, **WRITES),
    recipe("in place", "div_ floor_divide_ remainder_ fmod_ pow_", "x.{op}(y)",
           "x:RC:positive y:RC:signs", broadcasts=True, **WRITES),
    recipe("in place", "div_", "x.{op}(1)", "x:RC", **WRITES),
    recipe("in place", "div_.rounded", "x.div_(y, rounding_mode='floor')",
           "x:RC:positive y:RC:signs", dtypes=NO_BOOL, **WRITES),
    recipe("in place", "floor_divide_ remainder_ fmod_", "x.{op}(3)", "x:RC",
           dtypes=INTS, **WRITES),
    recipe("in place", "atan2_ hypot_", "x.{op}(y)", "x:RC y:RC:unit", **WRITES),
    recipe("in place", "clamp_min_ clamp_max_", "x.{op}(y)", "x:RC y:RC",
           dtypes=NO_BOOL, broadcasts=True, **WRITES),
    recipe("in place", "clamp_ clip_", "x.{op}(0, 1)", "x:RC", dtypes=NO_BOOL,
           **WRITES),
    recipe("in place", "bitwise_and_ bitwise_or_ bitwise_xor_", "x.{op}(y)",
           "x:RC y:RC", dtypes=(*INTS, "bool"), broadcasts=True, **WRITES),
    recipe("in place", "bitwise_left_shift_ bitwise_right_shift_", "x.{op}(y)",
           "x:RC y:RC:7", dtypes=INTS, **WRITES),
    recipe("in place", "lerp_", "x.lerp_(y, 0.3)", "x:RC y:RC", **WRITES),
    recipe("in place", "addcmul_", "x.{op}(y, z, value=0.1)", "x:RC y:RC z:RC",
           **WRITES),
    recipe("in place", "addcdiv_", "x.{op}(y, z, value=0.1)", "x:RC y:RC z:RC:positive",
           **WRITES),
    recipe("in place", "masked_fill_", "x.masked_fill_(m, 1)", "x:RC m:RC:mask",
           dtypes=ALL, broadcasts=True, **WRITES),
    recipe("in place", "copy_", "x.copy_(y)", "x:RC y:RC", dtypes=ALL, broadcasts=True,
           **WRITES),
    recipe("conversions", "copy_", "x.copy_(y)", "x:RC y:RC:normal:float32",
           dtypes=("float16", "bfloat16", "float64", "int64", "uint8"), **WRITES),
    recipe("in place", "fill_", "x.fill_(3)", "x:RC", dtypes=ALL, **WRITES),
    recipe("in place", "zero_", "x.zero_()", "x:RC", dtypes=ALL, **WRITES),
]  # fmt: skip

TARGETS = (
    "float32",
    "float64",
    "float16",
    "bfloat16",
    "int64",
    "int32",
    "uint8",
    "bool",
)
CONVERSIONS = [
    recipe("conversions", "to", tuple(f"x.to(T.{d})" for d in TARGETS), "x:RC",
           dtypes=ALL),
    recipe("conversions", "to", "x.to(T.float64)", "x:RC", dtypes=FLOATS[:1],
           grads="x"),
    recipe("conversions", "to", "x.to(T.float16)", "x:RC", dtypes=FLOATS[:1],
           grads="x"),
    recipe("conversions", "to.device", "x.to('cpu', T.float16)", "x:RC"),
    recipe("conversions", "to.other", "x.to(y)", "x:RC y:=:normal:float64",
           dtypes=ALL),
    recipe("conversions", "float double half bfloat16 int long bool", "x.{op}()",
           "x:RC",
           dtypes=ALL),
]  # fmt: skip

RECIPES = UNARY + BINARY + MORE + IN_PLACE + CONVERSIONS
