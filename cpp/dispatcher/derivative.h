// SPDX-License-Identifier: Apache-2.0
// dispatcher/derivative.h: how the formula of one argument's gradient gets what it names,
// for OpBuilder::derivative.
#pragma once

#include "dispatcher/cpp_signature.h"

namespace pkg::detail {

const Tensor& grad_tensor(const GradContext& g, GradInput input);

// What a parameter of type A is given.
template <class A>
decltype(auto) grad_input(const GradContext& g, GradInput input) {
  using T = std::remove_cvref_t<A>;
  if constexpr (std::is_same_v<T, Tensor>) {
    return grad_tensor(g, input);
  } else if constexpr (std::is_same_v<T, Shape>) {
    if (input.kind == GradInput::ShapeOf) return g.shape(input.index);
    return g.arg<Shape>(input.index);
  } else if constexpr (std::is_same_v<T, DType>) {
    if (input.kind == GradInput::DTypeOf) return DType(g.specs[input.index].dtype);
    return DType(g.arg<DType>(input.index));
  } else {
    return g.arg<T>(input.index);
  }
}

template <class... A>
struct DerivativeOf {
  template <class F, size_t... I>
  static Tensor call(const GradContext& g, const GradInput* inputs,
                     std::index_sequence<I...>) {
    return F{}(g.grad(), grad_input<A>(g, inputs[I])...);
  }
  template <class F>
  static Tensor evaluate(const GradContext& g, const GradInput* inputs) {
    return call<F>(g, inputs, std::index_sequence_for<A...>());
  }
  static std::span<const CppType> inputs() { return Parameters<std::tuple<A...>>::types(); }
};

// The formula of a lambda: its parameters have types, or are `auto&` and all tensors.
template <class F>
concept HasTypedParameters = requires { &F::operator(); };

template <class F>
struct DerivativeTraits;
template <class F, class Call>
struct TypedDerivative;
template <class F, class R, class Grad, class... A>
struct TypedDerivative<F, R (F::*)(Grad, A...) const> : DerivativeOf<A...> {
  static Tensor evaluate(const GradContext& g, const GradInput* inputs) {
    return DerivativeOf<A...>::template evaluate<F>(g, inputs);
  }
};
template <HasTypedParameters F>
struct DerivativeTraits<F> : TypedDerivative<F, decltype(&F::operator())> {};

using AnyTensor = const Tensor&;
template <class F, class... A>
struct TensorDerivative {
  static constexpr auto find() {
    static_assert(sizeof...(A) < 6,
                  "expected a lambda that captures nothing: its first parameter is the "
                  "gradient, the others are what .derivative names, all `auto&` for "
                  "tensors or each with its type");
    if constexpr (std::is_invocable_v<F, AnyTensor, A...>) return DerivativeOf<A...>();
    else return TensorDerivative<F, A..., AnyTensor>::find();
  }
};
template <class F>
  requires(!HasTypedParameters<F>)
struct DerivativeTraits<F> {
  using Found = decltype(TensorDerivative<F>::find());
  static Tensor evaluate(const GradContext& g, const GradInput* inputs) {
    return Found::template evaluate<F>(g, inputs);
  }
  static std::span<const CppType> inputs() { return Found::inputs(); }
};

}  // namespace pkg::detail
