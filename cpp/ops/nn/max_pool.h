// SPDX-License-Identifier: Apache-2.0
// ops/nn/max_pool.h: which maxima of windows need no places: those of which nobody wants the
// gradient.
#pragma once

#include "ops/functions.h"

namespace pkg::ops {

/// Whether a result of `self` may be differentiated.
inline bool wants_gradient(const Tensor& self) {
  return self.requires_grad() && grad_enabled();
}

}  // namespace pkg::ops
