// SPDX-License-Identifier: Apache-2.0
// framework/sixteen_bits.h: float16 and bfloat16 as kernels from outside calculate with them.
#pragma once

#include <concepts>
#include <limits>

#include "base/dtype.h"

namespace pkg::framework {

/// One of the core's two types, which only hold bits, with conversions from all numbers: so
/// that a kernel that is a template of its element type can say `T sum = 0` and
/// `sum += x(i) * y(i)`.  Arithmetic happens in float.
template <class Stored>
struct SixteenBits : Stored {
  SixteenBits() = default;
  SixteenBits(Stored stored) : Stored(stored) {}
  template <class Number>
    requires std::is_arithmetic_v<Number>
  SixteenBits(Number number) : Stored(float(number)) {}

  SixteenBits& operator+=(float other) { return *this = float(*this) + other; }
  SixteenBits& operator-=(float other) { return *this = float(*this) - other; }
  SixteenBits& operator*=(float other) { return *this = float(*this) * other; }
  SixteenBits& operator/=(float other) { return *this = float(*this) / other; }
  SixteenBits& operator++() { return *this += 1; }
  SixteenBits& operator--() { return *this -= 1; }
};

}  // namespace pkg::framework

namespace pkg {
template <class Stored>
struct DTypeOf<framework::SixteenBits<Stored>> : DTypeOf<Stored> {};
}  // namespace pkg

/// What algorithms ask for: the ends of the range.
template <class Stored>
class std::numeric_limits<pkg::framework::SixteenBits<Stored>> {
  using T = pkg::framework::SixteenBits<Stored>;
  static constexpr bool kHalf = std::is_same_v<Stored, pkg::Half>;

 public:
  static constexpr bool is_specialized = true, is_signed = true, is_integer = false,
                        has_infinity = true, has_quiet_NaN = true;
  static T max() { return kHalf ? 65504.0f : 0x1.fep127f; }
  static T lowest() { return -float(max()); }
  static T min() { return kHalf ? 0x1p-14f : 0x1p-126f; }
  static T epsilon() { return kHalf ? 0x1p-10f : 0x1p-7f; }
  static T infinity() { return std::numeric_limits<float>::infinity(); }
  static T quiet_NaN() { return std::numeric_limits<float>::quiet_NaN(); }
};
