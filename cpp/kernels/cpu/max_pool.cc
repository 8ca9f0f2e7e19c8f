// SPDX-License-Identifier: Apache-2.0
// kernels/cpu/max_pool.cc: maxima of windows and the way of gradients back.
#include "dispatcher/library.h"
#include "kernels/cpu/rows.h"

namespace pkg {
namespace {

template <class T>
bool beats(T candidate, T best) {
  return candidate > best || candidate != candidate;  // NaN is shown
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
    const int64_t work = std::max<int64_t>(1, oh * ow * kernel.numel());
    parallel_for(0, planes, std::max<int64_t>(1, kGrain / work), [=](int64_t begin, int64_t end) {
      for (int64_t p = begin; p < end; ++p) {
        const T* x = xs + p * h * w;
        int64_t o = p * oh * ow;
        for (int64_t i = 0; i < oh; ++i) {
          const int64_t top = i * stride[0] - padding[0];
          const int64_t y0 = std::max<int64_t>(top, 0), y1 = std::min(top + kernel[0], h);
          for (int64_t j = 0; j < ow; ++j, ++o) {
            const int64_t left = j * stride[1] - padding[1];
            const int64_t x0 = std::max<int64_t>(left, 0), x1 = std::min(left + kernel[1], w);
            int64_t place = y0 * w + x0;
            T best = x[place];
            for (int64_t y = y0; y < y1; ++y) {
              for (int64_t k = y * w + x0; k < y * w + x1; ++k) {
                const bool better = best == best && beats(x[k], best);
                place = better ? k : place;
                best = better ? x[k] : best;
              }
            }
            ys[o] = best;
            at[o] = place;
          }
        }
      }
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
