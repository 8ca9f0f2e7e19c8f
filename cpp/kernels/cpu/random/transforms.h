// SPDX-License-Identifier: Apache-2.0
// kernels/cpu/random/transforms.h: from random words to uniform and normal numbers.
//
// Written for the vectoriser: 32-bit integers become floats as signed ones, which every
// instruction set has.
#pragma once

#include <bit>
#include <cmath>

#include "base/half.h"
#include "kernels/cpu/random/philox.h"

namespace pkg {

/// Digits of a uniform number: as many as the dtype has, so that none is rounded up to 1.
template <class T>
inline constexpr int kDigits = std::is_same_v<T, Half>       ? 11
                               : std::is_same_v<T, BFloat16> ? 8
                               : std::is_same_v<T, float>    ? 24
                                                             : 53;

/// [0, 1), a multiple of 2^-digits.
template <int digits>
inline float unit(uint32_t word) {
  return float(int32_t(word >> (32 - digits))) * (1.0f / float(1 << digits));
}
/// The same of 53 bits.
inline double unit53(uint32_t high, uint32_t low) {
  return (double(int32_t(high >> 5)) * 67108864.0 + double(int32_t(low >> 6))) * 0x1p-53;
}

/// x in (0, 1), close to 0 with all its digits, for logarithms.
template <class T>
inline T open_unit(uint32_t high, uint32_t low) {
  if constexpr (std::is_same_v<T, float>) {
    return float(int32_t(high >> 1)) * 0x1p-31f + 0x1p-33f;
  } else {
    return double(int32_t(high >> 1)) * 0x1p-31 + double(int32_t(low >> 1)) * 0x1p-62 +
           0x1p-64;
  }
}

/// Terms of the series below: what a float, or a double, has digits for.
template <class T>
inline constexpr int kLogTerms = std::is_same_v<T, float> ? 4 : 10;
template <class T>
inline constexpr int kTurnTerms = std::is_same_v<T, float> ? 4 : 8;

/// sqrt(-2 log(x)) for x in (0, 1), not denormal: the logarithm by
/// 2 artanh((m - 1) / (m + 1)), m in [sqrt(1/2), sqrt(2)).
template <class T>
inline T radius(T x) {
  using Word = std::conditional_t<std::is_same_v<T, float>, uint32_t, uint64_t>;
  constexpr int mantissa = std::is_same_v<T, float> ? 23 : 52;
  constexpr Word bias = (std::is_same_v<T, float> ? 127 : 1023) + 1;
  constexpr Word half_root = std::bit_cast<Word>(T(0.70710678118654752440));
  const Word bits = std::bit_cast<Word>(x);
  const int32_t e = int32_t((bits - half_root + (bias << mantissa)) >> mantissa) -
                    int32_t(bias);
  const T m = std::bit_cast<T>(Word(bits - (Word(Word(e)) << mantissa)));
  const T s = (m - T(1)) / (m + T(1));
  const T z = s * s;
  T p = T(2) / T(2 * kLogTerms<T> + 1);
#pragma GCC unroll 16
  for (int k = kLogTerms<T> - 1; k >= 0; --k) p = p * z + T(2) / T(2 * k + 1);
  const T log = T(e) * T(0.69314718055994530942) + s * p;
  return std::sqrt(log < T(0) ? T(-2) * log : T(0));
}

/// Cosine and sine of a random angle, `word` 2^-32 turns: the series around the nearest
/// quarter of a turn.
template <class T>
inline void turn(uint32_t word, uint32_t low, T& cosine, T& sine) {
  const uint32_t quarter = (word + 0x20000000u) >> 30;
  T r = T(int32_t(word - (quarter << 30)));
  if constexpr (std::is_same_v<T, double>) r = r + double(int32_t(low >> 1)) * 0x1p-31;
  r = r * T(1.57079632679489661923 * 0x1p-30);
  const T z = r * r;
  T s = T(1), c = T(1);
#pragma GCC unroll 16
  for (int k = kTurnTerms<T>; k > 0; --k) {
    s = T(1) - s * z * (T(1) / T(2 * k * (2 * k + 1)));
    c = T(1) - c * z * (T(1) / T((2 * k - 1) * 2 * k));
  }
  s = s * r;
  const bool odd = quarter & 1;
  const T first = odd ? s : c, second = odd ? c : s;
  cosine = (quarter + 1) & 2 ? -first : first;
  sine = quarter & 2 ? -second : second;
}

}  // namespace pkg
