// SPDX-License-Identifier: Apache-2.0
// ops/nn/layer_norm.cc: normalisation over the last dimensions: layer_norm and rms_norm are
// one op that subtracts the mean or does not.
#include <limits>

#include "ops/op.h"
#include "ops/reduce/mean.h"

namespace pkg::ops {
namespace {

// One number a row, of `length` elements.
Spec row_spec(const Tensor& self, int64_t length) {
  PKG_CHECK(length >= 0 && (length ? self.numel() % length == 0 : self.numel() == 0),
            RuntimeError, "[_layer_norm] expected rows of ", length,
            " elements, got shape ", self.sizes(), ".");
  return {Shape{length ? self.numel() / length : 0}, self.dtype(), self.device()};
}
void check_count(const char* name, const Tensor& tensor, int64_t count) {
  PKG_CHECK(!tensor.defined() || tensor.numel() == count, RuntimeError,
            "[_layer_norm] expected ", count, " elements, got ", tensor.sizes(), " (", name,
            ").");
}

Tensor average(const Tensor& rows) {
  return sum_over(double(rows.size(1)), rows, Dims(Shape{1}), true);
}

// The gradient in ordinary ops, for when it is differentiated itself.
TensorList plain_gradient(const GradContext& g) {
  const auto length = g.arg<int64_t>(1);
  const Shape rows{length ? g.input(0).numel() / length : 0, length};
  const Tensor x = reshape(g.input(0), rows), grad = reshape(g.grad(), rows);
  const bool centred = g.arg<bool>(5);
  const Tensor shifted = centred ? sub(x, average(x)) : x;
  const Tensor scale = rsqrt(add(average(mul(shifted, shifted)), Tensor(g.arg<double>(4))));
  const Tensor h = mul(shifted, scale);
  Tensor d = grad;
  if (g.input(2).defined()) d = mul(grad, reshape(g.input(2), Shape{length}));
  Tensor rest = sub(d, mul(h, average(mul(d, h))));
  if (centred) rest = sub(rest, average(d));
  const auto over_rows = [&](const Tensor& t, size_t slot) {
    return reshape(sum(t, Dims(Shape{0}), false), g.shape(slot));
  };
  TensorList grads(3);
  grads[0] = reshape(mul(scale, rest), g.shape(0));
  if (g.needs(2)) grads[1] = over_rows(mul(grad, h), 2);
  if (g.needs(3)) grads[2] = over_rows(grad, 3);
  return grads;
}

TensorList gradient(const GradContext& g) {
  PKG_CHECK(!g.grad(1).defined() && !g.grad(2).defined(), NotImplementedError,
            "[_layer_norm] mean and scale have no gradient of their own.");
  if (!g.grad().defined()) return {};
  if (grad_enabled()) return plain_gradient(g);
  const auto [x, w, b] = normalise_rows_backward(g.grad(), g.input(0), g.result(1),
                                                 g.result(2), g.input(2), g.arg<int64_t>(1),
                                                 g.arg<bool>(5));
  return {g.needs(0) ? x : Tensor(), g.needs(2) ? reshape(w, g.shape(2)) : Tensor(),
          g.needs(3) ? reshape(b, g.shape(3)) : Tensor()};
}

Tensor layer_norm(const char* op, const Tensor& x, const Shape& normalized,
                  const Tensor& weight, const Tensor& bias, double eps, bool centred) {
  const size_t n = normalized.size(), ndim = x.sizes().size();
  PKG_CHECK(
      n > 0 && n <= ndim &&
          std::equal(normalized.begin(), normalized.end(), x.sizes().end() - int64_t(n)),
      RuntimeError, "[", op, "] Given normalized_shape=", normalized,
      ", expected input to end with it, but got input of size ", x.sizes());
  for (const Tensor* t : {&weight, &bias}) {
    PKG_CHECK(!t->defined() || t->sizes() == normalized, RuntimeError, "[", op,
              "] Expected weight and bias of the normalized_shape ", normalized, ", got ",
              t->sizes());
  }
  const Tensor input = is_floating(x.dtype()) ? x : to_dtype(x, default_dtype());
  return std::get<0>(normalise_rows(input, normalized.numel(), weight, bias, eps, centred));
}

PKG_LIBRARY_FRAGMENT(pkg, m) {
  m.def("_layer_norm(Tensor self, int length, Tensor? weight, Tensor? bias, float eps, "
        "bool centred) -> (Tensor, Tensor, Tensor)")
      .doc("Rows of `length` elements normalised; also their means and 1 / deviations.")
      .dtypes("self", kFloatDTypes)
      .element_cost(1)
      .shape([](const Tensor& self, int64_t length, const Tensor& weight,
                const Tensor& bias, double, bool) -> std::array<Spec, 3> {
        check_count("weight", weight, length);
        check_count("bias", bias, length);
        return {self.spec(), row_spec(self, length), row_spec(self, length)};
      })
      .grad("self weight result1 result2", gradient)
      .second_is_zero();
  m.def("_layer_norm_backward(Tensor grad, Tensor self, Tensor mean, Tensor scale, "
        "Tensor? weight, int length, bool centred) -> (Tensor, Tensor, Tensor)")
      .doc("Gradients of _layer_norm for self, weight and bias in one pass.")
      .dtypes("grad", kFloatDTypes)
      .dtypes("self", kFloatDTypes)
      .non_differentiable()
      .element_cost(1.5)
      .shape([](const Tensor& grad, const Tensor& self, const Tensor& mean,
                const Tensor& scale, const Tensor& weight, int64_t length,
                bool) -> std::array<Spec, 3> {
        check_gradient(grad, self.sizes());
        const int64_t count = row_spec(self, length).sizes[0];
        check_count("mean", mean, count);
        check_count("scale", scale, count);
        check_count("weight", weight, length);
        const Spec row{Shape{length}, self.dtype(), self.device()};
        return {self.spec(), row, row};
      });
  m.def("layer_norm(Tensor self, int[] normalized_shape, Tensor? weight=None, "
        "Tensor? bias=None, float eps=1e-05) -> Tensor")
      .doc("Zero mean and unit variance over the last dimensions (Ba et al. 2016).")
      .composite([](const Tensor& x, const Shape& normalized, const Tensor& weight,
                    const Tensor& bias, double eps) {
        return layer_norm("layer_norm", x, normalized, weight, bias, eps, true);
      });
  m.def("rms_norm(Tensor self, int[] normalized_shape, Tensor? weight=None, "
        "float? eps=None) -> Tensor")
      .doc("Unit root mean square over the last dimensions (Zhang & Sennrich 2019).")
      .composite([](const Tensor& x, const Shape& normalized, const Tensor& weight,
                    std::optional<double> eps) {
        const double small = eps.value_or(x.dtype() == DType::Float64
                                              ? std::numeric_limits<double>::epsilon()
                                              : std::numeric_limits<float>::epsilon());
        return layer_norm("rms_norm", x, normalized, weight, Tensor(), small, false);
      });
}

}  // namespace
}  // namespace pkg::ops
