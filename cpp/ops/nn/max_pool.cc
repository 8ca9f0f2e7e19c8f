// SPDX-License-Identifier: Apache-2.0
// ops/nn/max_pool.cc: the largest value of each window, and where it was.  The loops are in
// kernels/cpu/nn/max_pool.cc.
#include "ops/nn/max_pool.h"
#include "ops/op.h"

namespace pkg::ops {
namespace {

Spec values_rule(const Tensor& self, const Shape& kernel, const Shape& stride,
                 const Shape& padding) {
  PKG_CHECK(self.ndim() == 4, RuntimeError,
            "[max_pool2d] expected (N, C, H, W) or "
            "(C, H, W), got ",
            self.sizes());
  Shape sizes = self.sizes();
  for (size_t d = 0; d < 2; ++d) {
    PKG_CHECK(kernel[d] > 0 && stride[d] > 0, RuntimeError,
              "[max_pool2d] kernel size and "
              "stride must be greater than zero, got ",
              kernel, " and ", stride);
    PKG_CHECK(padding[d] >= 0 && padding[d] <= kernel[d] / 2, RuntimeError,
              "[max_pool2d] pad should be at most half of the kernel size, got padding ",
              padding, " and kernel ", kernel);
    PKG_CHECK(sizes[2 + d] > 0, RuntimeError,
              "[max_pool2d] expected planes of at least one "
              "element, got ",
              self.sizes());
    const int64_t size = sizes[2 + d] + 2 * Checked(padding[d]);
    PKG_CHECK(size >= kernel[d], RuntimeError,
              "[max_pool2d] Kernel size can't be greater "
              "than actual input size: kernel ",
              kernel, ", input ", self.sizes(), " with padding ", padding);
    sizes[2 + d] = (size - kernel[d]) / stride[d] + 1;
  }
  return {sizes, self.dtype(), self.device()};
}
std::array<Spec, 2> rule(const Tensor& self, const Shape& kernel, const Shape& stride,
                         const Shape& padding) {
  const Spec values = values_rule(self, kernel, stride, padding);
  PKG_CHECK(self.size(2) * self.size(3) <= std::numeric_limits<int32_t>::max(),
            NotImplementedError,
            "[max_pool2d] Expected images of less than 2**31 elements, got ", self.size(2),
            " x ", self.size(3), ".");
  return {values, Spec{values.sizes, DType::Int64, self.device()}};
}

// Of the elements of the windows.
double pool_cost(double each, const Value* args, const Shape& out) {
  const Shape &plane = std::get<Tensor>(args[0]).sizes(),
              kernel = Unbox<Shape>::from(args[1]);
  return each * double(out.numel()) * double(std::min(kernel[0], plane[2])) *
         double(std::min(kernel[1], plane[3]));
}

// (N, C, H * W)
Tensor flat(const Tensor& x) {
  return reshape(x, Shape{x.size(0), x.size(1), x.size(2) * x.size(3)});
}

PKG_LIBRARY_FRAGMENT(pkg, m) {
  m.def("_max_pool2d(Tensor self, int[2] kernel_size, int[2] stride, int[2] padding) -> "
        "(Tensor, Tensor)")
      .doc("Largest value of each window, the first one at a tie, and its place in the "
           "plane as an int64.")
      .cost([](const Value* args, const Spec* specs) {
        return pool_cost(1.5, args, specs[0].sizes);
      })
      .shape(rule)
      .derivative("self", "self.shape result1",
                  [](const Tensor& g, const Shape& sizes, const Tensor& places) {
                    if (!grad_enabled()) return max_pool2d_backward(g, places, sizes);
                    const Shape planes{sizes[0], sizes[1], sizes[2] * sizes[3]};
                    const Tensor zeros = zeros_of(planes, g);
                    return reshape(scatter_add(zeros, 2, flat(places), flat(g)), sizes);
                  })
      .second_is_zero();
  m.def("_max_pool2d_values(Tensor self, int[2] kernel_size, int[2] stride, "
        "int[2] padding) -> Tensor")
      .doc("Largest value of each window of (N, C, H, W), for what wants no gradient.")
      .cost([](const Value* args, const Spec* specs) {
        return pool_cost(0.3, args, specs[0].sizes);
      })
      .shape(values_rule)
      .non_differentiable();
  m.def("_max_pool2d_backward(Tensor grad, Tensor places, int[] sizes) -> Tensor")
      .doc("Gradient of _max_pool2d for its input of these sizes, in one pass.")
      .non_differentiable()
      .element_cost(1)
      .shape([](const Tensor& grad, const Tensor& places, const Shape& sizes) {
        PKG_CHECK(sizes.size() == 4 && grad.ndim() == 4 && grad.sizes()[0] == sizes[0] &&
                      grad.sizes()[1] == sizes[1],
                  RuntimeError,
                  "[_max_pool2d_backward] expected a gradient of the samples and "
                  "channels of sizes (N, C, H, W), got ",
                  grad.sizes(), " and ", sizes, ".");
        check_gradient(grad, grad.sizes());
        check_shape("places", places, grad.sizes());
        PKG_CHECK(places.dtype() == DType::Int64, RuntimeError,
                  "[_max_pool2d_backward] expected places of int64, got ", places.dtype(),
                  ".");
        return Spec{sizes, grad.dtype(), grad.device()};
      });
  m.def("max_pool2d(Tensor self, int[2] kernel_size, int[2]? stride=None, "
        "int[2] padding=0) -> Tensor")
      .doc("Largest value of each window of (N, C, H, W) or (C, H, W); the gradient goes "
           "to the first one.")
      .composite([](const Tensor& self, const Shape& kernel, const Dims& stride,
                    const Shape& padding) {
        const Shape step = stride.value_or(kernel);
        const auto maxima = [&](const Tensor& batch) {
          // Places are for the gradient.
          return wants_gradient(self)
                     ? std::get<0>(max_pool2d_places(batch, kernel, step, padding))
                     : max_pool2d_values(batch, kernel, step, padding);
        };
        return self.ndim() == 3 ? select(maxima(unsqueeze(self, 0)), 0, 0) : maxima(self);
      });
}

}  // namespace
}  // namespace pkg::ops
