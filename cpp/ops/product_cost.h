// SPDX-License-Identifier: Apache-2.0
// ops/product_cost.h: what sums of products cost, for ops that may become tasks.
#pragma once

#include "base/dtype.h"
#include "base/isa.h"

namespace pkg::ops {

/// How many products one core adds up in a nanosecond, in large matrix products and
/// convolutions.  What is narrower than four bytes is computed as those.
inline double products_per_nanosecond(DType dtype) {
  const double of_floats = isa() == Isa::V4 ? 110 : isa() == Isa::V3 ? 50 : 15;
  return itemsize(dtype) == 8 ? of_floats / 2 : of_floats;
}

}  // namespace pkg::ops
