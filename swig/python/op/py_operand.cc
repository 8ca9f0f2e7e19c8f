// SPDX-License-Identifier: Apache-2.0
// swig/python/op/py_operand.cc: numbers and operands from Python: what may stand where a
// number, or a tensor, is wanted.
#include <string_view>

#include "python/tensor/py_tensor.h"
#include "tensor/as_number.h"
#include "tensor/copy.h"

namespace pkg::python {

namespace {

constexpr char kWide[] = "an int of 64 bits";

}  // namespace

IntTooBig::IntTooBig(PyObject* number) : OverflowError("") {
  PyErr_Clear();
  number_ = repr(number, "a larger one");  // Python writes no more than 4,300 digits
  append(str("expected ", kWide, ", got ", number_));
}
OverflowError IntTooBig::named(std::string_view function,
                               std::string_view parameter) const {
  return OverflowError(wrong_argument(function, parameter, kWide, number_));
}

bool parse_scalar(PyObject* object, Scalar* out) {
  if (PyFloat_Check(object)) {
    *out = PyFloat_AS_DOUBLE(object);
  } else if (PyBool_Check(object)) {
    *out = object == Py_True;
  } else if (PyLong_Check(object)) {
    const long long value = PyLong_AsLongLong(object);
    if (value == -1 && PyErr_Occurred()) throw IntTooBig(object);
    *out = int64_t(value);
  } else if (is_tensor(object)) {
    const Tensor& tensor = unwrap(object);
    if (tensor.ndim() != 0 || tensor.requires_grad() || tensor.is_meta()) return false;
    *out = item(tensor);
  } else {
    // NumPy scalars: 0-d objects with a dtype of one letter kind.
    PyNumberMethods* number = Py_TYPE(object)->tp_as_number;
    if (!number || !number->nb_float || !is_dimensionless(object)) return false;
    if (number->nb_index) {
      PyRef index(call_python(PyNumber_Index, object));
      if (index) return parse_scalar(index.get(), out);
      PyErr_Clear();
    }
    switch (dtype_kind(object)) {
      case '\0':  // no dtype
      case 'c':   // no double holds a complex number or a date
      case 'M':
      case 'm': return false;
      case 'b': *out = call_python(PyObject_IsTrue, object) == 1; return true;
    }
    const double value = call_python(PyFloat_AsDouble, object);
    if (value == -1 && PyErr_Occurred()) {
      PyErr_Clear();
      return false;
    }
    *out = value;
  }
  return true;
}

bool TensorArg::parse_beside(PyObject* object, const Tensor& other) {
  if (is_tensor(object)) return parse(object);
  tensor_ = &made_;
  Scalar number;
  const bool plain = PyFloat_CheckExact(object) || PyLong_CheckExact(object);
  if (!plain || is_reduced(other.dtype()) || !parse_scalar(object, &number)) {
    return parse_tensor(object, &made_);
  }
  made_ = number_beside(number, other.dtype());
  return true;
}

bool parse_tensor(PyObject* object, Tensor* out) {
  if (is_tensor(object)) {
    *out = unwrap(object);
    return true;
  }
  Scalar scalar;
  if (parse_scalar(object, &scalar)) {
    *out = Tensor(scalar);
    return true;
  }
  if (PyUnicode_Check(object) || PyBytes_Check(object) || PyByteArray_Check(object)) {
    return false;
  }
  if (!is_array(object)) return false;
  const Tensor view = over_array(object);
  *out = empty(view.spec());
  copy_into(*out, view);
  return true;
}

}  // namespace pkg::python
