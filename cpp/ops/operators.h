// SPDX-License-Identifier: Apache-2.0
// ops/operators.h: C++ operators on tensors, so that formulas read as mathematics.  They
// call the ops, with broadcasting, promotion and gradients.  There are no == and !=: eq()
// and ne() make clear that the result is a tensor.
#pragma once

#include "ops/functions.h"

namespace pkg {

inline Tensor operator+(const Tensor& a, const Tensor& b) { return ops::add(a, b); }
inline Tensor operator-(const Tensor& a, const Tensor& b) { return ops::sub(a, b); }
inline Tensor operator*(const Tensor& a, const Tensor& b) { return ops::mul(a, b); }
inline Tensor operator/(const Tensor& a, const Tensor& b) { return ops::div(a, b); }
inline Tensor operator-(const Tensor& a) { return ops::neg(a); }
inline Tensor operator<(const Tensor& a, const Tensor& b) { return ops::lt(a, b); }
inline Tensor operator<=(const Tensor& a, const Tensor& b) { return ops::le(a, b); }
inline Tensor operator>(const Tensor& a, const Tensor& b) { return ops::gt(a, b); }
inline Tensor operator>=(const Tensor& a, const Tensor& b) { return ops::ge(a, b); }
inline Tensor operator&(const Tensor& a, const Tensor& b) { return ops::bitwise_and(a, b); }
inline Tensor operator|(const Tensor& a, const Tensor& b) { return ops::bitwise_or(a, b); }
inline Tensor operator^(const Tensor& a, const Tensor& b) { return ops::bitwise_xor(a, b); }
inline Tensor operator~(const Tensor& a) { return ops::bitwise_not(a); }

}  // namespace pkg
