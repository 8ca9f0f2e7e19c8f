// SPDX-License-Identifier: Apache-2.0
// tensor/as_number.h: tensors where a language wants a plain number, and numbers where an op
// wants a tensor.  Used by the bindings.
#pragma once

#include "tensor/tensor.h"

namespace pkg {

/// What `if x` means; RuntimeError unless there is one element.
bool truth_of(const Tensor& x);
/// Of one integer element, what may stand where an index is wanted; TypeError else.
int64_t index_of(const Tensor& x);
/// Length of the first dimension; TypeError without one.
int64_t length_of(const Tensor& x);

/// A number beside a tensor, as the dtype that both are computed in.
Tensor number_beside(const Scalar& number, DType other);

}  // namespace pkg
