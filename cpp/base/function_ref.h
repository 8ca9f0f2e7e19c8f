// SPDX-License-Identifier: Apache-2.0
// base/function_ref.h: a borrowed callable, two words, no allocation.  For parameters
// that are called before the function returns; it never outlives what it points to.
#pragma once

#include <memory>
#include <type_traits>
#include <utility>

namespace pkg {

template <class Signature>
class FunctionRef;

/// Refers to any callable of the given signature without owning it.
template <class R, class... Args>
class FunctionRef<R(Args...)> {
 public:
  template <class F>
    requires(!std::is_same_v<std::remove_cvref_t<F>, FunctionRef> &&
             std::is_object_v<std::remove_reference_t<F>> &&
             std::is_invocable_r_v<R, F&, Args...>)
  FunctionRef(F&& fn) noexcept
      : object_(const_cast<void*>(static_cast<const void*>(std::addressof(fn)))),
        call_([](void* object, Args... args) -> R {
          auto& target = *static_cast<std::remove_reference_t<F>*>(object);
          return static_cast<R>(target(std::forward<Args>(args)...));
        }) {}

  R operator()(Args... args) const { return call_(object_, std::forward<Args>(args)...); }

 private:
  void* object_;
  R (*call_)(void*, Args...);
};

}  // namespace pkg
