// SPDX-License-Identifier: Apache-2.0
// dispatcher/derivative.h: how the formula of one argument's gradient gets what it names,
// for OpBuilder::derivative.
#pragma once

#include "dispatcher/typed.h"

namespace pkg::detail {

/// "result", "result1" and the like: the number, or -1.
int number_of(std::string_view name, std::string_view word);

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

// Calls `formula` with the gradient and what the derivative names.
template <class... A>
struct Named {
  template <class F, size_t... I>
  static Tensor call(const F& formula, const GradContext& g, const Derivative& d,
                     std::index_sequence<I...>) {
    return formula(g.grad(), grad_input<A>(g, d.inputs[I])...);
  }
  template <class F>
  static Tensor call(const F& formula, const GradContext& g, const Derivative& d) {
    return call(formula, g, d, std::index_sequence_for<A...>());
  }
  static std::span<const CppType> inputs() { return Parameters<std::tuple<A...>>::types(); }
};

// What a lambda takes: its parameters have types, or are `auto&` and all tensors.
template <class Call>
struct TypesOf;
template <class F, class R, class Grad, class... A>
struct TypesOf<R (F::*)(Grad, A...) const> {
  using type = Named<A...>;
};
using AnyTensor = const Tensor&;
template <class F, class... A>
constexpr auto named_by() {
  if constexpr (requires { &F::operator(); }) {
    return typename TypesOf<decltype(&F::operator())>::type();
  } else {
    static_assert(sizeof...(A) < 6,
                  "expected a lambda that captures nothing: its first parameter is the "
                  "gradient, the others are what .derivative names, all `auto&` for "
                  "tensors or each with its type");
    if constexpr (std::is_invocable_v<F, AnyTensor, A...>) return Named<A...>();
    else return named_by<F, A..., AnyTensor>();
  }
}

template <class F>
struct DerivativeTraits : decltype(named_by<F>()) {
  static_assert(std::is_empty_v<F>, "expected a lambda that captures nothing");
  static const void* address(const F&) { return nullptr; }
  static Tensor evaluate(const GradContext& g, const Derivative& d) {
    return DerivativeTraits::call(F{}, g, d);
  }
};
template <class Grad, class... A>
struct DerivativeTraits<Op<Tensor(Grad, A...)>> : Named<A...> {
  using F = Op<Tensor(Grad, A...)>;
  static const void* address(const F& handle) { return &handle; }
  static const void* address(F&&) = delete;
  static Tensor evaluate(const GradContext& g, const Derivative& d) {
    return DerivativeTraits::call(*static_cast<const F*>(d.formula), g, d);
  }
};
template <class Grad, class... A>
struct DerivativeTraits<Tensor (*)(Grad, A...)> : Named<A...> {
  using F = Tensor (*)(Grad, A...);
  static const void* address(F function) { return reinterpret_cast<const void*>(function); }
  static Tensor evaluate(const GradContext& g, const Derivative& d) {
    return DerivativeTraits::call(reinterpret_cast<F>(const_cast<void*>(d.formula)), g, d);
  }
};

}  // namespace pkg::detail
