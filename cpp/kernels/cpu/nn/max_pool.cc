// SPDX-License-Identifier: Apache-2.0
// kernels/cpu/nn/max_pool.cc: maxima of windows and the way of gradients back.
#include "dispatcher/library.h"
#include "kernels/cpu/nn/conv_lines.h"
#include "kernels/cpu/nn/image_planes.h"

namespace pkg {
namespace {

// The part of a window that lies on the line, of n elements.
struct Part {
  int64_t from, end;

  Part(int64_t index, int64_t n, int64_t kernel, int64_t stride, int64_t padding) {
    const int64_t start = index * stride - padding;
    from = std::max<int64_t>(start, 0);
    end = start + std::min(kernel, n - start);
  }
};

// The maxima of N windows, S (0: stride) columns apart, and where they are: the first of
// equal ones, and the last NaN if there is one, as in PyTorch.  The first window begins at
// element `first` of the plane and has some rows of `columns` elements, w apart: of two at
// least where S is 2.
template <int N, int S, class T>
inline void maxima(const T* plane, int64_t first, int64_t rows, int64_t columns, int64_t w,
                   int64_t stride, T* values, int64_t* where) {
  const int64_t step = S ? S : stride;
  T best[N];
  int32_t place[N];
  if constexpr (S == 2 && N > 1) {
    conv::even_some<N>(plane + first, best);
  } else {
    for (int k = 0; k < N; ++k) best[k] = plane[first + k * step];
  }
#pragma omp simd
  for (int k = 0; k < N; ++k) place[k] = int32_t(first + k * step);
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = i == 0; j < columns; ++j) {
      const auto at = int32_t(first + i * w + j);
      const T* __restrict from = plane + at;
      T now[N];
      if constexpr (S == 2 && N > 1) {  // nothing beyond the windows is read
        if (j == 0) conv::even_some<N>(from, now);
        else conv::odd_some<N>(from - 1, now);
      } else {
        for (int k = 0; k < N; ++k) now[k] = from[k * step];
      }
#pragma omp simd
      for (int k = 0; k < N; ++k) {
        const T value = now[k];
        const bool better = (value > best[k]) | (value != value);
        if constexpr (N == 1) {  // else a jump, which is guessed wrong every other time
          place[0] += (at - place[0]) & -int32_t(better);
          const T one = value > best[0] ? value : best[0];
          best[0] = value == value ? one : value;
        } else {
          best[k] = better ? value : best[k];
          place[k] = better ? at + k * int32_t(step) : place[k];
        }
      }
    }
  }
#pragma omp simd
  for (int k = 0; k < N; ++k) values[k] = best[k];
#pragma omp simd
  for (int k = 0; k < N; ++k) where[k] = place[k];
}

struct Pool {
  int64_t h, w, oh, ow;
  Shape kernel, stride, padding;
  int64_t inner_from, inner_end;  // columns whose windows are whole

  Pool(const Shape& in, const Shape& out, const Shape& kernel_in, const Shape& stride_in,
       const Shape& padding_in)
      : h(in[2]),
        w(in[3]),
        oh(out[2]),
        ow(out[3]),
        kernel(kernel_in),
        stride(stride_in),
        padding(padding_in) {
    // The first window that begins on the line; the stride may be as large as numbers are.
    inner_from = padding[1] > 0 ? std::min(ow, (padding[1] - 1) / stride[1] + 1) : 0;
    const int64_t last = w + padding[1] - kernel[1];  // where the last whole one begins
    inner_end = std::clamp(last < 0 ? 0 : last / stride[1] + 1, inner_from, ow);
  }
  // The row y of results.
  template <int S, class T>
  inline void row(const T* plane, int64_t y, T* values, int64_t* where) const {
    const Part part(y, h, kernel[0], stride[0], padding[0]);
    const int64_t rows = part.end - part.from, line = part.from * w;
    const auto one = [&](int64_t x) {
      const Part across(x, w, kernel[1], stride[1], padding[1]);
      maxima<1, 1>(plane, line + across.from, rows, across.end - across.from, w, 1,
                   values + x, where + x);
    };
    for (int64_t x = 0; x < inner_from; ++x) one(x);
    // Blocks of constant size, the last one overlapping the one before.
    const auto blocks = [&]<int N>(std::integral_constant<int, N>) {
      for (int64_t x = inner_from;; x = std::min(x + N, inner_end - N)) {
        maxima<N, S>(plane, line + x * stride[1] - padding[1], rows, kernel[1], w,
                     stride[1], values + x, where + x);
        if (x + N >= inner_end) break;
      }
    };
    const int64_t inner = inner_end - inner_from;
    constexpr bool wide = sizeof(T) > 4;  // 8 of them are a vector
    if (!wide && inner >= 16) blocks(std::integral_constant<int, 16>());
    else if (inner >= 8) blocks(std::integral_constant<int, 8>());
    else if (inner >= 4) blocks(std::integral_constant<int, 4>());
    else
      for (int64_t x = inner_from; x < inner_end; ++x) one(x);
    for (int64_t x = inner_end; x < ow; ++x) one(x);
  }
};

