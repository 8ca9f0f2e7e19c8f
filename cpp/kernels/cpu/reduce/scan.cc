// SPDX-License-Identifier: Apache-2.0
// kernels/cpu/reduce/scan.cc: running sums and products along one dimension.
#include "base/isa.h"
#include "dispatcher/library.h"
#include "kernels/cpu/reduce/fold_loops.h"
#include "kernels/cpu/reduce/scan_tiles.h"

namespace pkg {
namespace {

using MaybeType = std::optional<DType>;

// Floats are added in double: a long running sum would lose its digits.
template <class T>
using Wide = std::conditional_t<std::is_floating_point_v<T>, double, int64_t>;

// A running sum or product, whose next value is F{}(value so far, element).
template <class T, class F>
struct Running {
  using W = Wide<T>;
  static constexpr int64_t kLink = 512;  // elements of a part of a line

  // Lines side by side.
  static void columns(const ScanTile& t) {
    W* __restrict total = static_cast<W*>(t.state);
    auto* x = static_cast<const T*>(t.x[0]);
    auto* y = static_cast<T*>(t.y[0]);
    const int64_t lines = t.lines;
    for (int64_t i = 0; i < t.places; ++i, x += t.x_place[0], y += t.y_place[0]) {
#pragma omp simd
      for (int64_t j = 0; j < lines; ++j) {
        total[j] = F{}(total[j], W(x[j]));
        y[j] = T(total[j]);
      }
    }
  }

  struct Line {
    const T* x;
    T* y;
    W total;
  };

  [[gnu::always_inline]] static void walk_four(Line* l, int64_t n, int64_t dx, int64_t dy) {
    Line a = l[0], b = l[1], c = l[2], d = l[3];
    for (int64_t i = 0; i < n; ++i) {
      a.total = F{}(a.total, W(a.x[i * dx]));
      b.total = F{}(b.total, W(b.x[i * dx]));
      c.total = F{}(c.total, W(c.x[i * dx]));
      d.total = F{}(d.total, W(d.x[i * dx]));
      a.y[i * dy] = T(a.total);
      b.y[i * dy] = T(b.total);
      c.y[i * dy] = T(c.total);
      d.y[i * dy] = T(d.total);
    }
    l[0].total = a.total;
    l[1].total = b.total;
    l[2].total = c.total;
    l[3].total = d.total;
  }

  // Dense lines leave the registers to their totals.
  static void four(Line* l, int64_t n, int64_t dx, int64_t dy) {
    if (dx == 1 && dy == 1) walk_four(l, n, 1, 1);
    else if (dx == -1 && dy == -1) walk_four(l, n, -1, -1);
    else walk_four(l, n, dx, dy);
  }

  static W one(Line l, int64_t n, int64_t dx, int64_t dy) {
    for (int64_t i = 0; i < n; ++i) {
      l.total = F{}(l.total, W(l.x[i * dx]));
      l.y[i * dy] = T(l.total);
    }
    return l.total;
  }

  // One line in four parts: each starts with what those before it come to.
  static W parts(Line l, int64_t n, int64_t dx, int64_t dy) {
    constexpr int64_t some = kScanChains * kLink;
    for (; n >= some; n -= some) {
      Line part[kScanChains];
      for (Line& p : part) {
        p = l;
        const T* low = dx < 0 ? l.x + (kLink - 1) * dx : l.x;
        const int64_t step = dx < 0 ? -dx : dx;
        W sum;
        if (step == 1) sum = sum_of<W>(kLink, [=](int64_t i) { return W(low[i]); });
        else sum = sum_of<W>(kLink, [=](int64_t i) { return W(low[i * step]); });
        l = {l.x + kLink * dx, l.y + kLink * dy, F{}(l.total, sum)};
      }
      four(part, kLink, dx, dy);
      l.total = part[kScanChains - 1].total;
    }
    return one(l, n, dx, dy);
  }

