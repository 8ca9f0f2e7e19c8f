// SPDX-License-Identifier: Apache-2.0
// tensor/repeats.h: operands that repeat their elements, as broadcast ones do.
#pragma once

#include "tensor/tensor.h"

namespace pkg {

/// What pays to be brought once: elements for at least so many results, each so often.
constexpr int64_t kLeastRepeated = 8192, kLeastTimes = 4;

/// Of dimensions that repeat the same memory one of each.
inline Shape sizes_once(Shape sizes, const Shape& strides) {
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (strides[i] == 0) sizes[i] = 1;
  }
  return sizes;
}

/// Each element of an operand once, as `dtype` and dense, if they are several and repeated
/// as often as above: converting and gathering them costs nothing then, and not once for
/// each time that they are repeated.  It broadcasts as `operand`.  Undefined otherwise, and
/// where nothing would change.
Tensor few_as(const Tensor& operand, int64_t results, DType dtype);

/// An operand of an op of 16-bit floats, as those if its elements are few: `spare` is then
/// where they are.
const Tensor& few_sixteens(const Tensor& operand, const Tensor& out, DType dtype,
                           Tensor& spare);

}  // namespace pkg
