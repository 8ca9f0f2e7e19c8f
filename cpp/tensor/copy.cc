// SPDX-License-Identifier: Apache-2.0
// tensor/copy.cc: a copy is a pointwise kernel whose block function converts, or none.
#include "tensor/copy.h"

#include "tensor/layout.h"
#include "tensor/staging.h"

namespace pkg {

void copy_into(const Tensor& dst, const Tensor& src) {
  const DType from = src.dtype(), to = dst.dtype();
  const Conversion path(from, to, to);
  const auto steps = size_t(path.count);
  Pointwise kernel{steps ? path.steps[steps - 1].run : nullptr};
  kernel.add(dst, to);
  kernel.add(src, steps > 1 ? path.steps[steps - 2].to : from);
  run_pointwise(kernel);
}

Tensor as_contiguous(const Tensor& tensor) {
  if (tensor.is_contiguous()) return tensor;
  Tensor copy = empty(tensor.spec());
  copy_into(copy, tensor);
  return copy;
}

Tensor as_dtype(const Tensor& tensor, DType dtype) {
  if (tensor.dtype() == dtype) return tensor;
  Tensor copy = empty_as(tensor, dtype, tensor.device());
  copy_into(copy, tensor);
  return copy;
}

}  // namespace pkg
