// SPDX-License-Identifier: Apache-2.0
// kernels/cpu/reduce/prod_backward.cc: the product of all others, for each element of a
// line.  Those before times those after, in double, and no division: zeros, infinities and
// NaN need no care.  Lines lie side by side in a block that stays in cache; of one that is
// longer than a block the products before each of its blocks come first.
#include <algorithm>
#include <cmath>

#include "dispatcher/library.h"
#include "kernels/cpu/reduce/fold_loops.h"
#include "kernels/cpu/reduce/line_part.h"
#include "kernels/cpu/rows.h"

namespace pkg {
namespace {

constexpr int64_t kLines = 256;  // of a block, at most
constexpr int64_t kFew = 64;     // that are longer than a block of so many is deep

// x[i * lines + j] is place i of line j.
struct Rectangle {
  const double* x;
  int64_t places, lines;
  bool alone;  // the only line: what a line gives may not depend on those beside it

  void multiply(double* __restrict total) const {
    if (alone) {
      *total = product(*total);
      return;
    }
    for (int64_t i = 0; i < places; ++i) {
      const double* row = x + i * lines;
#pragma omp simd
      for (int64_t j = 0; j < lines; ++j) total[j] *= row[j];
    }
  }
  // y is grad times what comes before and after each element.
  void others(double* __restrict y, double* __restrict before, double* __restrict after,
              const double* __restrict grad) const {
    if (lines == 1) return others_of_one(y, before, after, *grad);
    for (int64_t i = places; i-- > 0;) {
      const double* row = x + i * lines;
      double* to = y + i * lines;
#pragma omp simd
      for (int64_t j = 0; j < lines; ++j) {
        to[j] = after[j];
        after[j] *= row[j];
      }
    }
    for (int64_t i = 0; i < places; ++i) {
      const double* row = x + i * lines;
      double* to = y + i * lines;
#pragma omp simd
      for (int64_t j = 0; j < lines; ++j) {
        to[j] = before[j] * to[j] * grad[j];
        before[j] *= row[j];
      }
    }
  }

 private:
  // Some at a time in any order, where none of their products can leave the range of
  // normal numbers.
  double product(double total) const {
    constexpr int64_t some = 256;
    constexpr double most = 8, least = 1 / most;  // 256 of them: 2^-768 to 2^768
    for (int64_t at = 0; at < places; at += some) {
      const int64_t n = std::min(some, places - at);
      const double* from = x + at;
      int wild = 0;  // NaN too
      for (int64_t i = 0; i < n; ++i) {
        const double size = std::abs(from[i]);
        wild += !(size <= most && size >= least);
      }
      if (wild == 0) {
        total *= product_of<double>(n, [=](int64_t i) { return from[i]; });
      } else {
        for (int64_t i = 0; i < n; ++i) total *= from[i];
      }
    }
    return total;
  }
  // Each product waits for the one before it: those from both ends at once.
  void others_of_one(double* __restrict y, double* __restrict before,
                     double* __restrict after, double grad) const {
    alignas(64) double front[kLineRoom];
    double b = *before, a = *after;
    for (int64_t i = 0, k = places - 1; i < places; ++i, --k) {
      front[i] = b;
      y[k] = a;
      b *= x[i];
      a *= x[k];
    }
    for (int64_t i = 0; i < places; ++i) y[i] = front[i] * y[i] * grad;
    *before = b;
    *after = a;
  }
};

void prod_backward_kernel(Tensor& out, const Tensor& grad, const Tensor& self,
                          int64_t dim) {
  if (out.numel() == 0) return;
  dim = wrap_dim("_prod_backward", dim, self.ndim());
  LineExtent extent(self, dim);
  LinePart in(self, dim, self.dtype(), DType::Float64);
  LinePart to(out, dim, DType::Float64, out.dtype());
  if (extent.inner == 1) {
    extent.turn();
    in.turn();
    to.turn();
  }
  const Rows<double> grads(grad);
  const int64_t deep = std::min(extent.n, kLineRoom / std::min(kFew, extent.inner));
  const int64_t blocks = (extent.n + deep - 1) / deep;
  const int64_t most = std::min(kLines, kLineRoom / deep);
  const int64_t grain = std::max<int64_t>(4, kGrain / 4 / extent.n);
  parallel_for(0, extent.lines(), grain, [&](int64_t begin, int64_t end) {
    alignas(64) double x[kLineRoom], y[kLineRoom], after[kLines];
    const RunBuffer<double> before(blocks * std::min(most, end - begin));
    StopCounter stop;
    int64_t lines;
    for (; begin < end; begin += lines) {
      const int64_t o = begin / extent.inner, j = begin % extent.inner;
      lines = std::min({end - begin, extent.inner - j, most});
      const auto block = [&](int64_t b) {
        const int64_t at = b * deep, places = std::min(deep, extent.n - at);
        in.bring(in.at(o, at, j), places, lines, lines > 1, reinterpret_cast<char*>(x));
        stop(places * lines);
        return Rectangle{x, places, lines, extent.lines() == 1};
      };
      std::fill_n(before.data(), lines, 1.0);
      for (int64_t b = 0; b + 1 < blocks; ++b) {
        double* next = before.data() + (b + 1) * lines;
        std::copy_n(next - lines, lines, next);
        const Rectangle here = block(b);
        with_isa([&] { here.multiply(next); });
      }
      std::fill_n(after, lines, 1.0);
      for (int64_t b = blocks; b-- > 0;) {
        const Rectangle here = block(b);
        with_isa([&] {
          here.others(y, before.data() + b * lines, after, grads.data() + begin);
        });
        to.send(reinterpret_cast<char*>(y), here.places, lines, lines > 1,
                to.at(o, b * deep, j));
      }
    }
  });
}

PKG_LIBRARY_IMPL(pkg, CPU, m) { m.impl("_prod_backward", prod_backward_kernel); }

}  // namespace
}  // namespace pkg
