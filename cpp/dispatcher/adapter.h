// SPDX-License-Identifier: Apache-2.0
// dispatcher/adapter.h: the templates that turn a C++ function into a kernel with a boxed
// and an unboxed entry.
#pragma once

#include "dispatcher/checks.h"
#include "dispatcher/domain.h"
#include "dispatcher/typed.h"

namespace pkg::detail {

/// Whether an argument leaves results row-major.
template <class A>
bool is_row_major(const A& arg) {
  if constexpr (std::is_same_v<A, Tensor>) return !arg.defined() || arg.is_contiguous();
  else return true;
}
template <class A>
const Tensor* tensor_or_null(const A& arg) {
  if constexpr (std::is_same_v<A, Tensor>) return &arg;
  else return nullptr;
}

// Makes kernels out of functions of the C++ signature R(A...).  Members are defined below
// and not inline, so that the usual signatures are compiled once (PKG_USUAL_SIGNATURES).
template <class R, class... A>
struct Adapter {
  template <size_t I>
  using Arg = std::remove_cvref_t<std::tuple_element_t<I, std::tuple<A...>>>;
  using Indices = std::index_sequence_for<A...>;
  static constexpr bool kFirstIsTensor = [] {
    if constexpr (sizeof...(A) == 0 || !std::is_same_v<R, Tensor>) return false;
    else return std::is_same_v<Arg<0>, Tensor>;
  }();
  static constexpr bool kTakesTensor = (std::is_same_v<std::remove_cvref_t<A>, Tensor> ||
                                        ...);

  // Entries: they do all of a call; whatever fails, the error names the op that was
  // called, not the one that a composite calls or whose kernel it shares.

  /// A function that returns its results.
  static R plain(const Operator& op, const Kernel& kernel, KeySet, A... args);
  /// A structured kernel: shape rule, allocation, then the loops.
  static R structured(const Operator& op, const Kernel& kernel, KeySet, A... args);
  static void boxed_plain(const Operator& op, const Kernel& kernel, KeySet keys,
                          Stack& stack);
  static void boxed_structured(const Operator& op, const Kernel& kernel, KeySet keys,
                               Stack& stack);
  // The rule alone and the loops alone, on boxed arguments.
  static void shape_boxed(void* shape, const Value* args, Spec* specs);
  static void compute(void* function, const Value* args, Tensor* results);

  static void check(const Operator& op, const A&... args);
};

// One branch for an op that takes every dtype.
template <class R, class... A>
void Adapter<R, A...>::check(const Operator& op, const A&... args) {
  if (__builtin_expect(op.restricted(), 0)) {
    const TensorArg all[] = {TensorArg(args)..., TensorArg(0)};
    check_dtypes(op, std::span(all, sizeof...(A)));
  }
}

template <class R, class... A>
R Adapter<R, A...>::plain(const Operator& op, const Kernel& kernel, KeySet, A... args) {
  try {
    check(op, args...);
    return reinterpret_cast<R (*)(A...)>(kernel.function)(args...);
  } catch (Error& error) { rename_and_rethrow(op, error); }
}

template <class R, class... A>
R Adapter<R, A...>::structured(const Operator& op, const Kernel& kernel, KeySet,
                               A... args) {
  try {
    check(op, args...);
    using S = typename Results<R>::Specs;
    S specs = reinterpret_cast<S (*)(A...)>(op.definition().shape)(args...);
    if constexpr (std::is_same_v<R, Tensor>) {
      const auto run = reinterpret_cast<void (*)(Tensor&, A...)>(kernel.function);
      if constexpr (kFirstIsTensor) {
        if (op.in_place()) {
          R self = std::get<0>(std::forward_as_tuple(args...));
          check_in_place(op, self, specs);
          self.bump_version();
          run(self, args...);
          return self;
        }
      }
      R result;
      if constexpr (kTakesTensor) {  // Note [Order of results] in tensor/layout.h
        if (__builtin_expect(!(is_row_major(args) && ...), 0) && op.keeps_order) {
          const Tensor* const operands[] = {tensor_or_null(args)...};
          result = empty_in_order(specs, operands);
        }
      }
      if (!result.defined()) result = empty(std::move(specs));
      run(result, args...);
      return result;
    } else {
      R result = Results<R>::make(std::move(specs));
      std::apply(
          [&]<class... Out>(Out&... out) {
            reinterpret_cast<void (*)(Out&..., A...)>(kernel.function)(out..., args...);
          },
          result);
      return result;
    }
  } catch (Error& error) { rename_and_rethrow(op, error); }
}

template <class R, class... A>
void Adapter<R, A...>::boxed_plain(const Operator& op, const Kernel& kernel, KeySet keys,
                                   Stack& stack) {
  [&]<size_t... I>(std::index_sequence<I...>) {
    Results<R>::push(stack, plain(op, kernel, keys, Unbox<Arg<I>>::from(stack.args[I])...));
  }(Indices());
}

template <class R, class... A>
void Adapter<R, A...>::boxed_structured(const Operator& op, const Kernel& kernel,
                                        KeySet keys, Stack& stack) {
  [&]<size_t... I>(std::index_sequence<I...>) {
    Results<R>::push(stack,
                     structured(op, kernel, keys, Unbox<Arg<I>>::from(stack.args[I])...));
  }(Indices());
}

template <class R, class... A>
void Adapter<R, A...>::shape_boxed(void* shape, const Value* args, Spec* specs) {
  using S = typename Results<R>::Specs;
  [&]<size_t... I>(std::index_sequence<I...>) {
    Results<R>::store(reinterpret_cast<S (*)(A...)>(shape)(Unbox<Arg<I>>::from(args[I])...),
                      specs);
  }(Indices());
}

template <class R, class... A>
void Adapter<R, A...>::compute(void* function, const Value* args, Tensor* results) {
  [&]<size_t... I>(std::index_sequence<I...>) {
    if constexpr (std::is_same_v<R, Tensor>) {
      reinterpret_cast<void (*)(Tensor&, A...)>(function)(results[0],
                                                          Unbox<Arg<I>>::from(args[I])...);
    } else {
      [&]<size_t... O>(std::index_sequence<O...>) {
        using Fn = void (*)(std::remove_cvref_t<decltype((O, *results))>&..., A...);
        reinterpret_cast<Fn>(function)(results[O]..., Unbox<Arg<I>>::from(args[I])...);
      }(std::make_index_sequence<size_t(Results<R>::count)>());
    }
  }(Indices());
}

#define PKG_COMPILED_ELSEWHERE(R, ...) extern template struct Adapter<R, __VA_ARGS__>;
PKG_USUAL_SIGNATURES(PKG_COMPILED_ELSEWHERE)
#undef PKG_COMPILED_ELSEWHERE

}  // namespace pkg::detail
