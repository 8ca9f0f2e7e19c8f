// SPDX-License-Identifier: Apache-2.0
// ops/index/slices.h: what indexing and the ops on slices of a dimension share.
#pragma once

#include "ops/functions.h"

namespace pkg::ops {

/// The slices of a dimension that a vector names.
inline const Op<Tensor(const Tensor&, int64_t, const Tensor&)> slices_of{"_slices"};
/// Writes to them, or adds.
inline const Op<Tensor(const Tensor&, int64_t, const Tensor&, const Tensor&, bool)>
    slices_put{"_slices_put"}, slices_put_{"_slices_put_"};

/// Of an index into a meta tensor the shape is all that counts.
inline Tensor beside(const Tensor& self, const Tensor& index) {
  if (!self.is_meta() || index.is_meta()) return index;
  return empty(index.sizes(), index.dtype(), self.device());
}

}  // namespace pkg::ops
