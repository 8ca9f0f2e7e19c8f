// SPDX-License-Identifier: Apache-2.0
// base/vecmath/hyperbolic.h: sinh, cosh, tanh and their inverses, by exp and log1p.
#pragma once

#include "base/vecmath/exponential.h"

namespace pkg::vec {

namespace detail {
/// Half of e^|x|, up to where twice that overflows.
template <class T>
inline T half_exp(T x) {
  return exp_scaled(limited(std::abs(x), T(0), of<T>(90.0f, 711.0)), -1);
}
}  // namespace detail

/// Within 2 ulp.
template <class T>
inline T sinh(T x) {
  const T z = x * x, e = detail::half_exp(x);
  T small;  // for |x| < 1
  if constexpr (is_float<T>) {
    small = poly(z, 0.16666666488052755514, 0.0083333506479133081488,
                 0.00019836056062499670276, 2.8175007873714926583e-6);
  } else {
    small = poly(z, 0.16666666666666667434, 0.0083333333333331376492,
                 0.00019841269841438522955, 2.7557319155060143098e-6,
                 2.5052123444095602147e-8, 1.6057236683615602198e-10,
                 7.7594263149467479558e-13);
  }
  const T large = std::copysign(e - T(0.25) / e, x);
  return std::abs(x) < T(1) ? x + x * z * small : large;
}
template <class T>
inline T cosh(T x) {
  const T e = detail::half_exp(x);
  return e + T(0.25) / e;
}
/// Within 2 ulp of float, 3 of double.
template <class T>
inline T tanh(T x) {
  const T a = std::abs(x), limit = of<T>(10.0f, 20.0);
  const T e = expm1(T(2) * (a > limit ? limit : a));  // NaN stays
  const T large = std::copysign(e / (e + T(2)), x);
  if constexpr (is_float<T>) {
    const T z = x * x;
    const T tail = poly(z, -0.333332406293, 0.13324264357, -0.0514331876999);
    return a < 0.25f ? std::copysign(a + a * z * tail, x) : large;
  } else {
    return large;
  }
}

namespace detail {
/// log(1 + x), or of huge `a` its logarithm and that of 2.
template <class T>
inline T log1p_or_double(T x, T a, T huge) {
  const T result = log1p(a > huge ? a : x);
  return a > huge ? result + T(kLn2) : result;
}
}  // namespace detail

/// The inverse functions: within 3 ulp.
template <class T>
inline T asinh(T x) {
  const T a = std::abs(x), square = a * a;
  const T grown = a + square / (T(1) + std::sqrt(square + T(1)));
  return std::copysign(detail::log1p_or_double(grown, a, of<T>(1e15f, 1e100)), x);
}
/// NaN below 1.
template <class T>
inline T acosh(T x) {
  const T t = x - T(1), grown = t + std::sqrt(t * (T(2) + t));
  const T result = detail::log1p_or_double(grown, x, of<T>(1e15f, 1e100));
  return x < T(1) ? kNan<T> : result;
}
/// NaN beyond 1.
template <class T>
inline T atanh(T x) {
  const T a = std::abs(x);
  return std::copysign(T(0.5) * log1p(T(2) * a / (T(1) - a)), x);
}

}  // namespace pkg::vec
