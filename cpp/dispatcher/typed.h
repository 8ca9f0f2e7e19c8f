// SPDX-License-Identifier: Apache-2.0
// dispatcher/typed.h: typed calls, and the templates that turn a C++ function into a
// kernel with a boxed and an unboxed entry.
#pragma once

#include <algorithm>
#include <span>
#include <tuple>
#include <utility>

#include "dispatcher/cpp_signature.h"
#include "dispatcher/dispatcher.h"
#include "dispatcher/domain.h"
#include "tensor/layout.h"

namespace pkg {
namespace detail {

// Results: a Tensor, a TensorList, or a tuple of Tensors.
template <class R>
struct Results {
  static constexpr int count = 1;
  using Specs = Spec;
  static R take(Stack& stack) { return Unbox<R>::from(stack.results[0]); }
  static void push(Stack& stack, R result) { stack.push(box(result)); }
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
    std::apply([&](auto&... part) { (stack.push(box(part)), ...); }, result);
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

/// Typed call at the highest of `keys`.
template <class R, class... A>
inline R dispatch(const Operator& op, KeySet keys, A... args) {
  keys = effective_keys(op, keys);
  const Kernel& kernel = op.kernel(keys.highest());
  if (kernel.unboxed) {
    using Fn = R (*)(const Operator&, const Kernel&, KeySet, A...);
    return reinterpret_cast<Fn>(kernel.unboxed)(op, kernel, keys, args...);
  }
  Value boxed[] = {box(args)..., Value()};
  Stack stack{std::span<Value>(boxed, sizeof...(A)), {}, 0};
  kernel.boxed(op, kernel, keys, stack);
  return Results<R>::take(stack);
}

template <class R, class... A>
inline R call(const Operator& op, A... args) {
  KeySet keys;
  (add_keys(keys, args), ...);
  if ((keys & kBackendKeys).empty()) keys |= DispatchKey::CPU;
  return dispatch<R, A...>(op, with_local_keys(keys), args...);
}

/// RuntimeError if `name` shall write, recorded, to a leaf that collects gradients.
void check_no_leaf_written(std::string_view name, const Tensor& self);
/// The same for a view that does not know the history of the tensor it shows.
void check_no_bare_view_written(std::string_view name, const Tensor& self);
/// In-place ops write into their first argument; the rule must agree with its shape.
void check_in_place(const Operator& op, const Tensor& self, const Spec& spec);
/// RuntimeError if two elements of what is written lie in one place.
void check_no_overlap(const Operator& op, const Tensor& written);

/// RuntimeError when tensors with values stand beside meta tensors, which have none; single
/// numbers and indices may.  Returns whether there are meta tensors.
bool check_one_device(const Operator& op, std::span<const Value> args);
/// Whether a device is among the arguments: the shape rule has looked at it.
bool names_device(std::span<const Value> args);

// Makes kernels out of functions of the C++ signature R(A...).
template <class R, class... A>
struct Adapter {
  template <size_t I>
  using Arg = std::remove_cvref_t<std::tuple_element_t<I, std::tuple<A...>>>;
  using Indices = std::index_sequence_for<A...>;
  static constexpr bool kFirstIsTensor = [] {
    if constexpr (sizeof...(A) == 0 || !std::is_same_v<R, Tensor>) return false;
    else return std::is_same_v<Arg<0>, Tensor>;
  }();

  static constexpr bool kTakesTensor = (std::is_same_v<std::remove_cvref_t<A>, Tensor> || ...);

  // One branch for an op that takes every dtype.
  static void check(const Operator& op, const A&... args) {
    if (__builtin_expect(op.restricted(), 0)) check_all(op, args...);
  }
  [[gnu::noinline, gnu::cold]] static void check_all(const Operator& op, const A&... args) {
    const TensorArg all[] = {TensorArg(args)..., TensorArg(0)};
    check_dtypes(op, std::span(all, sizeof...(A)));
  }

  // The entries below do all of a call; whatever fails, the error names the op that was
  // called, not the one that a composite calls or whose kernel it shares.

