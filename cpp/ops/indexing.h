// SPDX-License-Identifier: Apache-2.0
// ops/indexing.h: x[key] and x[key] = value as sequences of ops, once a binding has taken
// the key apart.
#pragma once

#include <optional>
#include <string>

#include "tensor/tensor.h"

namespace pkg {

/// A key on its way: the binding calls one function for each part, from the first to the
/// last.  Basic parts are applied as views when they come; tensors are collected.
class Indexing {
 public:
  /// IndexError when the parts take more dimensions than there are.
  Indexing(const Tensor& self, int64_t dims_of_parts);

  /// Whether a tensor selects as an int does: one integer, whose dimension is gone.  What has
  /// no value yet is an index like others.
  static bool is_number(const Tensor& index);
  /// Throws IndexError for a part that is of none of the kinds; `why` is what was wrong.
  [[noreturn]] static void refuse(const std::string& type, const std::string& why);
  /// How many dimensions a part that is a tensor takes; a slice or an int takes one.
  static int64_t dims_of(const Tensor& index) {
    return index.dtype() == DType::Bool ? index.ndim() : 1;
  }

  void ellipsis() { keep(self_.ndim() - dims_of_parts_); }
  void new_dim();
  void slice(std::optional<int64_t> start, std::optional<int64_t> stop, int64_t step);
  void select(int64_t i);
  void index(Tensor index);

  Tensor get() const;
  void put(Tensor value) const;

 private:
  void keep(int64_t count);

  const Tensor& self_;
  const int64_t dims_of_parts_;
  Tensor view_;
  TensorList indices_;  // one per dimension of the view; undefined: it is kept
  bool advanced_ = false;
  int64_t dim_ = 0;
};

}  // namespace pkg
