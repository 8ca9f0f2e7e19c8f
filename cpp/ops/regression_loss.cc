// SPDX-License-Identifier: Apache-2.0
// ops/regression_loss.cc: losses between tensors of one shape, from other ops.
// mse_loss and cross_entropy are in loss.cc.
#include "ops/elementwise.h"
#include "ops/loss_reduction.h"

namespace pkg::ops {
namespace {

const UnaryOp logsigmoid{"logsigmoid"};
const BinaryOp xlogy{"xlogy"};
const Op<Tensor(const Tensor&, const Tensor&, const Tensor&)> clamp{"clamp"};

Tensor smooth_l1(const Tensor& input, const Tensor& target, double beta) {
  const Tensor distance = abs(sub(input, target));
  if (beta == 0) return distance;
  const Tensor curved = mul(mul(distance, distance), Tensor(0.5 / beta));
  return where(lt(distance, Tensor(beta)), curved, sub(distance, Tensor(0.5 * beta)));
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
        // Where self is 0, log(1) in place of log(other): 0 * -inf would be NaN.
        const Tensor none = mul(eq(self, Tensor(0)), eq(other, other));
        return mul(self, log(where(none, Tensor(1), other)));
      });
  m.def("binary_cross_entropy(Tensor input, Tensor target, Tensor? weight=None, *, "
        "str reduction='mean') -> Tensor")
      .doc("-target log(input) - (1 - target) log(1 - input), each log at least -100.")
      .composite([](const Tensor& input, const Tensor& target, const Tensor& weight,
                    const std::string& reduction) {
        PKG_CHECK(input.sizes() == target.sizes(), ValueError, "[binary_cross_entropy] "
                  "expected target of the input's size ", input.sizes(), ", got ",
                  target.sizes());
        const Tensor low(-100.0), one(1);
        const Tensor yes = clamp(log(input), low, Tensor());
        const Tensor no = clamp(log(sub(one, input)), low, Tensor());
        Tensor loss = neg(add(mul(target, yes), mul(sub(one, target), no)));
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
        return div(sum(loss), Tensor(double(batch)));
      });
}

}  // namespace
}  // namespace pkg::ops