  // A function that returns its results.
  static R plain(const Operator& op, const Kernel& kernel, KeySet, A... args) {
    try {
      check(op, args...);
      return reinterpret_cast<R (*)(A...)>(kernel.function)(args...);
    } catch (Error& error) {
      error.rename(op.schema.name);
      throw;
    }
  }
  static auto shaped(const Operator& op, A... args) {
    using S = typename Results<R>::Specs;
    return reinterpret_cast<S (*)(A...)>(op.definition().shape)(args...);
  }
  // Uninitialised results; see Note [Order of results] in tensor/layout.h.
  template <class S>
  static R allocate(const Operator& op, S specs, const A&... args) {
    if constexpr (std::is_same_v<R, Tensor> && kTakesTensor) {
      if (__builtin_expect(!(is_row_major(args) && ...), 0) && op.keeps_order) {
        const Tensor* const operands[] = {tensor_or_null(args)...};
        return empty_in_order(specs, operands);
      }
    }
    return Results<R>::make(std::move(specs));
  }
  // A structured kernel: shape rule, allocation, then the loops.
  static R structured(const Operator& op, const Kernel& kernel, KeySet, A... args) {
    try {
      check(op, args...);
      auto specs = shaped(op, args...);
      if constexpr (kFirstIsTensor) {
        if (op.in_place()) {
          R self = std::get<0>(std::forward_as_tuple(args...));
          check_in_place(op, self, specs);
          self.bump_version();
          reinterpret_cast<void (*)(Tensor&, A...)>(kernel.function)(self, args...);
          return self;
        }
      }
      R result = allocate(op, std::move(specs), args...);
      if constexpr (std::is_same_v<R, Tensor>) {
        reinterpret_cast<void (*)(Tensor&, A...)>(kernel.function)(result, args...);
      } else {
        std::apply(
            [&]<class... Out>(Out&... out) {
              reinterpret_cast<void (*)(Out&..., A...)>(kernel.function)(out..., args...);
            },
            result);
      }
      return result;
    } catch (Error& error) {
      error.rename(op.schema.name);
      throw;
    }
  }
  // The Meta key: the shape rule alone.
  static R meta(const Operator& op, const Kernel&, KeySet, A... args) {
    try {
      const Value boxed[] = {box(args)..., Value()};
      const bool meta = check_one_device(op, boxed);
      check(op, args...);
      auto specs = shaped(op, args...);
      if (meta && !names_device(boxed)) put_on_meta(specs);
      if constexpr (kFirstIsTensor) {
        if (op.in_place()) {
          R self = std::get<0>(std::forward_as_tuple(args...));
          check_in_place(op, self, specs);
          self.bump_version();
          return self;
        }
      }
      return allocate(op, std::move(specs), args...);
    } catch (Error& error) {
      error.rename(op.schema.name);
      throw;
    }
  }

  // A rule takes the device of the first tensor, which may be a mere number.
  static void put_on_meta(Spec& spec) { spec.device = Device{DeviceType::Meta}; }
  template <size_t N>
  static void put_on_meta(std::array<Spec, N>& specs) {
    for (Spec& spec : specs) put_on_meta(spec);
  }

  using Entry = R (*)(const Operator&, const Kernel&, KeySet, A...);
  template <Entry entry>
  static void boxed(const Operator& op, const Kernel& kernel, KeySet keys,
                    Stack& stack) {
    [&]<size_t... I>(std::index_sequence<I...>) {
      Results<R>::push(stack,
                       entry(op, kernel, keys, Unbox<Arg<I>>::from(stack.args[I])...));
    }(Indices());
  }
  static void shape_boxed(void* shape, const Value* args, Spec* specs) {
    using S = typename Results<R>::Specs;
    [&]<size_t... I>(std::index_sequence<I...>) {
      Results<R>::store(reinterpret_cast<S (*)(A...)>(shape)(Unbox<Arg<I>>::from(args[I])...),
                        specs);
    }(Indices());
  }
  static void compute(void* function, const Value* args, Tensor* results) {
    [&]<size_t... I>(std::index_sequence<I...>) {
      if constexpr (std::is_same_v<R, Tensor>) {
        reinterpret_cast<void (*)(Tensor&, A...)>(function)(
            results[0], Unbox<Arg<I>>::from(args[I])...);
      } else {
        [&]<size_t... O>(std::index_sequence<O...>) {
          using Fn = void (*)(std::remove_cvref_t<decltype((O, *results))>&..., A...);
          reinterpret_cast<Fn>(function)(results[O]...,
                                         Unbox<Arg<I>>::from(args[I])...);
        }(std::make_index_sequence<size_t(Results<R>::count)>());
      }
    }(Indices());
  }
};

}  // namespace detail

/// A callable handle of an op, typed by its C++ signature; found by name, and compared with
/// the record, at its first call.  Trailing arguments left out take the schema's defaults.
template <class Signature>
class Op;

template <class R, class... A>
class Op<R(A...)> {
 public:
  constexpr explicit Op(const char* name, const char* ns = "pkg")
      : name_(name), ns_(ns) {}

  const Operator& record() const {
    const Operator* op = op_.load(std::memory_order_acquire);
    if (__builtin_expect(!op, 0)) op = &resolve();
    return *op;
  }

  template <class... Given>
  R operator()(Given&&... given) const {
    static_assert(sizeof...(Given) <= sizeof...(A), "too many arguments for this op");
    return [&]<size_t... I>(std::index_sequence<I...>) -> R {
      const Operator& op = record();
      return invoke(op, std::forward<Given>(given)...,
                    Unbox<Arg<sizeof...(Given) + I>>::from(
                        op.schema.arguments[sizeof...(Given) + I].default_value)...);
    }(std::make_index_sequence<sizeof...(A) - sizeof...(Given)>());
  }

 private:
  template <size_t I>
  using Arg = std::remove_cvref_t<std::tuple_element_t<I, std::tuple<A...>>>;
  static R invoke(const Operator& op, A... args) {
    return detail::call<R, A...>(op, args...);
  }
  [[gnu::noinline, gnu::cold]] const Operator& resolve() const {
    const Operator& op = Dispatcher::get().find(name_, ns_);
    using Return = detail::ReturnType<R>;
    static_assert(Return::count > 0, "a handle returns what ops return: Tensor, ...");
    detail::check_handle(op, {detail::Parameters<std::tuple<A...>>::types(), Return::name,
                              Return::count, Return::list});
    op_.store(&op, std::memory_order_release);
    return op;
  }

  const char* name_;
  const char* ns_;
  mutable std::atomic<const Operator*> op_{nullptr};
};

}  // namespace pkg
