// SPDX-License-Identifier: Apache-2.0
// compat/torch/style/call.h: ops of the core called by name, with values of any type; what
// is left out takes the schema's default.
#pragma once

#include "dispatcher/typed.h"

namespace at::detail {

/// An op without a typed handle in ops/functions.h.
class Named {
 public:
  constexpr explicit Named(const char* name) : name_(name) {}

  template <class R = ::pkg::Tensor, class... Given>
  R call(const Given&... given) const {
    const ::pkg::Operator& op = record();
    const auto& parameters = op.schema.arguments;
    std::array<::pkg::Value, ::pkg::kMaxParameters> values{::pkg::box(given)...};
    for (size_t i = sizeof...(Given); i < parameters.size(); ++i) {
      values[i] = parameters[i].default_value;
    }
    ::pkg::Stack stack(std::span(values.data(), parameters.size()));
    ::pkg::Dispatcher::get().call_boxed(op, stack);
    if constexpr (!std::is_void_v<R>) return ::pkg::detail::Results<R>::take(stack);
  }

 private:
  const ::pkg::Operator& record() const {
    const ::pkg::Operator* found = op_.load(std::memory_order_acquire);
    if (!found) {
      found = &::pkg::Dispatcher::get().find(name_);
      op_.store(found, std::memory_order_release);
    }
    return *found;
  }
  const char* name_;
  mutable std::atomic<const ::pkg::Operator*> op_{nullptr};
};

}  // namespace at::detail
