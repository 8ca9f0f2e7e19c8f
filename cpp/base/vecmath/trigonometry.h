// SPDX-License-Identifier: Apache-2.0
// base/vecmath/trigonometry.h: sin, cos and tan of angles up to 10^6, others by <cmath>, and
// the inverse functions.
//
// Angles are reduced to [-pi/4, pi/4] with pi/2 in parts whose multiples are exact (Cody and
// Waite 1980).  Those of float are computed in double, where two parts are enough.
#pragma once

#include "base/vecmath/bits.h"

namespace pkg::vec {

namespace detail {

/// x = quadrant pi/2 + r + low.
template <class T>
struct Quarter;

template <>
struct Quarter<float> {
  explicit Quarter(double x) : n(x * 0.63661977236758134308) {
    r = (x - n.value * 1.57079632673412561417) - n.value * 6.07710050650619260148e-11;
  }
  double sine() const {
    const double z = r * r;
    return r + r * z *
                   poly(z, -0.16666666641533379796, 0.0083333293745533498558,
                        -0.00019839331085152820946, 2.7182750275178125576e-6);
  }
  double cosine() const {
    const double z = r * r;
    return 1.0 + z * poly(z, -0.5, 0.041666646806622910448, -0.0013887364475461901592,
                          0.000024438090518854071669);
  }
  double tangent() const {
    const double z = r * r;
    return r + r * z *
                   poly(z, 0.33333349747002749, 0.13332663414344799, 0.054059931415854486,
                        0.021281983563099223, 0.010836659013206827, 8.8093387853556479e-5,
                        0.0043771501030805267);
  }
  Rounded<double> n;
  double r;
};
template <>
struct Quarter<double> {
  explicit Quarter(double x) : n(x * 0.63661977236758134308) {
    // 33, 33, 33 and 53 bits of pi/2; n has at most 20.
    const double first = x - n.value * 1.57079632673412561417;  // exact
    const double second = n.value * 6.0771005063039659766e-11;
    const double third = n.value * 2.0222662487111664558e-21;
    const double a = first - second, b = a - third;
    const double from_a = a - first, from_b = b - a;
    const double lost = ((first - (a - from_a)) - (second + from_a)) +
                        ((a - (b - from_b)) - (third + from_b));
    const double rest = lost - n.value * 8.47842766036889956997e-32;
    r = b + rest;
    low = (b - r) + rest;
  }
  double sine() const {
    const double z = r * r, v = z * r;
    const double p = poly(z, 0.008333333333322370954, -0.00019841269829771511209,
                          2.7557313678491697698e-6, -2.505075595472630307e-8,
                          1.5896665643179243601e-10);
    return r - ((z * (0.5 * low - v * p) - low) - v * -0.1666666666666663187);
  }
  double cosine() const {
    const double z = r * r, half = 0.5 * z, whole = 1.0 - half;
    const double p = poly(z, 0.041666666666666603366, -0.0013888888888874665991,
                          0.000024801587289765464695, -2.7557314422633526886e-7,
                          2.0875731635401452122e-9, -1.1360031860011144022e-11);
    return whole + (((1.0 - whole) - half) + (z * z * p - r * low));
  }
  Rounded<double> n;
  double r, low;
};

/// Sine of the angle and of `ahead` quadrants more.
template <class T>
inline T sine_of(T x, int ahead) {
  const Quarter<T> quarter(x);
  const uint64_t quadrant = uint64_t(quarter.n.integer()) + uint64_t(ahead);
  const double size = quadrant & 1 ? quarter.cosine() : quarter.sine();
  return T(std::bit_cast<double>(std::bit_cast<uint64_t>(size) ^ ((quadrant & 2) << 62)));
}

/// atan(t) - t for |t| <= 1 of float, 1/2 of double.
template <class T>
inline T atan_tail(T t) {
  const T z = t * t;
  if constexpr (is_float<T>) {
    return t * z *
           poly(z, -0.33333299092363, 0.19998548373013, -0.14264242426705, 0.1095218862349,
                -0.084034560223213, 0.057957654852488, -0.031177878246138,
                0.010914610838166, -0.0017936206197567);
  } else {
    return t * z *
           poly(z, -0.33333333333333313056, 0.19999999999993462416, -0.14285714284978310217,
                0.11111111069355841839, -0.090909076911358461696, 0.076922774496400372096,
                -0.066662232804813263637, 0.058778052014572062476, -0.052300035452571077725,
                0.045894211886113147365, -0.037118311839985962319, 0.023654748450413413165,
                -0.0083657166563477735564);
  }
}
/// The angle of the point (x, y), y and x finite and not negative, turned into the half
/// plane left of the axis where `left` is 1 and not 0.  Choices are factors of 0 and 1:
/// branches on few conditions would be threaded into more than a compiler vectorises.
template <class T>
inline T angle(T y, T x, T left) {
  const T small = x < y ? x : y, large = x < y ? y : x;
  const T steep = x < y ? T(1) : T(0), side = (T(1) - T(2) * steep) * (T(1) - T(2) * left);
  // Multiples of pi/2 or pi/4, which has few bits, and what is added with a sign.
  T turned, from_axis;
  if constexpr (is_float<T>) {
    const T t = small / (large == T(0) ? T(1) : large);
    from_axis = t + atan_tail(t);
    turned = T(2) * (steep + left * (T(2) - T(2) * steep));
  } else {
    const T middle = T(0.5) * large < small ? T(1) : T(0);  // pi/4 plus or minus
    const T num = small - middle * large, den = large + middle * small;
    const T t = num / (den == T(0) ? T(1) : den);
    from_axis = t + atan_tail(t);
    const T eighths = middle + steep * (T(2) - T(2) * middle);
    turned = eighths + left * (T(4) - T(2) * eighths);
  }
  const T high = of<T>(0.78539800643920898438f, 0.78539816339744827900);
  const T low = of<T>(1.5695823932524066085e-7f, 3.0616169978683829431e-17);
  return turned * high + (from_axis * side + turned * low);
}

/// asin(s) - s for z = s^2 <= 1/4.
template <class T>
inline T asin_tail(T s, T z) {
  if constexpr (is_float<T>) {
    return s * z *
           poly(z, 0.16666659854972794064, 0.075005120254778055136, 0.044515490091718732889,
                0.031819673417295489245, 0.014394303666241355192, 0.037577532497716772536);
  } else {
    return s * z *
           poly(z, 0.16666666666666762947, 0.074999999999701087717, 0.044642857175277352432,
                0.030381942675658488033, 0.022372215896116476511, 0.017351595662657271879,
                0.013981016722002379198, 0.011397306922947530034, 0.010789248198068483909,
                0.0036724442156628660766, 0.021790053113142814484, -0.02111592602054174294,
                0.032701693296735417954);
  }
}
/// The parts of asin and acos: above 1/2 by half the angle.
template <class T>
struct Arc {
  explicit Arc(T x) : size(std::abs(x)), large(size > T(0.5)) {
    const T z = large ? (T(1) - size) * T(0.5) : size * size;
    s = large ? std::sqrt(z) : size;
    tail = asin_tail(s, z);
  }
  T size;
  bool large;
  T s, tail;
};
template <class T>
inline constexpr T kHalfPi = of<T>(1.57079637050628662109f, 1.57079632679489655800);
template <class T>
inline constexpr T kHalfPiRest = of<T>(-4.3711390002e-8f, 6.12323399573676588613e-17);

}  // namespace detail

/// Within 1 ulp up to 10^6.
template <class T>
inline T sin(T x) {
  return x == T(0) ? x : detail::sine_of(x, 0);  // with the sign of 0
}
template <class T>
inline T cos(T x) {
  return detail::sine_of(x, 1);
}
/// Within 3 ulp up to 10^6.
template <class T>
inline T tan(T x) {
  const detail::Quarter<T> quarter(x);
  const bool odd = uint64_t(quarter.n.integer()) & 1;
  T result;
  if constexpr (is_float<T>) {
    const T near = T(quarter.tangent());
    result = odd ? T(-1) / near : near;
  } else {
    const double sine = quarter.sine(), cosine = quarter.cosine();
    result = (odd ? -cosine : sine) / (odd ? sine : cosine);
  }
  return x == T(0) ? x : result;
}
/// Within 2 ulp.
template <class T>
inline T atan(T x) {
  const T a = std::abs(x);
  return std::copysign(detail::angle(a > kMax<T> ? kMax<T> : a, T(1), T(0)), x);
}
/// The angle of the point (x, y) in [-pi, pi], within 2 ulp.
template <class T>
inline T atan2(T y, T x) {
  const T b = std::abs(y), a = std::abs(x);
  // Of infinite coordinates it counts which ones are.
  const T far_a = a > kMax<T> ? T(1) : T(0), far_b = b > kMax<T> ? T(1) : T(0);
  const T far = far_a + far_b, shrunk = a + b > kMax<T> / 2 ? T(0.25) : T(1);
  const T p = far > T(0) ? far_a : a * shrunk, q = far > T(0) ? far_b : b * shrunk;
  const T left = T(0.5) - std::copysign(T(0.5), x);
  const T result = std::copysign(detail::angle(q, p, left), y);
  return x != x ? x : y != y ? y : result;
}
/// Within 3 ulp, acos 2; NaN beyond 1.
template <class T>
inline T asin(T x) {
  const detail::Arc<T> arc(x);
  const T high = (detail::kHalfPi<T> - T(2) * arc.s) -
                 (T(2) * arc.tail - detail::kHalfPiRest<T>);
  return std::copysign(arc.large ? high : arc.s + arc.tail, x);
}
template <class T>
inline T acos(T x) {
  using namespace detail;
  const Arc<T> arc(x);
  const T s = std::copysign(arc.s, x), tail = std::copysign(arc.tail, x);
  const T low = kHalfPi<T> - (s - (kHalfPiRest<T> - tail));
  const T right = T(2) * (arc.s + arc.tail);
  const T left = T(2) * (kHalfPi<T> - (arc.s + (arc.tail - kHalfPiRest<T>)));
  return arc.large ? (x < T(0) ? left : right) : low;
}

}  // namespace pkg::vec
