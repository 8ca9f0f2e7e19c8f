// SPDX-License-Identifier: Apache-2.0
// kernels/cpu/nn/softmax_columns.cc: softmax along a dimension that does not lie last, a
// lane for each column, so that nothing needs to be turned round.
#include "base/vecmath.h"
#include "dispatcher/library.h"
#include "kernels/cpu/reduce/stage.h"
#include "kernels/cpu/rows.h"

namespace pkg {
namespace {

constexpr int64_t kMostWide = 1024;  // columns of a strip
// What a strip of long columns has: less of a row is slow to read.  Of 16 bits, each row of
// which is converted by itself, so many elements lie in the second cache, or beside it.
constexpr int64_t kLongColumn = 512, kLeastWide = 128, kLeastRoomSixteens = 1 << 18;
constexpr int64_t kDepth = 32;  // terms added up in one go
// Elements of a strip: of whole rows memory is read in order, which saves more than the first
// cache does.
constexpr int64_t kRoom = 1 << 16;

// A tensor as (outer, length, inner), the middle one being `dim`.
struct Columns {
  int64_t outer = 1, length, inner = 1;
  bool sixteens;
  Columns(const Shape& sizes, int64_t dim, DType dtype)
      : length(sizes[size_t(dim)]), sixteens(is_reduced(dtype)) {
    for (int64_t d = 0; d < int64_t(sizes.size()); ++d) {
      if (d < dim) outer *= sizes[size_t(d)];
      if (d > dim) inner *= sizes[size_t(d)];
    }
  }
  // Columns of a strip: fewer than would fit where there were too few strips for threads.
  int64_t wide() const {
    constexpr int64_t kStrips = 8;
    const int64_t share = outer * inner / kStrips / 64 * 64;
    const int64_t fit = std::min(kRoom / length / 64 * 64, share);
    return std::min(inner, std::clamp<int64_t>(fit, least(), kMostWide));
  }

 private:
  int64_t least() const {
    if (length <= kLongColumn) return 64;
    if (!sixteens) return kLeastWide;
    return std::clamp<int64_t>(kLeastRoomSixteens / length / 16 * 16, 16, kLeastWide);
  }
};

// Rows of w elements, some way apart.
template <class T>
struct Strip {
  T* x;
  int64_t step;
  T* row(int64_t i) const { return x + i * step; }
};

template <class T>
class ColumnsIn {
 public:
  ColumnsIn(const Tensor& tensor, const Columns& of, int64_t dim)
      : tensor_(tensor.ndim() == dim + 2 && dim <= 1 ? tensor : as_contiguous(tensor)),
        stage_(tensor_.dtype(), dtype_of<T>),
        size_(itemsize(tensor_.dtype())) {
    const Shape& steps = tensor_.strides();
    const bool plain = !tensor_.is_same(tensor) || tensor.is_contiguous();
    step_ = plain ? 1 : steps[size_t(dim) + 1];
    row_step_ = plain ? of.inner : steps[size_t(dim)];
    outer_step_ = plain ? of.inner * of.length : dim == 1 ? steps[0] : 0;
    as_it_lies_ = stage_.none() && (step_ == 1 || of.inner == 1);
  }
  bool staged() const { return !as_it_lies_; }
  Strip<const T> strip(int64_t outer, int64_t from, int64_t rows, int64_t w,
                       T* buffer) const {
    const char* x = static_cast<const char*>(tensor_.data()) +
                    (outer * outer_step_ + from * step_) * size_;
    if (as_it_lies_) return {reinterpret_cast<const T*>(x), row_step_};
    stage_.bring(x, row_step_, rows, step_, w, reinterpret_cast<char*>(buffer));
    return {buffer, w};
  }

