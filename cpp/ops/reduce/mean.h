// SPDX-License-Identifier: Apache-2.0
// ops/reduce/mean.h: averages.  A sum of float16 ends at 65504, so what is averaged in reduced
// precision is summed in float32 and rounded once.
#pragma once

#include "ops/functions.h"

namespace pkg::ops {

/// The tensor itself where it has the dtype: to_dtype always copies.
inline Tensor in_dtype(const Tensor& x, DType dtype) {
  return x.dtype() == dtype ? x : to_dtype(x, dtype);
}

/// The sum over dim (all by default) divided by `n`, in `dtype` or that of x.
inline Tensor sum_over(double n, const Tensor& x, const std::optional<Shape>& dim = {},
                       bool keepdim = false, std::optional<DType> dtype = {}) {
  const DType type = dtype.value_or(x.dtype());
  if (!is_reduced(type)) return div(sum(x, dim, keepdim, dtype), Tensor(n));
  const Tensor wide = sum(x, dim, keepdim, std::optional(DType::Float32));
  return to_dtype(div(wide, Tensor(n)), type);
}

}  // namespace pkg::ops
