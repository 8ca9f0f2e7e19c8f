// SPDX-License-Identifier: Apache-2.0
// ops/index/slices.h: what indexing and the ops on slices of a dimension share.
#pragma once

#include "dispatcher/running_total.h"
#include "ops/op.h"

namespace pkg::ops {

/// What gradients of elements are added to: zeros, if many without memory of their own, as
/// the op copies them into its result.
inline Tensor zeros_to_add_to(const Shape& sizes, const Tensor& grad) {
  if (sizes.numel() < 4096) return zeros_of(sizes, grad);
  return expand(zeros_of(Shape(), grad), sizes);
}

/// Of an index into a meta tensor the shape is all that counts.
inline Tensor beside(const Tensor& self, const Tensor& index) {
  if (!self.is_meta() || index.is_meta()) return index;
  return empty(index.sizes(), index.dtype(), self.device());
}

}  // namespace pkg::ops
