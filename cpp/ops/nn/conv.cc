// SPDX-License-Identifier: Apache-2.0
// ops/nn/conv.cc: 2-D convolution.  It is linear in the input and in the weight; the three
// ops _conv2d, _conv2d_input_grad and _conv2d_weight_grad are each other's gradients, so
// that there are gradients of any order.  The loops are in kernels/cpu/nn/conv.cc.
#include "ops/op.h"
#include "ops/product_cost.h"

namespace pkg::ops {
namespace {

void check_types(const Tensor& a, const Tensor& b) {
  PKG_CHECK(a.dtype() == b.dtype(), RuntimeError, "[conv2d] Input type (", a.dtype(),
            ") and weight type (", b.dtype(),
            ") should be the same floating or integer type");
}
void check_bias(const Tensor& bias, const Tensor& weight) {
  PKG_CHECK(!bias.defined() ||
                (bias.sizes() == Shape{weight.size(0)} && bias.dtype() == weight.dtype()),
            RuntimeError, "[conv2d] expected bias (", weight.size(0), ",) of dtype ",
            weight.dtype(), ", got ", bias.defined() ? bias.sizes() : Shape(), " of ",
            bias.defined() ? bias.dtype() : weight.dtype());
}

// The shape (N, O, OH, OW) of the maps that images of this shape and such a weight give.
Shape map_shape(const Shape& image, const Shape& weight, const Shape& stride,
                const Shape& padding, const Shape& dilation, int64_t groups) {
  PKG_CHECK(image.size() == 4 && weight.size() == 4, RuntimeError,
            "[conv2d] expected "
            "input (N, C, H, W) or (C, H, W) and weight (O, C / groups, kH, kW), got ",
            image, " and ", weight);
  const int64_t channels = Checked(weight[1]) * groups;
  PKG_CHECK(groups > 0 && image[1] == channels && weight[0] % groups == 0, RuntimeError,
            "[conv2d] Given groups=", groups, ", weight of size ", weight,
            ", expected input", image, " to have ", channels, " channels, but got ",
            image[1], " channels");
  Shape maps{image[0], weight[0], 0, 0};
  Checked padded = Checked(image[0]) * image[1];  // elements, borders included
  for (size_t d = 0; d < 2; ++d) {
    const int64_t kernel = weight[2 + d];
    PKG_CHECK(stride[d] > 0 && dilation[d] > 0 && padding[d] >= 0 && kernel > 0,
              RuntimeError,
              "[conv2d] kernel, stride and dilation must be positive and padding not "
              "negative, got weight ",
              weight, ", stride ", stride, ", dilation ", dilation, ", padding ", padding);
    const int64_t span = Checked(dilation[d]) * (kernel - 1) + 1;
    const int64_t size = image[2 + d] + 2 * Checked(padding[d]);
    PKG_CHECK(size >= span, RuntimeError,
              "[conv2d] Kernel size can't be greater than actual "
              "input size: kernel ",
              weight, " with dilation ", dilation, ", input ", image, " with padding ",
              padding);
    maps[2 + d] = (size - span) / stride[d] + 1;
    padded *= size;
  }
  return maps;
}

Shape forward_shape(const Tensor& input, const Tensor& weight, const Tensor& bias,
                    const Shape& stride, const Shape& padding, const Shape& dilation,
                    int64_t groups) {
  const Shape maps = map_shape(input.sizes(), weight.sizes(), stride, padding, dilation,
                               groups);
  check_types(input, weight);
  check_bias(bias, weight);
  return maps;
}

// Products, and reading each patch.
double cost(const Shape& maps, const Shape& weight, const Value* args) {
  const double positions = double(maps.numel()) / double(std::max<int64_t>(1, maps[1]));
  const double patch = double(weight.numel()) / double(std::max<int64_t>(1, weight[0]));
  const double products = double(weight[0]) /
                          products_per_nanosecond(std::get<Tensor>(args[0]).dtype());
  return positions * patch * (products + 0.05);
}

// Of integers, which need no speed: a product of matrices for each place in the kernel.
Tensor whole_conv(const Tensor& input, const Tensor& weight, const Tensor& bias,
                  const Shape& stride, const Shape& padding, const Shape& dilation,
                  int64_t groups) {
  const Shape out_sizes = forward_shape(input, weight, bias, stride, padding, dilation,
                                        groups);
  const int64_t h = out_sizes[2], w = out_sizes[3];
  const int64_t channels = weight.size(1), each = weight.size(0) / groups;
  const Tensor x = constant_pad_nd(
      input, Shape{padding[1], padding[1], padding[0], padding[0]}, 0);
  const auto part = [](const Tensor& t, int64_t dim, int64_t from, int64_t count,
                       int64_t step) {
    return slice(t, dim, from, from + (count - 1) * step + 1, step);
  };
  TensorList maps;
  for (int64_t g = 0; g < groups; ++g) {
    const Tensor image = slice(x, 1, g * channels, (g + 1) * channels, 1);
    const Tensor kernel = slice(weight, 0, g * each, (g + 1) * each, 1);
    Tensor total;
    for (int64_t i = 0; i < weight.size(2); ++i) {
      const Tensor rows = part(image, 2, i * dilation[0], h, stride[0]);
      for (int64_t j = 0; j < weight.size(3); ++j) {
        const Tensor patch = part(rows, 3, j * dilation[1], w, stride[1]);
        const Tensor flat = reshape(patch, Shape{input.size(0), channels, h * w});
        const Tensor product = matmul(select(select(kernel, 3, j), 2, i), flat);
        total = total.defined() ? add(total, product) : product;
      }
    }
    maps.push_back(total);
  }
  const Tensor out = reshape(maps.size() == 1 ? maps[0] : cat(maps, 1), out_sizes);
  return bias.defined() ? add(out, reshape(bias, Shape{weight.size(0), 1, 1})) : out;
}

Tensor without_bias(const Tensor& input, const Tensor& weight, const Shape& stride,
                    const Shape& padding, const Shape& dilation, int64_t groups) {
  return conv2d_forward(input, weight, Tensor(), stride, padding, dilation, groups);
}

PKG_LIBRARY_FRAGMENT(pkg, m) {
  m.def("_conv2d(Tensor input, Tensor weight, Tensor? bias, int[2] stride, "
        "int[2] padding, int[2] dilation, int groups) -> Tensor")
      .doc("2-D cross-correlation of a batch.")
      .dtypes(kNumberDTypes)
      .shape([](const Tensor& input, const Tensor& weight, const Tensor& bias,
                const Shape& stride, const Shape& padding, const Shape& dilation,
                int64_t groups) -> Spec {
        const Shape maps = forward_shape(input, weight, bias, stride, padding, dilation,
                                         groups);
        PKG_CHECK(is_floating(input.dtype()), RuntimeError,
                  "[_conv2d] expected a floating dtype, got ", input.dtype());
        return {maps, input.dtype(), input.device()};
      })
      .cost([](const Value* args, const Spec* specs) {
        return cost(specs[0].sizes, std::get<Tensor>(args[1]).sizes(), args);
      })
      .derivative("input", "weight input.shape stride padding dilation groups",
                  conv2d_input_grad)
      .derivative("weight", "input weight.shape stride padding dilation groups",
                  conv2d_weight_grad)
      .derivative("bias", "", [](auto& g) { return sum(g, Dims(Shape{0, 2, 3})); })
      .second_is_zero();
  m.def("_conv2d_input_grad(Tensor grad, Tensor weight, int[] sizes, int[2] stride, "
        "int[2] padding, int[2] dilation, int groups) -> Tensor")
      .doc("Gradient of _conv2d for its input of these sizes.")
      .dtypes(kNumberDTypes)
      .shape([](const Tensor& grad, const Tensor& weight, const Shape& sizes,
                const Shape& stride, const Shape& padding, const Shape& dilation,
                int64_t groups) -> Spec {
        check_gradient(grad,
                       map_shape(sizes, weight.sizes(), stride, padding, dilation, groups));
        check_types(grad, weight);
        return {sizes, grad.dtype(), grad.device()};
      })
      .cost([](const Value* args, const Spec*) {
        return cost(std::get<Tensor>(args[0]).sizes(), std::get<Tensor>(args[1]).sizes(),
                    args);
      })
      .derivative("grad", "weight stride padding dilation groups", without_bias)
      .derivative(
          "weight", "grad weight.shape stride padding dilation groups",
          [](const Tensor& g, const Tensor& grad, const Shape& sizes, const Shape& stride,
             const Shape& padding, const Shape& dilation, int64_t groups) {
            return conv2d_weight_grad(grad, g, sizes, stride, padding, dilation, groups);
          });
  m.def("_conv2d_weight_grad(Tensor grad, Tensor input, int[] sizes, int[2] stride, "
        "int[2] padding, int[2] dilation, int groups) -> Tensor")
      .doc("Gradient of _conv2d for its weight of these sizes.")
      .dtypes(kNumberDTypes)
      .shape([](const Tensor& grad, const Tensor& input, const Shape& sizes,
                const Shape& stride, const Shape& padding, const Shape& dilation,
                int64_t groups) -> Spec {
        check_gradient(grad,
                       map_shape(input.sizes(), sizes, stride, padding, dilation, groups));
        check_types(grad, input);
        return {sizes, grad.dtype(), grad.device()};
      })
      .cost([](const Value* args, const Spec* specs) {
        return cost(std::get<Tensor>(args[0]).sizes(), specs[0].sizes, args);
      })
      .derivative("grad", "input stride padding dilation groups",
                  [](const Tensor& g, const Tensor& input, const Shape& stride,
                     const Shape& padding, const Shape& dilation, int64_t groups) {
                    return without_bias(input, g, stride, padding, dilation, groups);
                  })
      .derivative(
          "input", "grad input.shape stride padding dilation groups",
          [](const Tensor& g, const Tensor& grad, const Shape& sizes, const Shape& stride,
             const Shape& padding, const Shape& dilation, int64_t groups) {
            return conv2d_input_grad(grad, g, sizes, stride, padding, dilation, groups);
          });
  m.def("conv2d(Tensor input, Tensor weight, Tensor? bias=None, int[2] stride=1, "
        "int[2] padding=0, int[2] dilation=1, int groups=1) -> Tensor")
      .doc("2-D cross-correlation of (N, C, H, W) or (C, H, W) with (O, C / groups, kH, "
           "kW).")
      .composite([](const Tensor& input, const Tensor& weight, const Tensor& bias,
                    const Shape& stride, const Shape& padding, const Shape& dilation,
                    int64_t groups) {
        const auto conv = [&](const Tensor& x) {
          return is_floating(x.dtype())
                     ? conv2d_forward(x, weight, bias, stride, padding, dilation, groups)
                     : whole_conv(x, weight, bias, stride, padding, dilation, groups);
        };
        return input.ndim() == 3 ? select(conv(unsqueeze(input, 0)), 0, 0) : conv(input);
      });
}

}  // namespace
}  // namespace pkg::ops
