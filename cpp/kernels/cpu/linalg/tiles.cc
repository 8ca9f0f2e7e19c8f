// SPDX-License-Identifier: Apache-2.0
// kernels/cpu/linalg/tiles.cc: tiles of sums in registers, for each instruction set's number of
// them, as plain loops over constants.
#include "kernels/cpu/linalg/tiles.h"

#include <algorithm>
#include <type_traits>

#include "base/half.h"
#include "base/isa.h"
#include "kernels/cpu/linalg/pairs.h"
#include "kernels/cpu/linalg/transpose_four.h"

namespace pkg::gemm {
namespace {

// Rows of a tile, of smaller ones for what is left, and bytes of its rows: two vectors.
struct V4 {
  static constexpr int rows = 14, some = 8, few = 4, bytes = 128;
};
struct V3 {
  static constexpr int rows = 6, some = 4, few = 2, bytes = 64;
};
struct Baseline {
  static constexpr int rows = 4, some = 4, few = 2, bytes = 32;
};

// c = start + a @ b for R x W elements.
template <int R, int W, class T>
inline void multiply_tile(int64_t depth, const T* __restrict a, Strip<T> b, Start<T> start,
                          T* c, int64_t row_step) {
  T sum[R][W];
#pragma GCC unroll 16
  for (int i = 0; i < R; ++i) {
    for (int j = 0; j < W; ++j) sum[i][j] = 0;
  }
  for (int64_t p = 0; p < depth; ++p) {
    const T* __restrict row = b.data + b.places[p];
#pragma GCC unroll 16
    for (int i = 0; i < R; ++i) {
#pragma omp simd
      for (int j = 0; j < W; ++j) sum[i][j] += a[i * kRowStep + p] * row[j];
    }
  }
  if (start.data) {
#pragma GCC unroll 16
    for (int i = 0; i < R; ++i) {
#pragma omp simd
      for (int j = 0; j < W; ++j) {
        c[i * row_step + j] = start.data[i * start.row_step + j] + sum[i][j];
      }
    }
  } else {
#pragma GCC unroll 16
    for (int i = 0; i < R; ++i) {
#pragma omp simd
      for (int j = 0; j < W; ++j) c[i * row_step + j] = sum[i][j];
    }
  }
}

// to = start + sums, by fours: a call of memmove for each row would take longer.
template <class T>
inline void put_some(const T* sums, const T* start, int64_t n, T* to) {
  int64_t j = 0;
  for (; j + 4 <= n; j += 4) {
    T four[4];
#pragma omp simd
    for (int l = 0; l < 4; ++l) four[l] = sums[j + l];
    if (start) {
#pragma omp simd
      for (int l = 0; l < 4; ++l) four[l] = start[j + l] + four[l];
    }
#pragma omp simd
    for (int l = 0; l < 4; ++l) to[j + l] = four[l];
  }
  for (; j < n; ++j) to[j] = start ? start[j] + sums[j] : sums[j];
}

// multiply_tile for its first m rows and n columns.
template <int R, int W, class T, class P>
inline void tile_part(int64_t m, int64_t n, int64_t depth, const P* a, Strip<P> b,
                      Start<T> start, T* c, int64_t row_step) {
  // One call in the code, of what takes long to compile.
  const bool all = m == R && n == W;
  T whole[R * W];
  multiply_tile<R, W>(depth, a, b, all ? start : Start<T>(), all ? c : whole,
                      all ? row_step : W);
  if (all) return;
  for (int64_t i = 0; i < m; ++i) {
    put_some(whole + i * W, start.data ? start.data + i * start.row_step : nullptr, n,
             c + i * row_step);
  }
}

// All strips times one panel, by tiles of R rows, narrow ones at the end.
template <int R, int W, class T, class P>
inline void panel(const P* packed, int64_t rows, int64_t n, int64_t depth,
                  const Strip<P>* strips, Start<T> start, T* c, int64_t row_step) {
  for (int64_t j = 0; j < n; j += W) {
    const int64_t columns = std::min<int64_t>(W, n - j);
    const Strip<P> b = strips[j / W];
    if (columns > W / 2) {
      tile_part<R, W>(rows, columns, depth, packed, b, start.at(0, j), c + j, row_step);
    } else {
      tile_part<R, W / 2>(rows, columns, depth, packed, b, start.at(0, j), c + j, row_step);
    }
  }
}

// Runs f(level) compiled for the level in use; for pairs there is one.
template <class P, class F>
inline void with_level(F f) {
#ifdef PKG_TARGET_V3
  if constexpr (std::is_same_v<P, Pair>) {
    auto run = [&] { f(V4()); };
    return run_pairs(run);
  }
#endif
  if constexpr (!std::is_same_v<P, Pair>) {
#ifdef PKG_TARGET_V3
    if (isa() == Isa::V4) {
      auto run = [&] { f(V4()); };
      return detail::run_v4(run);
    }
    if (isa() == Isa::V3) {
      auto run = [&] { f(V3()); };
      return detail::run_v3(run);
    }
#endif
    auto run = [&] { f(Baseline()); };
    return detail::run_baseline(run);
  }
}

template <class T, class S>
inline void pack_here(Strided<S> from, int64_t rows, int64_t columns, int64_t width,
                      T* __restrict to, int64_t step) {
  int64_t c = 0;
  if (from.column_step == 1) {
    for (int64_t r = 0; r < rows; ++r) {
      const S* __restrict row = from.data + r * from.row_step;
      for (int64_t i = 0; i < columns; ++i) to[r * step + i] = T(row[i]);
    }
    c = columns;
  } else if (from.row_step == 1) {
    for (; c + 4 <= columns; c += 4) {
      const S* at = from.data + c * from.column_step;
      if constexpr (std::is_same_v<T, S>) {
        transpose_four(at, from.column_step, rows, to + c, step);
      } else {
        T converted[4][kDepth];
        for (int64_t i = 0; i < 4; ++i) {
          for (int64_t r = 0; r < rows; ++r)
            converted[i][r] = T(at[i * from.column_step + r]);
        }
        transpose_four(converted[0], kDepth, rows, to + c, step);
      }
    }
  }
  for (; c < columns; ++c) {
    const S* at = from.data + c * from.column_step;
    for (int64_t r = 0; r < rows; ++r) to[r * step + c] = T(at[r * from.row_step]);
  }
  if (columns == width) return;
  for (int64_t r = 0; r < rows; ++r) {
    for (c = columns; c < width; ++c) to[r * step + c] = T(0);
  }
}

}  // namespace

bool best_here() { return isa() == Isa::V4; }

namespace {

// Panels of the highest tile, or of the next one where fewer rows are computed in vain.
template <class Level>
int64_t best_height(int64_t rows) {
  const auto computed = [=](int64_t height) {
    const int64_t left = rows % height;
    return rows - left +
           (left == 0             ? 0
            : left <= Level::few  ? Level::few
            : left <= Level::some ? Level::some
                                  : Level::rows);
  };
  return computed(Level::some) < computed(Level::rows) ? Level::some : Level::rows;
}

}  // namespace

int64_t panel_rows(int64_t rows) {
  return isa() == Isa::V4   ? best_height<V4>(rows)
         : isa() == Isa::V3 ? best_height<V3>(rows)
                            : best_height<Baseline>(rows);
}

template <class T>
int64_t strip_columns() {
  const int bytes = isa() == Isa::V4   ? V4::bytes
                    : isa() == Isa::V3 ? V3::bytes
                                       : Baseline::bytes;
  return bytes / int64_t(sizeof(T));
}

template <class T, class P>
void multiply_panel(const P* packed, int64_t rows, int64_t n, int64_t depth,
                    const Strip<P>* strips, Start<T> start, T* c, int64_t row_step) {
  with_level<P>([&](auto level) {
    using Level = decltype(level);
    constexpr int W = Level::bytes / sizeof(T);
    if (rows > Level::some) {
      panel<Level::rows, W>(packed, rows, n, depth, strips, start, c, row_step);
    } else if (rows > Level::few) {
      panel<Level::some, W>(packed, rows, n, depth, strips, start, c, row_step);
    } else {
      panel<Level::few, W>(packed, rows, n, depth, strips, start, c, row_step);
    }
  });
}

template <class T, class S>
void pack(Strided<S> from, int64_t rows, int64_t columns, int64_t width, T* to,
          int64_t step) {
  with_isa([=] { pack_here(from, rows, columns, width, to, step); });
}

bool has_pairs() {
#ifdef PKG_TARGET_V3
  static const bool has = __builtin_cpu_supports("avx512bf16");
  return has && isa() == Isa::V4;
#else
  return false;
#endif
}

#define PKG_PANEL(T)                                                                 \
  template int64_t strip_columns<T>();                                               \
  template void multiply_panel(const T*, int64_t, int64_t, int64_t, const Strip<T>*, \
                               Start<T>, T*, int64_t);
PKG_PANEL(float)
PKG_PANEL(double)
PKG_PANEL(uint32_t)
PKG_PANEL(uint64_t)
#undef PKG_PANEL
template void multiply_panel(const Pair*, int64_t, int64_t, int64_t, const Strip<Pair>*,
                             Start<float>, float*, int64_t);
#define PKG_PACK(T, S) \
  template void pack(Strided<S>, int64_t, int64_t, int64_t, T*, int64_t);
PKG_FORALL_PRODUCT_TYPES(PKG_PACK)
#undef PKG_PACK

}  // namespace pkg::gemm
