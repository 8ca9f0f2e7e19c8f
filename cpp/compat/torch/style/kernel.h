// SPDX-License-Identifier: Apache-2.0
// compat/torch/style/kernel.h: C++ functions of PyTorch's types as kernels.
#pragma once

#include "compat/torch/style/keys.h"
#include "compat/torch/style/signature.h"
#include "dispatcher/adapter.h"
#include "dispatcher/plain_kernel.h"

namespace at::detail {

/// Calls functions of the type R(A...) with the core's values.
template <class R, bool TakesKeys, class... A>
struct Caller {
  using Returned = Return<std::remove_cvref_t<R>>;
  using Result = typename Returned::Canonical;
  using Function =
      std::conditional_t<TakesKeys, R (*)(c10::DispatchKeySet, A...), R (*)(A...)>;
  static_assert((Param<std::remove_cvref_t<A>>::known && ...),
                "a parameter has a type that schemas do not know: write const at::Tensor&, "
                "at::TensorList, const at::Scalar&, int64_t, double, bool, std::string, "
                "at::IntArrayRef, at::ScalarType, at::Device, a std::vector, or "
                "std::optional of one of these");
  static_assert(
      Returned::known,
      "a kernel returns at::Tensor, std::vector of at::Tensor, at::Scalar, int64_t, "
      "double, bool, std::tuple of these, or nothing");

  static Result call(void* function, ::pkg::KeySet keys,
                     typename ParamOf<A>::Canonical... args) {
    return call_held(reinterpret_cast<Function>(function), keys,
                     typename ParamOf<A>::Held(args)...);
  }
  static Result call_held(Function function, [[maybe_unused]] ::pkg::KeySet keys,
                          typename ParamOf<A>::Held&&... held) {
    const auto run = [&]() -> R {
      if constexpr (TakesKeys) {
        return function(c10::DispatchKeySet(keys), static_cast<A>(held.get())...);
      } else {
        return function(static_cast<A>(held.get())...);
      }
    };
    if constexpr (std::is_void_v<R>) {
      run();
      return {};
    } else {
      return Returned::unwrap(run());
    }
  }
  /// PlainKernel::call.
  static void boxed(const ::pkg::Operator&, const ::pkg::Kernel& kernel, ::pkg::KeySet keys,
                    ::pkg::Stack& stack) {
    void* function = ::pkg::detail::PlainKernel::of(kernel).function;
    [&]<size_t... I>(std::index_sequence<I...>) {
      ::pkg::detail::Results<Result>::push(
          stack,
          call(function, keys,
               ::pkg::Unbox<std::remove_cvref_t<typename ParamOf<A>::Canonical>>::from(
                   stack.args[I])...));
    }(std::index_sequence_for<A...>());
  }
  /// Kernel::unboxed.
  static Result unboxed(const ::pkg::Operator& op, const ::pkg::Kernel& kernel,
                        ::pkg::KeySet keys, typename ParamOf<A>::Canonical... args) {
    const auto& plain = ::pkg::detail::PlainKernel::of(kernel);
    try {
      if (!plain.below_autograd) return call(plain.function, keys, args...);
      ::pkg::ExcludeKeys below(::pkg::DispatchKey::Autograd);
      return call(plain.function, keys, args...);
    } catch (::pkg::Error& error) { ::pkg::detail::rename_and_rethrow(op, error); }
  }
  static Signature signature() { return {{cpp_type<A>()...}, result_types<R>()}; }
};

/// A function as a Library takes it, without its type.
struct AnyFunction {
  void* function = nullptr;
  ::pkg::Kernel::Boxed boxed = nullptr;
  void* unboxed = nullptr;
  Signature (*signature)() = nullptr;

  AnyFunction() = default;
  template <class R, class... A>
  AnyFunction(R (*plain)(A...)) : AnyFunction(plain, Caller<R, false, A...>()) {}
  template <class R, class... A>
  AnyFunction(R (*with_keys)(c10::DispatchKeySet, A...))
      : AnyFunction(with_keys, Caller<R, true, A...>()) {}
  template <class F>
    requires ::pkg::detail::PlainFunction<F> && (!std::is_pointer_v<F>)
  AnyFunction(F lambda) : AnyFunction(+lambda) {}

 private:
  template <class F, class C>
  AnyFunction(F* plain, C)
      : function(reinterpret_cast<void*>(plain)),
        boxed(&C::boxed),
        unboxed(reinterpret_cast<void*>(&C::unboxed)),
        signature(&C::signature) {}
};

}  // namespace at::detail
