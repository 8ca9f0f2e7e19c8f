// SPDX-License-Identifier: Apache-2.0
// tensor/nested_numbers.cc: numbers of nested sequences; see the header.
#include "tensor/nested_numbers.h"

#include "base/number_fits.h"
#include "tensor/copy.h"

namespace pkg {

void NestedNumbers::begin(size_t depth, int64_t n) {
  constexpr size_t kMostDims = 64;  // a list may hold itself
  PKG_CHECK(depth < kMostDims, ValueError, "[tensor] expected at most ", kMostDims,
            " nested sequences, got more.");
  if (depth == shape_.size() && first_) shape_.push_back(n);
  PKG_CHECK(depth < shape_.size() && shape_[depth] == n, ValueError,
            "[tensor] expected sequence of length ",
            depth < shape_.size() ? shape_[depth] : 0, " at dim ", depth, " (got ", n, ")");
  if (n == 0) first_ = false;
}

void NestedNumbers::add(size_t depth, Scalar number, DType dtype) {
  PKG_CHECK(depth == shape_.size(), ValueError, "[tensor] expected a sequence at dim ",
            depth, ", got a number");
  meet(dtype);
  first_ = false;
  numbers_.push_back(number);
}

void NestedNumbers::meet(DType dtype) { dtype_ = dtype_ ? promote(*dtype_, dtype) : dtype; }

void NestedNumbers::add(size_t depth, const Tensor& array) {
  meet(array.dtype());  // it may be empty
  const DType exact = is_floating(array.dtype()) ? DType::Float64 : DType::Int64;
  const Tensor dense = as_contiguous(as_dtype(array, exact));
  std::vector<Scalar> values(size_t(dense.numel()));
  for (int64_t i = 0; i < dense.numel(); ++i) {
    if (exact == DType::Float64) values[size_t(i)] = dense.data<double>()[i];
    else values[size_t(i)] = dense.data<int64_t>()[i];
  }
  const Scalar* next = values.data();
  add_dims(depth, dense, 0, next, array.dtype());
}

void NestedNumbers::add_dims(size_t depth, const Tensor& array, int64_t dim,
                             const Scalar*& next, DType dtype) {
  if (dim == array.ndim()) return add(depth, *next++, dtype);
  begin(depth, array.size(dim));
  for (int64_t i = 0; i < array.size(dim); ++i) {
    add_dims(depth + 1, array, dim + 1, next, dtype);
  }
}

template <class T>
Tensor NestedNumbers::filled() const {
  Tensor exact = empty(shape_, dtype_of<T>);
  T* out = exact.data<T>();
  for (const Scalar& number : numbers_) *out++ = number.to<T>();
  return exact;
}

Tensor NestedNumbers::tensor(std::optional<DType> dtype) const {
  // In the widest type of their kind, then in the wanted one.
  const DType own = dtype_.value_or(default_dtype());
  if (dtype && is_integral(*dtype)) {
    for (const Scalar& number : numbers_) check_fits("tensor", number, *dtype);
  }
  const Tensor exact = is_floating(own) ? filled<double>() : filled<int64_t>();
  return as_dtype(exact, dtype.value_or(own));
}

}  // namespace pkg
