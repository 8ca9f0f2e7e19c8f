// SPDX-License-Identifier: Apache-2.0
// kernels/cpu/nn/layer_norm.cc: normalisation of rows (layer_norm and rms_norm) and its
// gradient, each in one pass over a row that stays in cache.
#include <vector>

#include "dispatcher/library.h"
#include "kernels/cpu/reduce/fold_loops.h"
#include "kernels/cpu/rows.h"

namespace pkg {
namespace {

template <class T>
std::optional<Rows<T>> optional_rows(const Tensor& tensor) {
  if (!tensor.defined()) return std::nullopt;
  return Rows<T>(tensor);
}

void layer_norm_kernel(Tensor& out, Tensor& mean, Tensor& scale, const Tensor& self,
                       int64_t length, const Tensor& weight, const Tensor& bias, double eps,
                       bool centred) {
  with_compute_type("layer_norm", out.dtype(), [&]<class T>(TypeTag<T>) {
    const RowShape rows(self, length);
    const Rows<T> in(self);
    const auto w_in = optional_rows<T>(weight), b_in = optional_rows<T>(bias);
    const RowsOut<T> to(out), mean_to(mean), scale_to(scale);
    const T *xs = in.data(), *w = w_in ? w_in->data() : nullptr,
            *b = b_in ? b_in->data() : nullptr;
    T *ys = to.data(), *means = mean_to.data(), *scales = scale_to.data();
    for_rows(rows, [=, n = rows.length](int64_t row) {
      const T* x = xs + row * n;
      T* y = ys + row * n;
      const T m = centred ? sum_of<T>(n, [x](int64_t i) { return x[i]; }) / T(n) : T(0);
      const T square = sum_of<T>(n, [x, m](int64_t i) { return (x[i] - m) * (x[i] - m); });
      const T s = 1 / std::sqrt(square / T(n) + T(eps));
      means[row] = m;
      scales[row] = s;
      if (w && b) {
        for (int64_t i = 0; i < n; ++i) y[i] = (x[i] - m) * s * w[i] + b[i];
      } else if (w) {
        for (int64_t i = 0; i < n; ++i) y[i] = (x[i] - m) * s * w[i];
      } else {
        for (int64_t i = 0; i < n; ++i) y[i] = (x[i] - m) * s + (b ? b[i] : T(0));
      }
    });
  });
}

// With h = (x - mean) * scale and d = grad * weight:
// dx = scale * (d - average(d) - h * average(d * h)); dw = sum(grad * h), db = sum(grad).
void layer_norm_backward_kernel(Tensor& grad_x, Tensor& grad_w, Tensor& grad_b,
                                const Tensor& grad, const Tensor& self, const Tensor& mean,
                                const Tensor& scale, const Tensor& weight, int64_t,
                                bool centred) {
  with_compute_type("layer_norm", grad_x.dtype(), [&]<class T>(TypeTag<T>) {
    const RowShape rows(self, grad_w.numel());
    const int64_t n = rows.length;
    const Rows<T> g_in(grad), x_in(self), mean_in(mean), scale_in(scale);
    const auto w_in = optional_rows<T>(weight);
    const RowsOut<T> x_to(grad_x), w_to(grad_w), b_to(grad_b);
    const T *gs = g_in.data(), *xs = x_in.data(), *means = mean_in.data(),
            *scales = scale_in.data(), *w = w_in ? w_in->data() : nullptr;
    T* dxs = x_to.data();
    // Blocks of rows sum the weight's gradients apart; their number depends on the shape
    // alone, so that the result does not depend on the threads.
    const int64_t blocks = std::clamp<int64_t>(rows.count / 16, 1, 16);
    std::vector<T, PoolAllocator<T>> sums(size_t(blocks * 2 * n));
    parallel_for(0, blocks, 1, [&](int64_t begin, int64_t end) {
      with_isa([&] {
        for (int64_t block = begin; block < end; ++block) {
          T *dw = sums.data() + block * 2 * n, *db = dw + n;
          std::fill(dw, dw + 2 * n, T(0));
          const int64_t from = rows.count * block / blocks;
          const int64_t to = rows.count * (block + 1) / blocks;
          for (int64_t row = from; row < to; ++row) {
            const T *g = gs + row * n, *x = xs + row * n;
            const T m = means[row], s = scales[row];
            T* dx = dxs + row * n;
            for (int64_t i = 0; i < n; ++i) dx[i] = w ? g[i] * w[i] : g[i];
            const T flat = centred ? sum_of<T>(n, [dx](int64_t i) { return dx[i]; }) / T(n)
                                   : T(0);
            const T slope = sum_of<T>(n, [=](int64_t i) { return dx[i] * (x[i] - m); }) *
                            s / T(n);
            for (int64_t i = 0; i < n; ++i) {
              const T h = (x[i] - m) * s;
              dx[i] = s * (dx[i] - flat - h * slope);
              dw[i] += g[i] * h;
              db[i] += g[i];
            }
          }
        }
      });
    });
    std::copy_n(sums.data(), n, w_to.data());
    std::copy_n(sums.data() + n, n, b_to.data());
    for (int64_t block = 1; block < blocks; ++block) {
      const T* part = sums.data() + block * 2 * n;
      for (int64_t i = 0; i < n; ++i) {
        w_to.data()[i] += part[i];
        b_to.data()[i] += part[n + i];
      }
    }
  });
}

PKG_LIBRARY_IMPL(pkg, CPU, m) {
  m.impl("_layer_norm", layer_norm_kernel);
  m.impl("_layer_norm_backward", layer_norm_backward_kernel);
}

}  // namespace
}  // namespace pkg
