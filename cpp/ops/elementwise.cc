// SPDX-License-Identifier: Apache-2.0
// ops/elementwise.cc: dtype promotion and the shape rules of elementwise ops.
#include "ops/elementwise.h"

namespace pkg::ops {
namespace {

int category(DType dtype) {
  return dtype == DType::Bool ? 0 : is_floating(dtype) ? 2 : 1;
}
// 2: dimensioned, 1: 0-d, 0: Python number.
int priority(const Tensor& t) {
  return t.impl()->wrapped_number ? 0 : t.ndim() == 0 ? 1 : 2;
}

}  // namespace

DType result_type(const Tensor& a, const Tensor& b) {
  if (a.dtype() == b.dtype()) return a.dtype();
  const int pa = priority(a), pb = priority(b);
  if (pa == pb) return promote(a.dtype(), b.dtype());
  const Tensor& high = pa > pb ? a : b;
  const Tensor& low = pa > pb ? b : a;
  return category(low.dtype()) > category(high.dtype()) ? low.dtype() : high.dtype();
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

Spec same_shape(const Tensor& self) { return self.spec(); }
Spec float_shape(const Tensor& self) {
  return {self.sizes(), to_floating(self.dtype()), self.device()};
}
Spec bool_shape(const Tensor& self) {
  return {self.sizes(), DType::Bool, self.device()};
}
Spec broadcast_spec(const char* op, const Tensor& a, const Tensor& b, DType dtype) {
  return {broadcast_shapes(op, a.sizes(), b.sizes()), dtype,
          a.is_meta() ? a.device() : b.device()};
}

}  // namespace pkg::ops
