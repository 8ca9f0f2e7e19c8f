// SPDX-License-Identifier: Apache-2.0
// tensor/layout.h: the order in which the elements of a tensor lie in memory.
//
// Note [Order of results]
// The result of an elementwise op is dense and lies in memory as its operands do, as
// PyTorch's does, so that `x.t() + 0` is walked as fast as `x + 0`.  Row-major operands
// give row-major results: nothing here is called for them.  Of others the first operand
// says which of two dimensions has the smaller stride; where it repeats its elements in
// one of the two, the next operand is asked.  What nobody decides stays row-major.
#pragma once

#include <span>

#include "tensor/tensor.h"

namespace pkg {

/// Whether elements of these strides, in elements, are row-major; those of dimensions of
/// size 1 say nothing.
bool compute_contiguous(const Shape& sizes, const Shape& strides);
/// Whether every element has a place of its own, with no gaps between them.
bool is_dense(const Tensor& tensor);
/// Whether two tensors of one shape have their elements in the same order and at the same
/// distances.
bool lie_alike(const Tensor& a, const Tensor& b);
/// Whether two elements may lie in one place.  Where dimensions are interleaved ("each
/// step of one leaps over some of another") it says yes without looking closer.
bool may_overlap(const Shape& sizes, const Shape& strides);
/// Whether all elements of `part`, over the same memory, are elements of `whole`, and not
/// what lies in gaps between them.  Of a `whole` that overlaps only the ends are compared.
bool holds(const TensorImpl& whole, const TensorImpl& part);

/// Strides, in elements, of a dense tensor of `sizes`, to which the operands broadcast;
/// null and undefined ones do not count.  See Note [Order of results].
Shape strides_like(const Shape& sizes, std::span<const Tensor* const> operands);

/// Uninitialised, in the order of the operands.
Tensor empty_in_order(const Spec& spec, std::span<const Tensor* const> operands);
/// Uninitialised, with the shape of `tensor` and in its order.
inline Tensor empty_as(const Tensor& tensor, DType dtype, Device device) {
  if (tensor.is_contiguous()) return empty(tensor.sizes(), dtype, device);
  const Tensor* const operands[] = {&tensor};
  return empty_in_order({tensor.sizes(), dtype, device}, operands);
}

}  // namespace pkg
