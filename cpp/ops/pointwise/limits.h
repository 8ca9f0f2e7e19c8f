// SPDX-License-Identifier: Apache-2.0
// ops/pointwise/limits.h: the loop of hardtanh(), for clamp() by numbers.
#pragma once

#include "tensor/tensor.h"

namespace pkg::ops {

/// out = self limited to [low, high]: high wins where they cross, and a NaN wins over all.
/// Both fit self's dtype, which is one of numbers; null is no limit.
void limit(Tensor& out, const Tensor& self, const Scalar* low, const Scalar* high);

}  // namespace pkg::ops
