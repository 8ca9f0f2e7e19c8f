// SPDX-License-Identifier: Apache-2.0
// base/vecmath/bits.h: the pieces that the functions of base/vecmath.h are made of.
//
// A compiler may contract a * b + c to one rounding on some instruction sets.  Sums of two
// parts are therefore made of products that are exact: factors have few bits (`top`).
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
  using Word = uint32_t;
  static constexpr int mantissa = 23, low = 12;
  static constexpr Int bias = 127;
  static constexpr float shifter = 12582912.0f;  // 1.5 * 2^23
};
template <>
struct Bits<double> {
  using Int = int64_t;
  using Word = uint64_t;
  static constexpr int mantissa = 52, low = 27;
  static constexpr Int bias = 1023;
  static constexpr double shifter = 6755399441055744.0;  // 1.5 * 2^52
};

template <class T>
inline constexpr T kInf = std::numeric_limits<T>::infinity();
template <class T>
inline constexpr T kNan = std::numeric_limits<T>::quiet_NaN();
template <class T>
inline constexpr T kMax = std::numeric_limits<T>::max();
template <class T>
inline constexpr bool is_float = std::is_same_v<T, float>;

/// A number by its type: one constant, or the other where the type is double.
template <class T>
constexpr T of(float for_float, double for_double) {
  if constexpr (is_float<T>) return for_float;
  else return for_double;
}

/// c0 + c1 x + c2 x^2 + ..., by Horner over pairs: half as long a chain.
template <class T>
inline T pairs(T, T, double c) {
  return T(c);
}
template <class T>
inline T pairs(T x, T, double c, double d) {
  return T(c) + x * T(d);
}
template <class T, class... More>
inline T pairs(T x, T square, double c, double d, More... more) {
  return (T(c) + x * T(d)) + square * pairs(x, square, more...);
}
template <class T, class... C>
inline T poly(T x, C... c) {
  return pairs(x, x * x, c...);
}

/// 2^n for n in the normal range.
template <class T>
inline T pow2(typename Bits<T>::Int n) {
  using Word = typename Bits<T>::Word;
  return std::bit_cast<T>(Word(Word(Word(n) + Word(Bits<T>::bias)) << Bits<T>::mantissa));
}
/// x * 2^n, also where 2^n or the result is not in the normal range.
template <class T>
inline T scaled(T x, typename Bits<T>::Int n) {
  using Int = typename Bits<T>::Int;
  using Word = typename Bits<T>::Word;
  // Words, as n is anything where x is not finite; AVX2 has a shift of them.
  const Int half = Int(Word(Word(n) + 8192) >> 1) - 4096;
  return x * pow2<T>(half) * pow2<T>(Int(Word(n) - Word(half)));
}
/// The upper half of the digits.
template <class T>
inline T top(T x) {
  using Word = typename Bits<T>::Word;
  return std::bit_cast<T>(Word(std::bit_cast<Word>(x) & (~Word(0) << Bits<T>::low)));
}
/// The nearest integer, of numbers below 2^22 or 2^51: as a number and by its low bits.
template <class T>
struct Rounded {
  explicit Rounded(T x)
      : shifted(x + Bits<T>::shifter), value(shifted - Bits<T>::shifter) {}
  typename Bits<T>::Int integer() const {
    using Word = typename Bits<T>::Word;
    return typename Bits<T>::Int(std::bit_cast<Word>(shifted) -
                                 std::bit_cast<Word>(Bits<T>::shifter));
  }
  T shifted, value;
};
template <class T>
inline T limited(T x, T low, T high) {  // NaN stays
  x = x > high ? high : x;
  return x < low ? low : x;
}

}  // namespace pkg::vec
