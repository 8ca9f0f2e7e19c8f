// SPDX-License-Identifier: Apache-2.0
// kernels/cpu/nn/row_group.h: groups of short rows that are normalised step by step, each
// step for all rows of a group.
//
// What a row costs by itself, of its sums and its root, waits for one another: rows side by
// side do not.  Rows that are shorter than a vector are turned first, so that what was a
// column is a run.
#pragma once

#include <cmath>

#include "kernels/cpu/reduce/fold_loops.h"
#include "kernels/cpu/rows.h"

namespace pkg {

/// Rows of at most so many elements are normalised in groups, of kGroup elements.
inline constexpr int64_t kGroupedRow = kGroup / 2;

/// to[j * rows + i] = from[i * columns + j].
template <class T>
void turn(const T* __restrict from, int64_t rows, int64_t columns, T* __restrict to) {
  if (columns < rows) {
    for (int64_t j = 0; j < columns; ++j) {
      for (int64_t i = 0; i < rows; ++i) to[j * rows + i] = from[i * columns + j];
    }
  } else {
    for (int64_t i = 0; i < rows; ++i) {
      for (int64_t j = 0; j < columns; ++j) to[j * rows + i] = from[i * columns + j];
    }
  }
}

/// Memory of one thread for a group of rows of n elements, of which there is no more than
/// kGroupedRow.
template <class T>
class RowGroup {
 public:
  explicit RowGroup(int64_t n) : n_(n), memory_(kParts * kGroup) {}
  int64_t most() const { return kGroup / n_; }

  /// y = (x - mean) * scale * w + b; w is null where there are no weights.
  void normalise(const T* x, int64_t rows, const T* w, const T* b, double eps, bool centred,
                 T* mean, T* scale, T* y) {
    if (n_ >= kFewLanes) {
      with_lanes([&](auto lanes) { moments_of_rows<lanes>(x, rows, centred); });
    } else {
      x = turned(x, rows, part(0));
      moments_of_columns(x, rows, centred);
    }
    const T *m = part(2), *q = part(3);
    const double n = double(n_);
    for (int64_t i = 0; i < rows; ++i) {
      mean[i] = m[i];
      scale[i] = T(1 / std::sqrt(double(q[i]) / n + eps));
    }
    if (n_ >= kFewLanes) {
      return with_lanes([&](auto lanes) { write_rows<lanes>(x, rows, w, b, scale, y); });
    }
    T* const results = n_ == 1 ? y : part(1);
    for (int64_t j = 0; j < n_; ++j) {
      const T* __restrict from = x + j * rows;
      T* __restrict to = results + j * rows;
      if (!w) {
        for (int64_t i = 0; i < rows; ++i) to[i] = (from[i] - m[i]) * scale[i];
      } else {
        const T v = w[j], u = b[j];
        for (int64_t i = 0; i < rows; ++i) to[i] = (from[i] - m[i]) * scale[i] * v + u;
      }
    }
    if (n_ > 1) turn(results, n_, rows, y);
  }

  /// Its gradient dx for x; those of w and b are added to dw and db, unless they are null.
  ///
  /// With h = (x - mean) * scale and d = grad * w:
  /// dx = scale * (d - average(d) - h * average(d * h)).
  void differentiate(const T* grad, const T* x, int64_t rows, const T* w, bool centred,
                     const T* mean, const T* scale, T* dw, T* db, T* dx) {
    if (n_ >= kFewLanes) {
      with_lanes([&](auto lanes) { averages_of_rows<lanes>(grad, x, rows, w, mean); });
    } else {
      grad = turned(grad, rows, part(0));
      x = turned(x, rows, part(1));
      averages_of_columns(grad, x, rows, w, mean);
    }
    T *flat = part(2), *slope = part(3);
    for (int64_t i = 0; i < rows; ++i) {
      flat[i] = centred ? flat[i] / T(n_) : T(0);
      slope[i] *= scale[i] / T(n_);
    }
    if (n_ >= kFewLanes) {
      return with_lanes([&](auto lanes) {
        write_row_slopes<lanes>(grad, x, rows, w, mean, scale, dw, db, dx);
      });
    }
    for (int64_t j = 0; j < n_; ++j) {
      const T *g = grad + j * rows, *v = x + j * rows, p = w[j];
      // Turned rows are not needed any more.
      T* const to = n_ == 1 ? dx : const_cast<T*>(v);
      T of_w = 0, of_b = 0;
#pragma omp simd reduction(+ : of_w, of_b)
      for (int64_t i = 0; i < rows; ++i) {
        const T h = (v[i] - mean[i]) * scale[i];
        of_w += g[i] * h;
        of_b += g[i];
        to[i] = scale[i] * (g[i] * p - flat[i] - h * slope[i]);
      }
      if (!dw) continue;
      dw[j] += of_w;
      db[j] += of_b;
    }
    if (n_ > 1) turn(x, n_, rows, dx);
  }

