// SPDX-License-Identifier: Apache-2.0
// kernels/cpu/softmax.cc: softmax, its logarithm and cross-entropy, each in one pass over
// a row that stays in cache, and their gradients.
#include "base/vecmath.h"
#include "dispatcher/library.h"
#include "kernels/cpu/rows.h"

namespace pkg {
namespace {

// y = exp(x - maximum of the row) for `count` rows of n elements.
template <class T>
inline void shifted_exp(const T* x, T* y, int64_t count, int64_t n) {
  for (int64_t r = 0; r < count; ++r) {
    const T top = row_max(x + r * n, n);
    for (int64_t i = 0; i < n; ++i) y[r * n + i] = x[r * n + i] - top;
  }
  for (int64_t i = 0; i < count * n; ++i) y[i] = vec::exp(y[i]);
}

void softmax_kernel(Tensor& out, const Tensor& self) {
  with_compute_type("softmax", out.dtype(), [&]<class T>(TypeTag<T>) {
    const RowShape rows(self);
    const Rows<T> in(self);
    const RowsOut<T> to(out);
    const T* xs = in.data();
    T* ys = to.data();
    for_row_groups(rows, [=, n = rows.length](int64_t first, int64_t count) {
      shifted_exp(xs + first * n, ys + first * n, count, n);
      for (int64_t row = first; row < first + count; ++row) {
        T* y = ys + row * n;
        const T scale = 1 / row_sum<T>(n, [y](int64_t i) { return y[i]; });
        for (int64_t i = 0; i < n; ++i) y[i] *= scale;
      }
    });
  });
}

// log(sum(exp(x))) of a row, in two parts: their sum would lose what is small beside a
// large maximum.
template <class T>
struct LogSumExp {
  T shift, rest;
  T of(T x) const { return x - shift - rest; }  // log-softmax
};

// Runs f(row, LogSumExp) for all rows.
template <class T, class F>
void for_log_sum_exp(const RowShape& rows, const T* xs, F f) {
  for_row_groups(rows, [=, n = rows.length](int64_t first, int64_t count) {
    T scratch[kGroup], tops[kGroup];
    const bool fits = n <= kGroup;
    for (int64_t r = 0; r < count; ++r) {
      const T* x = xs + (first + r) * n;
      const T top = row_max(x, n);
      // A row of -inf alone has the sum 0: its maximum must not make NaN.
      tops[r] = top == -std::numeric_limits<T>::infinity() ? T(0) : top;
      if (!fits) continue;
      for (int64_t i = 0; i < n; ++i) scratch[r * n + i] = x[i] - tops[r];
    }
    if (fits) {
      for (int64_t i = 0; i < count * n; ++i) scratch[i] = vec::exp(scratch[i]);
    }
    for (int64_t r = 0; r < count; ++r) {
      const T* x = xs + (first + r) * n;
      const T top = tops[r];
      const T total =
          fits ? row_sum<T>(n, [e = scratch + r * n](int64_t i) { return e[i]; })
               : row_sum<T>(n, [x, top](int64_t i) { return vec::exp(x[i] - top); });
      f(first + r, LogSumExp<T>{top, vec::log(total)});
    }
  });
}

void log_softmax_kernel(Tensor& out, const Tensor& self) {
  with_compute_type("softmax", out.dtype(), [&]<class T>(TypeTag<T>) {
    const RowShape rows(self);
    const Rows<T> in(self);
    const RowsOut<T> to(out);
    const T* xs = in.data();
    T* ys = to.data();
    for_log_sum_exp(rows, xs, [=, n = rows.length](int64_t row, LogSumExp<T> total) {
      const T* x = xs + row * n;
      T* y = ys + row * n;
      for (int64_t i = 0; i < n; ++i) y[i] = total.of(x[i]);
    });
  });
}

void softmax_backward_kernel(Tensor& out, const Tensor& grad, const Tensor& result,
                             bool logarithm) {
  with_compute_type("softmax", out.dtype(), [&]<class T>(TypeTag<T>) {
    const RowShape rows(result);
    const Rows<T> g_in(grad), y_in(result);
    const RowsOut<T> to(out);
    const T *gs = g_in.data(), *ys = y_in.data();
    T* xs = to.data();
    for_rows(rows, [=, n = rows.length](int64_t row) {
      const T *g = gs + row * n, *y = ys + row * n;
      T* x = xs + row * n;
      if (logarithm) {
        const T total = row_sum<T>(n, [g](int64_t i) { return g[i]; });
        for (int64_t i = 0; i < n; ++i) x[i] = g[i] - vec::exp(y[i]) * total;
      } else {
        const T total = row_sum<T>(n, [g, y](int64_t i) { return g[i] * y[i]; });
        for (int64_t i = 0; i < n; ++i) x[i] = y[i] * (g[i] - total);
      }
    });
  });
}

int64_t class_at(const int64_t* target, int64_t row, int64_t classes) {
  const int64_t c = target[row];
  PKG_CHECK(c >= 0 && c < classes, IndexError, "[cross_entropy] Target ", c,
            " is out of bounds: expected 0 to ", classes - 1, " (row ", row, ").");
  return c;
}

void cross_entropy_kernel(Tensor& out, const Tensor& input, const Tensor& target,
                          int64_t ignore, const std::string& reduction) {
  with_compute_type("softmax", out.dtype(), [&]<class T>(TypeTag<T>) {
    const RowShape rows(input);
    const Rows<T> in(input);
    const Rows<int64_t> classes(target);
    const RowsOut<T> to(out);
    const T* xs = in.data();
    const int64_t* ts = classes.data();
    const int64_t count = target.numel();
    int64_t kept = 0;
    for (int64_t i = 0; i < count; ++i) {
      if (ts[i] == ignore) continue;
      class_at(ts, i, rows.length);
      ++kept;
    }
    const bool reduced = reduction != "none";
    std::vector<T, PoolAllocator<T>> parts(reduced ? size_t(count) : 0);
    T* losses = reduced ? parts.data() : to.data();
    for_log_sum_exp(rows, xs, [=, n = rows.length](int64_t row, LogSumExp<T> total) {
      losses[row] = ts[row] == ignore ? T(0) : -total.of(xs[row * n + ts[row]]);
    });
    if (!reduced) return;
    T total = 0;
    if (rows.length > 0) total = row_sum<T>(count, [=](int64_t i) { return losses[i]; });
    *to.data() = reduction == "mean" ? total / T(kept) : total;
  });
}

void cross_entropy_backward_kernel(Tensor& out, const Tensor& grad, const Tensor& input,
                                   const Tensor& target, int64_t ignore,
                                   const std::string& reduction) {
  with_compute_type("softmax", out.dtype(), [&]<class T>(TypeTag<T>) {
    const RowShape rows(input);
    const Rows<T> in(input), g_in(grad);
    const Rows<int64_t> classes(target);
    const RowsOut<T> to(out);
    const T *xs = in.data(), *gs = g_in.data();
    const int64_t* ts = classes.data();
    T* ys = to.data();
    T share = 1;  // of each row in the reduced loss
    if (reduction == "mean") {
      const int64_t kept = rows.count - std::count(ts, ts + rows.count, ignore);
      share = 1 / T(std::max<int64_t>(kept, 1));
    }
    const int64_t step = grad.ndim() ? 1 : 0;
    for_row_groups(rows, [=, n = rows.length](int64_t first, int64_t count) {
      shifted_exp(xs + first * n, ys + first * n, count, n);
      for (int64_t row = first; row < first + count; ++row) {
        T* y = ys + row * n;
        if (ts[row] == ignore) {
          std::fill(y, y + n, T(0));
          continue;
        }
        const T g = gs[row * step] * share;
        const T scale = g / row_sum<T>(n, [y](int64_t i) { return y[i]; });
        for (int64_t i = 0; i < n; ++i) y[i] *= scale;
        y[ts[row]] -= g;
      }
    });
  });
}

PKG_LIBRARY_IMPL(pkg, CPU, m) {
  m.impl("_softmax", softmax_kernel);
  m.impl("_log_softmax", log_softmax_kernel);
  m.impl("_softmax_backward", softmax_backward_kernel);
  m.impl("_cross_entropy", cross_entropy_kernel);
  m.impl("_cross_entropy_backward", cross_entropy_backward_kernel);
}

}  // namespace
}  // namespace pkg
