// SPDX-License-Identifier: Apache-2.0
// kernels/cpu/linalg/gemv.cc: matrix times vector, at the speed of reading the matrix.
#include <algorithm>
#include <cstring>
#include <vector>

#include "base/half.h"
#include "base/isa.h"
#include "kernels/cpu/linalg/tiles.h"
#include "kernels/cpu/rows.h"
#include "scheduler/parallel.h"
#include "scheduler/scheduler.h"
#include "tensor/gather.h"
#include "tensor/sixteen.h"
#include "tensor/small_vector.h"

namespace pkg::gemm {
namespace {

// Rows at a time, and vectors of 64 bytes of sums of each: as many as there are registers
// for.  Rows that are read together are as many streams from memory, and share x.  Halves of
// AVX2 keep the order of dot(), as a row that comes alone is one.
template <Isa level, class S>
constexpr bool kFewSums = level == Isa::V3 && sizeof(S) != 2;
template <Isa level, class S>
constexpr int kRows = level == Isa::V4 || kFewSums<level, S> ? 4 : 1;
template <Isa level, class S>
constexpr int64_t kVectors = kFewSums<level, S> ? 1 : 4;
constexpr int64_t kElements = 1 << 17;  // of the matrix, below which a thread does not pay
constexpr int64_t kSumBytes = 16384;    // of sums of columns, in the first-level cache

// Runs f(AtIsa<level>()) compiled for the level in use.
template <class F>
inline void with_level(F f) {
  if (with_sixteen(f)) return;
  const auto plain = [&] { f(AtIsa<Isa::Baseline>()); };
  detail::run_baseline(plain);
}

// sums[l] += a vector's element l as T * x[l].
template <Isa level, class T, class S>
inline void add_vector(const S* __restrict a, const T* __restrict x, T* sums) {
  constexpr int64_t kLanes = 64 / sizeof(T);
  if constexpr (sizeof(S) == 2 && level != Isa::Baseline) {
    float wide[kSixteen];
    Sixteen<level>::widen(wide, a);
#pragma omp simd
    for (int64_t l = 0; l < kLanes; ++l) sums[l] += wide[l] * x[l];
  } else {
#pragma omp simd
    for (int64_t l = 0; l < kLanes; ++l) sums[l] += T(a[l]) * x[l];
  }
}

// sums[r] += (few[r][0] + few[r][2]) + (few[r][1] + few[r][3]); of four rows in vectors.
template <int R, class T>
inline void add_fours(const T (&few)[R][4], T (&sums)[R]) {
  if constexpr (R == 4) {
    typedef T Four __attribute__((vector_size(4 * sizeof(T))));
    Four a, b, c, d, all;
    std::memcpy(&a, few[0], sizeof(a));
    std::memcpy(&b, few[1], sizeof(b));
    std::memcpy(&c, few[2], sizeof(c));
    std::memcpy(&d, few[3], sizeof(d));
    std::memcpy(&all, sums, sizeof(all));
    const Four ab = __builtin_shufflevector(a, b, 0, 1, 4, 5) +
                    __builtin_shufflevector(a, b, 2, 3, 6, 7);
    const Four cd = __builtin_shufflevector(c, d, 0, 1, 4, 5) +
                    __builtin_shufflevector(c, d, 2, 3, 6, 7);
    all += __builtin_shufflevector(ab, cd, 0, 2, 4, 6) +
           __builtin_shufflevector(ab, cd, 1, 3, 5, 7);
    std::memcpy(sums, &all, sizeof(all));
  } else {
    for (int r = 0; r < R; ++r) {
      sums[r] += (few[r][0] + few[r][2]) + (few[r][1] + few[r][3]);
    }
  }
}

// out[r] = row r of `a`, rows `step` apart, times x, for R rows: they share the elements of x
// and wait for their last sums together.  Each is added up in the same order for every R.
template <Isa level, int R, class T, class S>
inline void dots_of_part(const S* __restrict a, int64_t step, const T* __restrict x,
                         int64_t n, T* out) {
  constexpr int64_t kLanes = 64 / sizeof(T), kStep = kVectors<level, S> * kLanes;
  T sums[R][kLanes];
  int64_t i = 0;
  if (n >= kLanes) {
#pragma GCC unroll 4
    for (int r = 0; r < R; ++r) {
      for (int64_t l = 0; l < kLanes; ++l) sums[r][l] = 0;
    }
  }
  if constexpr (kVectors<level, S> > 1) {
    if (n >= kStep) {
      T lanes[R][kStep];
#pragma GCC unroll 4
      for (int r = 0; r < R; ++r) {
        for (int64_t l = 0; l < kStep; ++l) lanes[r][l] = 0;
      }
      for (; i + kStep <= n; i += kStep) {
#pragma GCC unroll 4
        for (int r = 0; r < R; ++r) {
#pragma GCC unroll 4
          for (int64_t l = 0; l < kStep; l += kLanes) {
            add_vector<level>(a + r * step + i + l, x + i + l, lanes[r] + l);
          }
        }
      }
#pragma GCC unroll 4
      for (int r = 0; r < R; ++r) {
#pragma omp simd
        for (int64_t l = 0; l < kLanes; ++l) {
          sums[r][l] = (lanes[r][l] + lanes[r][kLanes + l]) +
                       (lanes[r][2 * kLanes + l] + lanes[r][3 * kLanes + l]);
        }
      }
    }
  }
  for (; i + kLanes <= n; i += kLanes) {
#pragma GCC unroll 4
    for (int r = 0; r < R; ++r) add_vector<level>(a + r * step + i, x + i, sums[r]);
  }
  T few[R][4], rest[R];
#pragma GCC unroll 4
  for (int r = 0; r < R; ++r) {
    for (int64_t l = 0; l < 4; ++l) few[r][l] = 0;
    rest[r] = 0;
  }
  for (; i + 4 <= n; i += 4) {
#pragma GCC unroll 4
    for (int r = 0; r < R; ++r) {
#pragma omp simd
      for (int64_t l = 0; l < 4; ++l) few[r][l] += T(a[r * step + i + l]) * x[i + l];
    }
  }
  for (; i < n; ++i) {
#pragma GCC unroll 4
    for (int r = 0; r < R; ++r) rest[r] += T(a[r * step + i]) * x[i];
  }
  add_fours<R>(few, rest);
  if (n >= kLanes) {
#pragma GCC unroll 4
    for (int r = 0; r < R; ++r) {
      T* s = sums[r];
#pragma GCC unroll 4
      for (int64_t half = kLanes / 2; half > 2; half /= 2) {
#pragma omp simd
        for (int64_t l = 0; l < half; ++l) s[l] += s[l + half];
      }
      for (int64_t l = 0; l < 4; ++l) few[r][l] = s[l];
    }
    add_fours<R>(few, rest);
  }
  for (int r = 0; r < R; ++r) out[r] = rest[r];
}

template <Isa level, int R, class T, class S>
inline void dots(const S* a, int64_t step, const T* x, int64_t n, T* out) {
  int64_t at = 0;
  do {  // in one place, as it is compiled for each type and level
    T part[R];
    dots_of_part<level, R>(a + at, step, x + at, std::min(kPart<S>, n - at), part);
    for (int r = 0; r < R; ++r) out[r] = at ? out[r] + part[r] : part[r];
    at += kPart<S>;
  } while (at < n);
}

// f(r, row r times x) for each row; several at a time where there are registers for their
// sums.
template <Isa level, class T, class S, class F>
inline void each_dot(const S* a, int64_t step, int64_t rows, const T* x, int64_t n, F f) {
  constexpr int kSome = kRows<level, S>;
  T sums[kSome] = {};
  int64_t i = 0;
  for (; i + kSome <= rows; i += kSome) {
    dots<level, kSome>(a + i * step, step, x, n, sums);
    for (int64_t r = 0; r < kSome; ++r) f(i + r, sums[r]);
  }
  if constexpr (kSome > 1) {
    for (; i < rows; ++i) {
      dots<level, 1>(a + i * step, step, x, n, sums);
      f(i, sums[0]);
    }
  }
}

// sums[j] += x[0] * a(0, j) + ... + x[7] * a(7, j), rows `step` apart: as many streams from
// memory, and the sums are read and written once.
constexpr int64_t kTogether = 8;
template <class T, class S>
inline void add_together(const S* __restrict a, int64_t step, const T* x, int64_t n,
                         T* __restrict sums) {
  const S *b = a + step, *c = b + step, *d = c + step;
  const S *e = d + step, *f = e + step, *g = f + step, *h = g + step;
  const T p = x[0], q = x[1], r = x[2], s = x[3], t = x[4], u = x[5], v = x[6], w = x[7];
#pragma omp simd
  for (int64_t j = 0; j < n; ++j) {
    const T low = p * T(a[j]) + q * T(b[j]) + r * T(c[j]) + s * T(d[j]);
    sums[j] += low + (t * T(e[j]) + u * T(f[j]) + v * T(g[j]) + w * T(h[j]));
  }
}

// `count` elements of matrix @ x whose columns lie dense: sums of scaled columns.
template <class T, class S>
inline void by_columns(Strided<S> matrix, int64_t count, int64_t columns, const T* x,
                       T* sums) {
  for (int64_t j = 0; j < count; ++j) sums[j] = 0;
  int64_t p = 0;
  const S* at = matrix.data;
  for (; p + kTogether <= columns; p += kTogether, at += kTogether * matrix.column_step) {
    add_together(at, matrix.column_step, x + p, count, sums);
  }
  for (; p < columns; ++p, at += matrix.column_step) {
    const T factor = x[p];
#pragma omp simd
    for (int64_t j = 0; j < count; ++j) sums[j] += factor * T(at[j]);
  }
}

}  // namespace

template <class T, class S>
void multiply_vector(Strided<S> matrix, int64_t rows, int64_t columns, const S* x_in,
                     int64_t x_step, const T* start, int64_t start_step, T* y,
                     int64_t y_step) {
  std::vector<T, PoolAllocator<T>> dense;
  const T* x;
  if constexpr (std::is_same_v<T, S>) x = x_step == 1 ? x_in : nullptr;
  else x = nullptr;
  if (!x) {
    dense.resize(size_t(columns));
    with_isa([&, to = dense.data()] {
      for (int64_t i = 0; i < columns; ++i) to[i] = T(x_in[i * x_step]);
    });
    x = dense.data();
  }
  const int64_t grain = std::max<int64_t>(1, kElements / std::max<int64_t>(1, columns));
  const auto put = [=](int64_t i, T sum) {
    y[i * y_step] = start ? start[i * start_step] + sum : sum;
  };
  if (matrix.row_step == 1 && matrix.column_step != 1) {
    // Long ones: what is read of a column is then long too.
    constexpr int64_t kMost = kSumBytes / int64_t(sizeof(T));
    const int64_t share = (rows + num_threads() - 1) / num_threads();
    const int64_t block = std::clamp<int64_t>((share + 63) / 64 * 64, kMost / 8, kMost);
    const int64_t blocks = (rows + block - 1) / block;
    parallel_for(0, blocks, (grain + block - 1) / block, [=](int64_t begin, int64_t end) {
      with_isa([=] {
        T sums[kMost];
        for (int64_t i = begin * block; i < std::min(end * block, rows); i += block) {
          const int64_t count = std::min(block, rows - i);
          by_columns(matrix.at(i, 0), count, columns, x, sums);
          for (int64_t j = 0; j < count; ++j) put(i + j, sums[j]);
        }
      });
    });
    return;
  }
  if (matrix.row_step == 0 && rows > 1) {  // one row, repeated
    T sum;
    multiply_vector(matrix, 1, columns, x_in, x_step, static_cast<const T*>(nullptr), 0,
                    &sum, 1);
    for (int64_t i = 0; i < rows; ++i) put(i, sum);
    return;
  }
  parallel_for(0, rows, grain, [=](int64_t begin, int64_t end) {
    with_level([=]<Isa level>(AtIsa<level>) {
      const auto some = [=](Strided<S> at, int64_t i, int64_t count) {
        each_dot<level>(at.data, at.row_step, count, x, columns,
                        [=](int64_t r, T sum) { put(i + r, sum); });
      };
      if (matrix.column_step == 1) return some(matrix.at(begin, 0), begin, end - begin);
      const RunBuffer<S> dense(columns * kRows<level, S>);
      for (int64_t i = begin; i < end; i += kRows<level, S>) {
        const int64_t count = std::min<int64_t>(kRows<level, S>, end - i);
        for (int64_t r = 0; r < count; ++r) {
          moves_of(sizeof(S)).gather(
              reinterpret_cast<char*>(dense.data() + r * columns),
              reinterpret_cast<const char*>(matrix.at(i + r, 0).data),
              matrix.column_step * int64_t(sizeof(S)), columns);
        }
        some({dense.data(), columns, 1}, i, count);
      }
    });
  });
}

template <class T>
void add_dots(const T* packed, int64_t rows, int64_t depth, const T* x, T* sums) {
  with_level([=]<Isa level>(AtIsa<level>) {
    each_dot<level>(packed, kRowStep, rows, x, depth,
                    [=](int64_t r, T sum) { sums[r] += sum; });
  });
}

template void add_dots(const float*, int64_t, int64_t, const float*, float*);
template void add_dots(const double*, int64_t, int64_t, const double*, double*);
#define PKG_MULTIPLY_VECTOR(T, S)                                                          \
  template void multiply_vector(Strided<S>, int64_t, int64_t, const S*, int64_t, const T*, \
                                int64_t, T*, int64_t);
PKG_FORALL_PRODUCT_TYPES(PKG_MULTIPLY_VECTOR)
#undef PKG_MULTIPLY_VECTOR

}  // namespace pkg::gemm
