// SPDX-License-Identifier: Apache-2.0
// tensor/copy.cc: a copy is a pointwise kernel whose block function converts, or none.
#include "tensor/copy.h"

#include "base/isa.h"
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

bool are_plain_bools(const Tensor& bools) {
  const Tensor row = as_contiguous(bools);
  const auto* bytes = static_cast<const uint8_t*>(row.data());
  const int64_t n = row.numel();
  uint8_t any = 0;
  with_isa([&any, bytes, n] {
    uint8_t bits = 0;
    for (int64_t i = 0; i < n; ++i) bits |= bytes[i];
    any = bits;
  });
  return any <= 1;
}

}  // namespace pkg
