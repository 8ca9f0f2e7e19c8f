// SPDX-License-Identifier: Apache-2.0
// swigkit/taken_parts.h: objects that containers own by std::unique_ptr, which an argument
// takes from Python, and what C++ did not take or lets go of, which is Python's again.
#pragma once

#include "convert.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <ranges>
#include <span>
#include <tuple>
#include <unordered_set>
#include <variant>

namespace [[gnu::visibility("hidden")]] swigkit {

/// What owns objects by std::unique_ptr: one, or a container of them.
template <class T>
struct HoldsUnique {
  static constexpr bool value = [] {
    if constexpr (IsWrapped<T> || std::is_same_v<T, std::string>) {
      return false;
    } else if constexpr (requires { typename T::mapped_type; }) {
      return std::ranges::range<T> && HoldsUnique<typename T::mapped_type>::value;
    } else if constexpr (requires { typename T::value_type; }) {
      return std::ranges::range<T> && HoldsUnique<typename T::value_type>::value;
    } else {
      return false;
    }
  }();
};
template <class T, class D>
struct HoldsUnique<std::unique_ptr<T, D>>
    : std::bool_constant<!std::is_array_v<T> && IsWrapped<std::remove_cv_t<T>>> {};
template <class T>
struct HoldsUnique<std::optional<T>> : HoldsUnique<T> {};
template <class... T>
struct HoldsUnique<std::tuple<T...>> : std::bool_constant<(HoldsUnique<T>::value || ...)> {
};
template <class A, class B>
struct HoldsUnique<std::pair<A, B>> : HoldsUnique<std::tuple<A, B>> {};
template <class... T>
struct HoldsUnique<std::variant<T...>> : HoldsUnique<std::tuple<T...>> {};

/// Calls visit(std::unique_ptr&) for each that is not null.
template <class C, class F>
void for_each_unique(C& container, const F& visit) {
  if constexpr (!HoldsUnique<C>::value) {
    return;
  } else if constexpr (requires { typename C::deleter_type; }) {
    if (container) visit(container);
  } else if constexpr (requires { std::tuple_size<C>::value; }) {
    std::apply([&](auto&... part) { (for_each_unique(part, visit), ...); }, container);
  } else if constexpr (requires { std::variant_size<C>::value; }) {
    if (container.valueless_by_exception()) return;
    std::visit([&](auto& value) { for_each_unique(value, visit); }, container);
  } else if constexpr (requires { typename C::mapped_type; }) {
    for (auto& entry : container) for_each_unique(entry.second, visit);
  } else if constexpr (requires { container.begin(); }) {
    // Those of a set cannot be changed.
    if constexpr (!std::is_const_v<std::remove_reference_t<decltype(*container.begin())>>) {
      for (auto& item : container) for_each_unique(item, visit);
    }
  } else if (container.has_value()) {
    for_each_unique(*container, visit);
  }
}
/// What is in the container of what was taken, which is sorted, is Python's again.
template <class C>
void give_back_found(C& container, std::span<const Parts::Taken> taken) {
  for_each_unique(container, [&](auto& unique) {
    using T = typename std::remove_reference_t<decltype(unique)>::element_type;
    if constexpr (std::is_same_v<decltype(unique.release()), T*>) {
      const void* pointer = unique.get();
      const auto at = std::ranges::lower_bound(taken, pointer, {}, &Parts::Taken::pointer);
      if (at != taken.end() && at->pointer == pointer)
        give_back(at->object, unique.release());
    }
  });
}
/// What C++ did not take in the end is Python's again: of what was taken after the first
/// `before`.
template <class C>
void give_back_parts(C& container, Parts& parts, size_t before = 0) {
  if (parts.taken.size() <= before) return;
  const auto taken = std::span(parts.taken).subspan(before);
  std::ranges::sort(taken, {}, &Parts::Taken::pointer);
  give_back_found(container, taken);
  parts.taken.resize(before);
}
/// The others C++ has for good.
template <class C>
void keep_taken_parts(C& container, const Parts& parts) {
  std::unordered_set<const void*> left;
  for_each_unique(container, [&](auto& unique) { left.insert(unique.get()); });
  for (const auto& [object, pointer] : parts.taken) {
    if (!left.count(pointer)) keep_taken(object);
  }
}
/// What C++ lets go of, and Python has an object for, is Python's.
template <class C>
void give_to_python(C& container) {
  for_each_unique(container, [](auto& unique) {
    using T = typename std::remove_reference_t<decltype(unique)>::element_type;
    using Plain = std::remove_cv_t<T>;
    const auto [address, record] = most_derived(const_cast<Plain*>(unique.get()));
    const PyRef found(find_tracked(address, *record));
    if (!found) return;
    auto* self = reinterpret_cast<Instance*>(found.get());
    if (record->destroy) return void(PyRef(to_python(std::move(unique))));
    // C++ alone may end it, and does so now.
    const size_t views = end_lent(self, Owner::Taken);
    forget_lent(self);
    untrack(self);
    self->object = nullptr;
    self->owner = Owner::Taken;
    report_views(found.get(), views);
  });
}

}  // namespace swigkit
