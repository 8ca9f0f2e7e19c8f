// SPDX-License-Identifier: Apache-2.0
// base/checked.h: integer arithmetic that raises where it would overflow, and arithmetic
// that wraps around.
//
// Checked is for whatever is computed from numbers of the caller: sizes, strides, offsets,
// counts, paddings.  One in each product or sum makes the whole of a formula checked:
//   spec.sizes[d] = (size + 2 * Checked(pad) - kernel) / stride + 1;
// wraps() is for the values of tensors.
#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>

namespace pkg {
namespace detail {

/// RuntimeError "[op] expected ..., got a sign b"; a caller that knows the op puts its name
/// in (Error::claim).
[[noreturn, gnu::cold]] void arithmetic_failed(const char* sign, int64_t a, int64_t b);

}  // namespace detail

/// x as a type in which +, - and * wrap around, as the values of integer tensors do; in
/// signed types that is undefined.  Floats and bools stay what they are.
template <class T>
constexpr auto wraps(T x) {
  if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
    return std::make_unsigned_t<T>(x);
  } else {
    return x;
  }
}

/// An int64 whose +, -, *, /, % and negation raise RuntimeError instead of wrapping.
class Checked {
 public:
  constexpr Checked(int64_t value) : value_(value) {}
  constexpr operator int64_t() const { return value_; }

  friend Checked operator+(Checked a, Checked b) {
    int64_t sum;
    if (__builtin_add_overflow(a.value_, b.value_, &sum)) {
      detail::arithmetic_failed("+", a, b);
    }
    return sum;
  }
  friend Checked operator-(Checked a, Checked b) {
    int64_t difference;
    if (__builtin_sub_overflow(a.value_, b.value_, &difference)) {
      detail::arithmetic_failed("-", a, b);
    }
    return difference;
  }
  friend Checked operator*(Checked a, Checked b) {
    int64_t product;
    if (__builtin_mul_overflow(a.value_, b.value_, &product)) {
      detail::arithmetic_failed("*", a, b);
    }
    return product;
  }
  /// Towards zero, as in C++.
  friend Checked operator/(Checked a, Checked b) {
    if (b.value_ == 0) detail::arithmetic_failed("/", a, b);
    return b.value_ == -1 ? -a : Checked(a.value_ / b.value_);
  }
  friend Checked operator%(Checked a, Checked b) {
    if (b.value_ == 0) detail::arithmetic_failed("%", a, b);
    return b.value_ == -1 ? 0 : a.value_ % b.value_;
  }
  Checked operator-() const { return Checked(0) - *this; }
  Checked& operator+=(Checked other) { return *this = *this + other; }
  Checked& operator-=(Checked other) { return *this = *this - other; }
  Checked& operator*=(Checked other) { return *this = *this * other; }

  // With a bare number on one side; without these, int64's own operators fit as well.
#define PKG_MIXED(sign)                          \
  template <std::integral T>                     \
  friend Checked operator sign(Checked a, T b) { \
    return a sign Checked(int64_t(b));           \
  }                                              \
  template <std::integral T>                     \
  friend Checked operator sign(T a, Checked b) { \
    return Checked(int64_t(a)) sign b;           \
  }
  PKG_MIXED(+)
  PKG_MIXED(-)
  PKG_MIXED(*)
  PKG_MIXED(/)
  PKG_MIXED(%)
#undef PKG_MIXED

 private:
  int64_t value_;
};

}  // namespace pkg
