// SPDX-License-Identifier: Apache-2.0
// dispatcher/value.h: one argument or result of an op in boxed form, and the mapping
// between it and the C++ types that kernels use.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "tensor/tensor.h"

namespace pkg {

/// Boxed argument or result.  monostate is None.
using Value =
    std::variant<std::monostate, Tensor, TensorList, Scalar, Shape, std::string, DType,
                 Device, std::vector<double>, std::vector<std::string>, std::vector<bool>>;

inline bool is_none(const Value& value) { return value.index() == 0; }

/// Unbox<T>: from a Value to a parameter of type T, and back.  A wrong alternative is
/// a fault of this library: the schema was checked before.
template <class T>
struct Unbox {  // Tensor, TensorList, Scalar, Shape, string, DType, Device, other lists
  static const T& from(const Value& value) { return std::get<T>(value); }
};
inline constinit const Tensor kNoTensor;
template <>
struct Unbox<Tensor> {  // also Tensor?: None is an undefined tensor
  static const Tensor& from(const Value& value) {
    return is_none(value) ? kNoTensor : std::get<Tensor>(value);
  }
};
template <>
struct Unbox<int64_t> {
  static int64_t from(const Value& value) {
    return std::get<Scalar>(value).to_int("int argument");
  }
};
template <>
struct Unbox<double> {
  static double from(const Value& value) { return std::get<Scalar>(value).to<double>(); }
};
template <>
struct Unbox<bool> {
  static bool from(const Value& value) { return std::get<Scalar>(value).to<bool>(); }
};
template <class T>
struct Unbox<std::optional<T>> {
  static std::optional<T> from(const Value& value) {
    if (is_none(value)) return std::nullopt;
    return Unbox<T>::from(value);
  }
};

template <class T>
Value box(const T& value) {
  if constexpr (std::is_arithmetic_v<T>) {
    return Value(Scalar(value));
  } else if constexpr (std::is_same_v<T, Tensor>) {
    return value.defined() ? Value(value) : Value();
  } else {
    return Value(value);
  }
}
inline Value box(Tensor&& value) {
  return value.defined() ? Value(std::move(value)) : Value();
}
template <class T>
Value box(const std::optional<T>& value) {
  return value ? box(*value) : Value();
}

/// Calls f(tensor) for every defined tensor in the value.
template <class F>
void for_each_tensor(const Value& value, F&& f) {
  if (const Tensor* tensor = std::get_if<Tensor>(&value)) {
    if (tensor->defined()) f(*tensor);
  } else if (const TensorList* list = std::get_if<TensorList>(&value)) {
    for (const Tensor& tensor : *list) {
      if (tensor.defined()) f(tensor);
    }
  }
}

}  // namespace pkg
