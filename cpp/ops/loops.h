// SPDX-License-Identifier: Apache-2.0
// ops/loops.h: stanzas of pointwise ops, made from a formula for one element.  For the op
// files only.
#pragma once

#include "ops/op.h"
#include "ops/runs.h"

namespace pkg::ops {

inline constexpr auto kAnyType = [](DType dtype, auto&& f) {
  visit_compute("elementwise", dtype, f);
};
/// For formulas to which bools are the numbers 0 and 1.
inline constexpr auto kOrderedType = [](DType dtype, auto&& f) {
  visit_compute("elementwise", dtype, [&]<class T>(TypeTag<T> tag) {
    if constexpr (std::is_same_v<T, bool>) f(TypeTag<uint8_t>{});
    else f(tag);
  });
};
inline constexpr auto kNumberType = [](DType dtype, auto&& f) {
  visit_compute("arithmetic", dtype, [&]<class T>(TypeTag<T> tag) {
    if constexpr (std::is_same_v<T, bool>)
      detail::unsupported_dtype("arithmetic", DType::Bool);
    else f(tag);
  });
};
inline constexpr auto kFloatType = [](DType dtype, auto&& f) {
  visit_floating("elementwise", dtype, f);
};

/// Stanza of a floating function: integers are converted first.
template <class F>
OpBuilder unary_float(OpBuilder op, F) {
  op.pointwise()
      .shape(float_shape)
      .cpu(
          [](Tensor& out, const Tensor& self) {
            run_unary(out, self, to_floating(self.dtype()), kFloatType, Long<F>{});
          },
          kStrided);
  return op;
}
/// The same of one that is no longer than a quotient or a root.
template <class F>
OpBuilder unary_root(OpBuilder op, F) {
  op.pointwise()
      .shape(float_shape)
      .cpu(
          [](Tensor& out, const Tensor& self) {
            run_unary(out, self, to_floating(self.dtype()), kFloatType, F{});
          },
          kStrided);
  return op;
}
/// Stanza of a function of any type that keeps the type.
template <class F>
OpBuilder unary_any(OpBuilder op, F) {
  op.pointwise()
      .shape(same_shape)
      .cpu(
          [](Tensor& out, const Tensor& self) {
            run_unary(out, self, self.dtype(), kAnyType,
                      [](auto x) -> decltype(x) { return decltype(x)(F{}(x)); });
          },
          kStrided);
  return op;
}
/// The same of one that changes the sign alone: of 16-bit floats by their bits, the sign
/// being the uppermost.
template <class F, class Bits>
OpBuilder unary_sign(OpBuilder op, F, Bits) {
  op.pointwise()
      .shape(same_shape)
      .cpu(
          [](Tensor& out, const Tensor& self) {
            const DType dtype = self.dtype();
            if (!is_reduced(dtype) || out.dtype() != dtype) {
              return run_unary(out, self, dtype, kAnyType,
                               [](auto x) -> decltype(x) { return decltype(x)(F{}(x)); });
            }
            const Bits formula;
            Pointwise kernel{block<Bits, uint16_t, uint16_t>, &formula};
            kernel.add(out, dtype);
            kernel.add(self, dtype);
            run_pointwise(kernel);
          },
          kStrided);
  return op;
}
/// Stanza of a predicate: bool result.
template <class F>
OpBuilder unary_bool(OpBuilder op, F) {
  op.pointwise()
      .non_differentiable()
      .shape(bool_shape)
      .cpu(
          [](Tensor& out, const Tensor& self) {
            run_unary(out, self, self.dtype(), kOrderedType,
                      [](auto x) -> bool { return F{}(x); });
          },
          kStrided);
  return op;
}
/// Stanza of a function of two tensors of any common type: a product, or one for which
/// rounding its operands changes nothing.
template <class F>
OpBuilder binary_any(OpBuilder op, F) {
  op.pointwise()
      .shape([](const Tensor& a, const Tensor& b) {
        return broadcast_spec("elementwise", a, b, result_type(a, b));
      })
      .cpu(
          [](Tensor& out, const Tensor& a, const Tensor& b) {
            run_binary(
                out, a, b, result_type(a, b), kAnyType,
                [](auto x, auto y) -> decltype(x) { return decltype(x)(F{}(x, y)); },
                Numbers::Kept);
          },
          kStrided);
  return op;
}
/// Stanza of a gradient in one pass: f(gradient, saved value), floating.  It is for the
/// case that nobody differentiates it, where the formula would be several passes; one
/// without a formula of its own refuses to be differentiated.
template <class F>
OpBuilder gradient_pass(OpBuilder op, F) {
  op.pointwise()
      .dtypes(op.record().schema.arguments[0].name, kFloatDTypes)
      .shape([](const Tensor& grad, const Tensor& saved) {
        check_gradient(grad, saved.sizes());
        return Spec{saved.sizes(), grad.dtype(), grad.device()};
      })
      .cpu(
          [](Tensor& out, const Tensor& grad, const Tensor& saved) {
            const auto f = [](auto g, auto x) -> decltype(g) { return F{}(g, x); };
            run_binary(out, grad, saved, grad.dtype(), kFloatType, OfTensors{f});
          },
          kStrided);
  return op;
}
/// Stanza of a comparison: bool result, no gradient.
template <class F>
OpBuilder binary_bool(OpBuilder op, F) {
  op.pointwise()
      .non_differentiable()
      .shape([](const Tensor& a, const Tensor& b) {
        return broadcast_spec("elementwise", a, b, DType::Bool);
      })
      .cpu(
          [](Tensor& out, const Tensor& a, const Tensor& b) {
            run_binary(out, a, b, result_type(a, b), kOrderedType,
                       [](auto x, auto y) -> bool { return F{}(x, y); });
          },
          kStrided);
  return op;
}

}  // namespace pkg::ops
