// SPDX-License-Identifier: Apache-2.0
// ops/regression_loss.cc: losses between tensors of one shape, from other ops.
// mse_loss and cross_entropy are in loss.cc.
#include <cmath>
#include <limits>

#include "ops/elementwise.h"
#include "ops/loss_reduction.h"

namespace pkg::ops {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

const UnaryOp logsigmoid{"logsigmoid"};
const BinaryOp xlogy{"xlogy"};
const BinaryOp element_entropy{"_binary_cross_entropy"};
const BinaryOp logical_or{"logical_or"};
const Op<Tensor(const Tensor&, const Tensor&, const Tensor&)> clamp{"clamp"};

Tensor smooth_l1(const Tensor& input, const Tensor& target, double beta) {
  const Tensor distance = abs(sub(input, target));
  if (beta == 0) return distance;
  const Tensor curved = mul(mul(distance, distance), Tensor(0.5 / beta));
  return where(lt(distance, Tensor(beta)), curved, sub(distance, Tensor(0.5 * beta)));
}

// log(x), cut where binary_cross_entropy cuts it.
Tensor cut_log(const Tensor& x) { return clamp(log(x), Tensor(-100.0), Tensor()); }

// (input - target) / (input (1 - input)), with PyTorch's bound for the poles at 0 and 1.
TensorList entropy_gradient(const GradContext& g) {
  const Tensor &x = g.input(0), &target = g.input(1);
  const Tensor rest = sub(Tensor(1), x);
  Tensor to_input, to_target;
  if (g.needs(0)) {
    const Tensor width = clamp(mul(x, rest), Tensor(1e-12), Tensor());
    to_input = sum_to(div(mul(g.grad(), sub(x, target)), width), g.shape(0));
  }
  if (g.needs(1)) {
    to_target = sum_to(mul(g.grad(), sub(cut_log(rest), cut_log(x))), g.shape(1));
  }
  return {to_input, to_target};
}

PKG_LIBRARY_FRAGMENT(pkg, m) {
  m.def("l1_loss(Tensor input, Tensor target, *, str reduction='mean') -> Tensor")
      .doc("|input - target|, averaged by default.")
      .composite([](const Tensor& input, const Tensor& target,
                    const std::string& reduction) {
        return reduce_loss(abs(sub(input, target)), reduction);
      });
  m.def("smooth_l1_loss(Tensor input, Tensor target, *, str reduction='mean', "
        "float beta=1.0) -> Tensor")
      .doc("A parabola up to a distance of beta, |input - target| - beta / 2 beyond.")
      .composite([](const Tensor& input, const Tensor& target,
                    const std::string& reduction, double beta) {
        PKG_CHECK(beta >= 0, RuntimeError, "[smooth_l1_loss] expected beta >= 0, got ",
                  beta);
        return reduce_loss(smooth_l1(input, target, beta), reduction);
      });
  m.def("huber_loss(Tensor input, Tensor target, *, str reduction='mean', "
        "float delta=1.0) -> Tensor")
      .doc("smooth_l1_loss times delta.")
      .composite([](const Tensor& input, const Tensor& target,
                    const std::string& reduction, double delta) {
        PKG_CHECK(delta > 0, RuntimeError, "[huber_loss] expected delta > 0, got ", delta);
        return reduce_loss(mul(smooth_l1(input, target, delta), Tensor(delta)), reduction);
      });
  m.def("xlogy(Tensor self, Tensor other) -> Tensor")
      .doc("self * log(other), and 0 where self is 0, unless other is NaN.")
      .composite([](const Tensor& self, const Tensor& other) {
        const Tensor y = number_like(other, self);
        // 0 * log(other) would be NaN here: log(1) in its place.
        const Tensor unbounded = logical_or(le(y, Tensor(0)), eq(y, Tensor(kInf)));
        const Tensor none = mul(eq(self, Tensor(0)), unbounded);
        return mul(self, log(where(none, Tensor(1), y)));
      });
  m.def("_binary_cross_entropy(Tensor input, Tensor target) -> Tensor")
      .doc("binary_cross_entropy of each element.")
      .pointwise()
      .shape([](const Tensor& input, const Tensor& target) {
        return broadcast_spec("binary_cross_entropy", input, target,
                              to_floating(result_type(input, target)));
      })
      .cpu([](Tensor& out, const Tensor& input, const Tensor& target) {
        run_binary(out, input, target, to_floating(result_type(input, target)), kFloatType,
                   [](auto x, auto t) {
                     using T = decltype(x);
                     const auto cut = [](T y) { return y < T(-100) ? T(-100) : y; };
                     return (t - 1) * cut(std::log1p(-x)) - t * cut(std::log(x));
                   });
      })
      .grad("input target", entropy_gradient);
  m.def("binary_cross_entropy(Tensor input, Tensor target, Tensor? weight=None, *, "
        "str reduction='mean') -> Tensor")
      .doc("-target log(input) - (1 - target) log(1 - input), each log at least -100.")
      .composite([](const Tensor& input, const Tensor& target, const Tensor& weight,
                    const std::string& reduction) {
        PKG_CHECK(input.sizes() == target.sizes(), ValueError, "[binary_cross_entropy] "
                  "expected target of the input's size ", input.sizes(), ", got ",
                  target.sizes());
        Tensor loss = element_entropy(input, target);
        if (weight.defined()) loss = mul(loss, weight);
        return reduce_loss(loss, reduction);
      });
  m.def("binary_cross_entropy_with_logits(Tensor input, Tensor target, "
        "Tensor? weight=None, Tensor? pos_weight=None, *, str reduction='mean') -> Tensor")
      .doc("binary_cross_entropy of sigmoid(input), stable for large scores; pos_weight "
           "scales the positive class.")
      .composite([](const Tensor& input, const Tensor& target, const Tensor& weight,
                    const Tensor& pos_weight, const std::string& reduction) {
        PKG_CHECK(input.sizes() == target.sizes(), ValueError,
                  "[binary_cross_entropy_with_logits] Target size (", target.sizes(),
                  ") must be the same as input size (", input.sizes(), ")");
        const Tensor one(1), negative = mul(sub(one, target), input);
        Tensor scale = one;
        if (pos_weight.defined()) {
          scale = add(mul(sub(pos_weight, one), target), one);
        }
        Tensor loss = sub(negative, mul(scale, logsigmoid(input)));
        if (weight.defined()) loss = mul(loss, weight);
        return reduce_loss(loss, reduction);
      });
  m.def("kl_div(Tensor input, Tensor target, *, str reduction='mean', "
        "bool log_target=False) -> Tensor")
      .doc("target * (log(target) - input), input being log-probabilities; 'batchmean' "
           "divides by the batch size.")
      .composite([](const Tensor& input, const Tensor& target,
                    const std::string& reduction, bool log_target) {
        const Tensor loss = log_target
                                ? mul(exp(target), sub(target, input))
                                : sub(xlogy(target, target), mul(target, input));
        if (reduction != "batchmean") return reduce_loss(loss, reduction);
        const int64_t batch = input.ndim() ? input.size(0) : 1;
        return sum_over(double(batch), loss);
      });
}

}  // namespace
}  // namespace pkg::ops
