// SPDX-License-Identifier: Apache-2.0
// kernels/cpu/reduce/extreme.h: the largest or smallest element.  NaN counts as
// the extreme.
#pragma once

#include <cmath>
#include <limits>

#include "kernels/cpu/reduce/fold_loops.h"

namespace pkg {

/// As FoldLoops wants it.  Of sizes, where `Abs`.
template <bool Max, class T, bool Abs = false>
struct Extreme {
  using In = T;
  using Local = T;
  using State = T;
  using RepeatsOnce = void;
  using Limits = std::numeric_limits<T>;
  static constexpr T lowest = Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
  static constexpr T highest = Limits::has_infinity ? Limits::infinity() : Limits::max();
  static constexpr State start = Max ? (Abs ? T(0) : lowest) : highest;
  static T identity() { return start; }
  static T load(T x, double) {
    if constexpr (Abs) return std::abs(x);
    else return x;
  }
  // Nothing beats NaN, and NaN beats what is a number.  Two choices, each of which is an
  // instruction: a choice by `a > b || a != a` becomes a jump.
  static T combine(T best, T x) {
    const T larger = (Max ? best > x : best < x) ? best : x;
    return best == best ? larger : best;
  }
  static constexpr int64_t kRun = 8192 / int64_t(sizeof(T));
  static T run(const T* x, int64_t n, double p) {
    T a = start, b = start;
    int nan = 0;
    const int64_t half = n / 2;
    // The reductions of the compiler, which do not look at NaN.
    if constexpr (Max) {
#pragma omp simd reduction(max : a, b) reduction(| : nan)
      for (int64_t i = 0; i < half; ++i) {
        const T u = load(x[i], p), v = load(x[i + half], p);
        a = u > a ? u : a;
        b = v > b ? v : b;
        nan |= (u != u) | (v != v);
      }
    } else {
#pragma omp simd reduction(min : a, b) reduction(| : nan)
      for (int64_t i = 0; i < half; ++i) {
        const T u = load(x[i], p), v = load(x[i + half], p);
        a = u < a ? u : a;
        b = v < b ? v : b;
        nan |= (u != u) | (v != v);
      }
    }
    if (nan) return Limits::quiet_NaN();
    return combine(combine(a, b), n % 2 ? load(x[n - 1], p) : start);
  }
  static void absorb(T& state, T x) { state = combine(state, x); }
  static void merge(T& state, T later) { state = combine(state, later); }
};

}  // namespace pkg
