// SPDX-License-Identifier: Apache-2.0
// ops/pointwise/gradient_pass.h: gradients in one pass of ops that take numbers; those of
// ops without are gradient_pass() of loops.h.  For the op files only.
#pragma once

#include "ops/loops.h"

namespace pkg::ops {

template <class F>
void run_float(Tensor& out, const Tensor& self, F f) {
  run_unary(out, self, to_floating(self.dtype()), kFloatType, f);
}

namespace detail {
template <class Make, class R, class... Numbers>
OpBuilder gradient_pass_by(OpBuilder op, R (Make::*)(Numbers...) const) {
  op.pointwise()
      .dtypes(op.record().schema.arguments[0].name, kFloatDTypes)
      .shape([](const Tensor& grad, const Tensor& saved,
                const std::conditional_t<true, Scalar, Numbers>&...) {
        check_gradient(grad, saved.sizes());
        return Spec{saved.sizes(), grad.dtype(), grad.device()};
      })
      .cpu(
          [](Tensor& out, const Tensor& grad, const Tensor& saved,
             const std::conditional_t<true, Scalar, Numbers>&... numbers) {
            const auto made = Make{}(numbers.template to<double>()...);
            const auto f = [made](auto g, auto x) -> decltype(g) { return made(g, x); };
            run_binary(out, grad, saved, grad.dtype(), kFloatType, OfTensors{f});
          },
          kStrided);
  return op;
}
}  // namespace detail

/// Stanza of gradient_pass() whose formula depends on numbers: `make(numbers...)` gives
/// f(gradient, saved value).
template <class Make>
OpBuilder gradient_pass_by(OpBuilder op, Make) {
  return detail::gradient_pass_by<Make>(op, &Make::operator());
}

}  // namespace pkg::ops
