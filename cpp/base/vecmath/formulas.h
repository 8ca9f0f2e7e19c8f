// SPDX-License-Identifier: Apache-2.0
// base/vecmath/formulas.h: functions as formulas: those that are right in a range, with
// another one beyond it, and short ones for float16, whose results have 11 bits.
//
// Short ones are only compiled where there is a fused multiply-add.  Minimax coefficients
// by Remez, within 2^-14 of the result; operands are floats of float16's range.
#pragma once

#include "base/vecmath/exponential.h"
#include "base/vecmath/trigonometry.h"

namespace pkg::vec {

// Short forms of float16.
/// `scale` times log2(x).
struct HalfLog {
  float scale;
  float operator()(float x) const {
    const detail::LogParts<float> parts(x);
    return detail::log_special(x, scale * (parts.n + of_near(parts.f)));
  }
  static float of_near(float f) {  // log2(1 + f)
    const float s = f / (2.0f + f);
    return s * poly(s * s, 2.8853256738816, 0.9791542791855);
  }
};
struct HalfLog1p {
  float operator()(float x) const {
    const detail::LogParts<float> parts(1.0f + x);
    const float near = HalfLog::of_near(parts.n == 0.0f ? x : parts.f);
    const float result = float(detail::kLn2) * (parts.n + near);
    return std::copysign(detail::log_special(1.0f + x, result), x);
  }
};
/// The angle reduced to [-pi/4, pi/4]; infinity becomes NaN.
struct HalfQuarter {
  explicit HalfQuarter(float x) : n(x * 0.636619772f) {
    r = std::fma(n.value, -1.57079625129699707f, x);  // exact
    r = std::fma(n.value, -7.54978995489e-8f, r);     // -0 stays
    z = r * r;
  }
  Rounded<float> n;
  float r, z;
};
/// The sine of the angle and of `ahead` quadrants more.
struct HalfSine {
  uint32_t ahead;
  float operator()(float x) const {
    const HalfQuarter q(x);
    const float sine = q.r *
                       (1.0f + q.z * poly(q.z, -0.16663385274825, 0.0081631506470613));
    const float cosine = 1.0f + q.z * poly(q.z, -0.49976017761817, 0.040457506819531);
    const uint32_t quadrant = uint32_t(q.n.integer()) + ahead;
    const float size = quadrant & 1 ? cosine : sine;
    const uint32_t sign = (quadrant & 2) << 30;
    return std::bit_cast<float>(std::bit_cast<uint32_t>(size) ^ sign);
  }
};
struct HalfTangent {
  float operator()(float x) const {
    const HalfQuarter q(x);
    const float tail = poly(q.z, 0.33315378225341, 0.13607226719183, 0.041373461331665,
                            0.04311395208185);
    const float near = q.r + q.r * q.z * tail;
    return uint32_t(q.n.integer()) & 1 ? -1.0f / near : near;
  }
};

/// A logarithm is shorter where it need not ask for other numbers (ops/patches.h).
struct NotNormal {
  template <class T>
  static bool fits(T x) {
    return x >= std::numeric_limits<T>::min() && x < kInf<T>;
  }
  template <class T>
  static bool is_slow(T x) {
    return x > T(0) && x < std::numeric_limits<T>::min();
  }
  static auto special(auto x) { return detail::log_special(x, x); }
};
struct Log {
  using Others = NotNormal;
  template <class T>
  T operator()(T x) const {
    return detail::log_of(detail::LogParts<T>(x));
  }
  static auto rest(auto x) { return vec::log(x); }
  static HalfLog of_half() { return {float(detail::kLn2)}; }
};
struct Log2 {
  using Others = NotNormal;
  template <class T>
  T operator()(T x) const {
    return detail::log2_of(detail::LogParts<T>(x));
  }
  static auto rest(auto x) { return vec::log2(x); }
  static HalfLog of_half() { return {1.0f}; }
};
struct Log10 {
  using Others = NotNormal;
  template <class T>
  T operator()(T x) const {
    return detail::log10_of(detail::LogParts<T>(x));
  }
  static auto rest(auto x) { return vec::log10(x); }
  static HalfLog of_half() { return {0.301029996f}; }
};
struct Log1p {
  auto operator()(auto x) const { return vec::log1p(x); }
  static HalfLog1p of_half() { return {}; }
};

/// sin, cos and tan by those of <cmath> beyond their range.
struct SmallAngle {
  template <class T>
  static bool fits(T x) {
    return std::abs(x) <= T(1e6);
  }
};
struct Sine : SmallAngle {
  auto operator()(auto x) const { return vec::sin(x); }
  auto rest(auto x) const { return std::sin(x); }
  static HalfSine of_half() { return {0}; }
};
struct Cosine : SmallAngle {
  auto operator()(auto x) const { return vec::cos(x); }
  auto rest(auto x) const { return std::cos(x); }
  static HalfSine of_half() { return {1}; }
};
struct Tangent : SmallAngle {
  auto operator()(auto x) const { return vec::tan(x); }
  auto rest(auto x) const { return std::tan(x); }
  static HalfTangent of_half() { return {}; }
};

}  // namespace pkg::vec
