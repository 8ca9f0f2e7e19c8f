// SPDX-License-Identifier: Apache-2.0
// dispatcher/direct_call.h: calls whose arguments are plainly what the schema says, passed to
// their op as C++ values.  Matching by all of a language's rules, and boxing, cost more than
// the op does where that is a view.
#pragma once

#include <algorithm>
#include <span>
#include <tuple>

#include "dispatcher/typed.h"

namespace pkg {

/// Positional arguments that are still to be read.
template <class Item>
struct Given {
  const Item* next;
  const Item* end;

  bool done() const { return next == end; }
};

/// A parameter of C++ type A: read() is false for what is not plainly of it, which the
/// general way then looks at, and at all before it again.  The Language has
///   using Item, Result;                                     its values; null: no result
///   static Result give(Tensor);
///   static const Tensor* tensor(Item);                      null: it is none
///   static bool plain_integer(Item, int64_t*);              false: none, or too big
///   static bool plain_list(Item, std::span<const Item>&);   false: it is none
template <class Language, class A>
struct Direct;

template <class Language>
struct Direct<Language, const Tensor&> {
  bool read(Given<typename Language::Item>& given, bool) {
    tensor = given.done() ? nullptr : Language::tensor(*given.next++);
    return tensor;  // which the caller's reference keeps alive
  }
  const Tensor& get() const { return *tensor; }
  const Tensor* tensor;
};

template <class Language>
struct Direct<Language, int64_t> {
  bool read(Given<typename Language::Item>& given, bool) {
    return !given.done() && Language::plain_integer(*given.next++, &value);
  }
  int64_t get() const { return value; }
  int64_t value;
};

template <class Language>
struct Direct<Language, const Shape&> {
  // As a list, or, being last, written out: reshape(2, 3).
  bool read(Given<typename Language::Item>& given, bool last) {
    if (given.done()) return false;
    std::span<const typename Language::Item> items;
    if (Language::plain_list(*given.next, items)) {
      ++given.next;
    } else {
      items = {given.next, last ? given.end : given.next + 1};
      given.next += items.size();
    }
    int64_t value;
    for (const auto& item : items) {
      if (!Language::plain_integer(item, &value)) return false;
      sizes.push_back(value);
    }
    return true;
  }
  const Shape& get() const { return sizes; }
  Shape sizes;
};

/// Calls the op, and returns its result, or null where an argument is no such value.
template <class Language>
using DirectCall = typename Language::Result (*)(const Operator& op,
                                                 Given<typename Language::Item> given);

template <class Language, class... A>
struct DirectSignature {
  static constexpr auto kIndices = std::index_sequence_for<A...>();
  static constexpr detail::CppType kTypes[] = {detail::CppType::of<A>()...};
  static constexpr detail::CppType kResult[] = {detail::CppType::of<Tensor>()};

  static bool fits(const Operator& op) {
    const auto is_plain = [](const Argument& value, const detail::CppType& type) {
      return value.type == type.type && value.list == type.list && !value.optional &&
             value.length < 0 && !value.keyword_only;
    };
    return std::ranges::equal(op.schema.arguments, kTypes, is_plain) &&
           std::ranges::equal(op.schema.returns, kResult, is_plain);
  }

  using Result = typename Language::Result;
  static Result call(const Operator& op, Given<typename Language::Item> given) {
    std::tuple<Direct<Language, A>...> read;
    return [&]<size_t... I>(std::index_sequence<I...>) -> Result {
      const bool plain = (std::get<I>(read).read(given, I + 1 == sizeof...(A)) && ...);
      if (!plain || !given.done()) return Result();
      Dispatcher::get();  // a library opened meanwhile may have a kernel for it
      return Language::give(detail::call<Tensor, A...>(op, std::get<I>(read).get()...));
    }(kIndices);
  }
};

/// The direct call of an op; null where it has none, as its signature is no usual one.
template <class Language>
DirectCall<Language> direct_call_of(const Operator& op) {
  DirectCall<Language> found = nullptr;
  const auto offer = [&]<class... A>(DirectSignature<Language, A...>) {
    if (DirectSignature<Language, A...>::fits(op)) {
      found = DirectSignature<Language, A...>::call;
    }
  };
  offer(DirectSignature<Language, const Tensor&>());
  offer(DirectSignature<Language, const Tensor&, const Tensor&>());
  offer(DirectSignature<Language, const Tensor&, const Shape&>());
  offer(DirectSignature<Language, const Tensor&, int64_t>());
  offer(DirectSignature<Language, const Tensor&, int64_t, int64_t>());
  return found;
}

/// The overload that may be called directly: the only one; of several, that of one tensor
/// alone, if those before it need more.
inline const Operator* simple_of(std::span<const Operator* const> overloads) {
  if (overloads.size() == 1) return overloads[0];
  for (const Operator* op : overloads) {
    if (op->is_unary()) return op;
    const auto& params = op->schema.arguments;
    const bool refuses = params.size() > 1 && !params[1].has_default;
    if (!refuses) return nullptr;
  }
  return nullptr;
}

}  // namespace pkg
