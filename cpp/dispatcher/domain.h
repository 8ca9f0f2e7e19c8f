// SPDX-License-Identifier: Apache-2.0
// dispatcher/domain.h: the check of a call's dtypes against the record, before anything
// is allocated, waited for or scheduled.
#pragma once

#include <span>

#include "dispatcher/operator.h"

namespace pkg::detail {

/// An argument of a typed call as far as dtypes go: a tensor, a list, or neither.
struct TensorArg {
  const Tensor* tensor = nullptr;
  const TensorList* list = nullptr;

  TensorArg() = default;
  TensorArg(const Tensor& value) : tensor(&value) {}
  TensorArg(const TensorList& value) : list(&value) {}
  TensorArg(const Value& value)
      : tensor(std::get_if<Tensor>(&value)), list(std::get_if<TensorList>(&value)) {}
  template <class T>
  TensorArg(const T&) {}
};

/// NotImplementedError unless the op and its kernel take these dtypes; RuntimeError for
/// a parameter with dtypes of its own.  For restricted ops only.
void check_dtypes(const Operator& op, std::span<const TensorArg> args);
void check_dtypes(const Operator& op, std::span<const Value> args);

}  // namespace pkg::detail
