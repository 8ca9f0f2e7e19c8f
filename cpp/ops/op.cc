// SPDX-License-Identifier: Apache-2.0
// ops/op.cc: bare numbers and the shape rules of elementwise ops.
#include "ops/op.h"

#include "tensor/allocator.h"

namespace pkg::ops {

Tensor as_computed(const Tensor& operand) {
  const DType dtype = compute_type(operand.dtype());
  return dtype == operand.dtype() ? operand : to_dtype(operand, dtype);
}

Tensor as_gradient(const Tensor& operand, const Tensor& grad) {
  if (!is_floating(grad.dtype())) return operand;
  if (!operand.impl()->wrapped_number) {
    return operand.dtype() == grad.dtype() ? operand : to_dtype(operand, grad.dtype());
  }
  const Tensor result = share(as_dtype(operand, grad.dtype()));
  result.impl()->wrapped_number = false;
  return result;
}

Tensor sum_to(const Tensor& grad, const Shape& shape) {
  if (grad.sizes() == shape) return grad;
  Shape dims;
  const size_t extra = grad.sizes().size() - shape.size();
  for (size_t d = 0; d < grad.sizes().size(); ++d) {
    if (d < extra || (shape[d - extra] == 1 && grad.sizes()[d] != 1)) {
      dims.push_back(int64_t(d));
    }
  }
  Tensor result = grad;
  if (!dims.empty()) {
    result = sum(grad, std::optional<Shape>(dims), true, std::optional<DType>());
  }
  return result.sizes() == shape ? result : reshape(result, shape);
}

void check_shape(const char* name, const Tensor& tensor, const Shape& sizes) {
  PKG_CHECK(tensor.sizes() == sizes, RuntimeError, "[op] expected ", name, " of shape ",
            sizes, ", got ", tensor.sizes(), ".");
}
void check_gradient(const Tensor& grad, const Shape& sizes) {
  check_shape("a gradient", grad, sizes);
  PKG_CHECK(is_floating(grad.dtype()), RuntimeError,
            "[op] expected a floating gradient, got ", grad.dtype(), ".");
}

TensorList list_of(int64_t count) {
  if (count > int64_t{1} << 20) {
    // Each entry becomes a tensor of its own, far larger than its place in the list.
    const auto nbytes = size_t(Checked(count) * int64_t(sizeof(TensorImpl)));
    deallocate(allocate(nbytes), nbytes);
  }
  TensorList list;
  list.reserve(size_t(count));
  return list;
}

Tensor zeros_of(const Shape& sizes, const Tensor& like) {
  return full_like(empty(sizes, like.dtype(), like.device()), 0);
}

Spec same_shape(const Tensor& self) {
  return {self.sizes(), operand_type(self), self.device()};
}
Spec float_shape(const Tensor& self) {
  return {self.sizes(), to_floating(operand_type(self)), self.device()};
}
Spec bool_shape(const Tensor& self) { return {self.sizes(), DType::Bool, self.device()}; }
Spec broadcast_spec(const char* op, const Tensor& a, const Tensor& b, DType dtype) {
  return {broadcast_shapes(op, a.sizes(), b.sizes()), dtype,
          a.is_meta() ? a.device() : b.device()};
}

}  // namespace pkg::ops
