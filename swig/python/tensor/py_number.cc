// SPDX-License-Identifier: Apache-2.0
// swig/python/tensor/py_number.cc: Python's operators, straight to their ops.  A slot receives
// both orders (2 - a and a - 2); operands it does not know are NotImplemented.
#include "ops/functions.h"
#include "ops/inverted.h"
#include "py_tensor.h"
#include "tensor/as_number.h"

namespace pkg::python {
namespace {

// Tensor and tensor first; a number takes the dtype of the tensor beside it.
bool parse_pair(PyObject* a, PyObject* b, TensorArg& x, TensorArg& y) {
  if (is_tensor(a)) return x.parse(a) && y.parse_beside(b, *x);
  return y.parse(b) && x.parse_beside(a, *y);
}

// The operand that is no tensor is the one that may be too big.
template <auto& op>
[[noreturn, gnu::cold]] void raise_too_big(const IntTooBig& error) {
  throw error.named(op.record().schema.name, "other");
}

template <auto& op>
PyObject* binary(PyObject* a, PyObject* b) {
  return guarded([&]() -> PyObject* {
    TensorArg x, y;
    try {
      if (!parse_pair(a, b, x, y)) Py_RETURN_NOTIMPLEMENTED;
    } catch (const IntTooBig& error) { raise_too_big<op>(error); }
    return wrap(op(*x, *y));
  });
}
template <auto& op>
PyObject* in_place(PyObject* a, PyObject* b) {
  return guarded([&]() -> PyObject* {
    TensorArg y;
    try {
      if (!y.parse_beside(b, unwrap(a))) Py_RETURN_NOTIMPLEMENTED;
    } catch (const IntTooBig& error) { raise_too_big<op>(error); }
    return wrap(op(unwrap(a), *y));
  });
}

// CPython gives subclasses this slot as sq_inplace_concat too, whose NotImplemented would
// become the value of `x += y`; so what is not ours goes on as x + y.
PyObject* in_place_add(PyObject* a, PyObject* b) {
  PyObject* sum = in_place<ops::add_>(a, b);
  if (sum != Py_NotImplemented) return sum;
  Py_DECREF(sum);
  return PyNumber_Add(a, b);
}

PyObject* power(PyObject* a, PyObject* b, PyObject* modulus) {
  if (modulus != Py_None) Py_RETURN_NOTIMPLEMENTED;
  return binary<ops::pow>(a, b);
}
PyObject* in_place_power(PyObject* a, PyObject* b, PyObject*) {
  return in_place<ops::pow_>(a, b);
}
PyObject* compare(PyObject* a, PyObject* b, int how) {
  // In the order of Py_LT and its like.
  static constexpr binaryfunc all[] = {binary<ops::lt>, binary<ops::le>, binary<ops::eq>,
                                       binary<ops::ne>, binary<ops::gt>, binary<ops::ge>};
  return all[how](a, b);
}

PyObject* as_int(const Tensor& x) {
  const Scalar value = item(x);
  return value.is_float() ? PyLong_FromDouble(value.to<double>())
                          : PyLong_FromLongLong(value.to<int64_t>());
}

}  // namespace

#define PKG_SLOT(name, function) slot(Py_##name, function)
#define PKG_UNARY(name, expression) \
  slot_row<Py_##name, unwrap, [](const Tensor& x) -> auto { return expression; }>()
PyType_Slot g_number_slots[] = {
    PKG_SLOT(nb_add, binary<ops::add>),
    PKG_SLOT(nb_subtract, binary<ops::sub>),
    PKG_SLOT(nb_multiply, binary<ops::mul>),
    PKG_SLOT(nb_true_divide, binary<ops::div>),
    PKG_SLOT(nb_floor_divide, binary<ops::floor_divide>),
    PKG_SLOT(nb_remainder, binary<ops::remainder>),
    PKG_SLOT(nb_power, power),
    PKG_SLOT(nb_matrix_multiply, binary<ops::matmul>),
    PKG_SLOT(nb_and, binary<ops::bitwise_and>),
    PKG_SLOT(nb_or, binary<ops::bitwise_or>),
    PKG_SLOT(nb_xor, binary<ops::bitwise_xor>),
    PKG_SLOT(nb_lshift, binary<ops::bitwise_left_shift>),
    PKG_SLOT(nb_rshift, binary<ops::bitwise_right_shift>),
    PKG_SLOT(nb_inplace_add, in_place_add),
    PKG_SLOT(nb_inplace_subtract, in_place<ops::sub_>),
    PKG_SLOT(nb_inplace_multiply, in_place<ops::mul_>),
    PKG_SLOT(nb_inplace_true_divide, in_place<ops::div_>),
    PKG_SLOT(nb_inplace_floor_divide, in_place<ops::floor_divide_>),
    PKG_SLOT(nb_inplace_remainder, in_place<ops::remainder_>),
    PKG_SLOT(nb_inplace_power, in_place_power),
    PKG_SLOT(nb_inplace_and, in_place<ops::bitwise_and_>),
    PKG_SLOT(nb_inplace_or, in_place<ops::bitwise_or_>),
    PKG_SLOT(nb_inplace_xor, in_place<ops::bitwise_xor_>),
    PKG_SLOT(nb_inplace_lshift, in_place<ops::bitwise_left_shift_>),
    PKG_SLOT(nb_inplace_rshift, in_place<ops::bitwise_right_shift_>),
    PKG_UNARY(nb_negative, wrap(ops::neg(x))),
    PKG_SLOT(nb_positive, new_ref),
    PKG_UNARY(nb_absolute, wrap(ops::abs(x))),
    PKG_UNARY(nb_invert, wrap(inverted(x))),
    PKG_UNARY(nb_bool, truth_of(x)),
    PKG_UNARY(nb_float, item(x).to<double>()),
    PKG_UNARY(nb_int, as_int(x)),
    PKG_UNARY(nb_index, index_of(x)),
    PKG_SLOT(tp_richcompare, compare),
    {0, nullptr}};
#undef PKG_SLOT
#undef PKG_UNARY

}  // namespace pkg::python
