// SPDX-License-Identifier: Apache-2.0
// tensor/promotion.h: the common dtype of tensors, by PyTorch's rules: dimensioned
// tensors decide first, then 0-d tensors, then Python numbers; a later group only counts
// when its category (bool < integer < floating) is higher.
#pragma once

#include "tensor/tensor.h"

namespace pkg {

/// dtype of one operand: a bare number has the default of its kind, whatever it is
/// stored in.
DType operand_type(const Tensor& tensor);

/// Collects the common dtype of any number of tensors; undefined ones do not count.
class CommonDType {
 public:
  void add(const Tensor& tensor);
  /// Nothing when there was no tensor.
  std::optional<DType> get() const;

 private:
  std::optional<DType> groups_[3];  // Python numbers, 0-d tensors, dimensioned ones
};

/// The common dtype of two, which is asked for in every call of a binary op.
DType result_type(const Tensor& a, const Tensor& b);
DType result_type(std::initializer_list<const Tensor*> tensors);

}  // namespace pkg
