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

/// Whether these name no place twice: one, or such as grow.  It waits for them.
bool are_distinct(std::span<const Tensor> indices);

/// The gradient of elements that an op reads: zeros of these sizes, to which `put` adds `g`,
/// or `put_in_place` to the running total where there is one.
template <class Put, class PutInPlace>
Tensor gradient_of_read(const Tensor& g, const Shape& sizes,
                        std::span<const Tensor> indices, Put put, PutInPlace put_in_place) {
  const Tensor total = running_total(sizes, g);
  if (total.defined() && are_distinct(indices)) return put_in_place(total);
  const Tensor made = put(zeros_to_add_to(sizes, g));
  return total.defined() ? add_(total, made) : made;
}

/// Of an index into a meta tensor the shape is all that counts.
inline Tensor beside(const Tensor& self, const Tensor& index) {
  if (!self.is_meta() || index.is_meta()) return index;
  return empty(index.sizes(), index.dtype(), self.device());
}

}  // namespace pkg::ops
