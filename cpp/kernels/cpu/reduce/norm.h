// SPDX-License-Identifier: Apache-2.0
// kernels/cpu/reduce/norm.h: the norm of a whole tensor as a number.
#pragma once

#include "tensor/tensor.h"

namespace pkg {

/// The vector norm of order `p` of all elements of a floating tensor, in double; the same
/// for any number of threads.
double norm_of(const Tensor& self, double p);

}  // namespace pkg
