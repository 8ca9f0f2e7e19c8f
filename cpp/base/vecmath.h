// SPDX-License-Identifier: Apache-2.0
// base/vecmath.h: branch-free elementary functions that a compiler can vectorise.
//
// Called inside with_isa() loops.  Range reduction and series are the textbook ones
// (Muller, "Elementary Functions", 3rd ed., ch. 11): exp by 2^n * e^r with
// |r| <= ln(2)/2, log by 2*atanh((m-1)/(m+1)) with m in [sqrt(1/2), sqrt(2)).
// Errors: float within 2 ulp, double within 3 ulp; special values as in <cmath>.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace pkg::vec {

template <class T>
struct Bits;
template <>
struct Bits<float> {
  using Int = int32_t;
  static constexpr int mantissa = 23;
  static constexpr Int bias = 127;
  static constexpr float shifter = 12582912.0f;  // 1.5 * 2^23
  static constexpr float exp_low = -104.0f, exp_high = 89.0f;
  static constexpr float ln2_high = 0.693145752f, ln2_low = 1.42860677e-6f;
};
template <>
struct Bits<double> {
  using Int = int64_t;
  static constexpr int mantissa = 52;
  static constexpr Int bias = 1023;
  static constexpr double shifter = 6755399441055744.0;  // 1.5 * 2^52
  static constexpr double exp_low = -746.0, exp_high = 710.0;
  static constexpr double ln2_high = 0.693147180369123816490,
                          ln2_low = 1.90821492927058770002e-10;
};

/// 2^n for n in the normal range.
template <class T>
inline T pow2(typename Bits<T>::Int n) {
  return std::bit_cast<T>(typename Bits<T>::Int((n + Bits<T>::bias) << Bits<T>::mantissa));
}

template <class T>
inline T exp(T x) {
  using B = Bits<T>;
  using Int = typename B::Int;
  x = x > B::exp_high ? B::exp_high : x;  // NaN compares false and stays
  x = x < B::exp_low ? B::exp_low : x;
  // Adding 1.5 * 2^mantissa rounds to the nearest integer, left in the low bits.
  const T shifted = x * T(1.4426950408889634074) + B::shifter;
  const T n = shifted - B::shifter;
  const Int exponent = Int(std::bit_cast<Int>(shifted) - std::bit_cast<Int>(B::shifter));
  const T r = (x - n * B::ln2_high) - n * B::ln2_low;
  T p;
  if constexpr (std::is_same_v<T, float>) {
    p = 1.0f / 5040;
    p = p * r + 1.0f / 720;
  } else {
    p = 1.0 / 6227020800.0;
    p = p * r + 1.0 / 479001600.0;
    p = p * r + 1.0 / 39916800.0;
    p = p * r + 1.0 / 3628800.0;
    p = p * r + 1.0 / 362880.0;
    p = p * r + 1.0 / 40320.0;
    p = p * r + 1.0 / 5040.0;
    p = p * r + 1.0 / 720.0;
  }
  p = p * r + T(1.0 / 120);
  p = p * r + T(1.0 / 24);
  p = p * r + T(1.0 / 6);
  p = p * r + T(0.5);
  p = p * r * r + r + T(1);
  // Two factors, so that results near overflow and below the normal range are right.
  const Int half = exponent >> 1;
  return p * pow2<T>(half) * pow2<T>(exponent - half);
}

template <class T>
inline T log(T x) {
  using B = Bits<T>;
  using Int = typename B::Int;
  using Word = std::make_unsigned_t<Int>;  // the bits of a negative x, a NaN then, wrap
  const bool tiny = x < std::numeric_limits<T>::min();
  const T scaled = tiny ? x * pow2<T>(B::mantissa) : x;
  const Word bits = std::bit_cast<Word>(scaled);
  // Exponent such that the mantissa lies in [sqrt(1/2), sqrt(2)).
  const Word sqrt_half = std::bit_cast<Word>(T(0.70710678118654752440));
  const Int e = Int(bits - sqrt_half) >> B::mantissa;
  const T m = std::bit_cast<T>(Word(bits - (Word(e) << B::mantissa)));
  const T n = T(e) - (tiny ? T(B::mantissa) : T(0));
  const T f = m - T(1);
  const T s = f / (f + T(2));
  const T z = s * s;
  T p;
  if constexpr (std::is_same_v<T, float>) {
    p = 2.0f / 9;
  } else {
    p = 2.0 / 21;
    p = p * z + 2.0 / 19;
    p = p * z + 2.0 / 17;
    p = p * z + 2.0 / 15;
    p = p * z + 2.0 / 13;
    p = p * z + 2.0 / 11;
    p = p * z + 2.0 / 9;
  }
  p = p * z + T(2.0 / 7);
  p = p * z + T(2.0 / 5);
  p = p * z + T(2.0 / 3);
  T result = n * B::ln2_high + (s * T(2) + (s * z * p + n * B::ln2_low));
  const T inf = std::numeric_limits<T>::infinity();
  result = x == inf ? inf : result;
  result = x == T(0) ? -inf : result;
  return x < T(0) || x != x ? std::numeric_limits<T>::quiet_NaN() : result;
}

template <class T>
inline T sigmoid(T x) {
  return T(1) / (T(1) + exp(-x));
}

template <class T>
inline T tanh(T x) {
  const T a = std::abs(x);
  // Near zero (e^2x - 1) / (e^2x + 1) loses digits: Pade [7/6] of the continued fraction.
  const T z = x * x;
  const T small = x * (T(135135) + z * (T(17325) + z * (T(378) + z))) /
                  (T(135135) + z * (T(62370) + z * (T(3150) + z * T(28))));
  const T large = std::copysign(T(1) - T(2) / (exp(T(2) * a) + T(1)), x);
  const T limit = std::is_same_v<T, float> ? T(0.5) : T(0.15);
  return a < limit ? small : large;
}

/// Error function.  float: Chebyshev interpolation, of erf(x) / x in x^2 below 1 and of
/// log(1 - erf(x)) in x from 1 to 4, where erf rounds to 1; double: <cmath>'s.
template <class T>
inline T erf(T x) {
  if constexpr (std::is_same_v<T, float>) {
    const float z = x * x;
    float p;
    p = -0.000564805987f;
    p = p * z + 0.00492176203f;
    p = p * z - 0.0267150542f;
    p = p * z + 0.112803167f;
    p = p * z - 0.376123438f;
    p = p * z + 1.12837913f;
    const float small = x * p;
    const float a = std::abs(x) > 4.0f ? 4.0f : std::abs(x);  // NaN stays
    p = 1.63715141e-6f;
    p = p * a - 4.60580427e-5f;
    p = p * a + 0.000596805626f;
    p = p * a - 0.00475959629f;
    p = p * a + 0.026421136f;
    p = p * a - 0.110080083f;
    p = p * a - 0.631826052f;
    p = p * a - 1.13023343f;
    p = p * a + 0.00032013805f;
    const float large = std::copysign(1.0f - exp(p), x);
    return a < 1.0f ? small : large;
  } else {
    return std::erf(x);
  }
}

}  // namespace pkg::vec