  static void run(const ScanTile& tile) {
    with_isa([t = tile] {
      W* total = static_cast<W*>(t.state);
      if (t.begins) std::fill_n(total, t.lines, W(F::first));
      if (t.side_by_side) return columns(t);
      const int64_t dx = t.x_place[0], dy = t.y_place[0];
      const auto line = [&](int64_t j) {
        return Line{static_cast<const T*>(t.x[0]) + j * t.x_line[0],
                    static_cast<T*>(t.y[0]) + j * t.y_line[0], total[j]};
      };
      int64_t j = 0;
      for (; F::waits(W()) && j + kScanChains <= t.lines; j += kScanChains) {
        Line lines[kScanChains];
        for (int64_t k = 0; k < kScanChains; ++k) lines[k] = line(j + k);
        four(lines, t.places, dx, dy);
        for (int64_t k = 0; k < kScanChains; ++k) total[j + k] = lines[k].total;
      }
      for (; j < t.lines; ++j) {
        total[j] = t.alone && F::in_parts(W()) ? parts(line(j), t.places, dx, dy)
                                               : one(line(j), t.places, dx, dy);
      }
    });
  }
};

struct Sum {
  static constexpr int first = 0;
  // Whether the next element waits several cycles for the one before it, and whether the
  // sum of parts may be made of theirs.
  static constexpr bool waits(double) { return true; }
  static constexpr bool waits(int64_t) { return false; }
  static constexpr bool in_parts(double) { return true; }
  static constexpr bool in_parts(int64_t) { return false; }
  double operator()(double a, double x) const { return a + x; }
  int64_t operator()(int64_t a, int64_t x) const {
    return int64_t(uint64_t(a) + uint64_t(x));
  }
};
struct Product {
  static constexpr int first = 1;
  static constexpr bool waits(auto) { return true; }
  static constexpr bool in_parts(auto) { return false; }  // another order may overflow
  double operator()(double a, double x) const { return a * x; }
  int64_t operator()(int64_t a, int64_t x) const {
    return int64_t(uint64_t(a) * uint64_t(x));
  }
};

template <class F>
void cumulate(Tensor& out, const Tensor& self, int64_t dim, bool reverse) {
  const DType type = is_reduced(out.dtype()) ? DType::Float32 : out.dtype();
  visit_compute("cumsum", type, [&]<class T>(TypeTag<T>) {
    run_scan(type, dim, reverse, {&self}, {&out}, Running<T, F>::run);
  });
}

void cumsum_kernel(Tensor& out, const Tensor& self, int64_t dim, MaybeType) {
  cumulate<Sum>(out, self, dim, false);
}
void reverse_cumsum_kernel(Tensor& out, const Tensor& self, int64_t dim) {
  cumulate<Sum>(out, self, dim, true);
}
void cumprod_kernel(Tensor& out, const Tensor& self, int64_t dim, MaybeType) {
  cumulate<Product>(out, self, dim, false);
}

// Forward y = b + a * (y before), in reverse y = b + (a * y) of the place before.
template <class T>
void run_linear(const ScanTile& tile) {
  with_isa([t = tile] {
    T* __restrict carry = static_cast<T*>(t.state);
    const bool reverse = t.next < 0;
    const int64_t da = t.x_place[0], db = t.x_place[1], dy = t.y_place[0];
    if (t.side_by_side) {
      auto *a = static_cast<const T*>(t.x[0]), *b = static_cast<const T*>(t.x[1]);
      T* y = static_cast<T*>(t.y[0]);
      for (int64_t i = 0; i < t.places; ++i, a += da, b += db, y += dy) {
        if (i == 0 && t.begins) {
          for (int64_t j = 0; j < t.lines; ++j) {
            y[j] = b[j];
            carry[j] = reverse ? a[j] * b[j] : b[j];
          }
        } else if (reverse) {
#pragma omp simd
          for (int64_t j = 0; j < t.lines; ++j) {
            y[j] = b[j] + carry[j];
            carry[j] = a[j] * y[j];
          }
        } else {
#pragma omp simd
          for (int64_t j = 0; j < t.lines; ++j) y[j] = carry[j] = b[j] + a[j] * carry[j];
        }
      }
      return;
    }
    for (int64_t j = 0; j < t.lines; ++j) {
      auto* a = static_cast<const T*>(t.x[0]) + j * t.x_line[0];
      auto* b = static_cast<const T*>(t.x[1]) + j * t.x_line[1];
      T* y = static_cast<T*>(t.y[0]) + j * t.y_line[0];
      T last = carry[j];
      for (int64_t i = 0; i < t.places; ++i) {
        const T value = b[i * db], factor = a[i * da];
        if (i == 0 && t.begins) last = value;
        else last = reverse ? value + last : value + factor * last;
        y[i * dy] = last;
        if (reverse) last *= factor;
      }
      carry[j] = last;
    }
  });
}

void linear_scan_kernel(Tensor& out, const Tensor& a, const Tensor& b, int64_t dim,
                        bool reverse) {
  const DType type = is_reduced(out.dtype()) ? DType::Float32 : out.dtype();
  visit_floating("_linear_scan", type, [&]<class T>(TypeTag<T>) {
    run_scan(type, dim, reverse, {&a, &b}, {&out}, run_linear<T>);
  });
}

PKG_LIBRARY_IMPL(pkg, CPU, m) {
  m.impl("cumsum", cumsum_kernel);
  m.impl("_reverse_cumsum", reverse_cumsum_kernel);
  m.impl("cumprod", cumprod_kernel);
  m.impl("_linear_scan", linear_scan_kernel);
}

}  // namespace
}  // namespace pkg
