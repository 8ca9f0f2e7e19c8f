// SPDX-License-Identifier: Apache-2.0
// kernels/cpu/reduce/extreme.h: the largest or smallest element.  NaN counts as
// the extreme.
#pragma once

#include <cmath>
#include <limits>
#include <type_traits>

#include "kernels/cpu/reduce/fold_loops.h"

namespace pkg {

/// What elements are compared as: themselves,
struct AsIs {
  template <class T>
  static T of(T x, double) {
    return x;
  }
};
/// their sizes,
struct AsSize {
  template <class T>
  static T of(T x, double) {
    return std::abs(x);
  }
};
/// or, of the bits of 16-bit floats, integers in the same order, in which -0 is before 0 and
/// NaN beyond all numbers.  The parameter is the bits of infinity.
template <bool Max>
struct AsKey {
  static constexpr int16_t kSize = 0x7fff, kNan = Max ? 0x7fff : -0x8000;
  static int16_t of(int16_t bits, double infinity) {
    const auto key = int16_t(bits ^ ((bits >> 15) & kSize));
    const auto size = int16_t(bits & kSize);
    return size > int16_t(infinity) ? kNan : key;
  }
  /// The bits of a key.
  static int16_t bits(int16_t key) { return int16_t(key ^ ((key >> 15) & kSize)); }
};

/// As FoldLoops wants it.
template <bool Max, class T, class As = AsIs>
struct Extreme {
  using In = T;
  using Local = T;
  using State = T;
  using RepeatsOnce = void;
  using Limits = std::numeric_limits<T>;
  static constexpr T lowest = Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
  static constexpr T highest = Limits::has_infinity ? Limits::infinity() : Limits::max();
  static constexpr bool kSizes = std::is_same_v<As, AsSize>;
  static constexpr State start = Max ? (kSizes ? T(0) : lowest) : highest;
  static T identity() { return start; }
  static T load(T x, double p) { return As::of(x, p); }
  // Nothing beats NaN, and NaN beats what is a number.  Two choices, each of which is an
  // instruction: a choice by `a > b || a != a` becomes a jump.
  static T combine(T best, T x) {
    const T larger = (Max ? best > x : best < x) ? best : x;
    return best == best ? larger : best;
  }
  static constexpr int64_t kRun = 8192 / int64_t(sizeof(T));
  // Lanes that are read in order, as in sum_of.  The last ones may be read twice.
  static T run(const T* x, int64_t n, double p) {
    constexpr int64_t lanes = kLaneBytes / sizeof(T);
    if (n < lanes) return run_few<As>(x, n, p);
    T best[lanes];
    for (T& one : best) one = start;
    const auto in_lanes = [x, n](auto take) {
      for (int64_t at = 0; at + lanes <= n; at += lanes) take(x + at);
      if (n % lanes) take(x + n - lanes);
    };
    if constexpr (std::is_floating_point_v<T>) {
      if (n < 4 * lanes) {
        in_lanes([&best, p](const T* from) {
#pragma omp simd
          for (int64_t i = 0; i < lanes; ++i) best[i] = combine(best[i], load(from[i], p));
        });
        return run_few<AsIs>(best, lanes, p);
      }
    }
    // In long runs each choice waits for the one before.  NaN is none of them: it is kept
    // in flags, which are as wide as an element, so that both lie in the same lanes.
    using Flag = std::conditional_t<sizeof(T) == 8, int64_t, int32_t>;
    Flag nan[lanes] = {};
    in_lanes([&best, &nan, p](const T* from) {
#pragma omp simd
      for (int64_t i = 0; i < lanes; ++i) {
        const T u = load(from[i], p);
        best[i] = (Max ? u > best[i] : u < best[i]) ? u : best[i];
        if constexpr (std::is_floating_point_v<T>) nan[i] |= u != u;
      }
    });
    Flag any = 0;
    for (int64_t i = 0; i < lanes; ++i) any |= nan[i];
    return any ? Limits::quiet_NaN() : run_few<AsIs>(best, lanes, p);
  }
  // The reductions of the compiler, which do not look at NaN.
  template <class Read>
  static T run_few(const T* x, int64_t n, double p) {
    T a = start;
    int nan = 0;
    if constexpr (Max) {
#pragma omp simd reduction(max : a) reduction(| : nan)
      for (int64_t i = 0; i < n; ++i) {
        const T u = Read::of(x[i], p);
        a = u > a ? u : a;
        nan |= u != u;
      }
    } else {
#pragma omp simd reduction(min : a) reduction(| : nan)
      for (int64_t i = 0; i < n; ++i) {
        const T u = Read::of(x[i], p);
        a = u < a ? u : a;
        nan |= u != u;
      }
    }
    return nan ? Limits::quiet_NaN() : a;
  }
  static void absorb(T& state, T x) { state = combine(state, x); }
  static void merge(T& state, T later) { state = combine(state, later); }
};

}  // namespace pkg
