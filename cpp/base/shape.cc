// SPDX-License-Identifier: Apache-2.0
// base/shape.cc: the out-of-line parts of Shape and the rules on dimensions.
#include "base/shape.h"

#include <ostream>

#include "base/checked.h"
#include "base/error.h"

namespace pkg {

void detail::arithmetic_failed(const char* sign, int64_t a, int64_t b) {
  if (b == 0 && (*sign == '/' || *sign == '%')) {
    raise<RuntimeError>("[op] expected a divisor other than 0, got ", a, " ", sign, " 0.");
  }
  raise<RuntimeError>("[op] expected a number of 64 bits, got ", a, " ", sign, " ", b, ".");
}

void Shape::grow(size_t count) {
  constexpr size_t kMost = size_t{1} << 31;
  PKG_CHECK(count <= kMost, RuntimeError, "[op] expected at most ", kMost,
            " numbers in a list, got ", count, ".");
  auto* fresh = new int64_t[count];
  std::memcpy(fresh, data(), size_ * sizeof(int64_t));
  if (on_heap()) delete[] heap_;
  heap_ = fresh;
  capacity_ = uint32_t(count);
}

void Shape::copy_from_heap(const Shape& other) {
  if (size_ > kInline) {
    heap_ = new int64_t[size_];
    capacity_ = size_;
  }
  std::memcpy(data(), other.heap_, size_ * sizeof(int64_t));
}

int64_t Shape::careful_numel() const {
  int64_t n = 1;
  bool empty = false;
  for (int64_t v : *this) {
    empty |= v == 0;
    PKG_CHECK(v == 0 || !__builtin_mul_overflow(n, v, &n), RuntimeError,
              "[op] expected a shape of fewer than 2**63 elements (sizes of 0 apart), got ",
              *this, ".");
  }
  return empty ? 0 : n;
}

std::ostream& operator<<(std::ostream& out, const Shape& shape) {
  out << '(';
  for (size_t i = 0; i < shape.size(); ++i) out << (i ? ", " : "") << shape[i];
  return out << (shape.size() == 1 ? ",)" : ")");
}

Shape contiguous_strides(const Shape& sizes) {
  Shape strides = sizes;
  int64_t step = 1, *out = strides.data();
  bool overflow = false;
  for (size_t i = sizes.size(); i-- > 0;) {
    const int64_t size = out[i];
    PKG_CHECK(!overflow, RuntimeError,
              "[op] expected a shape whose strides are below "
              "2**63, got ",
              sizes, ".");
    out[i] = step;
    overflow = __builtin_mul_overflow(step, std::max<int64_t>(size, 1), &step);
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
    PKG_CHECK(std::find(result.begin(), result.end(), d) == result.end(), RuntimeError, "[",
              op, "] dim ", d, " appears multiple times in the list of dims ", dims);
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
    PKG_CHECK(x == y || x == 1 || y == 1, RuntimeError, "[", op, "] The size of tensor a (",
              x, ") must match the size of tensor b (", y, ") at non-singleton dimension ",
              i, " (shapes ", a, " and ", b, ")");
    result[i] = x == 1 ? y : x;
  }
  return result;
}

}  // namespace pkg
