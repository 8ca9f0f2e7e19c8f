// SPDX-License-Identifier: Apache-2.0
// ops/loops.h: kernels of pointwise ops, made from a formula for one element.  For the op
// files only.
#pragma once

#include <algorithm>
#include <concepts>
#include <utility>

#include "base/isa.h"
#include "ops/op.h"
#include "tensor/staging.h"

namespace pkg::ops {

/// Whether numbers that meet 16-bit floats become such themselves before they are computed
/// with, so that 0.1 equals a tensor of 0.1.  As PyTorch does: factors do not.
enum class Numbers : bool { Rounded, Kept };

/// A formula with a range: f(x...) is right where F::fits(x...) says so, f.rest(x...), which
/// is slow, everywhere.
template <class F, class... In>
concept Ranged = requires(const F f, In... x) {
  { F::fits(x...) } -> std::same_as<bool>;
  f.rest(x...);
};

/// The loop of a formula.  An operand lies where the result does or apart from it, which the
/// compiler does not know, least of all of bytes.
template <class F, class Out, class... In>
inline void apply(const F f, Out* out, int64_t n, const In*... in) {
  if constexpr (Ranged<F, In...>) {
    constexpr int64_t kChunk = 256;
    for (int64_t begin = 0; begin < n; begin += kChunk) {
      const int64_t end = std::min(n, begin + kChunk);
      int all = 1;
      for (int64_t i = begin; i < end; ++i) all &= int(F::fits(in[i]...));
      if (all) {
#pragma GCC ivdep
        for (int64_t i = begin; i < end; ++i) out[i] = f(in[i]...);
      } else {
        for (int64_t i = begin; i < end; ++i) {
          out[i] = F::fits(in[i]...) ? f(in[i]...) : f.rest(in[i]...);
        }
      }
    }
  } else {
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) out[i] = f(in[i]...);
  }
}

/// A formula as a block function: tensor/staging.h.  Out and In are what it gives and takes.
template <class F, class Out, class... In>
void block(const void* formula, char* const* data, int64_t n) {
  with_isa([=] {
    [=]<size_t... k>(std::index_sequence<k...>) {
      apply(*static_cast<const F*>(formula), reinterpret_cast<Out*>(data[0]), n,
            reinterpret_cast<const In*>(data[k + 1])...);
    }(std::index_sequence_for<In...>());
  });
}

/// Adds an operand of an op whose common dtype is `common`.
inline void add_operand(Pointwise& kernel, const Tensor& tensor, DType common, DType type,
                        Numbers numbers) {
  const bool rounds = numbers == Numbers::Rounded && is_reduced(common) &&
                      tensor.dtype() != common;
  kernel.add(tensor, type, rounds ? common : type);
}

/// Runs `f` on every element: result type C -> Out, where C is `dtype`.
template <class Visit, class F>
void run_unary(Tensor& out, const Tensor& self, DType dtype, Visit visit, F f) {
  visit(compute_type(dtype), [&]<class T>(TypeTag<T>) {
    using Out = decltype(f(T{}));
    Pointwise kernel{block<F, Out, T>, &f};
    kernel.add(out, dtype_of<Out>);
    kernel.add(self, dtype_of<T>);
    run_pointwise(kernel);
  });
}

template <class Visit, class F>
void run_binary(Tensor& out, const Tensor& self, const Tensor& other, DType dtype,
                Visit visit, F f, Numbers numbers = Numbers::Rounded) {
  const auto kept = [&](bool number) { return number ? numbers : Numbers::Rounded; };
  visit(compute_type(dtype), [&]<class T>(TypeTag<T>) {
    using Out = decltype(f(T{}, T{}));
    constexpr DType type = dtype_of<T>;
    Pointwise kernel{block<F, Out, T, T>, &f};
    kernel.add(out, dtype_of<Out>);
    add_operand(kernel, self, dtype, type, kept(self.impl()->wrapped_number));
    add_operand(kernel, other, dtype, type, kept(other.ndim() == 0));
    run_pointwise(kernel);
  });
}

template <class Visit, class F>
void run_ternary(Tensor& out, const Tensor& self, const Tensor& second, const Tensor& third,
                 DType dtype, Visit visit, F f, Numbers numbers = Numbers::Kept) {
  visit(compute_type(dtype), [&]<class T>(TypeTag<T>) {
    constexpr DType type = dtype_of<T>;
    Pointwise kernel{block<F, decltype(f(T{}, T{}, T{})), T, T, T>, &f};
    kernel.add(out, type);
    kernel.add(self, type);
    add_operand(kernel, second, dtype, type, numbers);
    add_operand(kernel, third, dtype, type, numbers);
    run_pointwise(kernel);
  });
}

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
            run_binary(out, grad, saved, grad.dtype(), kFloatType,
                       [](auto g, auto x) -> decltype(g) { return F{}(g, x); });
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
