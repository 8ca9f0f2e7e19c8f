// SPDX-License-Identifier: Apache-2.0
// ops/reduce/sum_dtype.h: which dtype sums and products have.
#pragma once

#include "ops/functions.h"

namespace pkg::ops {

/// `dtype` if given, else that of self, but int64 of integers and bools.  RuntimeError where
/// integers would lose the gradient that self wants.
inline DType sum_dtype(const char* op, const Tensor& self, std::optional<DType> dtype) {
  const DType type = dtype.value_or(is_floating(self.dtype()) ? self.dtype()
                                                              : DType::Int64);
  PKG_CHECK(is_floating(type) || !self.requires_grad() || !grad_enabled(), RuntimeError,
            "[", op,
            "] expected a floating dtype for a tensor that requires grad, got dtype=", type,
            ": integers have no gradient. Hint: detach() it first.");
  return type;
}

}  // namespace pkg::ops
