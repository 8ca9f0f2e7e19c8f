// SPDX-License-Identifier: Apache-2.0
// tensor/repeats.h: operands that repeat their elements, as broadcast ones do.
#pragma once

#include "tensor/tensor.h"

namespace pkg {

/// Each element of an operand once, as `dtype` and dense, if they are several and at most a
/// quarter of the results: converting and gathering them costs nothing then, and not once
/// for each time that they are repeated.  It broadcasts as `operand`.  Undefined if there
/// are more, or where nothing would change.
Tensor few_as(const Tensor& operand, int64_t results, DType dtype);

/// An operand of an op of 16-bit floats, as those if its elements are few: `spare` is then
/// where they are.
const Tensor& few_sixteens(const Tensor& operand, const Tensor& out, DType dtype,
                           Tensor& spare);

}  // namespace pkg