 private:
  Tensor tensor_;
  Stage stage_;
  int64_t size_, step_, row_step_, outer_step_;
  bool as_it_lies_;
};

template <class T>
class ColumnsOut {
 public:
  ColumnsOut(Tensor& out, const Columns& of)
      : of_(of), runs_(out), staged_(runs_.room(1) > 0) {}
  bool staged() const { return staged_; }
  Strip<T> strip(int64_t outer, int64_t from, int64_t w, T* buffer) const {
    if (staged_) return {buffer, w};
    return {runs_.run(at(outer, from), buffer), of_.inner};
  }
  void put(int64_t outer, int64_t from, int64_t w, T* buffer) const {
    if (!staged_) return;
    for (int64_t i = 0; i < of_.length; ++i) {
      runs_.put(at(outer, from) + i * of_.inner, w, buffer + i * w);
    }
  }

 private:
  int64_t at(int64_t outer, int64_t from) const {
    return outer * of_.length * of_.inner + from;
  }
  Columns of_;
  RunsOut<T> runs_;
  bool staged_;
};

// total[j] = the sum of f(i, j) over the rows.
template <class T, class F>
inline void add_rows(int64_t rows, int64_t w, T* __restrict total, F f) {
  T part[kMostWide];
  std::fill_n(total, w, T(0));
  for (int64_t at = 0; at < rows; at += kDepth) {
    const int64_t end = std::min(rows, at + kDepth);
    std::fill_n(part, w, T(0));
    for (int64_t i = at; i < end; ++i) f(i, part);
    for (int64_t j = 0; j < w; ++j) total[j] += part[j];
  }
}

// y may be x.
template <class T>
inline void softmax_strip(Strip<const T> x, Strip<T> y, int64_t rows, int64_t w,
                          bool logarithm) {
  T top[kMostWide], total[kMostWide];
  std::copy_n(x.row(0), w, top);
  for (int64_t i = 1; i < rows; ++i) {
    const T* row = x.row(i);
    for (int64_t j = 0; j < w; ++j) {
      const bool wins = (row[j] > top[j]) | (row[j] != row[j]);
      top[j] = wins ? row[j] : top[j];  // NaN wins and stays
    }
  }
  if (logarithm) {
    add_rows(rows, w, total, [&](int64_t i, T* __restrict part) {
      const T* row = x.row(i);
      for (int64_t j = 0; j < w; ++j) part[j] += vec::exp(row[j] - top[j]);
    });
    for (int64_t j = 0; j < w; ++j) total[j] = vec::log(total[j]);
    for (int64_t i = 0; i < rows; ++i) {
      const T* row = x.row(i);
      T* to = y.row(i);
#pragma GCC ivdep
      for (int64_t j = 0; j < w; ++j) to[j] = row[j] - top[j] - total[j];
    }
    return;
  }
  add_rows(rows, w, total, [&](int64_t i, T* __restrict part) {
    const T* row = x.row(i);
    T* to = y.row(i);
#pragma GCC ivdep
    for (int64_t j = 0; j < w; ++j) {
      const T e = vec::exp(row[j] - top[j]);
      to[j] = e;
      part[j] += e;
    }
  });
  for (int64_t j = 0; j < w; ++j) total[j] = T(1) / total[j];
  for (int64_t i = 0; i < rows; ++i) {
    T* __restrict to = y.row(i);
    for (int64_t j = 0; j < w; ++j) to[j] *= total[j];
  }
}

// x may be y.
template <class T>
inline void gradient_strip(Strip<const T> g, Strip<const T> y, Strip<T> x, int64_t rows,
                           int64_t w, bool logarithm) {
  T total[kMostWide];
  if (logarithm) {
    add_rows(rows, w, total, [&](int64_t i, T* __restrict part) {
      const T* gs = g.row(i);
      for (int64_t j = 0; j < w; ++j) part[j] += gs[j];
    });
  } else {
    add_rows(rows, w, total, [&](int64_t i, T* __restrict part) {
      const T *gs = g.row(i), *ys = y.row(i);
      for (int64_t j = 0; j < w; ++j) part[j] += gs[j] * ys[j];
    });
  }
  for (int64_t i = 0; i < rows; ++i) {
    const T *gs = g.row(i), *ys = y.row(i);
    T* to = x.row(i);
    if (logarithm) {
#pragma GCC ivdep
      for (int64_t j = 0; j < w; ++j) to[j] = gs[j] - vec::exp(ys[j]) * total[j];
    } else {
#pragma GCC ivdep
      for (int64_t j = 0; j < w; ++j) to[j] = ys[j] * (gs[j] - total[j]);
    }
  }
}

// f(outer, first column, how many, mine) for all strips.
template <class M, class F>
void for_strips(const Columns& of, M make, F f) {
  const int64_t wide = of.wide(), strips = (of.inner + wide - 1) / wide;
  const int64_t grain = std::max<int64_t>(1, kGrain / 4 / (wide * of.length));
  parallel_for(0, of.outer * strips, grain, [&](int64_t begin, int64_t end) {
    auto mine = make();
    StopCounter stop;
    for (int64_t k = begin; k < end; ++k) {
      stop(wide * of.length);
      const int64_t from = k % strips * wide;
      f(k / strips, from, std::min(wide, of.inner - from), mine);
    }
  });
}

template <class T>
struct Buffers {
  RunBuffer<T> gradient, result;  // the latter for what comes of both, too
};

void softmax_kernel(Tensor& out, const Tensor& self, int64_t dim, bool logarithm) {
  if (out.numel() == 0) return;
  with_compute_type("softmax", out.dtype(), [&]<class T>(TypeTag<T>) {
    const Columns of(self.sizes(), dim, out.dtype());
    const ColumnsIn<T> in(self, of, dim);
    const ColumnsOut<T> to(out, of);
    const int64_t room = of.wide() * of.length;
    // One buffer for both, which leaves room in the second cache.
    const bool staged = in.staged() || to.staged();
    const auto make = [&] { return RunBuffer<T>(staged ? room : 0); };
    for_strips(of, make, [&](int64_t outer, int64_t from, int64_t w, RunBuffer<T>& b) {
      const Strip<const T> x = in.strip(outer, from, of.length, w, b.data());
      const Strip<T> y = to.strip(outer, from, w, b.data());
      with_isa([=, rows = of.length] { softmax_strip<T>(x, y, rows, w, logarithm); });
      to.put(outer, from, w, b.data());
    });
  });
}

void softmax_backward_kernel(Tensor& out, const Tensor& grad, const Tensor& result,
                             int64_t dim, bool logarithm) {
  if (out.numel() == 0) return;
  with_compute_type("softmax", out.dtype(), [&]<class T>(TypeTag<T>) {
    const Columns of(result.sizes(), dim, out.dtype());
    const ColumnsIn<T> g_in(grad, of, dim), y_in(result, of, dim);
    const ColumnsOut<T> to(out, of);
    const int64_t room = of.wide() * of.length;
    const auto make = [&] {
      return Buffers<T>{RunBuffer<T>(g_in.staged() ? room : 0),
                        RunBuffer<T>(y_in.staged() || to.staged() ? room : 0)};
    };
    for_strips(of, make, [&](int64_t outer, int64_t from, int64_t w, Buffers<T>& b) {
      const Strip<const T> g = g_in.strip(outer, from, of.length, w, b.gradient.data());
      const Strip<const T> y = y_in.strip(outer, from, of.length, w, b.result.data());
      const Strip<T> x = to.strip(outer, from, w, b.result.data());
      with_isa([=, rows = of.length] { gradient_strip<T>(g, y, x, rows, w, logarithm); });
      to.put(outer, from, w, b.result.data());
    });
  });
}

PKG_LIBRARY_IMPL(pkg, CPU, m) {
  m.impl("_softmax_columns", softmax_kernel);
  m.impl("_softmax_columns_backward", softmax_backward_kernel);
}

}  // namespace
}  // namespace pkg
