// SPDX-License-Identifier: Apache-2.0
// tensor/promotion.cc: which dtype tensors have together.
#include "tensor/promotion.h"

namespace pkg {
namespace {

int category(DType dtype) { return dtype == DType::Bool ? 0 : is_floating(dtype) ? 2 : 1; }
// 2: dimensioned, 1: 0-d, 0: Python number.
int priority(const Tensor& t) {
  return t.impl()->wrapped_number ? 0 : t.ndim() == 0 ? 1 : 2;
}

}  // namespace

DType operand_type(const Tensor& tensor) {
  const bool number = tensor.impl()->wrapped_number;
  return number && is_floating(tensor.dtype()) ? default_dtype() : tensor.dtype();
}

DType result_type(const Tensor& a, const Tensor& b) {
  const int pa = priority(a), pb = priority(b);
  if (a.dtype() == b.dtype() && (pa || pb)) return a.dtype();
  if (pa == pb) return promote(operand_type(a), operand_type(b));
  const Tensor& high = pa > pb ? a : b;
  const Tensor& low = pa > pb ? b : a;
  return category(low.dtype()) > category(high.dtype()) ? operand_type(low) : high.dtype();
}

void CommonDType::add(const Tensor& tensor) {
  if (!tensor.defined()) return;
  auto& group = groups_[priority(tensor)];
  group = group ? promote(*group, operand_type(tensor)) : operand_type(tensor);
}

std::optional<DType> CommonDType::get() const {
  std::optional<DType> result;
  for (int i = 2; i >= 0; --i) {
    if (groups_[i] && (!result || category(*groups_[i]) > category(*result))) {
      result = groups_[i];
    }
  }
  return result;
}

DType result_type(std::initializer_list<const Tensor*> tensors) {
  CommonDType common;
  for (const Tensor* tensor : tensors) common.add(*tensor);
  return *common.get();
}

}  // namespace pkg
