// SPDX-License-Identifier: Apache-2.0
// kernels/cpu/nn/avg_pool.cc: means of windows, and the way of gradients back: rows of a
// window are added up for the whole width first, then the columns.
#include "dispatcher/library.h"
#include "kernels/cpu/nn/image_planes.h"
#include "kernels/cpu/reduce/fold_loops.h"
#include "tensor/sixteen.h"

namespace pkg {
namespace {

// Windows along one dimension of n elements: their parts that lie on it, and what is
// divided by.
struct Windows {
  struct Window {
    int64_t from, end;
    double divisor;
  };
  std::vector<Window> all;
  int64_t step = 0, length = 0;  // of the windows inner_from..inner_end, which are whole
  int64_t inner_from = 0, inner_end = 0;

  // Of `kernel` elements, every `stride` of them.
  Windows(int64_t n, int64_t out, int64_t kernel, int64_t stride, int64_t padding,
          bool whole)
      : step(stride), length(kernel) {
    all.reserve(size_t(out));
    for (int64_t i = 0; i < out; ++i) {
      const int64_t start = i * stride - padding;
      const int64_t from = std::max<int64_t>(start, 0), end = std::min(start + kernel, n);
      all.push_back({from, end, double(whole ? kernel : end - from)});
      if (start < 0) inner_from = i + 1;
      else if (start + kernel <= n) inner_end = i + 1;
    }
    inner_end = std::max(inner_end, inner_from);
  }
  // As many as wanted, which divide the elements evenly.
  Windows(int64_t n, int64_t out) {
    all.reserve(size_t(out));
    for (int64_t i = 0; i < out; ++i) {
      const auto at = __int128(i) * n;
      const auto from = int64_t(at / out), end = int64_t((at + n + out - 1) / out);
      all.push_back({from, end, double(end - from)});
    }
    if (out != n) return;  // else each element is one
    step = length = 1;
    inner_end = n;
  }
  int64_t count() const { return int64_t(all.size()); }
  // Whether each element is a window.
  bool each() const { return length == 1 && step == 1 && inner_end == count(); }
};

// Sums of whole windows of a line, S (0: step) apart.
template <int64_t S, class T>
inline void sums_of_line(const T* __restrict line, const Windows& x, T* __restrict to) {
  const int64_t step = S ? S : x.step, n = x.inner_end - x.inner_from;
  const T* at = line + x.all[size_t(x.inner_from)].from;
  for (int64_t i = 0; i < n; ++i) to[i] = at[i * step];
  for (int64_t j = 1; j < x.length; ++j) {
    for (int64_t i = 0; i < n; ++i) to[i] += at[i * step + j];
  }
}

template <class T>
inline T line_sum(const T* at, int64_t n) {
  if (n >= 16) return sum_of<T>(n, [=](int64_t i) { return at[i]; });
  T sum = 0;
  for (int64_t i = 0; i < n; ++i) sum += at[i];
  return sum;
}

// Means of columns of a few rows.
template <int rows, class T>
inline void mean_of_few(const T* __restrict at, int64_t w, T divisor, T* __restrict to) {
  for (int64_t i = 0; i < w; ++i) {
    T sum = 0;
#pragma GCC unroll 4
    for (int64_t r = 0; r < rows; ++r) sum += at[r * w + i];
    to[i] = divisor == 1 ? sum : sum / divisor;
  }
}
template <class T>
inline bool mean_of_few(const T* at, int64_t rows, int64_t w, double divisor, T* to) {
  switch (rows) {
    case 2: mean_of_few<2>(at, w, T(divisor), to); return true;
    case 3: mean_of_few<3>(at, w, T(divisor), to); return true;
    case 4: mean_of_few<4>(at, w, T(divisor), to); return true;
    default: return false;
  }
}

// One row of results of a plane.
template <class T>
inline void mean_row(const T* plane, int64_t w, const Windows::Window& y, const Windows& x,
                     T* line, T* to) {
  const T* sums = plane + y.from * w;
  if (x.count() == 1 && x.all[0].end - x.all[0].from == w) {  // whole rows lie together
    *to = line_sum(sums, (y.end - y.from) * w) / T(y.divisor * x.all[0].divisor);
    return;
  }
  if (x.each() && mean_of_few(sums, y.end - y.from, w, y.divisor, to)) return;
  constexpr int64_t kShortLine = 16;  // a few of which are not worth loops over all of them
  if (w < kShortLine && y.end - y.from < kShortLine) {
    int64_t rows = y.end - y.from;
    if (mean_of_few(sums, rows, w, 1, line)) {
      sums = line;
      rows = 1;
    }
    for (int64_t i = 0; i < x.count(); ++i) {
      const auto& window = x.all[size_t(i)];
      T sum = 0;
      for (int64_t r = 0; r < rows; ++r) {
        for (int64_t j = window.from; j < window.end; ++j) sum += sums[r * w + j];
      }
      to[i] = sum / T(y.divisor * window.divisor);
    }
    return;
  }
  if (y.end - y.from != 1) {
    std::fill_n(line, w, T(0));
    for (int64_t i = y.from; i < y.end; ++i) {
      const T* __restrict row = plane + i * w;
      for (int64_t j = 0; j < w; ++j) line[j] += row[j];
    }
    sums = line;
  }
  const auto one = [&](int64_t i) {
    const auto& window = x.all[size_t(i)];
    to[i] = line_sum(sums + window.from, window.end - window.from) /
            T(y.divisor * window.divisor);
  };
  for (int64_t i = 0; i < x.inner_from; ++i) one(i);
  if (x.inner_end > x.inner_from) {
    T* inner = to + x.inner_from;
    if (x.step == 1) sums_of_line<1>(sums, x, inner);
    else if (x.step == 2) sums_of_line<2>(sums, x, inner);
    else sums_of_line<0>(sums, x, inner);
    const T divisor = T(y.divisor * x.all[size_t(x.inner_from)].divisor);
    for (int64_t i = 0; i < x.inner_end - x.inner_from; ++i) inner[i] /= divisor;
  }
  for (int64_t i = x.inner_end; i < x.count(); ++i) one(i);
}

// The gradient of one row of results, added to that of the plane.
template <class T>
inline void spread_row(const T* grad, const Windows::Window& y, const Windows& x, int64_t w,
                       T* line, T* plane) {
  std::fill_n(line, w, T(0));
  for (int64_t i = 0; i < x.count(); ++i) {
    const auto& window = x.all[size_t(i)];
    const T part = grad[i] / T(y.divisor * window.divisor);
    for (int64_t j = window.from; j < window.end; ++j) line[j] += part;
  }
  for (int64_t i = y.from; i < y.end; ++i) {
    T* __restrict row = plane + i * w;
    for (int64_t j = 0; j < w; ++j) row[j] += line[j];
  }
}

// What a thread has beside the tensors: a line of sums, planes of the image and of the
// results, and the latter turned.
template <class T>
struct Buffers {
  RunBuffer<T> line, image, result, turned;
};

// Runs f(number, make()) for all planes, of `work` elements each.
template <class M, class F>
void for_planes(int64_t planes, int64_t work, M make, F f) {
  const int64_t grain = std::max<int64_t>(1, kGrain / std::max<int64_t>(1, work));
  parallel_for(0, planes, grain, [&](int64_t begin, int64_t end) {
    auto mine = make();
    StopCounter stop;
    with_isa([&] {
      for (int64_t i = begin; i < end; ++i) {
        stop(work);
        f(i, mine);
      }
    });
  });
}

// Rows as columns, a few rows at a time: what is read of them stays in the cache.
template <class T>
inline void exchange(const T* __restrict from, int64_t rows, int64_t columns,
                     T* __restrict to) {
  constexpr int64_t kRows = 16;
  for (int64_t at = 0; at < rows; at += kRows) {
    const int64_t end = std::min(rows, at + kRows);
    for (int64_t x = 0; x < columns; ++x) {
      for (int64_t y = at; y < end; ++y) to[x * rows + y] = from[y * columns + x];
    }
  }
}

// How many rows of w elements are brought into a buffer at once, where they stay in the
// first cache: those of a window at least.  All where nothing is brought, w being 0.
int64_t rows_at_once(const Windows& y, int64_t h, int64_t w) {
  constexpr int64_t kElements = 4096;
  if (w == 0) return h;
  int64_t most = std::max<int64_t>(1, kElements / w);
  for (const auto& window : y.all) most = std::max(most, window.end - window.from);
  return std::min(h, most);
}

// `turned`: the results of a plane are wanted column by column.
void means_of_planes(Tensor& out, const Tensor& image, const Windows& y, const Windows& x,
                     bool turned) {
  with_compute_type("avg_pool2d", out.dtype(), [&]<class T>(TypeTag<T>) {
    const ImagePlanes<T> in(image);
    const int64_t h = image.size(-2), w = image.size(-1), outs = y.count() * x.count();
    const RunsOut<T> to(out, outs);
    const int64_t brought = rows_at_once(y, h, in.room() ? w : 0);
    const auto make = [&] {
      return Buffers<T>{RunBuffer<T>(w), RunBuffer<T>(in.room() ? brought * w : 0),
                        RunBuffer<T>(to.room(outs)), RunBuffer<T>(turned ? outs : 0)};
    };
    for_planes(out.numel() / outs, h * w + outs, make, [&](int64_t i, Buffers<T>& b) {
      T* result = to.run(i * outs, b.result.data());
      T* at = turned ? b.turned.data() : result;
      for (int64_t k = 0; k < y.count();) {
        const int64_t from = y.all[size_t(k)].from, end = std::min(h, from + brought);
        const T* rows = in.rows(i, from, end, b.image.data());
        for (; k < y.count() && y.all[size_t(k)].end <= end; ++k, at += x.count()) {
          const auto& window = y.all[size_t(k)];
          mean_row(rows, w, {window.from - from, window.end - from, window.divisor}, x,
                   b.line.data(), at);
        }
      }
      if (turned) exchange(b.turned.data(), y.count(), x.count(), result);
      to.put(i * outs, outs, b.result.data());
    });
  });
}

// Sums of rows of 16-bit floats, sixteen columns at a time, which stay in registers.
template <Isa level, class H>
inline void mean_of_rows(const H* plane, int64_t w, const Windows& y, H* to) {
  for (const Windows::Window& window : y.all) {
    const auto divisor = float(window.divisor);
    for (int64_t j = 0; j < w; j += kSixteen) {
      const int64_t at = std::min(j, w - kSixteen);  // the last ones overlap
      float sum[kSixteen], row[kSixteen];
      Sixteen<level>::widen(sum, plane + window.from * w + at);
      if (window.end - window.from > 1) {
#pragma omp simd
        for (int64_t k = 0; k < kSixteen; ++k) sum[k] += 0.0f;  // as other sums begin
        for (int64_t i = window.from + 1; i < window.end; ++i) {
          Sixteen<level>::widen(row, plane + i * w + at);
#pragma omp simd
          for (int64_t k = 0; k < kSixteen; ++k) sum[k] += row[k];
        }
      }
#pragma omp simd
      for (int64_t k = 0; k < kSixteen; ++k) sum[k] /= divisor;
      Sixteen<level>::narrow(to + at, sum);
    }
    to += w;
  }
}

// Windows of whole columns of dense 16-bit floats; false of others.
bool means_of_sixteens(Tensor& out, const Tensor& image, const Windows& y,
                       const Windows& x) {
  const int64_t w = image.size(-1), outs = y.count() * w;
  if (!is_reduced(out.dtype()) || image.dtype() != out.dtype() || !out.is_contiguous() ||
      !x.each() || w < kSixteen || image.numel() == 0 || isa() < Isa::V3) {
    return false;
  }
  const auto run = [&]<class H>(TypeTag<H>) {
    const ImagePlanes<H> in(image);
    if (in.room()) return false;
    H* to = out.data<H>();
    for_planes(
        out.numel() / outs, image.size(-2) * w, [] { return 0; },
        [&](int64_t i, int) {
          const H* plane = in.plane(i, nullptr);
          with_sixteen([=, &y]<Isa level>(AtIsa<level>) {
            mean_of_rows<level>(plane, w, y, to + i * outs);
          });
        });
    return true;
  };
  return out.dtype() == DType::Float16 ? run(TypeTag<Half>()) : run(TypeTag<BFloat16>());
}

// Images are read as they lie: one whose columns are dense with both dimensions exchanged,
// lines whose neighbours lie side by side as the columns of one image.
void means(Tensor& out, const Tensor& self, const Windows& y, const Windows& x) {
  const size_t d = self.sizes().size() - 2;
  Shape sizes = self.sizes(), steps = self.strides();
  const auto dense = [&](size_t k) { return sizes[k] > 1 && steps[k] == 1; };
  if (means_of_sixteens(out, self, y, x)) return;
  if (sizes[d + 1] == 1 || steps[d + 1] == 1) {
    return means_of_planes(out, self, y, x, false);
  }
  if (dense(d)) {
    std::swap(sizes[d], sizes[d + 1]);
    std::swap(steps[d], steps[d + 1]);
    return means_of_planes(out, alias(self, sizes, steps, self.offset()), x, y, true);
  }
  if (sizes[d] == 1 && y.count() == 1 && y.all[0].divisor == 1 && d > 0 && dense(d - 1)) {
    sizes[d] = sizes[d + 1];
    steps[d] = steps[d + 1];
    std::swap(sizes[d - 1], sizes[d]);
    std::swap(steps[d - 1], steps[d]);
    const Tensor lines = alias(self, Shape(sizes.begin(), d + 1),
                               Shape(steps.begin(), d + 1), self.offset());
    const Windows each(sizes[d], sizes[d], 1, 1, 0, true);
    return means_of_planes(out, lines, x, each, true);
  }
  means_of_planes(out, self, y, x, false);
}

void spread(Tensor& out, const Tensor& grad, const Windows& y, const Windows& x) {
  with_compute_type("avg_pool2d", out.dtype(), [&]<class T>(TypeTag<T>) {
    const int64_t w = out.size(-1), plane = out.size(-2) * w, outs = y.count() * x.count();
    const Runs<T> in(grad, outs);
    const RunsOut<T> to(out, plane);
    const auto make = [&] {
      return Buffers<T>{
          RunBuffer<T>(w), RunBuffer<T>(to.room(plane)), RunBuffer<T>(in.room(outs)), {}};
    };
    for_planes(out.numel() / plane, plane + outs, make, [&](int64_t i, Buffers<T>& b) {
      T* image = to.run(i * plane, b.image.data());
      const T* g = in.run(i * outs, outs, b.result.data());
      std::fill_n(image, plane, T(0));
      for (int64_t k = 0; k < y.count(); ++k, g += x.count()) {
        spread_row(g, y.all[size_t(k)], x, w, b.line.data(), image);
      }
      to.put(i * plane, plane, b.image.data());
    });
  });
}

// Windows of the last two dimensions, d = 0 or 1.
Windows fixed(const Tensor& image, const Tensor& result, size_t d, const Shape& kernel,
              const Shape& stride, const Shape& padding, bool whole) {
  return {image.sizes()[image.sizes().size() - 2 + d],
          result.sizes()[result.sizes().size() - 2 + d],
          kernel[d],
          stride[d],
          padding[d],
          whole};
}
Windows even(const Tensor& image, const Tensor& result, size_t d) {
  return {image.sizes()[image.sizes().size() - 2 + d],
          result.sizes()[result.sizes().size() - 2 + d]};
}

PKG_LIBRARY_IMPL(pkg, CPU, m) {
  m.impl("_avg_pool2d", [](Tensor& out, const Tensor& self, const Shape& kernel,
                           const Shape& stride, const Shape& padding, bool whole) {
    if (out.numel() == 0) return;
    means(out, self, fixed(self, out, 0, kernel, stride, padding, whole),
          fixed(self, out, 1, kernel, stride, padding, whole));
  });
  m.impl("_avg_pool2d_backward",
         [](Tensor& out, const Tensor& grad, const Shape&, const Shape& kernel,
            const Shape& stride, const Shape& padding, bool whole) {
           if (out.numel() == 0) return;
           spread(out, grad, fixed(out, grad, 0, kernel, stride, padding, whole),
                  fixed(out, grad, 1, kernel, stride, padding, whole));
         });
  m.impl("_adaptive_avg_pool2d", [](Tensor& out, const Tensor& self, const Shape&) {
    if (out.numel() == 0) return;
    means(out, self, even(self, out, 0), even(self, out, 1));
  });
  m.impl("_adaptive_avg_pool2d_backward",
         [](Tensor& out, const Tensor& grad, const Shape&) {
           if (out.numel() == 0) return;
           spread(out, grad, even(out, grad, 0), even(out, grad, 1));
         });
}

}  // namespace
}  // namespace pkg
