// SPDX-License-Identifier: Apache-2.0
// base/scalar.h: one number that remembers whether it was bool, integer or float.
#pragma once

#include <cmath>
#include <cstdint>
#include <iosfwd>
#include <type_traits>

#include "base/dtype.h"
#include "base/error.h"

namespace pkg {

/// A Python number on its way into a kernel.
class Scalar {
 public:
  enum class Kind : uint8_t { Bool, Int, Float };

  Scalar() : Scalar(int64_t{0}) {}
  template <class T>
    requires std::is_arithmetic_v<T>
  Scalar(T value) {
    if constexpr (std::is_same_v<T, bool>) {
      kind_ = Kind::Bool;
      int_ = value;
    } else if constexpr (std::is_integral_v<T>) {
      kind_ = Kind::Int;
      int_ = int64_t(value);
    } else {
      kind_ = Kind::Float;
      float_ = double(value);
    }
  }

  Kind kind() const { return kind_; }
  bool is_float() const { return kind_ == Kind::Float; }
  /// Value as T, converted the way C++ converts numbers.
  template <class T>
  T to() const {
    if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
      return T(to<float>());
    } else if constexpr (std::is_same_v<T, bool>) {
      return kind_ == Kind::Float ? float_ != 0 : int_ != 0;
    } else {
      return kind_ == Kind::Float ? T(float_) : T(int_);
    }
  }
  /// Integer value; TypeError for a float, so that 2.5 is never cut silently.
  int64_t to_int(const char* what) const {
    PKG_CHECK(kind_ != Kind::Float, TypeError, "[", what, "] expected an integer, got ",
              float_, ".");
    return int_;
  }
  /// The dtype a bare Python number of this kind becomes.
  DType dtype() const {
    return kind_ == Kind::Bool  ? DType::Bool
           : kind_ == Kind::Int ? DType::Int64
                                : default_dtype();
  }
  friend bool operator==(const Scalar& a, const Scalar& b) {
    return a.kind_ == b.kind_ && (a.is_float() ? a.float_ == b.float_ : a.int_ == b.int_);
  }

 private:
  union {
    int64_t int_;
    double float_;
  };
  Kind kind_;
};

std::ostream& operator<<(std::ostream& out, const Scalar& scalar);

}  // namespace pkg
