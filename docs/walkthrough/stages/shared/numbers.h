// SPDX-License-Identifier: Apache-2.0
// shared/numbers.h: what a Scalar computes with: 0-d float64 tensors, and the core's ops.
#pragma once

#include <charconv>
#include <string>
#include <string_view>

#include "ops/functions.h"
#include "tensor/layout.h"
#include "tensor/tensor.h"

namespace stages {

using pkg::Tensor;

inline Tensor tensor_of(double x) {
  Tensor tensor = pkg::empty({{}, pkg::DType::Float64});
  *tensor.data<double>() = x;
  return tensor;
}

inline double value_of(const Tensor& tensor) { return pkg::item(tensor).to<double>(); }

/// An op of one or two tensors; of one it does not look at the second.
using Operation = Tensor (*)(const Tensor&, const Tensor&);

inline Tensor add(const Tensor& a, const Tensor& b) { return pkg::ops::add(a, b); }
inline Tensor sub(const Tensor& a, const Tensor& b) { return pkg::ops::sub(a, b); }
inline Tensor mul(const Tensor& a, const Tensor& b) { return pkg::ops::mul(a, b); }
inline Tensor div(const Tensor& a, const Tensor& b) { return pkg::ops::div(a, b); }
inline Tensor mod(const Tensor& a, const Tensor& b) { return pkg::ops::remainder(a, b); }
inline Tensor pow(const Tensor& a, const Tensor& b) { return pkg::ops::pow(a, b); }
inline Tensor neg(const Tensor& a, const Tensor&) { return pkg::ops::neg(a); }
inline Tensor sin(const Tensor& a, const Tensor&) { return pkg::ops::sin(a); }

/// The shortest text that reads back, as a float: "24.0", "1e-09".
inline std::string text_of(double x) {
  char buffer[32];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, x).ptr;
  std::string text(buffer, end);
  if (text.find_first_not_of("-0123456789") == std::string::npos) text += ".0";
  return text;
}

}  // namespace stages
