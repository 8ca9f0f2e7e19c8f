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

/// Whether each byte of these bools is 0 or 1.  Those of others may be any, and the kernels
/// would count with them: such memory is copied or refused where it enters.
bool are_plain_bools(const Tensor& bools);
inline constexpr const char* kOddBools =
    "[from_numpy] expected bytes 0 and 1 in an array of bools, got others. Use "
    "from_numpy(array.view('uint8') != 0); tensor(array) and asarray(array) copy.";

}  // namespace pkg
