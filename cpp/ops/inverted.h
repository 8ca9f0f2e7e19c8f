// SPDX-License-Identifier: Apache-2.0
// ops/inverted.h: ~x, which is bitwise_not() of what has bits.  Used by the bindings.
#pragma once

#include "ops/functions.h"

namespace pkg {

/// TypeError for floats.
inline Tensor inverted(const Tensor& x) {
  PKG_CHECK(!is_floating(x.dtype()), TypeError,
            "~ (operator.invert) is only implemented on integer and Boolean-type "
            "tensors, got ",
            x.dtype());
  return ops::bitwise_not(x);
}

}  // namespace pkg
