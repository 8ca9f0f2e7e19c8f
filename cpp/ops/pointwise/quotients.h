// SPDX-License-Identifier: Apache-2.0
// ops/pointwise/quotients.h: whole quotients and remainders of two numbers, as formulas that
// vectorise.
//
// Processors divide whole numbers one by one and fmod() subtracts bit by bit.  Floating
// division gives the same: an integer quotient is exact where its operands and the result
// have fewer bits than the floating type, and of fmod's arguments x - trunc(x / y) * y is
// exact, in twice the precision or by fma, unless the quotient is huge.  What is outside of
// that (`fits`) is left to the slow functions (`rest`); see Ranged in ops/loops.h.
#pragma once

#include <atomic>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "base/checked.h"
#include "base/whole.h"

namespace pkg::ops {

template <class T>
inline bool quotient_fits(T x, T y) {
  if constexpr (std::is_floating_point_v<T>) {
    constexpr T most = std::is_same_v<T, float> ? T(0x1p28) : T(0x1p51);
    return std::abs(x) < std::abs(y) * most && std::abs(y) <= std::numeric_limits<T>::max();
  } else if constexpr (sizeof(T) < 8) {
    return true;
  } else {
    return fits_whole(x) & fits_whole(y);
  }
}

/// Towards zero; y is not 0.  The most negative number over -1 wraps.
template <class T>
inline T fast_quotient(T x, T y) {
  if constexpr (sizeof(T) == 8) {
    return to_int64(std::trunc(to_double(x) / to_double(y)));
  } else if constexpr (std::is_same_v<T, int32_t>) {
    const double quotient = double(x) / double(y);
    return int32_t(quotient == 0x1p31 ? -quotient : quotient);
  } else {
    using F = std::conditional_t<sizeof(T) == 1, float, double>;
    return T(int32_t(F(x) / F(y)));
  }
}
template <class T>
inline T slow_quotient(T x, T y) {
  if constexpr (std::is_signed_v<T>) {  // which the processor traps
    if (y == T(-1)) return T(uint64_t(0) - uint64_t(x));
  }
  return T(x / y);
}

/// x - trunc(x / y) * y with the sign of x.
template <class T>
inline T fast_fmod(T x, T y) {
  T left, width = std::abs(y);
  if constexpr (std::is_same_v<T, float>) {
    const double a = x, b = y;
    left = T(a - std::trunc(a / b) * b);
  } else {
    left = std::fma(-std::trunc(x / y), y, x);
  }
  // Where x / y was rounded up to a whole number, it is one too many.
  const bool beyond = (left < 0 && x > 0) || (left > 0 && x < 0);
  return std::copysign(beyond ? width - std::abs(left) : std::abs(left), x);
}

/// `Derived` has value(x, y, quotient) for integers and value(x, y, remainder) for floats.
/// An integer divided by zero has no value: it is noted.
template <class Derived>
struct Division {
  std::atomic<bool>* by_zero = nullptr;  // set by checked_division()
  template <class T>
  static bool fits(T x, T y) {
    if constexpr (std::is_floating_point_v<T>) return quotient_fits(x, y);
    else return bool(int(quotient_fits(x, y)) & int(y != T(0)));
  }
  template <class T>
  T operator()(T x, T y) const {
    if constexpr (std::is_floating_point_v<T>) return Derived::value(x, y, fast_fmod(x, y));
    else return Derived::value(x, y, fast_quotient(x, y));
  }
  template <class T>
  T rest(T x, T y) const {
    if constexpr (std::is_floating_point_v<T>) {
      return Derived::value(x, y, std::fmod(x, y));
    } else if (y == T(0)) {
      by_zero->store(true, std::memory_order_relaxed);
      return T(0);
    } else {
      return Derived::value(x, y, slow_quotient(x, y));
    }
  }

 protected:
  template <class T>
  static T remainder(T x, T y, T quotient) {
    return T(wraps(x) - wraps(quotient) * wraps(y));
  }
};

struct FloorDivide : Division<FloorDivide> {
  static constexpr const char* kName = "floor_divide";
  static constexpr bool kFloors = true;
  static constexpr bool kQuotient = true;
  template <class T>
  static T value(T x, T y, T part) {
    if constexpr (std::is_floating_point_v<T>) {
      // floor(x / y) is wrong where x / y was rounded up to an integer: 1 // 0.1 is 9.
      const bool less = part != 0 && (y < 0) != (part < 0);
      const T quotient = (x - part) / y - (less ? T(1) : T(0));
      const T whole = std::floor(quotient);
      const T nearest = quotient - whole > T(0.5) ? whole + T(1) : whole;
      const T exact = x / y;
      return y == 0 ? exact : quotient == 0 ? std::copysign(T(0), exact) : nearest;
    } else {
      const T left = remainder(x, y, part);
      return T(wraps(part) - wraps(T(left != 0 && (x < 0) != (y < 0))));
    }
  }
};

struct TruncDivide : Division<TruncDivide> {  // of integers
  static constexpr const char* kName = "div";
  static constexpr bool kFloors = false;
  static constexpr bool kQuotient = true;
  template <class T>
  static T value(T, T, T part) {
    return part;
  }
};

struct Remainder : Division<Remainder> {  // sign of the divisor, as in Python
  static constexpr const char* kName = "remainder";
  static constexpr bool kFloors = true;
  static constexpr bool kQuotient = false;
  template <class T>
  static T value(T x, T y, T part) {
    if constexpr (!std::is_floating_point_v<T>) part = remainder(x, y, part);
    const bool other_sign = part != 0 && (part < 0) != (y < 0);
    if constexpr (std::is_floating_point_v<T>) return other_sign ? part + y : part;
    else return other_sign ? T(wraps(part) + wraps(y)) : part;
  }
};

struct Fmod : Division<Fmod> {  // sign of the dividend, as in C
  static constexpr const char* kName = "fmod";
  static constexpr bool kFloors = false;
  static constexpr bool kQuotient = false;
  template <class T>
  static T value(T x, T y, T part) {
    if constexpr (std::is_floating_point_v<T>) return part;
    else return remainder(x, y, part);
  }
};

}  // namespace pkg::ops
