// SPDX-License-Identifier: Apache-2.0
// kernels/cpu/max_pool.cc: maxima of windows and the way of gradients back.
#include "dispatcher/library.h"
#include "kernels/cpu/rows.h"

namespace pkg {
namespace {

template <class T>
struct Best {
  T value;
  int64_t place;
};

// A window at (y, x) of a plane; constants for height and width unroll it.
template <class T, class Height, class Width>
inline Best<T> pool_window(const T* plane, int64_t w, int64_t y, int64_t x, Height height,
                           Width width) {
  const int64_t start = y * w + x;
  Best<T> best{plane[start], start};
  for (int64_t i = 0; i < height; ++i) {
    for (int64_t j = 0; j < width; ++j) {
      const int64_t at = start + i * w + j;
      const T value = plane[at];
      // NaN is shown, the first one.  Without branches: half of them would be predicted
      // wrongly.
      const int64_t better = int64_t(value > best.value) |
                             (int64_t(value != value) & int64_t(best.value == best.value));
      best.place += better * (at - best.place);
      best.value = plane[best.place];
    }
  }
  return best;
}

// Calls f(height, width), with constants for the usual kernels.
template <class F>
inline void with_kernel(const Shape& kernel, F f) {
  using Two = std::integral_constant<int64_t, 2>;
  using Three = std::integral_constant<int64_t, 3>;
  if (kernel[0] == 2 && kernel[1] == 2) return f(Two(), Two());
  if (kernel[0] == 3 && kernel[1] == 3) return f(Three(), Three());
  f(kernel[0], kernel[1]);
}

void forward_kernel(Tensor& out, Tensor& places, const Tensor& self, const Shape& kernel,
                    const Shape& stride, const Shape& padding) {
  const DType type = is_reduced(self.dtype()) ? DType::Float32 : self.dtype();
  visit_compute("max_pool2d", type, [&]<class T>(TypeTag<T>) {
    const Rows<T> in(self);
    const RowsOut<T> to(out);
    const T* xs = in.data();
    T* ys = to.data();
    int64_t* at = places.data<int64_t>();
    const int64_t h = self.sizes()[2], w = self.sizes()[3];
    const int64_t oh = out.sizes()[2], ow = out.sizes()[3];
    const int64_t planes = self.sizes()[0] * self.sizes()[1];
    const int64_t grain = kGrain / std::max<int64_t>(1, oh * ow * kernel.numel());
    // A window at the edge is cut; most are whole.
    const auto window = [=, &padding, &kernel, &stride](const T* plane, int64_t i, int64_t j,
                                                        auto height, auto width) {
      const int64_t y = i * stride[0] - padding[0], x = j * stride[1] - padding[1];
      if (y >= 0 && x >= 0 && y + height <= h && x + width <= w) {
        return pool_window(plane, w, y, x, height, width);
      }
      const int64_t y0 = std::max<int64_t>(y, 0), x0 = std::max<int64_t>(x, 0);
      return pool_window(plane, w, y0, x0, std::min(y + height, h) - y0,
                         std::min(x + width, w) - x0);
    };
    parallel_for(0, planes, std::max<int64_t>(1, grain), [&](int64_t begin, int64_t end) {
      with_kernel(kernel, [&](auto height, auto width) {
        int64_t out_at = begin * oh * ow;
        for (int64_t plane = begin; plane < end; ++plane) {
          for (int64_t i = 0; i < oh; ++i) {
            for (int64_t j = 0; j < ow; ++j, ++out_at) {
              const Best<T> best = window(xs + plane * h * w, i, j, height, width);
              ys[out_at] = best.value;
              at[out_at] = best.place;
            }
          }
        }
      });
    });
  });
}

void backward_kernel(Tensor& out, const Tensor& grad, const Tensor& places,
                     const Shape& sizes) {
  const DType type = is_reduced(grad.dtype()) ? DType::Float32 : grad.dtype();
  visit_compute("max_pool2d", type, [&]<class T>(TypeTag<T>) {
    const Rows<T> in(grad);
    const Rows<int64_t> where(places);
    const RowsOut<T> to(out);
    const T* gs = in.data();
    const int64_t* at = where.data();
    T* xs = to.data();
    const int64_t plane = sizes[2] * sizes[3], windows = grad.sizes()[2] * grad.sizes()[3];
    parallel_for(0, sizes[0] * sizes[1], std::max<int64_t>(1, kGrain / std::max<int64_t>(1, plane)),
                 [=](int64_t begin, int64_t end) {
                   std::fill(xs + begin * plane, xs + end * plane, T(0));
                   for (int64_t p = begin; p < end; ++p) {
                     for (int64_t i = p * windows; i < (p + 1) * windows; ++i) {
                       xs[p * plane + at[i]] += gs[i];
                     }
                   }
                 });
  });
}

PKG_LIBRARY_IMPL(pkg, CPU, m) {
  m.impl("_max_pool2d", forward_kernel);
  m.impl("_max_pool2d_backward", backward_kernel);
}

}  // namespace
}  // namespace pkg
