// SPDX-License-Identifier: Apache-2.0
// swig/python/op/direct_call.h: calls whose arguments are plainly what the schema says, passed
// to their op as C++ values.  Matching by all of Python's rules, and boxing, cost more than
// the op does where that is a view.
#pragma once

#include <algorithm>
#include <tuple>

#include "dispatcher/typed.h"
#include "python/tensor/py_tensor.h"

namespace pkg::python {

/// Positional arguments that are still to be read.
struct Given {
  PyObject* const* next;
  PyObject* const* end;

  bool done() const { return next == end; }
};

inline bool read_int(PyObject* object, int64_t* out) {
  if (!PyLong_CheckExact(object)) return false;
  int overflow;
  *out = PyLong_AsLongLongAndOverflow(object, &overflow);
  return !overflow;
}

/// A parameter of C++ type A: read() is false for what is not plainly of it, which the
/// general way then looks at, and at all before it again.
template <class A>
struct Direct;

template <>
struct Direct<const Tensor&> {
  bool read(Given& given, bool) {
    if (given.done() || !is_tensor(*given.next)) return false;
    tensor = &unwrap(*given.next++);  // which the caller's reference keeps alive
    return true;
  }
  const Tensor& get() const { return *tensor; }
  const Tensor* tensor;
};

template <>
struct Direct<int64_t> {
  bool read(Given& given, bool) { return !given.done() && read_int(*given.next++, &value); }
  int64_t get() const { return value; }
  int64_t value;
};

template <>
struct Direct<const Shape&> {
  // As a list, or, being last, written out: reshape(2, 3).
  bool read(Given& given, bool last) {
    if (given.done()) return false;
    Given items = given;
    PyObject* first = *given.next;
    if (PyTuple_CheckExact(first) || PyList_CheckExact(first)) {
      ++given.next;
      PyObject* const* begin = PySequence_Fast_ITEMS(first);
      items = {begin, begin + PySequence_Fast_GET_SIZE(first)};
    } else {
      given.next = last ? given.end : given.next + 1;
      items.end = given.next;
    }
    int64_t value;
    for (; !items.done(); ++items.next) {
      if (!read_int(*items.next, &value)) return false;
      sizes.push_back(value);
    }
    return true;
  }
  const Shape& get() const { return sizes; }
  Shape sizes;
};

/// Calls the op, or returns null without an error where an argument is no such value.
using DirectCall = PyObject* (*)(const Operator& op, Given given);

template <class... A>
struct DirectSignature {
  static constexpr auto kIndices = std::index_sequence_for<A...>();
  static constexpr detail::CppType kTypes[] = {detail::CppType::of<A>()...};
  static constexpr detail::CppType kResult[] = {detail::CppType::of<Tensor>()};

  static bool fits(const Operator& op) {
    const auto is_plain = [](const pkg::Argument& value, const detail::CppType& type) {
      return value.type == type.type && value.list == type.list && !value.optional &&
             value.length < 0 && !value.keyword_only;
    };
    return std::ranges::equal(op.schema.arguments, kTypes, is_plain) &&
           std::ranges::equal(op.schema.returns, kResult, is_plain);
  }

  static PyObject* call(const Operator& op, Given given) {
    std::tuple<Direct<A>...> read;
    return [&]<size_t... I>(std::index_sequence<I...>) -> PyObject* {
      const bool plain = (std::get<I>(read).read(given, I + 1 == sizeof...(A)) && ...);
      if (!plain || !given.done()) return nullptr;
      Dispatcher::get();  // a library opened meanwhile may have a kernel for it
      return wrap(detail::call<Tensor, A...>(op, std::get<I>(read).get()...));
    }(kIndices);
  }
};

/// The direct call of an op; null where it has none, as its signature is no usual one.
inline DirectCall direct_call_of(const Operator& op) {
  DirectCall found = nullptr;
  const auto offer = [&]<class... A>(DirectSignature<A...>) {
    if (DirectSignature<A...>::fits(op)) found = DirectSignature<A...>::call;
  };
  offer(DirectSignature<const Tensor&>());
  offer(DirectSignature<const Tensor&, const Tensor&>());
  offer(DirectSignature<const Tensor&, const Shape&>());
  offer(DirectSignature<const Tensor&, int64_t>());
  offer(DirectSignature<const Tensor&, int64_t, int64_t>());
  return found;
}

}  // namespace pkg::python
