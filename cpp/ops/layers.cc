// SPDX-License-Identifier: Apache-2.0
// ops/layers.cc: network layers written with other ops, which give them gradients of any
// order.  Fused kernels can replace each one without changing its schema.
#include <limits>

#include "ops/elementwise.h"

namespace pkg::ops {
namespace {

using Dims = std::optional<Shape>;
const Op<Tensor(const TensorList&, int64_t)> cat{"cat"};
const BinaryOp matmul{"matmul"};
const Op<Tensor(const Tensor&, const TensorList&)> index_op{"index"};

Tensor constant(const Shape& sizes, const Tensor& like, double value) {
  return full_like(empty(sizes, like.dtype(), like.device()), value);
}

// x with `value` around its last two dimensions.
Tensor pad2d(Tensor x, const Shape& padding, double value) {
  for (int64_t d = 0; d < 2; ++d) {
    if (padding[size_t(d)] == 0) continue;
    Shape sizes = x.sizes();
    sizes[size_t(2 + d)] = padding[size_t(d)];
    const Tensor border = constant(sizes, x, value);
    x = cat(TensorList{border, x, border}, 2 + d);
  }
  return x;
}

// What each position of a kernel sees: kh * kw strided views of shape (N, C, OH, OW).
TensorList windows(const char* op, const Tensor& x, const Shape& kernel,
                   const Shape& stride, const Shape& dilation) {
  int64_t out[2];
  for (size_t d = 0; d < 2; ++d) {
    PKG_CHECK(stride[d] > 0 && dilation[d] > 0 && kernel[d] > 0, RuntimeError, "[", op,
              "] kernel, stride and dilation must be positive, got ", kernel, ", ",
              stride, ", ", dilation);
    const int64_t span = dilation[d] * (kernel[d] - 1) + 1;
    const int64_t size = x.sizes()[2 + d];
    PKG_CHECK(size >= span, RuntimeError, "[", op, "] Kernel size can't be greater than "
              "actual input size: kernel ", kernel, ", padded input ", x.sizes());
    out[d] = (size - span) / stride[d] + 1;
  }
  TensorList views;
  for (int64_t i = 0; i < kernel[0]; ++i) {
    const int64_t top = i * dilation[0];
    const Tensor rows = slice(x, 2, top, top + (out[0] - 1) * stride[0] + 1, stride[0]);
    for (int64_t j = 0; j < kernel[1]; ++j) {
      const int64_t left = j * dilation[1];
      views.push_back(
          slice(rows, 3, left, left + (out[1] - 1) * stride[1] + 1, stride[1]));
    }
  }
  return views;
}

Tensor conv2d(const Tensor& self, const Tensor& weight, const Tensor& bias,
              const Shape& stride, const Shape& padding, const Shape& dilation,
              int64_t groups) {
  PKG_CHECK(self.ndim() == 4 && weight.ndim() == 4, RuntimeError, "[conv2d] expected "
            "input (N, C, H, W) and weight (O, C / groups, kH, kW), got ", self.sizes(),
            " and ", weight.sizes());
  PKG_CHECK(groups > 0 && self.size(1) == weight.size(1) * groups &&
                weight.size(0) % groups == 0,
            RuntimeError, "[conv2d] Given groups=", groups, ", weight of size ",
            weight.sizes(), ", expected input", self.sizes(), " to have ",
            weight.size(1) * groups, " channels, but got ", self.size(1), " channels");
  const int64_t n = self.size(0), o = weight.size(0) / groups, c = weight.size(1);
  const Shape kernel{weight.size(2), weight.size(3)};
  const Tensor x = pad2d(self, padding, 0);
  TensorList parts;
  int64_t height = 0, width = 0;
  for (int64_t g = 0; g < groups; ++g) {
    const Tensor input = groups == 1 ? x : slice(x, 1, g * c, (g + 1) * c, 1);
    const Tensor w = groups == 1 ? weight : slice(weight, 0, g * o, (g + 1) * o, 1);
    const Tensor seen = cat(windows("conv2d", input, kernel, stride, dilation), 1);
    height = seen.size(2);
    width = seen.size(3);
    const int64_t k = seen.size(1);
    // (K, N * P), so that the whole batch is one product.
    const Tensor columns = reshape(permute(seen, Shape{1, 0, 2, 3}),
                                   Shape{k, n * height * width});
    const Tensor flat = reshape(permute(w, Shape{0, 2, 3, 1}), Shape{o, k});
    parts.push_back(reshape(matmul(flat, columns), Shape{o, n, height, width}));
  }
  const Tensor joined = groups == 1 ? parts[0] : cat(parts, 0);
  const Tensor out = permute(joined, Shape{1, 0, 2, 3});
  if (!bias.defined()) return contiguous(out);
  return add(out, reshape(bias, Shape{1, weight.size(0), 1, 1}));
}

Tensor max_pool2d(const Tensor& self, const Shape& kernel, const Dims& stride,
                  const Shape& padding) {
  PKG_CHECK(self.ndim() == 4, RuntimeError, "[max_pool2d] expected (N, C, H, W), got ",
            self.sizes());
  const Tensor x = pad2d(self, padding, -std::numeric_limits<double>::infinity());
  const TensorList views =
      windows("max_pool2d", x, kernel, stride.value_or(kernel), Shape{1, 1});
  Tensor best = views[0];
  for (size_t i = 1; i < views.size(); ++i) best = maximum(best, views[i]);
  return contiguous(best);
}

PKG_LIBRARY_FRAGMENT(pkg, m) {
  m.def("conv2d(Tensor self, Tensor weight, Tensor? bias=None, int[2] stride=1, "
        "int[2] padding=0, int[2] dilation=1, int groups=1) -> Tensor")
      .doc("2-D cross-correlation of (N, C, H, W) with (O, C / groups, kH, kW).")
      .composite(conv2d);
  m.def("max_pool2d(Tensor self, int[2] kernel_size, int[2]? stride=None, "
        "int[2] padding=0) -> Tensor")
      .doc("Largest value of each window; at a tie the gradient is shared.")
      .composite(max_pool2d);
  m.def("embedding(Tensor weight, Tensor indices) -> Tensor")
      .doc("The rows of weight that indices name.")
      .composite([](const Tensor& weight, const Tensor& indices) {
        return index_op(weight, TensorList{indices});
      });
}

}  // namespace
}  // namespace pkg::ops
