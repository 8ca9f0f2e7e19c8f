// SPDX-License-Identifier: Apache-2.0
// ops/op.h: the words that stanzas are written with: dtype and shape rules, and helpers of
// formulas.  For the op files only; loops over elements are in ops/loops.h.
#pragma once

#include "base/checked.h"
#include "dispatcher/library.h"
#include "ops/operators.h"
#include "tensor/copy.h"
#include "tensor/promotion.h"

namespace pkg::ops {

using pkg::operand_type;
using pkg::result_type;

/// What a kernel compares with a limit, for formulas that compare again: 16-bit floats in
/// float32, where the limit is not rounded to them.
Tensor as_computed(const Tensor& operand);
/// An operand with the dtype of the gradient, for formulas: what two bare numbers make, or
/// the logarithm of an integer, has the default dtype, which may be less precise; and bools
/// cannot be subtracted.
Tensor as_gradient(const Tensor& operand, const Tensor& grad);

/// Integers become the default floating type.
inline DType to_floating(DType dtype) {
  return is_floating(dtype) ? dtype : default_dtype();
}
/// float16 and bfloat16 are computed in float32.
inline DType compute_type(DType dtype) {
  return is_reduced(dtype) ? DType::Float32 : dtype;
}
/// Gradient of a broadcast operand: summed back to its shape.
Tensor sum_to(const Tensor& grad, const Shape& shape);

/// For ops that are meant for autograd, but that anybody can call: RuntimeError unless
/// `grad` is a floating tensor of this shape.
void check_gradient(const Tensor& grad, const Shape& sizes);
/// The same for a `tensor` of any dtype, `name` in the error.
void check_shape(const char* name, const Tensor& tensor, const Shape& sizes);

/// An empty list with room for `count` tensors; OutOfMemoryError where there is none, so
/// that a count too large is refused before work is spent on it.
TensorList list_of(int64_t count);

/// Zeros of this shape, with dtype and device of `like`.
Tensor zeros_of(const Shape& sizes, const Tensor& like);
/// The tensor, made a leaf that requires grad if asked; RuntimeError for integers.
Tensor with_requires_grad(Tensor tensor, bool requires_grad);

Spec same_shape(const Tensor& self);
Spec float_shape(const Tensor& self);
Spec bool_shape(const Tensor& self);
Spec broadcast_spec(const char* op, const Tensor& a, const Tensor& b, DType dtype);

}  // namespace pkg::ops
