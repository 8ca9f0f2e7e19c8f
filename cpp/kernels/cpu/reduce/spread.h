// SPDX-License-Identifier: Apache-2.0
// kernels/cpu/reduce/spread.h: mean and sum of squared distances from it, in one walk: each
// block in two passes over the cache, blocks joined as Chan, Golub and LeVeque (1983) do.
#pragma once

#include <cmath>

#include "kernels/cpu/reduce/fold_loops.h"

namespace pkg {

/// Count, mean and sum of squared distances from the mean (or from zero).
struct Moments {
  double count = 0, mean = 0, squares = 0;

  /// Of both together.
  void add(const Moments& part) {
    if (count == 0) {
      *this = part;
    } else if (part.count > 0) {
      const double total = count + part.count, apart = part.mean - mean;
      squares += part.squares + apart * apart * (count * part.count / total);
      // An infinite mean stays one, whatever it is joined with.
      mean = std::isfinite(apart) ? mean + apart * (part.count / total) : mean + part.mean;
      count = total;
    }
  }
};

template <class T>
struct SpreadLoops {
  using State = Moments;
  static constexpr int64_t kRun = 1024, kDepth = 32;

  static void start(void* states, int64_t n) {
    std::fill_n(static_cast<State*>(states), n, State{});
  }
  static void merge(void* states, const void* later, int64_t n) {
    for (int64_t i = 0; i < n; ++i) {
      static_cast<State*>(states)[i].add(static_cast<const State*>(later)[i]);
    }
  }

  static void rows(const Block& block, void* to) {
    auto* states = static_cast<State*>(to);
    auto* x = static_cast<const T*>(block.x);
    with_isa([=, b = block] {
      for (int64_t i = 0; i < b.rows; ++i) {
        for (int64_t at = 0; at < b.n; at += kRun) {
          const T* run = x + i * b.stride + at;
          const int64_t n = std::min(kRun, b.n - at);
          const double mean = sum_of<double>(n, [=](int64_t k) { return double(run[k]); }) /
                              double(n);
          const double squares = sum_of<double>(n, [=](int64_t k) {
            const double apart = double(run[k]) - mean;
            return apart * apart;
          });
          states[i].add({double(n), mean, squares});
        }
      }
    });
  }

  static void columns(const Block& block, void* to) {
    columns_by<T, State>(block, to, [](auto&&... of) { strip(of...); });
  }

  static constexpr Fold fold() {
    return {dtype_of<T>, int64_t(sizeof(State)), start, rows, columns, merge};
  }

 private:
  static void strip(const Block& b, int64_t rows, int64_t wide, State* states) {
    double mean[kMostColumns], squares[kMostColumns];
    const int64_t step = wide == b.n ? b.stride : wide;
    auto* x = static_cast<const T*>(b.x);
    for (int64_t row = 0; row < rows; row += kDepth) {
      const int64_t depth = std::min(kDepth, rows - row);
      for (int64_t j = 0; j < wide; ++j) mean[j] = squares[j] = 0;
      for (int64_t r = row; r < row + depth; ++r) {
        const T* at = x + r * step;
        for (int64_t j = 0; j < wide; ++j) mean[j] += double(at[j]);
      }
      for (int64_t j = 0; j < wide; ++j) mean[j] /= double(depth);
      for (int64_t r = row; r < row + depth; ++r) {
        const T* at = x + r * step;
        for (int64_t j = 0; j < wide; ++j) {
          const double apart = double(at[j]) - mean[j];
          squares[j] += apart * apart;
        }
      }
      for (int64_t at = 0; at < wide; at += b.n) {
        for (int64_t j = 0; j < b.n; ++j) {
          states[j].add({double(depth), mean[at + j], squares[at + j]});
        }
      }
    }
  }
};

/// The fold for elements of this floating dtype.
Fold spread_fold(DType dtype);

}  // namespace pkg
