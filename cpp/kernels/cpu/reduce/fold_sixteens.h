// SPDX-License-Identifier: Apache-2.0
// kernels/cpu/reduce/fold_sixteens.h: reductions of float16 and bfloat16 by a formula of
// float32 (fold_loops.h): sixteen numbers are widened in registers and combined there.  To
// convert them into a buffer first takes twice as long.
#pragma once

#include <algorithm>

#include "kernels/cpu/reduce/fold_loops.h"
#include "tensor/sixteen.h"

namespace pkg {

template <class F, class H>
struct FoldSixteens {
  using Local = typename F::Local;
  using State = typename F::State;
  using Wide = FoldLoops<F>;

  static constexpr int64_t kLanes = 2 * kSixteen;
  static constexpr int64_t kShort = 512;  // a row that is not worth lanes of its own
  static constexpr int64_t kSome = 1024;  // elements of short rows that go together
  static constexpr int64_t kDepth = 64;   // elements combined before they are absorbed

  static void rows(const Block& block, void* to) {
    auto* states = static_cast<State*>(to);
    with_sixteen([=, b = block]<Isa level>(AtIsa<level>) {
      if (b.n < kShort) return short_rows<level>(b, states);
      for (int64_t i = 0; i < b.rows; ++i) {
        const H* row = static_cast<const H*>(b.x) + i * b.stride;
        for (int64_t at = 0; at < b.n; at += kLanes * kDepth) {
          run<level>(row + at, std::min(kLanes * kDepth, b.n - at), b.parameter, states[i]);
        }
      }
    });
  }

  static void columns(const Block& block, void* to) {
    auto* states = static_cast<State*>(to);
    with_sixteen([=, b = block]<Isa level>(AtIsa<level>) {
      in_strips<H>(b, [=](const Block& part, int64_t rows, int64_t wide) {
        strip<level>(part, rows, wide, states);
      });
    });
  }

  /// Only for a processor that converts sixteen numbers.
  static constexpr Fold fold(DType type, double parameter = 0) {
    Fold all = Wide::fold(type, parameter);
    all.rows = rows;
    all.columns = columns;
    return all;
  }

 private:
  static void take(Local& total, float x, double p) {
    total = F::combine(total, F::load(x, p));
  }
  template <Isa level>
  static void run(const H* x, int64_t n, double p, State& state) {
    Local local[kLanes];
    float v[kLanes];
    for (Local& one : local) one = F::identity();
    int64_t at = 0;
    for (; at + kLanes <= n; at += kLanes) {
      Sixteen<level>::widen(v, x + at);
      Sixteen<level>::widen(v + kSixteen, x + at + kSixteen);
#pragma omp simd
      for (int64_t k = 0; k < kLanes; ++k)
        local[k] = F::combine(local[k], F::load(v[k], p));
    }
    widen_run<level>(v, x + at, n - at);
    for (int64_t k = 0; k < n - at; ++k) take(local[k], v[k], p);
    for (const Local& one : local) F::absorb(state, one);
  }

  template <Isa level>
  static void short_rows(const Block& b, State* states) {
    H together[kSome];
    float v[kSome];
    const int64_t most = kSome / b.n;
    for (int64_t i = 0; i < b.rows; i += most) {
      const int64_t rows = std::min(most, b.rows - i);
      const H* x = static_cast<const H*>(b.x) + i * b.stride;
      if (b.stride != b.n) {
        for (int64_t r = 0; r < rows; ++r) {
          std::copy_n(x + r * b.stride, b.n, together + r * b.n);
        }
        x = together;
      }
      widen_run<level>(v, x, rows * b.n);
      Wide::rows({v, b.n, rows, b.n, b.first, b.parameter}, states + i);
    }
  }

  template <Isa level>
  static void strip(const Block& b, int64_t rows, int64_t wide, State* states) {
    Local local[kMostColumns];
    const int64_t step = wide == b.n ? b.stride : wide, whole = wide / kSixteen * kSixteen;
    const double p = b.parameter;
    auto* x = static_cast<const H*>(b.x);
    for (int64_t row = 0; row < rows; row += kDepth) {
      const int64_t end = std::min(rows, row + kDepth);
      for (int64_t j = 0; j < wide; ++j) local[j] = F::identity();
      int64_t r = row;
      for (; r + 2 <= end; r += 2) {
        const H *x0 = x + r * step, *x1 = x0 + step;
        for (int64_t j = 0; j < whole; j += kSixteen) {
          float u[kSixteen], v[kSixteen];
          Sixteen<level>::widen(u, x0 + j);
          Sixteen<level>::widen(v, x1 + j);
#pragma omp simd
          for (int64_t k = 0; k < kSixteen; ++k) {
            const Local both = F::combine(F::load(u[k], p), F::load(v[k], p));
            local[j + k] = F::combine(local[j + k], both);
          }
        }
      }
      const auto rest = [&](const H* from, int64_t begin) {
        float v[kSixteen];
        for (int64_t j = begin; j < wide; j += kSixteen) {
          const int64_t n = std::min(kSixteen, wide - j);
          widen_run<level>(v, from + j, n);
          for (int64_t k = 0; k < n; ++k) take(local[j + k], v[k], p);
        }
      };
      for (int64_t done = row; whole < wide && done < r; ++done)
        rest(x + done * step, whole);
      for (; r < end; ++r) rest(x + r * step, 0);
      for (int64_t at = 0; at < wide; at += b.n) {
        for (int64_t j = 0; j < b.n; ++j) F::absorb(states[j], local[at + j]);
      }
    }
  }
};

/// The fold for elements of a 16-bit or other type: in registers where that can be.
template <class F>
Fold fold_of_float(DType type) {
  if (isa() >= Isa::V3) {
    if (type == DType::Float16) return FoldSixteens<F, Half>::fold(type);
    if (type == DType::BFloat16) return FoldSixteens<F, BFloat16>::fold(type);
  }
  return FoldLoops<F>::fold(DType::Float32);
}

}  // namespace pkg
