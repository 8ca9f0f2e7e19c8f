// SPDX-License-Identifier: Apache-2.0
// tensor/repeats.cc: what is repeated is brought once.
#include "tensor/repeats.h"

#include "tensor/copy.h"
#include "tensor/layout.h"

namespace pkg {
Tensor few_as(const Tensor& operand, int64_t results, DType dtype) {
  if (results < kLeastRepeated) return {};
  const Shape once = sizes_once(operand.sizes(), operand.strides());
  const int64_t n = once.numel();
  if (n < 2 || n * kLeastTimes > results) return {};
  const Tensor elements = alias(operand, once, operand.strides(), operand.offset());
  if (operand.dtype() == dtype && is_dense(elements)) return {};
  Tensor few = empty_as(elements, dtype, operand.device());
  copy_into(few, elements);
  return few;
}

const Tensor& few_sixteens(const Tensor& operand, const Tensor& out, DType dtype,
                           Tensor& spare) {
  if (operand.dtype() == dtype || operand.ndim() == 0) return operand;
  spare = few_as(operand, out.numel(), dtype);
  return spare.defined() ? spare : operand;
}

}  // namespace pkg
