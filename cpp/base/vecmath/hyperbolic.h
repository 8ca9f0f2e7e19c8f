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
  if constexpr (is_float<T>) {
    const T a = std::abs(x), z = a * a;
    const detail::ExpParts<T> parts(T(2) * (a > T(10) ? T(10) : a));  // NaN stays
    const T e = pow2<T>(parts.n.integer()) * (T(1) + (parts.r + detail::exp_tail(parts.r)));
    const T tail = poly(z, -0.33333281920691207, 0.13331441043852749, -0.053739578389181776,
                        0.020638538544389453, -0.0057042840607385425);
    const T large = T(1) - T(2) / (e + T(1));
    return std::copysign(a < T(0.625) ? a + a * z * tail : large, x);
  } else {
    const T a = std::abs(x), e = expm1(T(2) * (a > T(20) ? T(20) : a));
    return std::copysign(e / (e + T(2)), x);
  }
}

namespace detail {
/// The area of which s is the hyperbolic sine and c the cosine; z is s^2, all positive.
template <class T>
inline T area(T s, T c, T z) {
  T tail;
  if constexpr (is_float<T>) {
    tail = poly(z, -0.16666581638833901182, 0.074968979832028284291,
                -0.044260282107791880722, 0.028145813690720943817, -0.015332287180264544511,
                0.004677000477360033171);
  } else {
    tail = poly(
        z, -0.16666666666666338118, 0.074999999999381728838, -0.044642857101958504185,
        0.030381943069506803658, -0.022372131469397127927, 0.017352401373109701247,
        -0.013961540416424258049, 0.01153021016985466403, -0.0096577100201876214012,
        0.0080161539405255683047, -0.0062929996965056729212, 0.0043276940243164063921,
        -0.0023409968049292478551, 0.00085212508907169640701, -0.00015223689749546541699);
  }
  // The logarithm of half of s + c, which does not overflow.
  const LogParts<T> parts(T(0.5) * s + T(0.5) * c);
  const T large = log_sum(parts.n + T(1), parts.f, T(0));
  return z < T(0.5625) ? s + s * z * tail : large;
}
}  // namespace detail

/// The inverse functions: within 3 ulp.
template <class T>
inline T asinh(T x) {
  const T a = std::abs(x), z = a * a;
  const T c = a < of<T>(1e15f, 1e100) ? std::sqrt(z + T(1)) : a;
  const T result = detail::area(a, c, z);
  return std::copysign(a < kInf<T> ? result : a, x);
}
/// NaN below 1.
template <class T>
inline T acosh(T x) {
  const T t = x - T(1), z = t * (T(2) + t);
  const T s = x < of<T>(1e15f, 1e100) ? std::sqrt(z) : x;
  const T result = detail::area(s, x, z);
  const T finite = s < kInf<T> ? result : s;
  return x < T(1) ? kNan<T> : finite;
}
/// NaN beyond 1.
template <class T>
inline T atanh(T x) {
  // Half of the logarithm of p / q = 2^n (1 + s) / (1 - s), 2^n being its rounded size.
  using Word = typename Bits<T>::Word;
  constexpr int mantissa = Bits<T>::mantissa;
  const T a = std::abs(x), p = T(1) + a, q = T(1) - a;
  const Word half = Word(1) << (mantissa - 1);
  const Word n = (std::bit_cast<Word>(p) - std::bit_cast<Word>(q) + half) >> mantissa;
  const T scale = pow2<T>(typename Bits<T>::Int(n)), scaled_q = scale * q;
  const T more = T(1) + scale, less = T(1) - scale;
  // One of p and q is exact, by which what is left of their difference is.
  const T num = a < T(0.5) ? a * more + less : p - scaled_q;
  const T den = a < T(0.5) ? a * less + more : p + scaled_q;
  const T s = num / den, z = s * s;
  T tail;
  if constexpr (is_float<T>) {
    tail = poly(z, 0.33333476277238273414, 0.19978649831196991859, 0.1518593466807830131);
  } else {
    tail = poly(z, 0.3333333333333329702, 0.20000000000029138531, 0.14285714277726233224,
                0.11111112169106449644, 0.090908317031870708605, 0.076955959204828768207,
                0.065861330326216050918, 0.069260048467608705559);
  }
  const Word base = std::bit_cast<Word>(Bits<T>::shifter);
  const T count = std::bit_cast<T>(Word(base + n)) - Bits<T>::shifter;
  const T half_count = T(0.5) * count;
  const T rest = s * z * tail + half_count * detail::kLn2Low<T>;
  T result = half_count * detail::kLn2High<T> + (s + rest);
  result = a < T(1) ? result : kInf<T>;
  return std::copysign(a <= T(1) ? result : kNan<T>, x);
}

}  // namespace pkg::vec
