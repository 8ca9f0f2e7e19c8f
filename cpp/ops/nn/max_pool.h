// SPDX-License-Identifier: Apache-2.0
// ops/nn/max_pool.h: maxima of windows without their places, for calls of which nobody wants
// the gradient.
#pragma once

#include "ops/functions.h"

namespace pkg::ops {

inline const Op<Tensor(const Tensor&, const Shape&, const Shape&, const Shape&)>
    max_pool2d_values{"_max_pool2d_values"};

/// Whether a result of `self` may be differentiated.
inline bool wants_gradient(const Tensor& self) {
  return self.requires_grad() && grad_enabled();
}

}  // namespace pkg::ops