 private:
  static constexpr int64_t kLanes = 64 / sizeof(T), kFewLanes = kLanes / 2, kParts = 4;

  T* part(int64_t i) const { return memory_.data() + i * kGroup; }
  const T* turned(const T* x, int64_t rows, T* to) const {
    if (n_ == 1) return x;
    turn(x, rows, n_, to);
    return to;
  }
  template <class F>
  void with_lanes(F f) const {
    if (n_ >= kLanes) f(std::integral_constant<int64_t, kLanes>());
    else f(std::integral_constant<int64_t, kFewLanes>());
  }
  // Sum of f(i) for i below n_.
  template <int64_t lanes, class F>
  T sum(F f) const {
    alignas(64) T sums[lanes];
    in_lanes<lanes>(sums, n_, T(0), f, [](T a, T b) { return T(a + b); });
    return of_lanes<false, lanes>(sums);
  }
  // f(first) for vectors of elements, the last of which may begin before what is new.
  template <int64_t lanes, class F>
  void each_vector(F f) const {
    for (int64_t at = 0; at + lanes <= n_; at += lanes) f(at);
    if (n_ % lanes) f(n_ - lanes);
  }

  // Means, and sums of squares of what is apart from them.  What is apart from a mean adds up
  // to what its rounding left out: with that, rows of equal elements have no deviation.
  template <int64_t lanes>
  void moments_of_rows(const T* x, int64_t rows, bool centred) const {
    T *m = part(2), *q = part(3);
    for (int64_t i = 0; i < rows; ++i) {
      const T* row = x + i * n_;
      m[i] = centred ? sum<lanes>([=](int64_t j) { return row[j]; }) / T(n_) : T(0);
    }
    for (int64_t i = 0; i < rows; ++i) {
      const T *row = x + i * n_, middle = m[i];
      q[i] = sum<lanes>([=](int64_t j) { return (row[j] - middle) * (row[j] - middle); });
      if (!centred) continue;
      const T rest = sum<lanes>([=](int64_t j) { return row[j] - middle; });
      m[i] += rest / T(n_);
      q[i] -= rest * rest / T(n_);
    }
  }
  void moments_of_columns(const T* x, int64_t rows, bool centred) const {
    T* __restrict m = part(2);
    T* __restrict q = part(3);
    std::fill_n(m, rows, T(0));
    std::fill_n(q, rows, T(0));
    if (centred) {
      for (int64_t j = 0; j < n_; ++j) {
        for (int64_t i = 0; i < rows; ++i) m[i] += x[j * rows + i];
      }
      for (int64_t i = 0; i < rows; ++i) m[i] /= T(n_);
    }
    T* __restrict rest = part(1);
    std::fill_n(rest, rows, T(0));
    for (int64_t j = 0; j < n_; ++j) {
      for (int64_t i = 0; i < rows; ++i) {
        const T apart = x[j * rows + i] - m[i];
        q[i] += apart * apart;
        rest[i] += apart;
      }
    }
    if (!centred) return;
    for (int64_t i = 0; i < rows; ++i) {
      m[i] += rest[i] / T(n_);
      q[i] -= rest[i] * rest[i] / T(n_);
    }
  }
  template <int64_t lanes>
  void write_rows(const T* x, int64_t rows, const T* w, const T* b, const T* scale,
                  T* y) const {
    const T* m = part(2);
    for (int64_t i = 0; i < rows; ++i) {
      const T* __restrict from = x + i * n_;
      T* __restrict to = y + i * n_;
      const T middle = m[i], by = scale[i];
      each_vector<lanes>([&](int64_t at) {
        if (!w) {
#pragma omp simd
          for (int64_t k = 0; k < lanes; ++k) to[at + k] = (from[at + k] - middle) * by;
        } else {
#pragma omp simd
          for (int64_t k = 0; k < lanes; ++k) {
            to[at + k] = (from[at + k] - middle) * by * w[at + k] + b[at + k];
          }
        }
      });
    }
  }

