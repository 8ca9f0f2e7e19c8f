// SPDX-License-Identifier: Apache-2.0
// ops/pointwise/number_divisor.h: whole quotients and remainders by one number: products
// with its reciprocal, as processors divide slowly.  Relative: quotients.h.
//
// x / d is a multiple of 1 / |d|, so that x / d + 1 / (2 |d|) is at least 1 / (2 |d|) away
// from every whole number: its floor is that of x / d as long as rounding moves it by less.
// Towards zero x is multiplied by a reciprocal that is a little too large: a whole quotient
// is never missed then, and no other one reaches the next whole number.
#pragma once

#include <cmath>
#include <cstdint>
#include <type_traits>

#include "base/checked.h"
#include "base/whole.h"

namespace pkg::ops {

/// floors: rounded to minus infinity, as of remainder's; else towards zero, as of fmod's.
template <bool floors, bool remainder>
struct ByNumber {
  static constexpr int64_t kMost = int64_t{1} << 49;  // of 64 bits

  /// Whether there is a product for such a divisor.
  static bool takes(int64_t d) { return (d > 1 || d < -1) && d < kMost && d > -kMost; }

  explicit ByNumber(int64_t d)
      : divisor(d),
        part(1 / double(d)),
        half(std::abs(part) / 2),
        more(part + part * 0x1p-51),
        half_f(float(half)),
        part_f(float(part)),
        more_f(float(part) + float(part) * 0x1p-21f),
        scaled(uint16_t(65536 / (d > 0 ? d : -d) + 1)) {}

  template <class T>
  static bool fits(T x) {
    if constexpr (sizeof(T) < 8) return true;
    else return (x < kMost) & (x > -kMost);
  }
  template <class T>
  T operator()(T x) const {
    return result(x, quotient(x));
  }
  template <class T>
  T rest(T x) const {
    const T d = T(divisor), q = T(x / d);
    const bool less = floors && q * d != x && (x < 0) != (d < 0);
    return result(x, T(q - T(less)));
  }

 private:
  template <class T>
  T result(T x, T quotient) const {
    if constexpr (!remainder) return quotient;
    else return T(wraps(x) - wraps(quotient) * wraps(T(divisor)));
  }
  template <class T>
  T quotient(T x) const {
    if constexpr (std::is_same_v<T, uint8_t>) {
      return T((uint32_t(uint16_t(x)) * uint32_t(scaled)) >> 16);
    } else if constexpr (sizeof(T) == 1) {
      const float y = x;
      return T(int32_t(floors ? std::floor(y * part_f + half_f) : y * more_f));
    } else if constexpr (sizeof(T) == 4) {
      const double y = x;
      return T(int32_t(floors ? std::floor(y * part + half) : y * more));
    } else {
      const double y = to_double(x);
      return to_int64(floors ? std::floor(y * part + half) : std::trunc(y * more));
    }
  }

  int64_t divisor;
  double part, half, more;
  float half_f, part_f, more_f;
  uint16_t scaled;  // of uint8: the next whole number above 65536 / |d|
};

}  // namespace pkg::ops
