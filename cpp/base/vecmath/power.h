// SPDX-License-Identifier: Apache-2.0
// base/vecmath/power.h: pow and hypot.
//
// x^y = 2^(y log2(x)) with the logarithm in two parts, of 2 * 26 bits (Muller, "Elementary
// Functions", 3rd ed., ch. 11.5); that of float is one double.
#pragma once

#include "base/vecmath/exponential.h"

namespace pkg::vec {

namespace detail {

/// y log2(x) = high + low, for x >= 0; NaN where that is 0 times infinity.
struct PowerParts {
  double high, low;
};
inline double with_ends(double x, double log) {
  log = x == 0.0 ? -kInf<double> : log;
  return x == kInf<double> ? x : log;
}
inline PowerParts power_parts(float x, float y) {
  const auto parts = LogParts<float>::of_any(x);
  const double f = parts.f, s = f / (2.0 + f), z = s * s;
  const double tail = poly(z, 0.66666666670519795737, 0.39999997053668256387,
                           0.28571979684278511906, 0.22180980009249705255,
                           0.19521623227446461106);
  const double log = double(parts.n) + (2.0 * s + s * z * tail) * 1.4426950408889634074;
  return {limited(double(y) * with_ends(x, log), -200.0, 200.0), 0.0};
}
inline PowerParts power_parts(double x, double y) {
  // ln(1 + f) = 2 s + s z (2/3 + ...), s = f / (2 + f), z = s^2: all but the last terms as
  // sums of two, whose products of upper halves are exact.
  const auto parts = LogParts<double>::of_any(x);
  const double f = parts.f, den = 2.0 + f, den_low = f - (den - 2.0);
  const double inverse = 1.0 / den, den_top = top(den);
  const double s = f * inverse, s_top = top(s);
  const double s_low = ((f - s_top * den_top) - s_top * ((den - den_top) + den_low)) *
                       inverse;
  const double z = s_top * s_top, z_low = s_low * (2.0 * s_top + s_low);  // z is exact
  const double square = z + z_low;
  const double last = square * poly(square, 0.40000000000000027418, 0.28571428571337589155,
                                    0.22222222271465787211, 0.1818180819488605439,
                                    0.15385578245023976516, 0.13285853343558843428,
                                    0.12914795914455367152);
  const double third = 0.66666666666666662966, third_low = 3.7007434154171884681e-17;
  const double c = third + last, c_top = top(c);
  const double c_low = (((third - c) + last) + third_low) + (c - c_top);
  const double z_top = top(z);
  const double u = z_top * c_top, u_low = z_top * c_low + ((z - z_top) + z_low) * c;
  const double g = 2.0 + u, g_top = top(g);
  const double g_low = (((2.0 - g) + u) + u_low) + (g - g_top);
  const double ln = s_top * g_top, ln_top = top(ln);
  const double ln_low = s_top * g_low + s_low * (g_top + g_low);
  const double scale = 1.4426950216293334961, scale_low = 1.9259629911266174681e-8;
  const double part = ln_top * scale;
  const double part_low = ln_top * scale_low +
                          ((ln - ln_top) + ln_low) * 1.4426950408889634074;
  const double log = parts.n + part, log_top = top(log);
  const double log_low = (((parts.n - log) + part) + part_low) + (log - log_top);
  const double y_top = top(y), product = y_top * log_top;
  const double rough = y * with_ends(x, log);
  const double low = y_top * log_low + (y - y_top) * (log_top + log_low);
  const bool far = std::abs(rough) > 1100.0;  // also where a part of y is not finite
  const double limit = std::copysign(1100.0, rough);
  return {far ? limit : product, far ? 0.0 : low};
}

template <class T>
inline T nearest_integer(T a) {  // a >= 0
  constexpr T whole = T(1) / std::numeric_limits<T>::epsilon();
  return a >= whole ? a : (a + whole) - whole;
}

}  // namespace detail

/// Within 1 ulp of float, 2 of double.
template <class T>
inline T pow(T x, T y) {
  const T a = std::abs(x), size = std::abs(y);
  const detail::PowerParts e = detail::power_parts(a, y);
  const Rounded<double> n(e.high + e.low);
  const double r = ((e.high - n.value) + e.low) * detail::kLn2;
  T result;
  if constexpr (is_float<T>) {
    const double p = poly(r, 1.0, 1.0, 0.50000000266955163702, 0.16666576882628691036,
                          0.041666376746823309885, 0.0083631968692029335051,
                          0.0013941012414227267899);
    result = float(p * pow2<double>(n.integer()));
  } else {
    result = scaled(1.0 + (r + detail::exp_tail(r)), n.integer());
  }
  // Choices between numbers, not of truths: those of float and of double do not mix.
  result = a == T(1) ? T(1) : result;
  const T whole = detail::nearest_integer(size), half = T(0.5) * size;
  const T even = detail::nearest_integer(half) == half ? T(1) : T(-1);
  const T real = a < kInf<T> ? kNan<T> : result;  // (-x)^0.5, but for infinite x
  const T of_negative = whole == size ? result * even : x < T(0) ? real : result;
  result = std::copysign(T(1), x) < T(0) ? of_negative : result;
  result = x != x ? x : result;
  return y == T(0) ? T(1) : result;
}

/// sqrt(x^2 + y^2) without overflow, within 1 ulp.
inline float hypot(float x, float y) {
  const bool far = std::abs(x) == kInf<float> || std::abs(y) == kInf<float>;
  const double a = x, b = y;
  return far ? kInf<float> : float(std::sqrt(a * a + b * b));
}
inline double hypot(double x, double y) {
  const double a = std::abs(x), b = std::abs(y), large = a > b ? a : b;
  const bool far = a == kInf<double> || b == kInf<double>;
  const double up = large > 1e150 ? 0x1p-600 : large < 1e-150 ? 0x1p600 : 1.0;
  const double down = large > 1e150 ? 0x1p600 : large < 1e-150 ? 0x1p-600 : 1.0;
  const double p = a * up, q = b * up;
  return far ? kInf<double> : std::sqrt(p * p + q * q) * down;
}

}  // namespace pkg::vec
