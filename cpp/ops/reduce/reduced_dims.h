// SPDX-License-Identifier: Apache-2.0
// ops/reduce/reduced_dims.h: shapes before and after a reduction over dims.  For the op files.
#pragma once

#include "ops/functions.h"

namespace pkg::ops {

/// Shape of the result; dims absent or empty: all of them.
inline Shape reduced_shape(const char* op, const Tensor& self, const Dims& dim,
                           bool keepdim) {
  const Shape dims = wrap_dims(op, dim.value_or(Shape()), self.ndim());
  Shape sizes;
  for (int64_t d = 0; d < self.ndim(); ++d) {
    const bool gone = std::find(dims.begin(), dims.end(), d) != dims.end();
    if (!gone) sizes.push_back(self.sizes()[size_t(d)]);
    else if (keepdim) sizes.push_back(1);
  }
  return sizes;
}

/// Brings a reduced tensor back to the rank of what it was made from.
inline Tensor restore_dims(const Tensor& t, const Shape& shape, const Dims& dim,
                           bool keepdim) {
  if (keepdim) return t;
  Shape sizes = shape;
  for (int64_t d : wrap_dims("sum", dim.value_or(Shape()), int64_t(shape.size()))) {
    sizes[size_t(d)] = 1;
  }
  return reshape(t, sizes);
}
/// Elements that fall together into one.
inline int64_t reduced_count(const char* op, const Shape& shape, const Dims& dim) {
  int64_t count = 1;
  for (int64_t d : wrap_dims(op, dim.value_or(Shape()), int64_t(shape.size()))) {
    count *= shape[size_t(d)];
  }
  return count;
}

}  // namespace pkg::ops
