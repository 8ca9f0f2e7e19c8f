// SPDX-License-Identifier: Apache-2.0
// framework/sixteen_bits.h: float16 and bfloat16 as kernels from outside calculate with them.
#pragma once

#include <concepts>
#include <limits>

#include "base/dtype.h"

namespace pkg::framework {

/// One of the core's two types, which only hold bits, with conversions from numbers: so that a
/// kernel that is a template of its element type can say `T sum = 0` and `sum += x(i) * y(i)`.
/// With `kFromFloats` the others' floats become one by themselves, as in PyTorch, where
/// `c ? x : 0.0f` has two meanings therefore; else they have to be asked to, or are assigned,
/// as Eigen's, whose results of arithmetic are of the type again.  All is computed in float.
template <class Stored, bool kFromFloats>
struct SixteenBits : Stored {
  SixteenBits() = default;
  SixteenBits(Stored stored) : Stored(stored) {}
  template <class Number>
    requires std::is_arithmetic_v<Number>
  explicit(!kFromFloats && std::is_floating_point_v<Number>) SixteenBits(Number number)
      : Stored(float(number)) {}
  template <class Number>
    requires(!kFromFloats && std::is_floating_point_v<Number>)
  SixteenBits& operator=(Number number) {
    return *this = SixteenBits(number);
  }

  SixteenBits& operator+=(float other) { return *this = SixteenBits(float(*this) + other); }
  SixteenBits& operator-=(float other) { return *this = SixteenBits(float(*this) - other); }
  SixteenBits& operator*=(float other) { return *this = SixteenBits(float(*this) * other); }
  SixteenBits& operator/=(float other) { return *this = SixteenBits(float(*this) / other); }
  SixteenBits& operator++() { return *this += 1; }
  SixteenBits& operator--() { return *this -= 1; }
};

// Templates, so that nothing is converted to the type for them: with another number it is a
// float that calculates.
template <class S>
SixteenBits<S, false> operator+(SixteenBits<S, false> a, SixteenBits<S, false> b) {
  return a += b;
}
template <class S>
SixteenBits<S, false> operator-(SixteenBits<S, false> a, SixteenBits<S, false> b) {
  return a -= b;
}
template <class S>
SixteenBits<S, false> operator*(SixteenBits<S, false> a, SixteenBits<S, false> b) {
  return a *= b;
}
template <class S>
SixteenBits<S, false> operator/(SixteenBits<S, false> a, SixteenBits<S, false> b) {
  return a /= b;
}
template <class S>
SixteenBits<S, false> operator-(SixteenBits<S, false> a) {
  return SixteenBits<S, false>(-float(a));
}

}  // namespace pkg::framework

namespace pkg {
template <class Stored, bool kFromFloats>
struct DTypeOf<framework::SixteenBits<Stored, kFromFloats>> : DTypeOf<Stored> {};
}  // namespace pkg

/// What algorithms ask for: the ends of the range.
template <class Stored, bool kFromFloats>
class std::numeric_limits<pkg::framework::SixteenBits<Stored, kFromFloats>> {
  using T = pkg::framework::SixteenBits<Stored, kFromFloats>;
  static constexpr bool kHalf = std::is_same_v<Stored, pkg::Half>;

 public:
  static constexpr bool is_specialized = true, is_signed = true, is_integer = false,
                        has_infinity = true, has_quiet_NaN = true;
  static T max() { return T(kHalf ? 65504.0f : 0x1.fep127f); }
  static T lowest() { return T(-float(max())); }
  static T min() { return T(kHalf ? 0x1p-14f : 0x1p-126f); }
  static T epsilon() { return T(kHalf ? 0x1p-10f : 0x1p-7f); }
  static T infinity() { return T(std::numeric_limits<float>::infinity()); }
  static T quiet_NaN() { return T(std::numeric_limits<float>::quiet_NaN()); }
};
