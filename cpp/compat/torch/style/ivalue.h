// SPDX-License-Identifier: Apache-2.0
// compat/torch/style/ivalue.h: a value of one of several types, for what a context keeps.
#pragma once

#include <variant>

#include "compat/torch/style/tensor.h"

namespace c10 {

class IValue {
 public:
  IValue() = default;
  IValue(at::Tensor tensor) : value_(std::move(tensor)) {}
  IValue(std::vector<at::Tensor> list) : value_(std::move(list)) {}
  IValue(bool truth) : value_(truth) {}
  IValue(std::string text) : value_(std::move(text)) {}
  IValue(const char* text) : value_(std::string(text)) {}
  IValue(std::vector<int64_t> list) : value_(std::move(list)) {}
  IValue(at::IntArrayRef list) : value_(list.vec()) {}
  IValue(std::vector<double> list) : value_(std::move(list)) {}
  template <class T>
    requires(std::is_arithmetic_v<T> && !std::is_same_v<T, bool>)
  IValue(T number) {
    if constexpr (std::is_integral_v<T>) value_ = int64_t(number);
    else value_ = double(number);
  }
  IValue(const at::Scalar& scalar) {
    if (scalar.isBoolean()) value_ = scalar.toBool();
    else if (scalar.isFloatingPoint()) value_ = scalar.toDouble();
    else value_ = scalar.toLong();
  }

  bool isNone() const { return value_.index() == 0; }
  bool isTensor() const { return std::holds_alternative<at::Tensor>(value_); }
  bool isInt() const { return std::holds_alternative<int64_t>(value_); }
  bool isDouble() const { return std::holds_alternative<double>(value_); }
  bool isBool() const { return std::holds_alternative<bool>(value_); }
  bool isString() const { return std::holds_alternative<std::string>(value_); }

  const at::Tensor& toTensor() const { return get<at::Tensor>("a tensor"); }
  const std::vector<at::Tensor>& toTensorVector() const {
    return get<std::vector<at::Tensor>>("a list of tensors");
  }
  int64_t toInt() const { return get<int64_t>("an int"); }
  double toDouble() const { return get<double>("a double"); }
  bool toBool() const { return get<bool>("a bool"); }
  const std::string& toStringRef() const { return get<std::string>("a string"); }
  const std::vector<int64_t>& toIntVector() const {
    return get<std::vector<int64_t>>("a list of ints");
  }
  const std::vector<double>& toDoubleVector() const {
    return get<std::vector<double>>("a list of doubles");
  }
  at::Scalar toScalar() const {
    if (isInt()) return toInt();
    if (isBool()) return toBool();
    return toDouble();
  }

 private:
  template <class T>
  const T& get(const char* expected) const {
    const T* found = std::get_if<T>(&value_);
    TORCH_CHECK_TYPE(found, "[IValue] expected ", expected, ", got another kind of value");
    return *found;
  }
  std::variant<std::monostate, at::Tensor, std::vector<at::Tensor>, int64_t, double, bool,
               std::string, std::vector<int64_t>, std::vector<double>>
      value_;
};

}  // namespace c10

namespace at {
using c10::IValue;
}
namespace torch {
using c10::IValue;
}
