// SPDX-License-Identifier: Apache-2.0
// kernels/cpu/linalg/gemm.cc: blocks of a product, and its share of each thread.
#include "kernels/cpu/linalg/gemm.h"

#include <algorithm>
#include <vector>

#include "base/half.h"
#include "base/isa.h"
#include "kernels/cpu/linalg/tiles.h"
#include "scheduler/parallel.h"
#include "scheduler/scheduler.h"
#include "scheduler/stop_point.h"
#include "tensor/allocator.h"

namespace pkg::gemm {
namespace {

// Products below which a second thread does not pay, and rows of b that lie in the
// first-level cache as they are.
constexpr double kWorth = 6e5;
constexpr int64_t kNear = 32768;

// Memory of one call, not initialised.
template <class T>
class Scratch {
 public:
  explicit Scratch(int64_t n)
      : bytes_(size_t(n) * sizeof(T)),
        data_(n ? static_cast<T*>(allocate(bytes_)) : nullptr) {}
  ~Scratch() {
    if (data_) deallocate(data_, bytes_);
  }
  Scratch(const Scratch&) = delete;
  T* data() const { return data_; }

 private:
  size_t bytes_;
  T* data_;
};

template <class S, class P>
void pack_rows_as(Strided<S> a, int64_t rows, int64_t terms, P* to) {
  if constexpr (std::is_same_v<P, Pair>) pack_rows(a, rows, terms, to);
  else pack(a, rows, terms, terms, to, kRowStep);
}

template <class S, class P>
void pack_strip_as(Strided<S> b, int64_t terms, int64_t columns, int64_t width, P* to) {
  if constexpr (std::is_same_v<P, Pair>) pack_strip(b, terms, columns, width, to);
  else pack(b, terms, columns, width, to, width);
}

// P: what is packed, T or pairs of S.
template <class T, class P, class S>
void product_of(Strided<S> a, Strided<S> b, int64_t m, int64_t n, int64_t k, Start<T> start,
                T* c, int64_t row_step) {
  constexpr int64_t kTerms = kTermsOf<P>;
  const int64_t width = strip_columns<T>(), height = panel_rows(m);
  const int64_t deep = (k + kTerms - 1) / kTerms;  // packed elements of a row
  const int64_t blocks = (deep + kDepth - 1) / kDepth;
  const int64_t deepest = (deep + blocks - 1) / blocks;
  // Rows of b that are read a few times only, or are near, need no packing.
  const bool in_place = std::is_same_v<P, S> && b.column_step == 1 &&
                        (m <= 2 * height ||
                         deepest * b.row_step * int64_t(sizeof(T)) <= kNear);
  const int64_t half = n % width == width / 2 ? width / 2 : 0;  // a narrow tile's width
  const int64_t whole = in_place ? n / width * width + half : 0;
  constexpr int64_t block_columns = kBlockBytes / sizeof(T);
  const int64_t most = in_place ? width : std::min(block_columns, n + width - 1);
  const Scratch<P> columns(whole == n ? 0 : most * deepest);
  P rows[kMostRows * kRowStep];  // those beyond the last one stay as they are: nobody's
  int64_t places[kDepth], packed_places[kDepth];
  for (int64_t p = 0; p < deepest; ++p) {
    places[p] = p * b.row_step;
    packed_places[p] = p * width;
  }
  Strip<P> strips[kMostStrips];
  for (int64_t j = 0; j < n; j += block_columns) {
    const int64_t count = std::min(block_columns, n - j);
    for (int64_t block = 0; block < blocks; ++block) {
      const int64_t first = deep * block / blocks;
      const int64_t depth = deep * (block + 1) / blocks - first;
      const int64_t p = first * kTerms, terms = std::min(depth * kTerms, k - p);
      const Start<T> from = block ? Start<T>{c, row_step} : start;
      P* packed = columns.data();
      for (int64_t s = 0; s < count; s += width) {
        if constexpr (std::is_same_v<P, S>) {
          if (j + s < whole) {
            strips[s / width] = {b.at(p, j + s).data, places};
            continue;
          }
        }
        pack_strip_as(b.at(p, j + s), terms, std::min(width, count - s), width, packed);
        strips[s / width] = {packed, packed_places};
        packed += depth * width;
      }
      for (int64_t i = 0; i < m; i += height) {
        const int64_t some = std::min(height, m - i);
        pack_rows_as(a.at(i, p), some, terms, rows);
        multiply_panel(rows, some, count, depth, strips, from.at(i, j),
                       c + i * row_step + j, row_step);
      }
      if (block + 1 < blocks || j + block_columns < n) stop_point();
    }
  }
}

template <class T, class S>
void product(Strided<S> a, Strided<S> b, int64_t m, int64_t n, int64_t k, Start<T> start,
             T* c, int64_t row_step) {
  if constexpr (std::is_same_v<S, BFloat16>) {
    if (has_pairs()) return product_of<T, Pair>(a, b, m, n, k, start, c, row_step);
  }
  product_of<T, T>(a, b, m, n, k, start, c, row_step);
}

// One product for each element: rows of c are multiples of that of b.
template <class T, class S>
void outer(Strided<S> a, Strided<S> b, int64_t m, int64_t n, Start<T> start, T* c,
           int64_t row_step) {
  const auto row = [=](int64_t i, int64_t begin, int64_t end) {
    with_isa([=] {
      const T factor = T(a.data[i * a.row_step]);
      const T* before = start.data ? start.data + i * start.row_step : nullptr;
      const S* x = b.data;
      const int64_t step = b.column_step;
      T* to = c + i * row_step;
      if (step == 1) {
#pragma GCC ivdep
        for (int64_t j = begin; j < end; ++j) to[j] = factor * T(x[j]);
      } else {
        for (int64_t j = begin; j < end; ++j) to[j] = factor * T(x[j * step]);
      }
      if (!before) return;
#pragma GCC ivdep
      for (int64_t j = begin; j < end; ++j) to[j] = before[j] + to[j];
    });
  };
  if (m == 1) {
    return parallel_for(0, n, kGrain,
                        [=](int64_t begin, int64_t end) { row(0, begin, end); });
  }
  parallel_for(0, m, std::max<int64_t>(1, kGrain / n), [=](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) row(i, 0, n);
  });
}

}  // namespace

