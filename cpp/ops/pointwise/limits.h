// SPDX-License-Identifier: Apache-2.0
// ops/pointwise/limits.h: the loop of hardtanh(), for clamp() by numbers, and the
// gradients of maximum() and minimum(), for clamp() by a tensor.
#pragma once

#include "tensor/tensor.h"

namespace pkg::ops {

/// out = self limited to [low, high]: high wins where they cross, and a NaN wins over all.
/// Both fit self's dtype, which is one of numbers; null is no limit.
void limit(Tensor& out, const Tensor& self, const Scalar* low, const Scalar* high);

/// What `a` gets of the gradient of max(a, b) and of min(a, b): half of it where they are
/// equal.  NaN wins over all, and where either is NaN both get the whole.
Tensor of_larger(const Tensor& g, const Tensor& a, const Tensor& b);
Tensor of_smaller(const Tensor& g, const Tensor& a, const Tensor& b);

}  // namespace pkg::ops
