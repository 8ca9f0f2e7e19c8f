// SPDX-License-Identifier: Apache-2.0
// ops/pointwise/choice.h: the loop of where(), for kernels that choose as well.
#pragma once

#include "tensor/tensor.h"

namespace pkg::ops {

/// out = condition ? self : other, which broadcast to out and are converted to its dtype.
void choose(const Tensor& out, const Tensor& condition, const Tensor& self,
            const Tensor& other);

}  // namespace pkg::ops
