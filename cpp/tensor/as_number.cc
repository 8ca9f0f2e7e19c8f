// SPDX-License-Identifier: Apache-2.0
// tensor/as_number.cc: between tensors and plain numbers.
#include "tensor/as_number.h"

namespace pkg {
namespace {

// Whether a number of an integer dtype stays what it is.
bool holds(DType dtype, const Scalar& number) {
  if (is_floating(dtype)) return true;
  bool same = false;
  visit_dtype(dtype, [&]<class T>(TypeTag<T>) {
    if constexpr (std::is_arithmetic_v<T>) {
      same = Scalar(number.to<T>()).to<int64_t>() == number.to<int64_t>();
    }
  });
  return same;
}

}  // namespace

bool truth_of(const Tensor& x) {
  PKG_CHECK(x.numel() == 1, RuntimeError, "Boolean value of Tensor with ",
            x.numel() == 0 ? "no values" : "more than one value", " is ambiguous");
  return item(x).to<bool>();
}

int64_t index_of(const Tensor& x) {
  PKG_CHECK(x.numel() == 1 && !is_floating(x.dtype()), TypeError,
            "only integer tensors of a single element can be converted to an index");
  return item(x).to<int64_t>();
}

int64_t length_of(const Tensor& x) {
  PKG_CHECK(x.ndim() > 0, TypeError, "len() of a 0-d tensor");
  return x.sizes()[0];
}

Tensor number_beside(const Scalar& number, DType other) {
  // A number of a higher kind than the tensor keeps its own dtype: ints + 2.5.  So does an
  // int that the tensor's dtype does not hold: what it becomes is the op's affair.
  const bool higher = number.is_float() ? !is_floating(other) : other == DType::Bool;
  if (higher || !holds(other, number)) return Tensor(number);
  Tensor made = empty(Shape{}, other);
  visit_dtype(other, [&]<class T>(TypeTag<T>) { *made.data<T>() = number.to<T>(); });
  made.impl()->wrapped_number = true;
  return made;
}

}  // namespace pkg
