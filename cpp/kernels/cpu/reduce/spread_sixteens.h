// SPDX-License-Identifier: Apache-2.0
// kernels/cpu/reduce/spread_sixteens.h: SpreadLoops of float16 and bfloat16, widened in
// registers.  Columns are computed in float32, which is precise enough beside 16 bits, so
// that more rows make a block; where squares of bfloat16 may have left float32's range, or
// are 0, in double.  For a processor that converts sixteen numbers.
#pragma once

#include <algorithm>

#include "kernels/cpu/reduce/spread.h"
#include "tensor/sixteen.h"

namespace pkg {

template <class H>
struct SpreadSixteens {
  static constexpr int64_t kRun = 1024, kDepth = 64;

  static void rows(const Block& block, void* to) {
    auto* states = static_cast<Moments*>(to);
    with_sixteen([=, b = block]<Isa level>(AtIsa<level>) {
      float v[kRun + kSixteen];
      const int64_t most = std::max<int64_t>(1, kRun / b.n);
      for (int64_t i = 0; i < b.rows; i += most) {
        const int64_t count = std::min(most, b.rows - i);
        const H* x = static_cast<const H*>(b.x) + i * b.stride;
        for (int64_t at = 0; at < b.n; at += kRun) {
          const int64_t n = std::min(kRun, b.n - at);
          if (b.n <= kRun && b.stride == n) {
            widen_run<level>(v, x, count * n);
          } else {
            for (int64_t r = 0; r < count; ++r)
              widen_run<level>(v + r * n, x + r * b.stride + at, n);
          }
          SpreadLoops<float>::rows({v, n, count, n, b.first, b.parameter}, states + i);
        }
      }
    });
  }

  static void columns(const Block& block, void* to) {
    auto* states = static_cast<Moments*>(to);
    with_sixteen([=, b = block]<Isa level>(AtIsa<level>) {
      in_strips<H>(b, [=](const Block& part, int64_t rows, int64_t wide) {
        strip<level>(part, rows, wide, states);
      });
    });
  }

  static constexpr Fold fold() {
    Fold all = SpreadLoops<float>::fold();
    all.type = dtype_of<H>;
    all.rows = rows;
    all.columns = columns;
    return all;
  }

 private:
  // sum[j] = f(j, sum[j], element j) for sixteen columns at a time of each of the rows.
  template <Isa level, class T, class F>
  static void each_row(const H* x, int64_t step, int64_t rows, int64_t wide, T* sum, F f) {
    for (int64_t r = 0; r < rows; ++r, x += step) {
      for (int64_t j = 0; j < wide; j += kSixteen) {
        float v[kSixteen];
        widen_run<level>(v, x + j, std::min(kSixteen, wide - j));
#pragma omp simd
        for (int64_t k = 0; k < kSixteen; ++k) sum[j + k] = f(j + k, sum[j + k], v[k]);
      }
    }
  }

  // The moments of columns of a block; false where squares may not be what they are.
  template <Isa level, class T>
  static bool block(const H* x, int64_t step, int64_t rows, int64_t wide, int64_t columns,
                    Moments* states) {
    T mean[kMostColumns + kSixteen], squares[kMostColumns + kSixteen];
    std::fill_n(mean, wide + kSixteen, T(0));
    std::fill_n(squares, wide + kSixteen, T(0));
    each_row<level>(x, step, rows, wide, mean,
                    [](int64_t, T sum, float v) { return sum + T(v); });
    for (int64_t j = 0; j < wide; ++j) mean[j] /= T(rows);
    each_row<level>(x, step, rows, wide, squares, [&](int64_t j, T sum, float v) {
      return sum + (T(v) - mean[j]) * (T(v) - mean[j]);
    });
    if constexpr (std::is_same_v<H, BFloat16> && std::is_same_v<T, float>) {
      int beyond = 0;
      for (int64_t j = 0; j < wide; ++j) {
        beyond |= !(squares[j] > 1e-25f && squares[j] < 1e30f);
      }
      if (beyond) return false;
    }
    for (int64_t at = 0; at < wide; at += columns) {
      for (int64_t j = 0; j < columns; ++j) {
        states[j].add({double(rows), double(mean[at + j]), double(squares[at + j])});
      }
    }
    return true;
  }

  template <Isa level>
  static void strip(const Block& b, int64_t rows, int64_t wide, Moments* states) {
    const int64_t step = wide == b.n ? b.stride : wide;
    auto* x = static_cast<const H*>(b.x);
    for (int64_t row = 0; row < rows; row += kDepth, x += kDepth * step) {
      const int64_t depth = std::min(kDepth, rows - row);
      if (block<level, float>(x, step, depth, wide, b.n, states)) continue;
      block<level, double>(x, step, depth, wide, b.n, states);
    }
  }
};

}  // namespace pkg
