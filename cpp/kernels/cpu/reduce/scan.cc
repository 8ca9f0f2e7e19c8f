// SPDX-License-Identifier: Apache-2.0
// kernels/cpu/reduce/scan.cc: running reductions along one dimension.  The tensor is seen
// as (outer, n, inner); rows of `inner` elements are combined at once.  Along the last
// dimension four rows, or four parts of one, are walked at once: a sum waits for the one
// before it.
#include "base/isa.h"
#include "dispatcher/library.h"
#include "kernels/cpu/reduce/fold_loops.h"
#include "scheduler/parallel.h"
#include "scheduler/stop_point.h"
#include "tensor/copy.h"

namespace pkg {
namespace {

using MaybeType = std::optional<DType>;

struct Extent {
  int64_t outer = 1, n = 1, inner = 1;
};
Extent extent(const Tensor& t, int64_t dim) {
  Extent e;
  const int64_t at = wrap_dim("scan", dim, t.ndim());
  for (int64_t d = 0; d < t.ndim(); ++d) {
    (d < at ? e.outer : d == at ? e.n : e.inner) *= t.sizes()[size_t(d)];
  }
  return e;
}

// Calls f(offset of the first row, n, inner) for each of the outer slices.
template <class F>
void for_each_slice(const Extent& e, F f) {
  if (e.n * e.inner == 0) return;
  const int64_t grain = std::max<int64_t>(1, kGrain / (e.n * e.inner));
  parallel_for(0, e.outer, grain, [&](int64_t begin, int64_t end) {
    for (int64_t o = begin; o < end; ++o) f(o * e.n * e.inner);
  });
}

// Calls f(first, end) for parts of the rows [first, n), with stop points between them.
template <class F>
inline void in_parts(const Extent& e, int64_t first, F f) {
  const int64_t part = std::max<int64_t>(1, (1 << 20) / e.inner);
  for (; e.n - first > part; first += part) {
    f(first, first + part);
    stop_point();
  }
  f(first, e.n);
}

// Floats are added in double: a long running sum would lose its digits.
template <class T>
using Wide = std::conditional_t<std::is_floating_point_v<T>, double, int64_t>;

constexpr int64_t kChains = 4, kLink = 512;  // rows at once; elements of a part of one

// Rows that begin at x[k] with start[k], which becomes what they end with.
template <class T, class F>
void run_chains(const T* const* x, T* const* y, Wide<T>* start, int64_t n, F f) {
  Wide<T> a = start[0], b = start[1], c = start[2], d = start[3];
  for (int64_t i = 0; i < n; ++i) {
    a = f(a, Wide<T>(x[0][i]));
    b = f(b, Wide<T>(x[1][i]));
    c = f(c, Wide<T>(x[2][i]));
    d = f(d, Wide<T>(x[3][i]));
    y[0][i] = T(a);
    y[1][i] = T(b);
    y[2][i] = T(c);
    y[3][i] = T(d);
  }
  start[0] = a;
  start[1] = b;
  start[2] = c;
  start[3] = d;
}

template <class T, class F>
void run_row(const T* x, T* y, Wide<T> total, int64_t n, F f) {
  for (int64_t i = 0; i < n; ++i) {
    total = f(total, Wide<T>(x[i]));
    y[i] = T(total);
  }
}

// One row of sums in four parts: each starts with what those before it come to.
template <class T, class F>
void run_links(const T* x, T* y, Wide<T> total, int64_t n, F f) {
  constexpr int64_t some = kChains * kLink;
  int64_t at = 0;
  StopCounter stop;
  for (; at + some <= n; at += some) {
    const T* from[kChains];
    T* to[kChains];
    Wide<T> start[kChains];
    with_isa([&] {
      for (int64_t k = 0; k < kChains; ++k) {
        from[k] = x + at + k * kLink;
        to[k] = y + at + k * kLink;
        start[k] = total;
        const T* part = from[k];
        const auto at_place = [=](int64_t i) { return Wide<T>(part[i]); };
        total = f(total, sum_of<Wide<T>>(kLink, at_place));
      }
      run_chains(from, to, start, kLink, f);
    });
    total = start[kChains - 1];
    stop(some);
  }
  run_row(x + at, y + at, total, n - at, f);
}

template <class T, class F>
void cumulate_rows(const Extent& e, const T* x, T* y, int first, bool links, F f) {
  const Wide<T> none(first);
  // What is computed may not depend on where the threads cut.
  if (links && e.outer < kChains) {
    for (int64_t row = 0; row < e.outer; ++row) {
      run_links(x + row * e.n, y + row * e.n, none, e.n, f);
    }
    return;
  }
  const int64_t grain = std::max<int64_t>(kChains, kGrain / e.n);
  parallel_for(0, e.outer, grain, [&](int64_t begin, int64_t end) {
    with_isa([&] {
      int64_t row = begin;
      for (; row + kChains <= end; row += kChains) {
        const T* from[kChains];
        T* to[kChains];
        Wide<T> start[kChains];
        for (int64_t k = 0; k < kChains; ++k) {
          from[k] = x + (row + k) * e.n;
          to[k] = y + (row + k) * e.n;
          start[k] = none;
        }
        run_chains(from, to, start, e.n, f);
      }
      for (; row < end; ++row) run_row(x + row * e.n, y + row * e.n, none, e.n, f);
    });
  });
}

template <class F>
void cumulate(Tensor& out, const Tensor& self, int64_t dim, int first, bool links, F f) {
  const DType type = is_reduced(out.dtype()) ? DType::Float32 : out.dtype();
  const Tensor in = as_contiguous(as_dtype(self, type));
  Tensor to = out.dtype() == type ? out : empty(out.sizes(), type);
  const Extent e = extent(self, dim);
  visit_compute("cumsum", type, [&]<class T>(TypeTag<T>) {
    const T* x = in.data<T>();
    T* y = to.data<T>();
    if (e.inner == 1 && e.n > 0) return cumulate_rows(e, x, y, first, links, f);
    for_each_slice(e, [&](int64_t at) {
      std::vector<Wide<T>> total(size_t(e.inner), Wide<T>(first));
      Wide<T>* acc = total.data();
      in_parts(e, 0, [&](int64_t begin, int64_t end) {
        with_isa([&] {
          for (int64_t i = begin; i < end; ++i, at += e.inner) {
            for (int64_t j = 0; j < e.inner; ++j) {
              acc[j] = f(acc[j], Wide<T>(x[at + j]));
              y[at + j] = T(acc[j]);
            }
          }
        });
      });
    });
  });
  if (!to.is_same(out)) copy_into(out, to);
}

void cumsum_kernel(Tensor& out, const Tensor& self, int64_t dim, MaybeType) {
  cumulate(out, self, dim, 0, true, [](auto a, auto x) {
    if constexpr (std::is_floating_point_v<decltype(a)>) return a + x;
    else return int64_t(uint64_t(a) + uint64_t(x));  // wraps
  });
}
void cumprod_kernel(Tensor& out, const Tensor& self, int64_t dim, MaybeType) {
  cumulate(out, self, dim, 1, false, [](auto a, auto x) {
    if constexpr (std::is_floating_point_v<decltype(a)>) return a * x;
    else return int64_t(uint64_t(a) * uint64_t(x));  // wraps
  });
}

void linear_scan_kernel(Tensor& out, const Tensor& a, const Tensor& b, int64_t dim) {
  const DType type = is_reduced(out.dtype()) ? DType::Float32 : out.dtype();
  const Tensor factors = as_contiguous(as_dtype(a, type));
  const Tensor terms = as_contiguous(as_dtype(b, type));
  Tensor to = out.dtype() == type ? out : empty(out.sizes(), type);
  const Extent e = extent(a, dim);
  visit_floating("_linear_scan", type, [&]<class T>(TypeTag<T>) {
    const T *p = factors.data<T>(), *q = terms.data<T>();
    T* y = to.data<T>();
    for_each_slice(e, [&](int64_t at) {
      std::copy_n(q + at, e.inner, y + at);
      in_parts(e, 1, [&](int64_t begin, int64_t end) {
        with_isa([&] {
          for (int64_t i = begin; i < end; ++i) {
            at += e.inner;
            for (int64_t j = at; j < at + e.inner; ++j) {
              y[j] = q[j] + p[j] * y[j - e.inner];
            }
          }
        });
      });
    });
  });
  if (!to.is_same(out)) copy_into(out, to);
}

template <bool Max>
void cumulative_extreme(Tensor& values, Tensor& indices, const Tensor& self, int64_t dim) {
  const DType type = is_reduced(self.dtype()) ? DType::Float32 : self.dtype();
  const Tensor in = as_contiguous(as_dtype(self, type));
  Tensor to = values.dtype() == type ? values : empty(values.sizes(), type);
  const Extent e = extent(self, dim);
  int64_t* where = indices.data<int64_t>();
  visit_compute("cummax", type, [&]<class T>(TypeTag<T>) {
    const T* x = in.data<T>();
    T* y = to.data<T>();
    for_each_slice(e, [&](int64_t at) {
      if (e.inner == 1) {
        // With a jump, which is rarely taken: what is chosen would be waited for.
        T best = x[at];
        int64_t place = 0;
        in_parts(e, 0, [&](int64_t begin, int64_t end) {
          for (int64_t i = begin; i < end; ++i) {
            const T value = x[at + i];
            const bool wins = value != value || (Max ? value >= best : value <= best);
            if (__builtin_expect(wins, 0)) {
              best = value;
              place = i;
            }
            y[at + i] = best;
            where[at + i] = place;
          }
        });
        return;
      }
      for (int64_t j = at; j < at + e.inner; ++j) {
        y[j] = x[j];
        where[j] = 0;
      }
      in_parts(e, 1, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          at += e.inner;
          for (int64_t j = at; j < at + e.inner; ++j) {
            const T best = y[j - e.inner];
            const bool wins = x[j] != x[j] || (Max ? x[j] >= best : x[j] <= best);
            y[j] = wins ? x[j] : best;
            where[j] = wins ? i : where[j - e.inner];
          }
        }
      });
    });
  });
  if (!to.is_same(values)) copy_into(values, to);
}

PKG_LIBRARY_IMPL(pkg, CPU, m) {
  m.impl("cumsum", cumsum_kernel);
  m.impl("cumprod", cumprod_kernel);
  m.impl("_linear_scan", linear_scan_kernel);
  m.impl("cummax", cumulative_extreme<true>);
  m.impl("cummin", cumulative_extreme<false>);
}

}  // namespace
}  // namespace pkg
