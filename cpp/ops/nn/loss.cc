// SPDX-License-Identifier: Apache-2.0
// ops/nn/loss.cc: cross-entropy.
#include "ops/nn/loss_reduction.h"
#include "ops/op.h"
#include "ops/reduce/mean.h"

namespace pkg::ops {
namespace {

Spec rows_rule(const Tensor& input, const Tensor& target, int64_t,
               const std::string& reduction) {
  PKG_CHECK(input.ndim() == 2 && target.ndim() == 1 && input.size(0) == target.size(0),
            ValueError, "[cross_entropy] expected input (N, C) and target (N,), got ",
            input.sizes(), " and ", target.sizes());
  check_reduction(reduction);
  return {reduction == "none" ? target.sizes() : Shape(), input.dtype(), input.device()};
}

// grad * (softmax(input) - one_hot(target)) of each row.
Tensor rows_gradient(const Tensor& grad, const Tensor& input, const Tensor& target,
                     int64_t ignore, const std::string& reduction) {
  if (!grad_enabled()) {
    return cross_entropy_backward(grad, input, target, ignore, reduction);
  }
  // As the one pass, in a type that can count the targets.
  const DType type = compute_type(input.dtype());
  const Tensor ignored = eq(target, Tensor(ignore));
  Tensor scale = where(ignored, Tensor(0), in_dtype(grad, type));
  if (reduction == "mean") {
    const Tensor count = sum(ne(target, Tensor(ignore)));
    scale = div(scale, to_dtype(masked_fill(count, eq(count, Tensor(0)), Tensor(1)), type));
  }
  Tensor apart = softmax(in_dtype(input, type), 1, std::nullopt);
  if (input.size(1) > 0) {
    const Tensor classes = where(ignored, Tensor(0), target);
    apart = sub(apart, to_dtype(one_hot(classes, input.size(1)), type));
  }
  return in_dtype(mul(unsqueeze(scale, 1), apart), input.dtype());
}

// (N, C, d1, ...) as (N * d1 * ..., C), with the classes last.
Tensor as_rows(const Tensor& input) {
  if (input.ndim() == 1) return unsqueeze(input, 0);
  if (input.ndim() == 2) return input;
  Shape order{0};
  for (int64_t d = 2; d < input.ndim(); ++d) order.push_back(d);
  order.push_back(1);
  const int64_t classes = input.size(1);
  return reshape(permute(input, order),
                 Shape{input.numel() / std::max<int64_t>(classes, 1), classes});
}

Tensor class_loss(const Tensor& input, const Tensor& target, int64_t ignore,
                  const std::string& reduction) {
  if (input.ndim() == 2) return cross_entropy_rows(input, target, ignore, reduction);
  const Tensor loss = cross_entropy_rows(
      as_rows(input), reshape(target, Shape{target.numel()}), ignore, reduction);
  return reduction == "none" ? reshape(loss, target.sizes()) : loss;
}

// Targets that are probabilities, shaped as the input.
Tensor probability_loss(const Tensor& input, const Tensor& target, const Tensor& weight,
                        double smoothing, const std::string& reduction) {
  const int64_t dim = input.ndim() == 1 ? 0 : 1;
  const double classes = double(input.size(dim));
  Tensor wanted = target;
  if (smoothing > 0) {
    wanted = add(mul(target, Tensor(1 - smoothing)), Tensor(smoothing / classes));
  }
  Tensor scores = mul(log_softmax(input, dim, std::nullopt), wanted);
  if (weight.defined()) {
    Shape shape(size_t(input.ndim()), 1);
    shape[size_t(dim)] = weight.numel();
    scores = mul(scores, reshape(weight, shape));
  }
  const Tensor loss = neg(sum(scores, Dims(Shape{dim})));
  if (reduction == "none") return loss;
  const Tensor total = sum(loss);
  return reduction == "sum" ? total : div(total, Tensor(double(loss.numel())));
}

// Smoothed class targets: (1 - s) * nll + s / C * sum of -log p, weights included.
Tensor smoothed_loss(const Tensor& input, const Tensor& target, const Tensor& weight,
                     int64_t ignore, double smoothing, const std::string& reduction) {
  const int64_t dim = input.ndim() == 1 ? 0 : 1;
  const Tensor logs = log_softmax(input, dim, std::nullopt);
  const Tensor nll = nll_loss(logs, target, weight, ignore, reduction);
  if (smoothing == 0) return nll;
  Tensor spread = logs;
  if (weight.defined()) {
    Shape shape(size_t(input.ndim()), 1);
    shape[size_t(dim)] = weight.numel();
    spread = mul(logs, reshape(weight, shape));
  }
  const Tensor ignored = eq(target, Tensor(ignore));
  Tensor smooth = where(ignored, Tensor(0), neg(sum(spread, Dims(Shape{dim}))));
  if (reduction != "none") smooth = sum(smooth);
  if (reduction == "mean") {
    // The mean is weighted as that of the likelihood: by the weight of the class.
    const Tensor ones = full_like(logs, -1);
    smooth = div(smooth, nll_loss(ones, target, weight, ignore, "sum"));
  }
  const double classes = double(input.size(dim));
  return add(mul(nll, Tensor(1 - smoothing)), mul(smooth, Tensor(smoothing / classes)));
}

Tensor cross_entropy(const Tensor& input, const Tensor& target, const Tensor& weight,
                     int64_t ignore_index, double label_smoothing,
                     const std::string& reduction) {
  check_reduction(reduction);
  PKG_CHECK(label_smoothing >= 0 && label_smoothing <= 1, RuntimeError,
            "[cross_entropy] expected label_smoothing from 0.0 to 1.0, got ",
            label_smoothing, ".");
  PKG_CHECK(input.ndim() > 0, ValueError,
            "[cross_entropy] expected input (N, C, ...) or (C,), got a 0-d tensor");
  if (is_floating(target.dtype())) {
    PKG_CHECK(target.sizes() == input.sizes(), ValueError,
              "[cross_entropy] expected "
              "probabilities in the shape of the input ",
              input.sizes(), ", got ", target.sizes());
    PKG_CHECK(ignore_index < 0, RuntimeError,
              "[cross_entropy] ignore_index is not supported "
              "for targets that are probabilities, got ignore_index=",
              ignore_index, ".");
    const int64_t classes = input.size(input.ndim() == 1 ? 0 : 1);
    PKG_CHECK(!weight.defined() || weight.sizes() == Shape{classes}, RuntimeError,
              "[cross_entropy] weight tensor should be defined either for all ", classes,
              " classes or no classes but got weight tensor of shape ",
              weight.defined() ? weight.sizes() : Shape());
    return probability_loss(input, target, weight, label_smoothing, reduction);
  }
  Shape want = input.sizes();
  want.erase(input.ndim() == 1 ? 0 : 1);
  PKG_CHECK(target.sizes() == want, ValueError, "[cross_entropy] expected target of shape ",
            want, " for input ", input.sizes(), ", got ", target.sizes());
  if (weight.defined() || label_smoothing > 0) {
    return smoothed_loss(input, target, weight, ignore_index, label_smoothing, reduction);
  }
  const Tensor classes = target.dtype() == DType::Int64 ? target
                                                        : to_dtype(target, DType::Int64);
  return class_loss(input, classes, ignore_index, reduction);
}

PKG_LIBRARY_FRAGMENT(pkg, m) {
  m.def("_cross_entropy(Tensor input, Tensor target, int ignore_index, str reduction) "
        "-> Tensor")
      .doc("-log softmax(input)[target] of each row, reduced; rows whose target is "
           "ignore_index do not count.")
      .dtypes("input", kFloatDTypes)
      .dtypes("target", DType::Int64)
      .shape(rows_rule)
      .cost([](const Value* args, const Spec*) {
        return 1.5 * double(std::get<Tensor>(args[0]).numel());
      })
      .derivative("input", "input target ignore_index reduction", rows_gradient);
  m.def("_cross_entropy_backward(Tensor grad, Tensor input, Tensor target, "
        "int ignore_index, str reduction) -> Tensor")
      .doc("Gradient of _cross_entropy in one pass.")
      .dtypes("grad", kFloatDTypes)
      .dtypes("input", kFloatDTypes)
      .dtypes("target", DType::Int64)
      .non_differentiable()
      .element_cost(1.5)
      .shape([](const Tensor& grad, const Tensor& input, const Tensor& target,
                int64_t ignore, const std::string& reduction) {
        check_gradient(grad, rows_rule(input, target, ignore, reduction).sizes);
        return input.spec();
      });
  m.def("cross_entropy(Tensor input, Tensor target, Tensor? weight=None, *, "
        "int ignore_index=-100, float label_smoothing=0.0, str reduction='mean') -> Tensor")
      .doc("-log softmax(input)[target]: input (N, C, ...) of scores, target (N, ...) of "
           "classes or (N, C, ...) of probabilities; the mean is weighted.")
      .composite(cross_entropy);
}

}  // namespace
}  // namespace pkg::ops