void forward_kernel(Tensor& out, Tensor& places, const Tensor& self, const Shape& kernel,
                    const Shape& stride, const Shape& padding) {
  const DType own = self.dtype();
  const DType whole = itemsize(own) < 4 ? DType::Int32 : own;
  const DType type = is_reduced(own) ? DType::Float32 : whole;
  if (out.numel() == 0) return;
  const auto run = [&]<class T>(TypeTag<T>) {
    const ImagePlanes<T> in(self);
    const Pool pool(self.sizes(), out.sizes(), kernel, stride, padding);
    const RunsOut<T> to(out, pool.oh * pool.ow);
    int64_t* at = places.data<int64_t>();
    const int64_t windows = pool.oh * pool.ow;
    const int64_t planes = self.sizes()[0] * self.sizes()[1];
    const int64_t window = std::min(kernel[0], pool.h) * std::min(kernel[1], pool.w);
    const int64_t grain = kGrain / std::max<int64_t>(1, windows) / window;
    parallel_for(0, planes, std::max<int64_t>(1, grain), [&](int64_t begin, int64_t end) {
      RunBuffer<T> image(in.room()), result(to.room(windows));
      StopCounter stop;
      const auto all = [&]<int S>(std::integral_constant<int, S>) {
        with_isa([&] {
          for (int64_t i = begin; i < end; ++i) {
            const T* plane = in.plane(i, image.data());
            T* values = to.run(i * windows, result.data());
            stop(windows * window);
            for (int64_t y = 0; y < pool.oh; ++y) {
              pool.row<S>(plane, y, values + y * pool.ow, at + i * windows + y * pool.ow);
            }
            to.put(i * windows, windows, result.data());
          }
        });
      };
      if (stride[1] == 1) all(std::integral_constant<int, 1>());
      else if (stride[1] == 2 && kernel[1] > 1) all(std::integral_constant<int, 2>());
      else all(std::integral_constant<int, 0>());
    });
  };
  visit_compute("max_pool2d", type, [&]<class T>(TypeTag<T> tag) {
    if constexpr (sizeof(T) >= 4) run(tag);
  });
}

// The larger one, the first of equal ones; NaN if there is one.  Two choices, each of which is
// an instruction: one of `x > best || x != x` would be a jump.
template <class T>
[[gnu::always_inline]] inline T larger(T best, T x) {
  const T one = x > best ? x : best;
  return x == x ? one : x;
}

// The maxima of one row of windows: of whole ones, S (0: stride) columns apart, element by
// element of a window, for all of them at once.
template <int S, class T>
void maxima_of_row(const Pool& pool, const T* plane, int64_t y, T* values) {
  const Part down(y, pool.h, pool.kernel[0], pool.stride[0], pool.padding[0]);
  const auto largest = [&](int64_t from, int64_t end) {
    T best = plane[down.from * pool.w + from];
    for (int64_t i = down.from; i < down.end; ++i) {
      for (int64_t j = from; j < end; ++j) best = larger(best, plane[i * pool.w + j]);
    }
    return best;
  };
  const auto one = [&](int64_t x) {
    const Part across(x, pool.w, pool.kernel[1], pool.stride[1], pool.padding[1]);
    values[x] = largest(across.from, across.end);
  };
  for (int64_t x = 0; x < pool.inner_from; ++x) one(x);
  for (int64_t x = pool.inner_end; x < pool.ow; ++x) one(x);
  const int64_t n = pool.inner_end - pool.inner_from, columns = pool.kernel[1];
  constexpr int64_t kFewWindows = 4;  // that are not worth loops of their own
  if (n < kFewWindows) {
    int64_t from = pool.inner_from * pool.stride[1] - pool.padding[1];
    for (int64_t x = pool.inner_from; x < pool.inner_end; ++x, from += pool.stride[1]) {
      values[x] = largest(from, from + columns);
    }
    return;
  }
  const int64_t step = S ? S : pool.stride[1];
  T* __restrict to = values + pool.inner_from;
  const T* first = plane + pool.inner_from * pool.stride[1] - pool.padding[1];
  for (int64_t i = down.from; i < down.end; ++i) {
    const T* __restrict row = first + i * pool.w;
    int64_t j = 0;
    if (i == down.from) {
      const int64_t other = columns > 1 ? 1 : 0;
#pragma omp simd
      for (int64_t x = 0; x < n; ++x) to[x] = larger(row[x * step], row[x * step + other]);
      j = other + 1;
    }
    for (; j + 1 < columns; j += 2) {
#pragma omp simd
      for (int64_t x = 0; x < n; ++x) {
        to[x] = larger(to[x], larger(row[x * step + j], row[x * step + j + 1]));
      }
    }
    for (; j < columns; ++j) {
#pragma omp simd
      for (int64_t x = 0; x < n; ++x) to[x] = larger(to[x], row[x * step + j]);
    }
  }
}

