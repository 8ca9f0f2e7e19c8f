// SPDX-License-Identifier: Apache-2.0
// base/vecmath/formulas.h: functions as formulas: those that are right in a range, with
// another one beyond it, and short ones for float16, whose results have 11 bits, and for
// bfloat16, whose have 8.
//
// Short ones are only compiled where there is a fused multiply-add.  Minimax coefficients
// by Remez, within 2^-14 of the result; operands are floats of float16's range, or all that
// bfloat16 has.
#pragma once

#include "base/vecmath/error_function.h"
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

struct HalfExp {
  float operator()(float x) const {
    const Rounded<float> n(limited(x, -18.0f, 12.0f) * float(1.0 / detail::kLn2));
    const float r = limited(x, -18.0f, 12.0f) - n.value * float(detail::kLn2);
    return pow2<float>(n.integer()) * poly(r, 0.99999926143502, 0.99996340643242,
                                           0.50004359185265, 0.16790906330053,
                                           0.041458569455348);
  }
};
/// From 2.75 on 1 has the same bits.
struct HalfErf {
  float operator()(float x) const {
    const float a = std::abs(x), size = a > 2.75f ? 2.75f : a;
    const float result = size * poly(size * size, 1.1283303908193, -0.37537305896870,
                                     0.11079219525641, -0.024630669865387,
                                     0.0039486439662696, -0.00042353695327642,
                                     2.6727942944195e-5, -7.4087410266019e-7);
    return std::copysign(result, x);
  }
};
struct HalfArctangent {
  float operator()(float x) const {
    const float a = std::abs(x), small = a < 1.0f ? a : 1.0f, large = a < 1.0f ? 1.0f : a;
    const float t = small / large;
    const float angle = t * poly(t * t, 0.99999562970353, -0.33299460131595,
                                 0.19563595170303, -0.12123912289680, 0.057477353110461,
                                 -0.013480479329650);
    return std::copysign(a < 1.0f ? angle : 1.57079633f - angle, x);
  }
};

/// The same for bfloat16, whose numbers go beyond.
template <class Short>
struct SmallBFloat : Short {
  static constexpr float kMost = 65536.0f;
};
struct BFloatSine : SmallBFloat<HalfSine> {
  float rest(double x) const { return float(ahead ? std::cos(x) : std::sin(x)); }
};
struct BFloatTangent : SmallBFloat<HalfTangent> {
  float rest(double x) const { return float(std::tan(x)); }
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

struct Exp {
  auto operator()(auto x) const { return vec::exp(x); }
  static HalfExp of_half() { return {}; }
};
struct Erf {
  auto operator()(auto x) const { return vec::erf(x); }
  static HalfErf of_half() { return {}; }
  static HalfErf of_bfloat() { return {}; }
};
struct Arctangent {
  auto operator()(auto x) const { return vec::atan(x); }
  static HalfArctangent of_half() { return {}; }
  static HalfArctangent of_bfloat() { return {}; }
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
  static BFloatSine of_bfloat() { return {{{0}}}; }
};
struct Cosine : SmallAngle {
  auto operator()(auto x) const { return vec::cos(x); }
  auto rest(auto x) const { return std::cos(x); }
  static HalfSine of_half() { return {1}; }
  static BFloatSine of_bfloat() { return {{{1}}}; }
};
struct Tangent : SmallAngle {
  auto operator()(auto x) const { return vec::tan(x); }
  auto rest(auto x) const { return std::tan(x); }
  static HalfTangent of_half() { return {}; }
  static BFloatTangent of_bfloat() { return {}; }
};

}  // namespace pkg::vec
