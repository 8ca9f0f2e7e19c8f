// SPDX-License-Identifier: Apache-2.0
// swig/python/op/py_parse.cc: Python objects as numbers of arguments, and results back.
#include "py_operator.h"
#include "swigkit/standard.h"

namespace pkg::python {
namespace {

// Whether a tensor can stand for an int.
bool counts(const Tensor& t) { return t.ndim() == 0 && is_integral(t.dtype()); }

}  // namespace

bool Reader::integer(PyObject* object, int64_t* out) {
  if (PyLong_CheckExact(object)) {  // nearly always
    *out = PyLong_AsLongLong(object);
    if (*out == -1 && PyErr_Occurred()) throw IntTooBig(object);
    return true;
  }
  // True is no size: x.var(False) means unbiased=False, not dim=0.
  if (PyFloat_Check(object) || PyBool_Check(object) || !PyIndex_Check(object)) return false;
  if (is_tensor(object) && !counts(unwrap(object))) return false;
  PyRef index(call_python(PyNumber_Index, object));
  if (!index) {
    PyErr_Clear();
    return false;
  }
  *out = PyLong_AsLongLong(index.get());
  if (*out == -1 && PyErr_Occurred()) throw IntTooBig(index.get());
  return true;
}

// A number as a double; ints of any length have one, unlike a Scalar's.
bool Reader::real(PyObject* object, double* out) {
  Scalar scalar;
  try {
    if (!parse_scalar(object, &scalar)) return false;
    *out = scalar.to<double>();
  } catch (const IntTooBig&) {
    const PyRef index(call_python(PyNumber_Index, object));
    *out = index ? PyLong_AsDouble(index.get()) : -1.0;
    if (*out == -1.0 && PyErr_Occurred()) throw_python_error();
  }
  return true;
}

bool Reader::text(PyObject* object, std::string* out) {
  if (!PyUnicode_Check(object)) return false;
  Py_ssize_t size;
  const char* text = PyUnicode_AsUTF8AndSize(object, &size);
  if (!text) throw_python_error();
  out->assign(text, size_t(size));
  return true;
}

PyObject* wrap_value(Value&& value) { return checked(to_python(std::move(value))); }

}  // namespace pkg::python
