// SPDX-License-Identifier: Apache-2.0
// swig/python/argument.h: a plain argument from Python to C++, and the one text for a
// wrong one.  Called by the typemaps of swig/types.i.
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <limits>
#include <string>

namespace pkg::python {

/// Where an argument belongs, for errors.
struct Argument {
  const char* function;
  const char* name;
};

/// Sets TypeError; `expected` is such as "an int".
[[gnu::cold, gnu::noinline]] inline bool refuse(Argument where, const char* expected,
                                                PyObject* got) {
  PyErr_Format(PyExc_TypeError, "[%s] expected %s for '%s', got %s", where.function,
               expected, where.name, Py_TYPE(got)->tp_name);
  return false;
}

/// A conversion failed: the usual TypeError gets our text, another error stays.
[[gnu::cold, gnu::noinline]] inline bool explain(Argument where, const char* expected,
                                                 PyObject* got) {
  return PyErr_ExceptionMatches(PyExc_TypeError) ? refuse(where, expected, got) : false;
}

/// Ints and what has __index__, NumPy's too.
template <class Int>
bool to_cpp(PyObject* object, Int& value, Argument where) {
  int overflow = 0;
  const long long wide = PyLong_AsLongLongAndOverflow(object, &overflow);
  if (wide == -1 && PyErr_Occurred()) return explain(where, "an int", object);
  if (overflow != 0 || wide < std::numeric_limits<Int>::min() ||
      wide > std::numeric_limits<Int>::max()) {
    PyErr_Format(PyExc_OverflowError,
                 "[%s] expected an int of %d bits for '%s', got %R", where.function,
                 int(8 * sizeof(Int)), where.name, object);
    return false;
  }
  value = Int(wide);
  return true;
}

/// Floats, ints and what has __float__.
inline bool to_cpp(PyObject* object, double& value, Argument where) {
  if (PyFloat_CheckExact(object)) {
    value = PyFloat_AS_DOUBLE(object);
    return true;
  }
  value = PyFloat_AsDouble(object);
  if (value == -1.0 && PyErr_Occurred()) return explain(where, "a number", object);
  return true;
}

/// Whatever has a truth value.
inline bool to_cpp(PyObject* object, bool& value, Argument) {
  const int truth = PyObject_IsTrue(object);
  value = truth > 0;
  return truth >= 0;
}

/// A str, as UTF-8; lone surrogates are a UnicodeEncodeError.
inline bool to_cpp(PyObject* object, std::string& value, Argument where) {
  if (!PyUnicode_Check(object)) return refuse(where, "a str", object);
  Py_ssize_t size;
  const char* data = PyUnicode_AsUTF8AndSize(object, &size);
  if (!data) return false;
  value.assign(data, size_t(size));
  return true;
}

}  // namespace pkg::python
