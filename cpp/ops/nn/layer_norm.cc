// SPDX-License-Identifier: Apache-2.0
// ops/nn/layer_norm.cc: normalisation over the last dimensions: layer_norm and rms_norm are
// one op that subtracts the mean or does not.
#include <limits>

#include "ops/op.h"
#include "ops/reduce/mean.h"

namespace pkg::ops {
namespace {

// One number a row, of `length` elements, more precise than 16 bits.
Spec row_spec(const Tensor& self, int64_t length) {
  PKG_CHECK(length >= 0 && (length ? self.numel() % length == 0 : self.numel() == 0),
            RuntimeError, "[_layer_norm] expected rows of ", length,
            " elements, got shape ", self.sizes(), ".");
  return {Shape{length ? self.numel() / length : 0}, compute_type(self.dtype()),
          self.device()};
}
// Each channel of (N, C, ...) has its weight, not each element of a row: such weights are
// (C, 1), and a row is a group of channels of one sample.
bool for_channels(const Tensor& weight) { return weight.defined() && weight.ndim() == 2; }
void check_weight(const char* name, const Tensor& weight, const Tensor& self,
                  int64_t length) {
  if (!for_channels(weight)) {
    PKG_CHECK(!weight.defined() || weight.numel() == length, RuntimeError,
              "[_layer_norm] expected ", length, " elements, got ", weight.sizes(), " (",
              name, ").");
    return;
  }
  const bool fits = self.ndim() >= 2 && weight.sizes() == Shape{self.size(1), 1};
  const int64_t channels = fits ? self.size(1) : 1;
  const int64_t sample = fits && self.size(0) ? self.numel() / self.size(0) : 0;
  PKG_CHECK(fits && (self.numel() == 0 ||
                     (length % (sample / channels) == 0 && sample % length == 0)),
            RuntimeError, "[_layer_norm] expected (channels, 1) of ", self.sizes(),
            ", got ", weight.sizes(), " (", name, ", length=", length, ").");
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
TensorList plain_row_gradient(const GradContext& g) {
  const Tensor &self = g.input(0), &weight = g.input(2);
  const auto length = g.arg<int64_t>(1);
  const auto eps = g.arg<double>(4);
  const bool centred = g.arg<bool>(5);
  const Shape rows{length ? self.numel() / length : 0, length};
  const Tensor x = reshape(self, rows), grad = reshape(g.grad(), rows);
  const Tensor shifted = centred ? x - average(x) : x;
  const Tensor scale = rsqrt(average(shifted * shifted) + eps);
  const Tensor h = shifted * scale;
  const bool channels = for_channels(weight);
  Shape of_channel = self.sizes();  // the weights where they are (C, 1)
  if (channels) {
    std::fill(of_channel.begin(), of_channel.end(), 1);
    of_channel[1] = self.size(1);
  }
  Tensor d = grad;
  if (channels) {
    d = reshape(g.grad() * reshape(weight, of_channel), rows);
  } else if (weight.defined()) {
    d = grad * reshape(weight, Shape{length});
  }
  Tensor rest = d - h * average(d * h);
  if (centred) rest = rest - average(d);
  const auto over_rows = [&](const Tensor& t, size_t slot) {
    if (!channels) return reshape(sum(t, Dims(Shape{0}), false), g.shape(slot));
    Shape dims{0};
    for (int64_t k = 2; k < int64_t(of_channel.size()); ++k) dims.push_back(k);
    return reshape(sum(reshape(t, self.sizes()), Dims(dims), false), g.shape(slot));
  };
  TensorList grads(3);
  grads[0] = reshape(scale * rest, self.sizes());
  if (g.needs(2)) grads[1] = over_rows(grad * h, 2);
  if (g.needs(3)) grads[2] = over_rows(grad, 3);
  return grads;
}

TensorList row_gradient(const GradContext& g) {
  PKG_CHECK(!g.grad(1).defined() && !g.grad(2).defined(), NotImplementedError,
            "[_layer_norm] mean and scale have no gradient of their own.");
  if (!g.grad().defined()) return {};
  if (grad_enabled()) return plain_row_gradient(g);
  const Tensor &self = g.input(0), &weight = g.input(2);
  const Tensor &mean = g.result(1), &scale = g.result(2);
  const auto length = g.arg<int64_t>(1);
  const bool centred = g.arg<bool>(5);
  const bool sums = g.needs(2) || g.needs(3);
  const auto [x, w, b] = normalise_rows_backward(g.grad(), self, mean, scale, weight,
                                                 length, centred, sums);
  TensorList grads(3);
  if (g.needs(0)) grads[0] = x;
  if (g.needs(2)) grads[1] = in_dtype(reshape(w, g.shape(2)), g.specs[2].dtype);
  if (g.needs(3)) {
    const Shape rows{length ? x.numel() / length : 0, length};
    const Tensor sums = weight.defined()
                            ? b
                            : sum(reshape(g.grad(), rows), Dims(Shape{0}), false);
    grads[2] = in_dtype(reshape(sums, g.shape(3)), g.specs[3].dtype);
  }
  return grads;
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
  const auto row = [](const Tensor& t) {
    if (!t.defined()) return t;
    const Tensor kept = t.requires_grad() && grad_enabled() ? second_is_zero(t) : t;
    // Two dimensions would be the channels'.
    return t.ndim() == 1 ? kept : reshape(kept, Shape{t.numel()});
  };
  return std::get<0>(
      normalise_rows(input, normalized.numel(), row(weight), row(bias), eps, centred));
}

PKG_LIBRARY_FRAGMENT(pkg, m) {
  m.def("_layer_norm(Tensor self, int length, Tensor? weight, Tensor? bias, float eps, "
        "bool centred) -> (Tensor, Tensor, Tensor)")
      .doc("Rows of `length` elements normalised; also their means and 1 / deviations.  "
           "Weights of shape (C, 1) are those of the channels of (N, C, ...).")
      .dtypes("self", kFloatDTypes)
      .element_cost(1)
      .shape([](const Tensor& self, int64_t length, const Tensor& weight,
                const Tensor& bias, double, bool) -> std::array<Spec, 3> {
        const Spec row = row_spec(self, length);
        check_weight("weight", weight, self, length);
        check_weight("bias", bias, self, length);
        PKG_CHECK(!bias.defined() || for_channels(bias) == for_channels(weight),
                  RuntimeError, "[_layer_norm] expected weight and bias alike, got ",
                  bias.sizes(), " (bias).");
        return {self.spec(), row, row};
      })
      .grad("self weight result1 result2", row_gradient);
  m.def("_layer_norm_backward(Tensor grad, Tensor self, Tensor mean, Tensor scale, "
        "Tensor? weight, int length, bool centred, bool sums) -> (Tensor, Tensor, Tensor)")
      .doc(
          "Gradients of _layer_norm for self and, if there is a weight and `sums` is true, "
          "for it and the bias.")
      .dtypes("grad", kFloatDTypes)
      .dtypes("self", kFloatDTypes)
      .non_differentiable()
      .element_cost(1.5)
      .shape([](const Tensor& grad, const Tensor& self, const Tensor& mean,
                const Tensor& scale, const Tensor& weight, int64_t length, bool,
                bool sums) -> std::array<Spec, 3> {
        check_gradient(grad, self.sizes());
        const int64_t count = row_spec(self, length).sizes[0];
        check_count("mean", mean, count);
        check_count("scale", scale, count);
        check_weight("weight", weight, self, length);
        const int64_t each = weight.defined() && sums ? weight.numel() : 0;
        const Spec row{Shape{each}, self.dtype(), self.device()};
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
