// SPDX-License-Identifier: Apache-2.0
// ops/index/slices.h: what indexing and the ops on slices of a dimension share.
#pragma once

#include "ops/functions.h"

namespace pkg::ops {

/// Of an index into a meta tensor the shape is all that counts.
inline Tensor beside(const Tensor& self, const Tensor& index) {
  if (!self.is_meta() || index.is_meta()) return index;
  return empty(index.sizes(), index.dtype(), self.device());
}

}  // namespace pkg::ops
