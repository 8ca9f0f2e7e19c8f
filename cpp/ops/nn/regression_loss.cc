// SPDX-License-Identifier: Apache-2.0
// ops/nn/regression_loss.cc: losses of probabilities and scores, element by element.  Those
// of distances are in distance_loss.cc, cross_entropy is in loss.cc.
#include <cmath>

#include "base/vecmath.h"
#include "ops/loops.h"
#include "ops/nn/loss_reduction.h"

namespace pkg::ops {
namespace {

Spec pair_spec(const char* op, const Tensor& input, const Tensor& target) {
  return broadcast_spec(op, input, target, to_floating(result_type(input, target)));
}

// Of a probability and a target.
struct Entropy {
  static bool fits(auto x, auto t) {
    return bool((x >= 0) & (x <= 1) & (t >= 0) & (t <= 1));
  }
  auto operator()(auto x, auto t) const {
    using T = decltype(x);
    const auto cut = [](T y) { return y < T(-100) ? T(-100) : y; };
    // Said, or vectors and what is left of them would each take another product into it.
    return std::fma(t - 1, cut(vec::log1p(-x)), -(t * cut(vec::log(x))));
  }
  static auto rest(auto x, auto t) {
    PKG_CHECK(false, RuntimeError,
              "[binary_cross_entropy] all elements of input and target should be between 0 "
              "and 1, got ",
              x, " and ", t, ".");
    return x;
  }
};

PKG_LIBRARY_FRAGMENT(pkg, m) {
  m.def("xlogy(Tensor self, Tensor other) -> Tensor")
      .doc("self * log(other), and 0 where self is 0, unless other is NaN.")
      .pointwise()
      .shape([](const Tensor& self, const Tensor& other) {
        return pair_spec("xlogy", self, other);
      })
      .cpu([](Tensor& out, const Tensor& self, const Tensor& other) {
        run_binary(out, self, other, to_floating(result_type(self, other)), kFloatType,
                   [](auto x, auto y) {
                     const auto product = x * vec::log(y);
                     return y != y ? y : x == 0 ? decltype(x)(0) : product;
                   });
      })
      .derivative("self", "self other",
                  [](auto& g, auto& self, auto& other) {
                    const Tensor x = as_gradient(self, g), y = as_gradient(other, g);
                    return where(eq(x, 0) & (y <= 0), 0, xlogy(g, y));
                  })
      .derivative("other", "self other", [](auto& g, auto& self, auto& other) {
        return g * as_gradient(self, g) / as_gradient(other, g);
      });
  m.def("_binary_cross_entropy(Tensor input, Tensor target) -> Tensor")
      .doc("binary_cross_entropy of each element.")
      .pointwise()
      .shape([](const Tensor& input, const Tensor& target) {
        return pair_spec("binary_cross_entropy", input, target);
      })
      .cpu([](Tensor& out, const Tensor& input, const Tensor& target) {
        run_binary(out, input, target, to_floating(result_type(input, target)), kFloatType,
                   Long<Entropy>{});
      })
      // With PyTorch's bound for the poles at 0 and 1; the gradient of target has none.
      .derivative("input", "input target",
                  [](auto& g, auto& x, auto& target) {
                    return g * (x - target) / clamp(x * (1 - x), 1e-12, Tensor());
                  })
      .derivative("target", "input",
                  [](auto& g, auto& x) { return g * (log(1 - x) - log(x)); });
  m.def("binary_cross_entropy(Tensor input, Tensor target, Tensor? weight=None, *, "
        "str reduction='mean') -> Tensor")
      .doc("-target log(input) - (1 - target) log(1 - input), each log at least -100.")
      .composite([](const Tensor& input, const Tensor& target, const Tensor& weight,
                    const std::string& reduction) {
        PKG_CHECK(input.sizes() == target.sizes(), ValueError,
                  "[binary_cross_entropy] "
                  "expected target of the input's size ",
                  input.sizes(), ", got ", target.sizes());
        Tensor loss = element_entropy(input, target);
        if (weight.defined()) loss = mul(loss, weight);
        return reduce_loss(loss, reduction);
      });
  m.def("_binary_cross_entropy_with_logits(Tensor input, Tensor target) -> Tensor")
      .doc("binary_cross_entropy_with_logits of each element.")
      .pointwise()
      .dtypes("target", kNumberDTypes)
      .shape([](const Tensor& input, const Tensor& target) {
        return pair_spec("binary_cross_entropy_with_logits", input, target);
      })
      .cpu([](Tensor& out, const Tensor& input, const Tensor& target) {
        run_binary(out, input, target, to_floating(result_type(input, target)), kFloatType,
                   [](auto x, auto t) { return std::fma(1 - t, x, vec::softplus(-x)); });
      })
      .derivative("input", "input target",
                  [](auto& g, auto& x, auto& target) {
                    return (sigmoid(as_gradient(x, g)) - as_gradient(target, g)) * g;
                  })
      .derivative("target", "input", [](auto& g, auto& x) { return -(g * x); });
  m.def("binary_cross_entropy_with_logits(Tensor input, Tensor target, "
        "Tensor? weight=None, Tensor? pos_weight=None, *, str reduction='mean') -> Tensor")
      .doc("binary_cross_entropy of sigmoid(input), stable for large scores; pos_weight "
           "scales the positive class.")
      .composite([](const Tensor& input, const Tensor& target, const Tensor& weight,
                    const Tensor& pos_weight, const std::string& reduction) {
        PKG_CHECK(input.sizes() == target.sizes(), ValueError,
                  "[binary_cross_entropy_with_logits] Target size (", target.sizes(),
                  ") must be the same as input size (", input.sizes(), ")");
        Tensor loss;
        if (pos_weight.defined()) {
          const Tensor one(1), negative = mul(sub(one, target), input);
          const Tensor scale = add(mul(sub(pos_weight, one), target), one);
          loss = sub(negative, mul(scale, logsigmoid(input)));
        } else {
          loss = element_entropy_of_logits(input, target);
        }
        if (weight.defined()) loss = mul(loss, weight);
        return reduce_loss(loss, reduction);
      });
  m.def("kl_div(Tensor input, Tensor target, *, str reduction='mean', "
        "bool log_target=False) -> Tensor")
      .doc("target * (log(target) - input), input being log-probabilities; 'batchmean' "
           "divides by the batch size.")
      .composite([](const Tensor& input, const Tensor& target, const std::string& reduction,
                    bool log_target) {
        const Tensor loss = log_target ? mul(exp(target), sub(target, input))
                                       : sub(xlogy(target, target), mul(target, input));
        if (reduction != "batchmean") return reduce_loss(loss, reduction);
        const int64_t batch = input.ndim() ? input.size(0) : 1;
        return sum_over(double(batch), loss);
      });
}

}  // namespace
}  // namespace pkg::ops