template <class T, class S>
void multiply(Strided<S> a, Strided<S> b, int64_t m, int64_t n, int64_t k, Start<T> start,
              T* c, int64_t row_step) {
  if (k == 1 && n > 1) return outer(a, b, m, n, start, c, row_step);
  if (k == 1 && row_step == 1 && !start.data) {
    return outer(b.transposed(), a.transposed(), 1, m, start, c, 1);
  }
  if (m == 1 && n == 1) {
    const T sum = dot<T>(a.data, a.column_step, b.data, b.row_step, k);
    *c = start.data ? *start.data + sum : sum;
    return;
  }
  if (n == 1) {
    return multiply_vector(a, m, k, b.data, b.row_step, start.data, start.row_step, c,
                           row_step);
  }
  if (m == 1) {
    return multiply_vector(b.transposed(), n, k, a.data, a.column_step, start.data, 1, c,
                           1);
  }
  const int threads = num_threads();
  const double work = double(m) * double(n) * double(k);
  if (threads == 1 || work < kWorth || in_parallel_region()) {
    return product(a, b, m, n, k, start, c, row_step);
  }
  // Strips of the longer side, one per thread: each strip reads the other operand once.
  const bool by_rows = m >= n;
  const int64_t size = by_rows ? m : n, unit = by_rows ? panel_rows(m) : strip_columns<T>();
  const int64_t strip = ((size + threads - 1) / threads + unit - 1) / unit * unit;
  parallel_for(0, (size + strip - 1) / strip, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t at = i * strip, count = std::min(strip, size - at);
      if (by_rows) {
        product(a.at(at, 0), b, count, n, k, start.at(at, 0), c + at * row_step, row_step);
      } else {
        product(a, b.at(0, at), m, count, k, start.at(0, at), c + at, row_step);
      }
    }
  });
}

#define PKG_MULTIPLY(T, S)                                                                \
  template void multiply(Strided<S>, Strided<S>, int64_t, int64_t, int64_t, Start<T>, T*, \
                         int64_t);
PKG_FORALL_PRODUCT_TYPES(PKG_MULTIPLY)
#undef PKG_MULTIPLY

}  // namespace pkg::gemm
