// SPDX-License-Identifier: Apache-2.0
// base/vecmath/exponential.h: exp, exp2, expm1, log, log2, log10, log1p and their kin.
//
// Range reduction: exp by 2^n * e^r with |r| <= ln(2)/2, log by 2 atanh(f / (2 + f)) with
// 1 + f in [sqrt(1/2), sqrt(2)) (Muller, "Elementary Functions", 3rd ed., ch. 11; the sum
// f - f^2/2 + ... keeps the digits of f: Tang 1990).  Minimax coefficients by Remez.
#pragma once

#include "base/vecmath/bits.h"

namespace pkg::vec {

namespace detail {

inline constexpr double kLn2 = 0.69314718055994530942;
/// The same in two parts; multiples of the first are exact.
template <class T>
inline constexpr T kLn2High = of<T>(0.693145752f, 0.693147180369123816490);
template <class T>
inline constexpr T kLn2Low = of<T>(1.42860677e-6f, 1.90821492927058770002e-10);

/// x = n ln(2) + r + low, with |r| <= ln(2) / 2.
template <class T>
struct ExpParts {
  explicit ExpParts(T x) : n(x * T(1.4426950408889634074)) {
    const T high = x - n.value * kLn2High<T>;
    const T rest = n.value * kLn2Low<T>;
    r = high - rest;
    low = (high - r) - rest;
  }
  Rounded<T> n;
  T r, low;
};
/// e^r - 1 - r for |r| <= ln(2) / 2.
template <class T>
inline T exp_tail(T r) {
  if constexpr (is_float<T>) {
    return r * r *
           poly(r, 0.50000000266955163702, 0.16666576882628691036, 0.041666376746823309885,
                0.0083631968692029335051, 0.0013941012414227267899);
  } else {
    return r * r *
           poly(r, 0.50000000000000010247, 0.16666666666666674522, 0.041666666666624035794,
                0.0083333333333221680102, 0.0013888888917259601885,
                0.00019841269886733139161, 0.000024801521224931368752,
                2.755724216634425844e-6, 2.762012215865177109e-7, 2.5110116420080535892e-8);
  }
}
/// e^x 2^k; x between the limits of exp.
template <class T>
inline T exp_scaled(T x, int k) {
  const ExpParts<T> parts(x);
  return scaled(T(1) + (parts.r + exp_tail(parts.r)), parts.n.integer() + k);
}
template <class T>
inline constexpr T kExpLow = of<T>(-104.0f, -746.0);
template <class T>
inline constexpr T kExpHigh = of<T>(89.0f, 710.0);

/// x = 2^n (1 + f), for normal x > 0 that was multiplied by 2^shift.
template <class T>
struct LogParts {
  using Word = typename Bits<T>::Word;
  explicit LogParts(T x, Word shift = 0) {
    constexpr int mantissa = Bits<T>::mantissa;
    constexpr Word bias = Word(Bits<T>::bias), digits = (Word(1) << mantissa) - 1;
    constexpr Word start = std::bit_cast<Word>(T(0.70710678118654752440));
    const Word moved = std::bit_cast<Word>(x) - start + (bias << mantissa);
    const Word biased = moved >> mantissa;
    exponent = typename Bits<T>::Int(biased - bias);
    // The bits of 1.5 * 2^mantissa + n are those of 1.5 * 2^mantissa with n added.
    constexpr Word base = std::bit_cast<Word>(Bits<T>::shifter) - bias;
    n = std::bit_cast<T>(Word(base + biased - shift)) - Bits<T>::shifter;
    f = std::bit_cast<T>(Word((moved & digits) + start)) - T(1);
  }
  /// Also of subnormal x.
  static LogParts of_any(T x) {
    constexpr int mantissa = Bits<T>::mantissa;
    constexpr Word one = std::bit_cast<Word>(T(1));
    // One choice: with two of them a compiler would write all that follows twice.
    const Word shift = x < std::numeric_limits<T>::min() ? Word(mantissa) : Word(0);
    return LogParts(x * std::bit_cast<T>(Word(one + (shift << mantissa))), shift);
  }
  T n, f;
  typename Bits<T>::Int exponent;  // n, but for subnormal x
};
/// (log((1 + s) / (1 - s)) - 2 s) / s^3 at z = s^2, |s| <= (sqrt(2) - 1) / (sqrt(2) + 1).
template <class T>
inline T atanh_tail(T z) {
  if constexpr (is_float<T>) {
    return poly(z, 0.66666758586867478433, 0.39979230955622507107, 0.29834022825219084105);
  } else {
    return poly(z, 0.66666666666666825732, 0.39999999999689141297, 0.28571428690285306685,
                0.22222203310410637225, 0.18183340963369874737, 0.15319320132806736899,
                0.14746752811882988622);
  }
}
/// The logarithm of 2^n (1 + f) + error 2^n.
template <class T>
inline T log_sum(T n, T f, T error) {
  const T s = f / (T(2) + f), z = s * s, half = T(0.5) * f * f;
  const T rest = n * kLn2Low<T> + error;
  const T inner = half - (s * (half + z * atanh_tail(z)) + rest);
  return n * kLn2High<T> - (inner - f);
}
/// `result` for positive numbers, and the logarithms of all others.
template <class T>
inline T log_special(T x, T result) {
  result = x < kInf<T> ? result : x;
  result = x == T(0) ? -kInf<T> : result;
  return x < T(0) ? kNan<T> : result;
}
/// The logarithm of 1 + f to base b: of few digits, and the rest; 1 / ln(b) in two parts.
template <class T>
struct BaseParts {
  BaseParts(T f, T scale_high, T scale_low) {
    const T s = f / (T(2) + f), z = s * s, half = T(0.5) * f * f;
    const T high = top(f - half);
    const T low = ((f - high) - half) + s * (half + z * atanh_tail(z));
    part = high * scale_high;
    rest = high * scale_low + low * (scale_high + scale_low);
  }
  T part, rest;
};
// Logarithms of what is in parts already.
template <class T>
inline T log_of(const LogParts<T>& x) {
  return log_sum(x.n, x.f, T(0));
}
template <class T>
inline T log2_of(const LogParts<T>& x) {
  const BaseParts<T> base(x.f, of<T>(1.4423828125f, 1.4426950216293335),
                          of<T>(0.00031222839f, 1.9259629911266174681e-8));
  return x.n + (base.part + base.rest);  // half of n is no less than the part
}
template <class T>
inline T log10_of(const LogParts<T>& x) {
  const BaseParts<T> base(x.f, of<T>(0.4342041015625f, 0.4342944771051407),
                          of<T>(0.000090380341f, 4.7981111416159726689e-9));
  const T whole = x.n * of<T>(0.301025390625f, 0.3010299955494702);
  const T sum = whole + base.part;
  const T rest = base.rest + x.n * of<T>(4.6050390e-6f, 1.1451100898021838691e-10);
  return sum + (((whole - sum) + base.part) + rest);
}

}  // namespace detail

/// Within 2 ulp.
template <class T>
inline T exp(T x) {
  return detail::exp_scaled(limited(x, detail::kExpLow<T>, detail::kExpHigh<T>), 0);
}
/// 2^x, within 2 ulp.
template <class T>
inline T exp2(T x) {
  x = limited(x, of<T>(-151.0f, -1076.0), of<T>(129.0f, 1025.0));
  const Rounded<T> n(x);
  const T r = (x - n.value) * T(0.69314718055994530942);
  return scaled(T(1) + (r + detail::exp_tail(r)), n.integer());
}
/// e^x - 1, within 2 ulp.
template <class T>
inline T expm1(T x) {
  const detail::ExpParts<T> parts(limited(x, of<T>(-20.0f, -40.0), detail::kExpHigh<T>));
  // Half of 2^n (1 + r + tail) - 1: twice as large it may not be finite.
  const T scale = pow2<T>(parts.n.integer() - 1);
  const T whole = scale - T(0.5), part = scale * parts.r, sum = whole + part;
  const T tail = detail::exp_tail(parts.r) + parts.low;
  const T result = T(2) * (sum + (((whole - sum) + part) + scale * tail));
  return std::abs(x) < of<T>(1e-10f, 1e-20) ? x : result;
}
/// Within 1 ulp.
template <class T>
inline T log(T x) {
  return detail::log_special(x, detail::log_of(detail::LogParts<T>::of_any(x)));
}
/// Within 1 ulp; exact for powers of 2.
template <class T>
inline T log2(T x) {
  return detail::log_special(x, detail::log2_of(detail::LogParts<T>::of_any(x)));
}
/// Within 1 ulp.
template <class T>
inline T log10(T x) {
  return detail::log_special(x, detail::log10_of(detail::LogParts<T>::of_any(x)));
}
/// log(1 + x), within 1 ulp.
template <class T>
inline T log1p(T x) {
  const T sum = T(1) + x;
  const detail::LogParts<T> parts(sum);
  const bool near = parts.n == T(0);
  const T lost = x < T(1) ? x - (sum - T(1)) : T(1) - (sum - x);
  const auto exponent = parts.exponent < 60 ? parts.exponent : 60;
  const T f = near ? x : parts.f;
  // lost / (1 + f) to a few digits is enough.
  const T error = near ? T(0) : lost * pow2<T>(-exponent) * (T(1) - f * (T(1) - f));
  const T result = detail::log_special(sum, detail::log_sum(parts.n, f, error));
  return std::copysign(result, x);  // of -0
}
/// log(1 + x) for x in [0, 1], within 2 ulp.
template <class T>
inline T log1p_unit(T x) {
  const T s = x / (T(2) + x), z = s * s;
  T tail;
  if constexpr (is_float<T>) {
    tail = poly(z, 0.66666675620389237809, 0.39998877847259206585, 0.28616883210925376445,
                0.21427664139620824628, 0.24300941391289735316);
  } else {
    tail = poly(z, 0.66666666666666670728, 0.39999999999996505935, 0.28571428572192575245,
                0.22222222146184818863, 0.18181822402047916466, 0.1538447148983119788,
                0.13336495871487450011, 0.11719132485829726171, 0.1095214825971686889,
                0.070687001248223141733, 0.16349872488433386024);
  }
  return T(2) * s + s * z * tail;
}
/// 1 / (1 + e^-x), within 3 ulp; 0 where e^-x overflows.
template <class T>
inline T sigmoid(T x) {
  return T(1) / (T(1) + exp(-x));
}
/// log(1 + e^x), which does not overflow.
template <class T>
inline T softplus(T x) {
  return (x < T(0) ? T(0) : x) + log1p_unit(exp(-std::abs(x)));
}

}  // namespace pkg::vec
