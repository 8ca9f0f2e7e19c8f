// SPDX-License-Identifier: Apache-2.0
// compat/torch/style/dispatcher.h: c10::Dispatcher: ops by name, called with C++ types.
#pragma once

#include "compat/torch/style/kernel.h"

namespace c10 {

template <class F>
class TypedOperatorHandle;

/// An op of a C++ signature.
template <class R, class... A>
class TypedOperatorHandle<R(A...)> {
  using Caller = at::detail::Caller<R, false, A...>;
  using Result = typename Caller::Result;
  template <class T>
  using Canonical = typename at::detail::ParamOf<T>::Canonical;

 public:
  explicit TypedOperatorHandle(const ::pkg::Operator& op)
      : op_(&op),
        typed_(::pkg::detail::has_canonical_kernels(op) ||
               (op.signature && *op.signature == typeid(std::tuple<Canonical<A>...>))) {
    if constexpr (std::is_reference_v<R>) {
      PKG_CHECK(written() < sizeof...(A), RuntimeError, "[typed] ", op.qualified_name(),
                ": expected a result by value, since the op writes to no argument that it "
                "could return a reference to, got a reference (schema: ",
                op.schema.str(), ").");
    }
  }

  R call(A... args) const {
    return finish(
        typed_ ? ::pkg::detail::call<Result, Canonical<A>...>(*op_, unwrap<A>(args)...)
               : boxed(nullptr, args...),
        args...);
  }
  /// Of the keys given, which a kernel has made fewer.
  R redispatch(DispatchKeySet keys, A... args) const {
    const ::pkg::KeySet below = keys.unwrap();
    return finish(boxed(&below, args...), args...);
  }

 private:
  template <class T>
  static decltype(auto) unwrap(const std::remove_cvref_t<T>& value) {
    return at::detail::Param<std::remove_cvref_t<T>>::unwrap(value);
  }
  Result boxed(const ::pkg::KeySet* keys, const std::remove_cvref_t<A>&... args) const {
    std::array<::pkg::Value, sizeof...(A) + 1> values{
        ::pkg::box(std::remove_cvref_t<Canonical<A>>(unwrap<A>(args)))..., ::pkg::Value()};
    ::pkg::Stack stack(std::span(values.data(), sizeof...(A)));
    const ::pkg::Dispatcher& dispatcher = ::pkg::Dispatcher::get();
    if (keys) dispatcher.redispatch_boxed(*op_, *keys, stack);
    else dispatcher.call_boxed(*op_, stack);
    return ::pkg::detail::Results<Result>::take(stack);
  }
  // One that returns a reference gives back what it wrote to.
  template <class... Given>
  R finish([[maybe_unused]] Result&& result, [[maybe_unused]] Given&... args) const {
    if constexpr (std::is_reference_v<R>) {
      const void* all[] = {&args...};
      return *static_cast<std::remove_reference_t<R>*>(const_cast<void*>(all[written()]));
    } else {
      return at::detail::Return<std::remove_cvref_t<R>>::wrap(std::move(result));
    }
  }
  // The place of the argument that R refers to; their number if there is none.
  size_t written() const {
    constexpr bool may[] = {(std::is_reference_v<A> && std::is_convertible_v<A, R>)...,
                            false};
    size_t i = 0;
    while (i < sizeof...(A) && !(may[i] && op_->schema.arguments[i].written)) ++i;
    return i;
  }
  const ::pkg::Operator* op_;
  bool typed_;
};

class OperatorHandle {
 public:
  explicit OperatorHandle(const ::pkg::Operator& op) : op_(&op) {}

  /// InternalError with both signatures where F is not the op's.
  template <class F>
  TypedOperatorHandle<F> typed(const char* file = __builtin_FILE(),
                               int line = __builtin_LINE()) const {
    check(
        []<class R, class... A>(R (*)(A...)) {
          return at::detail::Caller<R, false, A...>::signature();
        }(static_cast<F*>(nullptr)),
        file, line);
    return TypedOperatorHandle<F>(*op_);
  }
  const ::pkg::Schema& schema() const { return op_->schema; }
  bool hasSchema() const { return true; }
  std::string operator_name() const { return op_->qualified_name(); }
  std::string debug() const { return op_->qualified_name() + " at " + op_->where; }

 private:
  void check(const at::detail::Signature& given, const char* file, int line) const {
    const std::string expected = at::detail::misfit(given, op_->schema);
    PKG_CHECK(expected.empty(), RuntimeError, "[typed] ", op_->qualified_name(),
              " declared at ", op_->where, ": expected ", expected, ", got ", given.str(),
              " at ", file, ":", line, ".");
  }
  const ::pkg::Operator* op_;
};

class Dispatcher {
 public:
  static Dispatcher& singleton() {
    static Dispatcher instance;
    return instance;
  }
  static Dispatcher& realSingleton() { return singleton(); }

  std::optional<OperatorHandle> findSchema(std::string_view name,
                                           std::string_view overload = "") const {
    const ::pkg::Operator* op = ::pkg::Dispatcher::get().find_or_null(full(name, overload));
    return op ? std::optional<OperatorHandle>(*op) : std::nullopt;
  }
  OperatorHandle findSchemaOrThrow(std::string_view name, std::string_view overload) const {
    if (const auto found = findSchema(name, overload)) return *found;
    const size_t colons = name.find("::");
    const bool qualified = colons != name.npos;
    std::string others;
    for (const ::pkg::Operator* op :
         ::pkg::Dispatcher::get().overloads(qualified ? name.substr(colons + 2) : name,
                                            qualified ? name.substr(0, colons) : "pkg")) {
      const std::string& other = op->schema.overload;
      others += (others.empty() ? "" : ", ") + (other.empty() ? "default" : other);
    }
    throw ::pkg::LookupError(
        "Could not find schema for " + full(name, overload) +
        (others.empty() ? "." : " but we found the overloads: " + others + "."));
  }

 private:
  static std::string full(std::string_view name, std::string_view overload) {
    return std::string(name) + (overload.empty() ? "" : "." + std::string(overload));
  }
};

}  // namespace c10

namespace torch {
using c10::Dispatcher;
using c10::OperatorHandle;
using c10::TypedOperatorHandle;
}  // namespace torch
namespace at {
using c10::Dispatcher;
}