void values_kernel(Tensor& out, const Tensor& self, const Shape& kernel,
                   const Shape& stride, const Shape& padding) {
  const DType own = self.dtype();
  const DType whole = itemsize(own) < 4 ? DType::Int32 : own;
  const DType type = is_reduced(own) ? DType::Float32 : whole;
  if (out.numel() == 0) return;
  const auto run = [&]<class T>(TypeTag<T>) {
    const ImagePlanes<T> in(self);
    const Pool pool(self.sizes(), out.sizes(), kernel, stride, padding);
    const RunsOut<T> to(out, pool.oh * pool.ow);
    const int64_t windows = pool.oh * pool.ow, planes = self.size(0) * self.size(1);
    const int64_t window = std::min(kernel[0], pool.h) * std::min(kernel[1], pool.w);
    const int64_t work = pool.h * pool.w + windows * window;
    const int64_t grain = std::max<int64_t>(1, kGrain / work);
    parallel_for(0, planes, grain, [&](int64_t begin, int64_t end) {
      RunBuffer<T> image(in.room()), result(to.room(windows));
      StopCounter stop;
      const auto all = [&]<int S>(std::integral_constant<int, S>) {
        with_isa([&] {
          for (int64_t i = begin; i < end; ++i) {
            const T* plane = in.plane(i, image.data());
            T* values = to.run(i * windows, result.data());
            stop(work);
            for (int64_t y = 0; y < pool.oh; ++y) {
              maxima_of_row<S>(pool, plane, y, values + y * pool.ow);
            }
            to.put(i * windows, windows, result.data());
          }
        });
      };
      if (stride[1] == 1) all(std::integral_constant<int, 1>());
      else if (stride[1] == 2) all(std::integral_constant<int, 2>());
      else all(std::integral_constant<int, 0>());
    });
  };
  visit_compute("max_pool2d", type, [&]<class T>(TypeTag<T> tag) {
    if constexpr (sizeof(T) >= 4) run(tag);
  });
}

void backward_kernel(Tensor& out, const Tensor& grad, const Tensor& places,
                     const Shape& sizes) {
  const DType type = is_reduced(grad.dtype()) ? DType::Float32 : grad.dtype();
  visit_floating("max_pool2d", type, [&]<class T>(TypeTag<T>) {
    const int64_t plane = sizes[2] * sizes[3], windows = grad.sizes()[2] * grad.sizes()[3];
    const Runs<T> in(grad, windows);
    const Rows<int64_t> where(places);
    const RunsOut<T> to(out, plane);
    const int64_t* at = where.data();
    parallel_for(0, sizes[0] * sizes[1],
                 std::max<int64_t>(1, kGrain / std::max<int64_t>(1, plane)),
                 [&](int64_t begin, int64_t end) {
                   RunBuffer<T> image(to.room(plane)), given(in.room(windows));
                   for (int64_t p = begin; p < end; ++p) {
                     T* x = to.run(p * plane, image.data());
                     const T* g = in.run(p * windows, windows, given.data());
                     const int64_t* place = at + p * windows;
                     std::fill_n(x, plane, T(0));
                     for (int64_t i = 0; i < windows; ++i) {
                       PKG_CHECK(uint64_t(place[i]) < uint64_t(plane), IndexError,
                                 "[_max_pool2d_backward] expected places from 0 to ",
                                 plane - 1, ", got ", place[i], ".");
                       x[place[i]] += g[i];
                     }
                     to.put(p * plane, plane, image.data());
                   }
                 });
  });
}

PKG_LIBRARY_IMPL(pkg, CPU, m) {
  m.impl("_max_pool2d", forward_kernel);
  m.impl("_max_pool2d_values", values_kernel);
  m.impl("_max_pool2d_backward", backward_kernel);
}

}  // namespace
}  // namespace pkg
