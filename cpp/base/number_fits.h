// SPDX-License-Identifier: Apache-2.0
// base/number_fits.h: whether a number can be an element of a dtype.
#pragma once

#include <cmath>
#include <limits>

#include "base/scalar.h"

namespace pkg {

namespace fitting {

inline bool fits_floating(double value, double most) {
  return !std::isfinite(value) || std::abs(value) <= most;
}
// A fraction is cut off, and a negative integer counts from the end of an unsigned type;
// what wraps otherwise does not fit.
template <class T>
bool fits_integer(const Scalar& value) {
  using Limits = std::numeric_limits<T>;
  if (value.is_float()) {
    const double v = value.to<double>(), past = std::ldexp(1.0, Limits::digits);
    return v >= double(Limits::lowest()) && v < past;
  }
  const int64_t v = value.to<int64_t>();
  const int64_t lowest = std::is_signed_v<T> ? int64_t(Limits::lowest())
                                             : -int64_t(Limits::max());
  return v >= lowest && v <= int64_t(Limits::max());
}

}  // namespace fitting

/// The largest finite number of a floating dtype.
inline double largest(DType dtype) {
  switch (dtype) {
    case DType::Float16: return 65504;
    case DType::BFloat16: return 0x1.fep127;
    case DType::Float32: return std::numeric_limits<float>::max();
    default: return std::numeric_limits<double>::max();
  }
}

inline bool fits(const Scalar& value, DType dtype) {
  switch (dtype) {
    case DType::Bool: return true;
    case DType::UInt8: return fitting::fits_integer<uint8_t>(value);
    case DType::Int8: return fitting::fits_integer<int8_t>(value);
    case DType::Int32: return fitting::fits_integer<int32_t>(value);
    case DType::Int64: return fitting::fits_integer<int64_t>(value);
    case DType::Float16:
    case DType::BFloat16:
    case DType::Float32: return fitting::fits_floating(value.to<double>(), largest(dtype));
    case DType::Float64: return true;
  }
  __builtin_unreachable();
}

/// RuntimeError for a number, argument `name` of the op, that a tensor of this dtype cannot
/// hold.
inline void check_fits(const char* op, const Scalar& value, DType dtype,
                       const char* name = "value") {
  PKG_CHECK(fits(value, dtype), RuntimeError, "[", op,
            "] value cannot be converted to type ", dtype, " without overflow (", name, "=",
            value, ").");
}

/// The same for a number that is written or chosen: a 16-bit float may become infinite.
inline void check_written(const char* op, const Scalar& value, DType dtype,
                          const char* name) {
  if (!is_reduced(dtype)) check_fits(op, value, dtype, name);
}

/// The same for a factor or a threshold: beside 16-bit floats it is used in float32.
inline void check_factor(const char* op, const Scalar& value, DType dtype,
                         const char* name) {
  check_fits(op, value, is_reduced(dtype) ? DType::Float32 : dtype, name);
}

}  // namespace pkg
