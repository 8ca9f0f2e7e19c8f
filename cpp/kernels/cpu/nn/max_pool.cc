// SPDX-License-Identifier: Apache-2.0
// kernels/cpu/nn/max_pool.cc: maxima of windows and the way of gradients back.
#include "dispatcher/library.h"
#include "kernels/cpu/rows.h"

namespace pkg {
namespace {

// The part of a window that lies on the line, of n elements.
struct Part {
  int64_t from, last;

  Part(int64_t index, int64_t n, int64_t kernel, int64_t stride, int64_t padding) {
    const int64_t start = index * stride - padding;
    from = std::max<int64_t>(start, 0);
    last = std::min(start + (kernel - 1), n - 1);
  }
};

// Where the elements of some windows lie in their plane: element d of window k at
// places[d * kLanes + k].  Windows are computed with a lane for each; the same places
// serve all planes.
struct Windows {
  static constexpr int64_t kLanes = 64;
  int64_t count = 0;
  std::vector<int32_t, PoolAllocator<int32_t>> places;

  // `count` windows of an output `ow` wide, beginning at its element `first`.  A window
  // cut by the edge has its last elements more than once.
  void take(int64_t first, int64_t count_in, int64_t h, int64_t w, int64_t ow,
            const Shape& kernel, const Shape& stride, const Shape& padding) {
    count = count_in;
    const int64_t rows = std::min(kernel[0], h), columns = std::min(kernel[1], w);
    places.resize(size_t(rows * columns * kLanes));
    for (int64_t k = 0; k < count; ++k) {
      const Part y((first + k) / ow, h, kernel[0], stride[0], padding[0]);
      const Part x((first + k) % ow, w, kernel[1], stride[1], padding[1]);
      int32_t* place = places.data() + k;
      for (int64_t i = 0; i < rows; ++i) {
        const int64_t row = std::min(y.from + i, y.last) * w;
        for (int64_t j = 0; j < columns; ++j, place += kLanes) {
          *place = int32_t(row + std::min(x.from + j, x.last));
        }
      }
    }
  }

  // The maxima in one plane and where they are: the first of equal ones, and the last NaN
  // if there is one, as in PyTorch.
  template <class T>
  inline void maxima(const T* plane, T* values, int64_t* where) const {
    T best[kLanes];
    int32_t best_place[kLanes];
    const int32_t* place = places.data();
    for (int64_t k = 0; k < count; ++k) {
      best[k] = plane[place[k]];
      best_place[k] = place[k];
    }
    const int32_t* const end = place + places.size();
    for (place += kLanes; place != end; place += kLanes) {
      for (int64_t k = 0; k < count; ++k) {
        const T value = plane[place[k]];
        const bool better = (value > best[k]) | (value != value);
        best[k] = better ? value : best[k];
        best_place[k] = better ? place[k] : best_place[k];
      }
    }
    for (int64_t k = 0; k < count; ++k) {
      values[k] = best[k];
      where[k] = best_place[k];
    }
  }
};

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
    const int64_t ow = out.sizes()[3], windows = out.sizes()[2] * ow;
    const int64_t planes = self.sizes()[0] * self.sizes()[1];
    const int64_t window = std::min(kernel[0], h) * std::min(kernel[1], w);
    const int64_t grain = kGrain / std::max<int64_t>(1, windows) / window;
    parallel_for(0, planes, std::max<int64_t>(1, grain), [&](int64_t begin, int64_t end) {
      Windows some;
      for (int64_t first = 0; first < windows; first += Windows::kLanes) {
        some.take(first, std::min(windows - first, Windows::kLanes), h, w, ow, kernel,
                  stride, padding);
        with_isa([&] {
          for (int64_t plane = begin; plane < end; ++plane) {
            const int64_t out_at = plane * windows + first;
            some.maxima(xs + plane * h * w, ys + out_at, at + out_at);
          }
        });
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
                       PKG_CHECK(uint64_t(at[i]) < uint64_t(plane), IndexError,
                                 "[_max_pool2d_backward] expected places from 0 to ",
                                 plane - 1, ", got ", at[i], ".");
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
