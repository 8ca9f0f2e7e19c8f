// SPDX-License-Identifier: Apache-2.0
// tensor/fill.h: one number everywhere.
#pragma once

#include "tensor/tensor.h"

namespace pkg {

/// Writes `value`, which fits the dtype, to every element, whatever the strides are.
void fill(const Tensor& tensor, const Scalar& value);

}  // namespace pkg
