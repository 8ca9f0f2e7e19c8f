// SPDX-License-Identifier: Apache-2.0
// tests/bindings/bind_number.cc: Python's operators.  An operand that is no tensor,
// number or array makes py::is_operator() answer NotImplemented.
#include "bind.h"
#include "ops/functions.h"
#include "ops/inverted.h"
#include "tensor/as_number.h"

namespace pkg::pybind {
namespace {

/// "__add__" and, if wanted, "__radd__".
template <auto& op>
void binary(TensorClass& cls, const char* name, const char* reflected = nullptr) {
  const auto operand = [](const TensorLike& given) -> const Tensor& {
    return given.operand(op.record().schema.name);
  };
  cls.def(
      name, [=](const Tensor& a, const TensorLike& b) { return op(a, operand(b)); },
      py::is_operator());
  if (!reflected) return;
  cls.def(
      reflected, [=](const Tensor& b, const TensorLike& a) { return op(operand(a), b); },
      py::is_operator());
}

py::int_ as_integer(const Tensor& x) {
  const Scalar value = item(x);
  return value.is_float() ? py::int_(py::float_(value.to<double>()))
                          : py::int_(value.to<int64_t>());
}

}  // namespace

void bind_number(TensorClass& cls) {
  binary<ops::add>(cls, "__add__", "__radd__");
  binary<ops::sub>(cls, "__sub__", "__rsub__");
  binary<ops::mul>(cls, "__mul__", "__rmul__");
  binary<ops::div>(cls, "__truediv__", "__rtruediv__");
  binary<ops::floor_divide>(cls, "__floordiv__", "__rfloordiv__");
  binary<ops::remainder>(cls, "__mod__", "__rmod__");
  binary<ops::pow>(cls, "__pow__", "__rpow__");
  binary<ops::matmul>(cls, "__matmul__", "__rmatmul__");
  binary<ops::bitwise_and>(cls, "__and__", "__rand__");
  binary<ops::bitwise_or>(cls, "__or__", "__ror__");
  binary<ops::bitwise_xor>(cls, "__xor__", "__rxor__");
  binary<ops::bitwise_left_shift>(cls, "__lshift__", "__rlshift__");
  binary<ops::bitwise_right_shift>(cls, "__rshift__", "__rrshift__");

  // Written in place: the result is the left operand, so the same Python object.
  binary<ops::add_>(cls, "__iadd__");
  binary<ops::sub_>(cls, "__isub__");
  binary<ops::mul_>(cls, "__imul__");
  binary<ops::div_>(cls, "__itruediv__");
  binary<ops::floor_divide_>(cls, "__ifloordiv__");
  binary<ops::remainder_>(cls, "__imod__");
  binary<ops::pow_>(cls, "__ipow__");
  binary<ops::bitwise_and_>(cls, "__iand__");
  binary<ops::bitwise_or_>(cls, "__ior__");
  binary<ops::bitwise_xor_>(cls, "__ixor__");
  binary<ops::bitwise_left_shift_>(cls, "__ilshift__");
  binary<ops::bitwise_right_shift_>(cls, "__irshift__");

  binary<ops::eq>(cls, "__eq__");
  binary<ops::ne>(cls, "__ne__");
  binary<ops::lt>(cls, "__lt__");
  binary<ops::le>(cls, "__le__");
  binary<ops::gt>(cls, "__gt__");
  binary<ops::ge>(cls, "__ge__");
  cls.def("__hash__", [](py::handle self) { return uintptr_t(self.ptr()) >> 4; });

  cls.def("__neg__", [](const Tensor& x) { return ops::neg(x); });
  cls.def("__pos__", [](const Tensor& x) { return x; });
  cls.def("__abs__", [](const Tensor& x) { return ops::abs(x); });
  cls.def("__invert__", &inverted);
  cls.def("__bool__", &truth_of);
  cls.def("__float__", [](const Tensor& x) { return item(x).to<double>(); });
  cls.def("__int__", &as_integer);
  cls.def("__index__", &index_of);
}

}  // namespace pkg::pybind
