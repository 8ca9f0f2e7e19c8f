// SPDX-License-Identifier: Apache-2.0
// base/shape.cc: the out-of-line parts of Shape and the rules on dimensions.
#include "base/shape.h"

#include <ostream>

#include "base/error.h"

namespace pkg {

void Shape::grow(size_t count) {
  auto* fresh = new int64_t[count];
  std::memcpy(fresh, data(), size_ * sizeof(int64_t));
  if (on_heap()) delete[] heap_;
  heap_ = fresh;
  capacity_ = uint32_t(count);
}

void Shape::copy_to_heap(const Shape& other) {
  capacity_ = size_;
  heap_ = new int64_t[size_];
  std::memcpy(heap_, other.data(), size_ * sizeof(int64_t));
}

std::ostream& operator<<(std::ostream& out, const Shape& shape) {
  out << '(';
  for (size_t i = 0; i < shape.size(); ++i) out << (i ? ", " : "") << shape[i];
  return out << (shape.size() == 1 ? ",)" : ")");
}

Shape contiguous_strides(const Shape& sizes) {
  Shape strides = sizes;
  int64_t step = 1, *out = strides.data();
  for (size_t i = sizes.size(); i-- > 0;) {
    const int64_t size = out[i];
    out[i] = step;
    step *= std::max<int64_t>(size, 1);
  }
  return strides;
}

int64_t wrap_dim(const char* op, int64_t dim, int64_t ndim) {
  const int64_t limit = std::max<int64_t>(ndim, 1);
  PKG_CHECK(dim >= -limit && dim < limit, IndexError, "[", op,
            "] Dimension out of range (expected to be in range of [", -limit, ", ",
            limit - 1, "], but got ", dim, ")");
  return dim < 0 ? dim + limit : dim;
}

Shape wrap_dims(const char* op, const Shape& dims, int64_t ndim) {
  Shape result;
  if (dims.empty()) {
    for (int64_t d = 0; d < ndim; ++d) result.push_back(d);
    return result;
  }
  for (int64_t dim : dims) {
    const int64_t d = wrap_dim(op, dim, ndim);
    PKG_CHECK(std::find(result.begin(), result.end(), d) == result.end(), RuntimeError,
              "[", op, "] dim ", d, " appears multiple times in the list of dims ",
              dims);
    result.push_back(d);
  }
  if (ndim == 0) result.clear();
  return result;
}

Shape broadcast_shapes(const char* op, const Shape& a, const Shape& b) {
  if (a == b) return a;
  const Shape& longer = a.size() >= b.size() ? a : b;
  Shape result = longer;
  const size_t ndim = longer.size();
  for (size_t i = 0; i < ndim; ++i) {
    const int64_t x = i + a.size() >= ndim ? a[i + a.size() - ndim] : 1;
    const int64_t y = i + b.size() >= ndim ? b[i + b.size() - ndim] : 1;
    PKG_CHECK(x == y || x == 1 || y == 1, RuntimeError, "[", op,
              "] The size of tensor a (", x, ") must match the size of tensor b (", y,
              ") at non-singleton dimension ", i, " (shapes ", a, " and ", b, ")");
    result[i] = x == 1 ? y : x;
  }
  return result;
}

}  // namespace pkg
