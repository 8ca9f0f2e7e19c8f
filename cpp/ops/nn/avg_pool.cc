// SPDX-License-Identifier: Apache-2.0
// ops/nn/avg_pool.cc: means over windows of the last two dimensions.  Each op is linear, and
// the gradient of its gradient.  The loops are in kernels/cpu/nn/avg_pool.cc.
#include "ops/op.h"

namespace pkg::ops {
namespace {

// The sizes of x, the last two replaced.
Shape resized(const Shape& sizes, int64_t h, int64_t w) {
  Shape all = sizes;
  all[all.size() - 2] = h;
  all.back() = w;
  return all;
}
int64_t outputs(int64_t n, int64_t kernel, int64_t stride, int64_t padding) {
  return (n + 2 * padding - kernel) / stride + 1;
}
Shape pooled(const Shape& sizes, const Shape& kernel, const Shape& stride,
             const Shape& padding) {
  const size_t d = sizes.size() - 2;
  return resized(sizes, outputs(sizes[d], kernel[0], stride[0], padding[0]),
                 outputs(sizes[d + 1], kernel[1], stride[1], padding[1]));
}
void check_planes(const Shape& sizes) {
  PKG_CHECK(sizes.size() == 3 || sizes.size() == 4, RuntimeError,
            "[avg_pool2d] expected planes (N, C, H, W) or (C, H, W), got ", sizes, ".");
}
// What _avg_pool2d and its gradient want of numbers.
void check_windows(const Shape& sizes, const Shape& kernel, const Shape& stride,
                   const Shape& padding) {
  check_planes(sizes);
  for (size_t d = 0; d < 2; ++d) {
    const int64_t size = sizes[sizes.size() - 2 + d] + 2 * Checked(padding[d]);
    PKG_CHECK(kernel[d] > 0 && stride[d] > 0 && padding[d] >= 0 &&
                  padding[d] <= kernel[d] / 2 && size >= kernel[d],
              RuntimeError, "[_avg_pool2d] expected windows that fit planes ", sizes,
              ", got kernel ", kernel, ", stride ", stride, ", padding ", padding, ".");
  }
}
double pool_cost(const Value* args, const Spec* specs) {
  return 0.5 * double(std::max(std::get<Tensor>(args[0]).numel(), specs[0].sizes.numel()));
}

PKG_LIBRARY_FRAGMENT(pkg, m) {
  m.def("_avg_pool2d(Tensor self, int[2] kernel_size, int[2] stride, int[2] padding, "
        "bool count_include_pad) -> Tensor")
      .doc("Mean of each window, which may reach over the edge by the padding.")
      .dtypes(kFloatDTypes)
      .cost([](const Value* args, const Spec* specs) {
        const Shape kernel = Unbox<Shape>::from(args[1]);
        return pool_cost(args, specs) +
               0.1 * double(specs[0].sizes.numel()) * double(kernel[0]) * double(kernel[1]);
      })
      .shape([](const Tensor& self, const Shape& kernel, const Shape& stride,
                const Shape& padding, bool) -> Spec {
        check_windows(self.sizes(), kernel, stride, padding);
        return {pooled(self.sizes(), kernel, stride, padding), self.dtype(), self.device()};
      })
      .derivative("self", "self.shape kernel_size stride padding count_include_pad",
                  avg_pool2d_backward)
      .second_is_zero();
  m.def("_avg_pool2d_backward(Tensor grad, int[] sizes, int[2] kernel_size, int[2] stride, "
        "int[2] padding, bool count_include_pad) -> Tensor")
      .doc("Gradient of _avg_pool2d for its input of these sizes.")
      .dtypes(kFloatDTypes)
      .cost(pool_cost)
      .shape([](const Tensor& grad, const Shape& sizes, const Shape& kernel,
                const Shape& stride, const Shape& padding, bool) -> Spec {
        check_windows(sizes, kernel, stride, padding);
        check_gradient(grad, pooled(sizes, kernel, stride, padding));
        return {sizes, grad.dtype(), grad.device()};
      })
      .derivative("grad", "kernel_size stride padding count_include_pad",
                  avg_pool2d_windows);
  m.def("_adaptive_avg_pool2d(Tensor self, int[2] output_size) -> Tensor")
      .doc("Means over windows that divide the last two dimensions into output_size.")
      .dtypes(kFloatDTypes)
      .cost(pool_cost)
      .shape([](const Tensor& self, const Shape& size) -> Spec {
        check_planes(self.sizes());
        return {resized(self.sizes(), size[0], size[1]), self.dtype(), self.device()};
      })
      .derivative("self", "self.shape", adaptive_avg_pool2d_backward);
  m.def("_adaptive_avg_pool2d_backward(Tensor grad, int[] sizes) -> Tensor")
      .doc("Gradient of _adaptive_avg_pool2d for its input of these sizes.")
      .dtypes(kFloatDTypes)
      .cost(pool_cost)
      .shape([](const Tensor& grad, const Shape& sizes) -> Spec {
        check_planes(sizes);
        check_planes(grad.sizes());
        check_gradient(grad, resized(sizes, grad.size(-2), grad.size(-1)));
        return {sizes, grad.dtype(), grad.device()};
      })
      .derivative("grad", "grad.shape", [](const Tensor& g, const Shape& windows) {
        return adaptive_avg_pool2d_windows(
            g, Shape{windows[windows.size() - 2], windows.back()});
      });
}

}  // namespace
}  // namespace pkg::ops
