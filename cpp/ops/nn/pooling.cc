// SPDX-License-Identifier: Apache-2.0
// ops/nn/pooling.cc: average pooling as users call it, and 1-d forms of 2-d layers.
#include "ops/nn/max_pool.h"
#include "ops/op.h"
#include "ops/reduce/mean.h"
#include "scheduler/hooks.h"
#include "scheduler/parallel.h"

namespace pkg::ops {
namespace {

// f of a batch: what is one sample gets and loses the dimension.
template <class F>
Tensor of_batch(const Tensor& self, F f) {
  return self.ndim() == 2 ? select(f(unsqueeze(self, 0)), 0, 0) : f(self);
}

// Whether the channels of lines (N, C, L) lie side by side: such lines are pooled as the
// columns of images (L, C), and stay that way, as in PyTorch.
bool channels_last(const Tensor& x) {
  if (x.ndim() != 3) return false;
  const int64_t c = x.size(1), n = x.size(2);
  return c > 1 && n > 1 && x.strides()[1] == 1;
}

// f of images (N, L, C), back as lines.
template <class F>
Tensor of_turned(const Tensor& lines, F f) {
  return transpose(f(transpose(lines, 1, 2)), 1, 2);
}

// Sums over windows of one dimension, from strided slices.
Tensor window_sum(const Tensor& x, int64_t dim, int64_t kernel, int64_t stride) {
  const int64_t n = x.size(dim);  // at least kernel
  const int64_t reach = (n - kernel) / stride * stride + 1;
  Tensor total = slice(x, dim, 0, reach, stride);
  for (int64_t i = 1; i < kernel; ++i) {
    if (i % 1024 == 0) check_interrupt();
    total = add(total, slice(x, dim, i, i + reach, stride));
  }
  return total;
}

// Whether a window is all of the last dimensions, and whether there is one result.
bool are_last(const Tensor& self, const Shape& sizes) {
  return std::equal(sizes.begin(), sizes.end(), self.sizes().end() - int64_t(sizes.size()));
}
bool is_mean(const Tensor& self, const Shape& out) {
  const Shape& sizes = self.sizes();
  return out.numel() == 1 && std::all_of(sizes.end() - int64_t(out.size()), sizes.end(),
                                         [](int64_t size) { return size > 0; });
}
// Which is their mean.
Tensor mean_of_last(const Tensor& self, size_t dims) {
  const int64_t last = self.ndim(), first = last - int64_t(dims);
  const double n = double(Shape(self.sizes().begin() + first, dims).numel());
  return sum_over(n, self, dims == 1 ? Shape{-1} : Shape{-2, -1}, true);
}

// Average pooling of the last kernel.size() dimensions.
Tensor avg_pool(const char* op, const Tensor& self, const Shape& kernel, const Dims& stride,
                const Shape& padding, bool count_include_pad) {
  const size_t n = kernel.size();
  const Shape step = stride.value_or(kernel);
  PKG_CHECK(self.ndim() == int64_t(n) + 1 || self.ndim() == int64_t(n) + 2, RuntimeError,
            "[", op, "] expected a ", n + 1, "-d or ", n + 2, "-d tensor, got shape ",
            self.sizes());
  PKG_CHECK(self.dtype() == DType::Int64 || is_floating(self.dtype()), NotImplementedError,
            "[", op, "] is not implemented for ", self.dtype(), ".");
  Shape border;
  bool padded = false;
  for (size_t i = n; i-- > 0;) {
    PKG_CHECK(kernel[i] > 0 && step[i] > 0, RuntimeError, "[", op,
              "] kernel size and stride "
              "must be greater than zero, got ",
              kernel, " and ", step);
    PKG_CHECK(padding[i] >= 0 && padding[i] <= kernel[i] / 2, RuntimeError, "[", op,
              "] pad should be at most half of the kernel size, got padding ", padding,
              " and kernel ", kernel);
    const int64_t size = self.sizes()[self.sizes().size() - n + i] +
                         2 * Checked(padding[i]);
    PKG_CHECK(size >= kernel[i], RuntimeError, "[", op,
              "] Output size is too "
              "small: kernel ",
              kernel, ", input ", self.sizes(), " with padding ", padding);
    padded |= padding[i] > 0;
    border.push_back(padding[i]);
    border.push_back(padding[i]);
  }
  if (is_floating(self.dtype())) {
    if (!padded && are_last(self, kernel)) return mean_of_last(self, n);
    if (n == 2) return avg_pool2d_windows(self, kernel, step, padding, count_include_pad);
    if (channels_last(self)) {
      return of_turned(self, [&](const Tensor& images) {
        return avg_pool2d_windows(images, Shape{kernel[0], 1}, Shape{step[0], 1},
                                  Shape{padding[0], 0}, count_include_pad);
      });
    }
    const Tensor flat = avg_pool2d_windows(unsqueeze(self, -2), Shape{1, kernel[0]},
                                           Shape{1, step[0]}, Shape{0, padding[0]},
                                           count_include_pad);
    return select(flat, -2, 0);
  }
  const auto summed = [&](Tensor x) {  // integers: rounded towards zero
    if (padded) x = constant_pad_nd(x, border, 0);
    for (size_t i = 0; i < n; ++i) {
      x = window_sum(x, int64_t(i) - int64_t(n), kernel[i], step[i]);
    }
    return x;
  };
  if (padded && !count_include_pad) {
    const Shape inner(self.sizes().end() - int64_t(n), n);
    const Tensor ones = full_like(empty(inner, self.dtype(), self.device()), 1);
    return trunc_divide(summed(self), summed(ones));
  }
  return trunc_divide(summed(self), Tensor(kernel.numel()));
}

void check_adaptive(const Tensor& self, const Shape& out) {
  for (int64_t size : out) {
    PKG_CHECK(size > 0, RuntimeError,
              "[adaptive_avg_pool] expected output sizes greater than zero, got ", out);
  }
  PKG_CHECK(is_floating(self.dtype()), RuntimeError,
            "[adaptive_avg_pool] expected a floating tensor, got ", self.dtype());
}

PKG_LIBRARY_FRAGMENT(pkg, m) {
  m.def("avg_pool2d(Tensor self, int[2] kernel_size, int[2]? stride=None, "
        "int[2] padding=0, bool ceil_mode=False, bool count_include_pad=True) -> Tensor")
      .doc("Mean of each window; stride is kernel_size unless given.")
      .composite([](const Tensor& self, const Shape& kernel, const Dims& stride,
                    const Shape& padding, bool ceil_mode, bool count_include_pad) {
        PKG_CHECK(!ceil_mode, NotImplementedError,
                  "[avg_pool2d] ceil_mode=True is not available.");
        return avg_pool("avg_pool2d", self, kernel, stride, padding, count_include_pad);
      });
  m.def("avg_pool1d(Tensor self, int[1] kernel_size, int[1]? stride=None, "
        "int[1] padding=0, bool ceil_mode=False, bool count_include_pad=True) -> Tensor")
      .doc("Mean of each window of the last dimension.")
      .composite([](const Tensor& self, const Shape& kernel, const Dims& stride,
                    const Shape& padding, bool ceil_mode, bool count_include_pad) {
        PKG_CHECK(!ceil_mode, NotImplementedError,
                  "[avg_pool1d] ceil_mode=True is not available.");
        return avg_pool("avg_pool1d", self, kernel, stride, padding, count_include_pad);
      });
  m.def("adaptive_avg_pool2d(Tensor self, int[2] output_size) -> Tensor")
      .doc("Means over windows that divide the last two dimensions into output_size.")
      .composite([](const Tensor& self, const Shape& size) {
        PKG_CHECK(self.ndim() == 3 || self.ndim() == 4, RuntimeError,
                  "[adaptive_avg_pool2d] Expected 3D or 4D tensor, but got ", self.sizes());
        check_adaptive(self, size);
        if (is_mean(self, size)) return mean_of_last(self, 2);
        return adaptive_avg_pool2d_windows(self, size);
      });
  m.def("adaptive_avg_pool1d(Tensor self, int[1] output_size) -> Tensor")
      .doc("Means over windows that divide the last dimension into output_size.")
      .composite([](const Tensor& self, const Shape& size) {
        PKG_CHECK(self.ndim() == 2 || self.ndim() == 3, RuntimeError,
                  "[adaptive_avg_pool1d] Expected 2D or 3D tensor, but got ", self.sizes());
        check_adaptive(self, size);
        if (is_mean(self, size)) return mean_of_last(self, 1);
        const Tensor lines = second_is_zero(self);
        if (channels_last(self)) {
          return of_turned(lines, [&](const Tensor& images) {
            return adaptive_avg_pool2d_windows(images, Shape{size[0], images.size(-1)});
          });
        }
        const Tensor rows = unsqueeze(lines, -2);
        return select(adaptive_avg_pool2d_windows(rows, Shape{1, size[0]}), -2, 0);
      });
  m.def("max_pool1d(Tensor self, int[1] kernel_size, int[1]? stride=None, "
        "int[1] padding=0) -> Tensor")
      .doc("Largest value of each window of the last dimension of (N, C, L) or (C, L).")
      .composite([](const Tensor& self, const Shape& kernel, const Dims& stride,
                    const Shape& padding) {
        PKG_CHECK(self.ndim() == 2 || self.ndim() == 3, RuntimeError,
                  "[max_pool1d] expected (N, C, L) or (C, L), got ", self.sizes());
        const Shape step = stride.value_or(kernel);
        return of_batch(self, [&](const Tensor& x) {
          // The channels as the rows of an image, where one thread does a sample anyway.
          const bool small = x.size(1) > 0 && x.size(2) > 0 &&
                             x.size(1) * x.size(2) <= kGrain;
          if (small && !wants_gradient(self)) {
            const Tensor values = max_pool2d_values(unsqueeze(x, 1), Shape{1, kernel[0]},
                                                    Shape{1, step[0]},
                                                    Shape{0, padding[0]});
            return select(values, 1, 0);
          }
          const Tensor flat = max_pool2d(unsqueeze(x, 2), Shape{1, kernel[0]},
                                         Dims(Shape{1, step[0]}), Shape{0, padding[0]});
          return select(flat, 2, 0);
        });
      });
  m.def("conv1d(Tensor self, Tensor weight, Tensor? bias=None, int[1] stride=1, "
        "int[1] padding=0, int[1] dilation=1, int groups=1) -> Tensor")
      .doc("1-D cross-correlation of (N, C, L) or (C, L) with (O, C / groups, k).")
      .composite([](const Tensor& self, const Tensor& weight, const Tensor& bias,
                    const Shape& stride, const Shape& padding, const Shape& dilation,
                    int64_t groups) {
        PKG_CHECK(
            (self.ndim() == 2 || self.ndim() == 3) && weight.ndim() == 3, RuntimeError,
            "[conv1d] expected input (N, C, L) or (C, L) and weight (O, C / groups, k), "
            "got ",
            self.sizes(), " and ", weight.sizes());
        return of_batch(self, [&](const Tensor& x) {
          const Tensor out = conv2d(unsqueeze(x, 2), unsqueeze(weight, 2), bias,
                                    Shape{1, stride[0]}, Shape{0, padding[0]},
                                    Shape{1, dilation[0]}, groups);
          return select(out, 2, 0);
        });
      });
}

}  // namespace
}  // namespace pkg::ops
