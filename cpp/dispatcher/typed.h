// SPDX-License-Identifier: Apache-2.0
// dispatcher/typed.h: ops called with C++ types, and the handles that do it.
#pragma once

#include <algorithm>
#include <span>
#include <tuple>
#include <utility>

#include "dispatcher/cpp_signature.h"
#include "dispatcher/dispatcher.h"
#include "tensor/layout.h"

namespace pkg {
namespace detail {

// Results: a Tensor, a TensorList, or a tuple of Tensors.
template <class R>
struct Results {
  static constexpr int count = 1;
  using Specs = Spec;
  static R take(Stack& stack) { return Unbox<R>::from(stack.results[0]); }
  static void push(Stack& stack, R result) { stack.push(box(std::move(result))); }
  static Tensor* outputs(R& result) { return &result; }
  static void store(Specs spec, Spec* out) { *out = std::move(spec); }
  static R make(Specs spec) { return empty(spec); }
};
template <>
struct Results<TensorList> {
  static TensorList take(Stack& stack) { return std::get<TensorList>(stack.results[0]); }
  static void push(Stack& stack, TensorList result) { stack.push(std::move(result)); }
};
template <class... T>
struct Results<std::tuple<T...>> {
  using R = std::tuple<T...>;
  static constexpr int count = sizeof...(T);
  using Specs = std::array<Spec, sizeof...(T)>;
  static R take(Stack& stack) { return take(stack, std::index_sequence_for<T...>()); }
  template <size_t... I>
  static R take(Stack& stack, std::index_sequence<I...>) {
    return R(Unbox<T>::from(stack.results[I])...);
  }
  static void push(Stack& stack, R result) {
    std::apply([&](auto&... part) { (stack.push(box(std::move(part))), ...); }, result);
  }
  static void store(Specs specs, Spec* out) {
    for (size_t i = 0; i < specs.size(); ++i) out[i] = std::move(specs[i]);
  }
  static R make(Specs specs) { return make(specs, std::index_sequence_for<T...>()); }
  template <size_t... I>
  static R make(Specs& specs, std::index_sequence<I...>) {
    return R(empty(specs[I])...);
  }
};

template <class A>
void add_keys(KeySet& keys, const A& arg) {
  if constexpr (std::is_same_v<A, Tensor>) {
    if (arg.defined()) keys |= arg.keys();
  } else if constexpr (std::is_same_v<A, TensorList>) {
    for (const Tensor& tensor : arg) {
      if (tensor.defined()) keys |= tensor.keys();
    }
  } else if constexpr (std::is_same_v<A, std::optional<Device>>) {
    if (arg && arg->type == DeviceType::Meta) keys |= DispatchKey::Meta;
  }
}

/// Typed call at the highest key of the arguments.
template <class R, class... A>
R call(const Operator& op, A... args) {
  KeySet keys;
  (add_keys(keys, args), ...);
  if ((keys & kBackendKeys).empty()) keys |= DispatchKey::CPU;
  keys = effective_keys(op, with_local_keys(keys));
  const Kernel& kernel = op.kernel(keys.highest());
  if (kernel.unboxed) {
    using Fn = R (*)(const Operator&, const Kernel&, KeySet, A...);
    return reinterpret_cast<Fn>(kernel.unboxed)(op, kernel, keys, args...);
  }
  Value boxed[] = {box(args)..., Value()};
  Stack stack(std::span<Value>(boxed, sizeof...(A)));
  kernel.boxed(op, kernel, keys, stack);
  return Results<R>::take(stack);
}

// The signatures of most ops: their templates are compiled once, in typed.cc.
#define PKG_USUAL_SIGNATURES(each)                                                        \
  each(Tensor, const Tensor&) each(Tensor, const Tensor&, const Tensor&) each(            \
      Tensor, const Tensor&, const Tensor&, const Tensor&)                                \
      each(Tensor, const Tensor&, const Tensor&, const Scalar&) each(                     \
          Tensor, const Tensor&, const Scalar&) each(Tensor, const Tensor&, const Shape&) \
          each(Tensor, const Tensor&, int64_t)                                            \
              each(Tensor, const Tensor&, int64_t, int64_t)                               \
                  each(Tensor, const Tensor&, DType)                                      \
                      each(Tensor, const Tensor&, int64_t, std::optional<int64_t>,        \
                           std::optional<int64_t>, int64_t)                               \
                          each(Tensor, const Tensor&, const std::optional<Shape>&, bool)  \
                              each(Tensor, const Tensor&, const std::optional<Shape>&,    \
                                   bool, std::optional<DType>)                            \
                                  each(Tensor, const Tensor&, const Scalar&,              \
                                       std::optional<DType>, std::optional<Device>, bool)
#define PKG_COMPILED_ELSEWHERE(R, ...) \
  extern template R call<R, __VA_ARGS__>(const Operator& op, __VA_ARGS__);
PKG_USUAL_SIGNATURES(PKG_COMPILED_ELSEWHERE)
#undef PKG_COMPILED_ELSEWHERE

}  // namespace detail

/// The part of a handle that needs no type: a name, and the op once it was looked up.
class OpHandle {
 protected:
  constexpr OpHandle(const char* name, const char* ns) : name_(name), ns_(ns) {}
  const Operator& find(detail::Signature (*signature)()) const {
    const Operator* op = op_.load(std::memory_order_acquire);
    return __builtin_expect(op != nullptr, 1) ? *op : resolve(signature());
  }

 private:
  [[gnu::cold]] const Operator& resolve(const detail::Signature& signature) const;

  const char* name_;
  const char* ns_;
  mutable std::atomic<const Operator*> op_{nullptr};
};

/// A callable handle of an op, typed by its C++ signature; found by name, and compared with
/// the record, at its first call.  Trailing arguments left out take the schema's defaults.
template <class Signature>
class Op;

template <class R, class... A>
class Op<R(A...)> : public OpHandle {
 public:
  constexpr explicit Op(const char* name, const char* ns = "pkg") : OpHandle(name, ns) {}

  const Operator& record() const { return find(&signature); }

  template <class... Given>
  R operator()(Given&&... given) const {
    static_assert(sizeof...(Given) <= sizeof...(A), "too many arguments for this op");
    return [&]<size_t... I>(std::index_sequence<I...>) -> R {
      const Operator& op = record();
      return detail::call<R, A...>(
          op, std::forward<Given>(given)...,
          Unbox<Arg<sizeof...(Given) + I>>::from(
              op.schema.arguments[sizeof...(Given) + I].default_value)...);
    }(std::make_index_sequence<sizeof...(A) - sizeof...(Given)>());
  }

 private:
  template <size_t I>
  using Arg = std::remove_cvref_t<std::tuple_element_t<I, std::tuple<A...>>>;
  static detail::Signature signature() {
    using Return = detail::ReturnType<R>;
    static_assert(Return::count > 0, "a handle returns what ops return: Tensor, ...");
    return {detail::Parameters<std::tuple<A...>>::types(), Return::name, Return::count,
            Return::list};
  }
};

}  // namespace pkg
