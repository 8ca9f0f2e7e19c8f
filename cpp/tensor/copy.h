// SPDX-License-Identifier: Apache-2.0
// tensor/copy.h: copies and conversions of whole tensors.  They do not wait.
#pragma once

#include "tensor/tensor.h"

namespace pkg {

/// Copies values, converting the dtype and broadcasting.
void copy_into(const Tensor& dst, const Tensor& src);
/// The tensor itself when contiguous, else a row-major copy.
Tensor as_contiguous(const Tensor& tensor);
/// The tensor itself when it has the dtype, else a converted copy in the same order.
Tensor as_dtype(const Tensor& tensor, DType dtype);

}  // namespace pkg