  template <int64_t lanes>
  void averages_of_rows(const T* grad, const T* x, int64_t rows, const T* w,
                        const T* mean) const {
    T *flat = part(2), *slope = part(3);
    for (int64_t i = 0; i < rows; ++i) {
      const T *g = grad + i * n_, *v = x + i * n_, m = mean[i];
      flat[i] = sum<lanes>([=](int64_t j) { return g[j] * w[j]; });
      slope[i] = sum<lanes>([=](int64_t j) { return g[j] * w[j] * (v[j] - m); });
    }
  }
  void averages_of_columns(const T* grad, const T* x, int64_t rows, const T* w,
                           const T* mean) const {
    T* __restrict flat = part(2);
    T* __restrict slope = part(3);
    std::fill_n(flat, rows, T(0));
    std::fill_n(slope, rows, T(0));
    for (int64_t j = 0; j < n_; ++j) {
      const T *g = grad + j * rows, *v = x + j * rows, p = w[j];
      for (int64_t i = 0; i < rows; ++i) {
        flat[i] += g[i] * p;
        slope[i] += g[i] * p * (v[i] - mean[i]);
      }
    }
  }
  template <int64_t lanes>
  void write_row_slopes(const T* grad, const T* x, int64_t rows, const T* w, const T* mean,
                        const T* scale, T* dw, T* db, T* dx) const {
    const T *flat = part(2), *slope = part(3);
    // The last vector begins within the one before.  Its sums are kept apart: to read what
    // overlaps a store of a moment ago would take longer than all else.
    const int64_t seen = n_ % lanes ? lanes - n_ % lanes : lanes;
    alignas(64) T last_w[lanes] = {}, last_b[lanes] = {};
    for (int64_t i = 0; i < rows; ++i) {
      const T *g = grad + i * n_, *v = x + i * n_;
      T* __restrict to = dx + i * n_;
      const T m = mean[i], s = scale[i], level = flat[i], by = slope[i];
      each_vector<lanes>([&](int64_t at) {
#pragma omp simd
        for (int64_t k = at; k < at + lanes; ++k) {
          to[k] = s * (g[k] * w[k] - level - (v[k] - m) * s * by);
        }
      });
      if (!dw) continue;
      T* __restrict p = dw;
      T* __restrict q = db;
      for (int64_t at = 0; at + lanes <= n_; at += lanes) {
#pragma omp simd
        for (int64_t k = at; k < at + lanes; ++k) {
          p[k] += g[k] * ((v[k] - m) * s);
          q[k] += g[k];
        }
      }
      if (n_ % lanes == 0) continue;
      const int64_t at = n_ - lanes;
#pragma omp simd
      for (int64_t k = 0; k < lanes; ++k) {
        last_w[k] += g[at + k] * ((v[at + k] - m) * s);
        last_b[k] += g[at + k];
      }
    }
    for (int64_t k = seen; dw && k < lanes; ++k) {
      dw[n_ - lanes + k] += last_w[k];
      db[n_ - lanes + k] += last_b[k];
    }
  }

  int64_t n_;
  RunBuffer<T> memory_;
};

}  // namespace pkg
