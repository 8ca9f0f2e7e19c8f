// SPDX-License-Identifier: Apache-2.0
// compat/torch/style/names.h: ops that are both methods and functions, by the arguments that
// they take; F(name) for each.
#pragma once

// clang-format off: these are lists.
/// Of one tensor.
#define PKG_TORCH_UNARY(F)                                                                \
  F(abs) F(neg) F(exp) F(expm1) F(log) F(log1p) F(log2) F(log10) F(sqrt) F(rsqrt)         \
  F(square) F(reciprocal) F(sin) F(cos) F(tan) F(asin) F(acos) F(atan) F(sinh) F(cosh)    \
  F(tanh) F(sigmoid) F(relu) F(erf) F(sign) F(floor) F(ceil) F(round) F(trunc) F(isnan)   \
  F(isinf) F(isfinite) F(logical_not) F(bitwise_not) F(nonzero) F(erfc) F(exp2) F(trace)
/// The same in place.
#define PKG_TORCH_UNARY_IN_PLACE(F) \
  F(exp_) F(tanh_) F(sigmoid_) F(relu_) F(sqrt_) F(neg_) F(abs_) F(zero_) F(log_) F(sin_) \
  F(cos_) F(rsqrt_) F(reciprocal_) F(square_) F(floor_) F(ceil_) F(round_) F(trunc_)      \
  F(sign_) F(erf_)
/// Of two operands, of which one may be a number.  add and sub have an alpha besides.
#define PKG_TORCH_BINARY(F)                                                          \
  F(mul) F(div) F(pow) F(remainder) F(floor_divide) F(maximum) F(minimum) F(eq) F(ne) \
  F(lt) F(le) F(gt) F(ge) F(bitwise_and) F(bitwise_or) F(bitwise_xor)
/// In place, with an operand that may be a number.
#define PKG_TORCH_BINARY_IN_PLACE(F) F(mul_) F(div_) F(pow_)
