// SPDX-License-Identifier: Apache-2.0
// swig/python/convert.h: plain values between Python and C++.  Called by the typemaps of
// swig/types.i; containers.h, function.h and enumeration.h add types to it.
#pragma once

#include "argument.h"

#include <concepts>
#include <limits>
#include <utility>

namespace pkg::python {

/// One specialisation for each type:
///   static std::string expected();                          "an int", for errors
///   static bool load(PyObject*, T&, const Argument&);       false: an error is set
///   static PyObject* cast(const T&);                        new reference, or null
template <class T>
struct Convert;

/// The argument as a C++ value; false with a Python error set when it is none.
template <class T>
bool to_cpp(PyObject* object, T& value, const Argument& where) {
  return Convert<T>::load(object, value, where);
}

/// The value as a new Python object; null with an error set when there is none.
template <class T>
PyObject* to_python(const T& value) {
  return Convert<T>::cast(value);
}

/// Ints and what has __index__, NumPy's too.
template <std::integral Int>
  requires(!std::same_as<Int, bool>)
struct Convert<Int> {
  static constexpr bool kSigned = std::is_signed_v<Int>;

  static std::string expected() { return "an int"; }
  static bool load(PyObject* object, Int& value, const Argument& where) {
    if constexpr (!kSigned && sizeof(Int) == 8) return load_widest(object, value, where);
    int overflow = 0;
    const long long wide = call_python(PyLong_AsLongLongAndOverflow, object, &overflow);
    if (wide == -1 && PyErr_Occurred()) return explain(where, expected(), object);
    if (overflow != 0 || !std::in_range<Int>(wide)) {
      return refuse_range(where, range(), object);
    }
    value = Int(wide);
    return true;
  }
  static PyObject* cast(Int value) {
    if constexpr (kSigned) return PyLong_FromLongLong(value);
    else return PyLong_FromUnsignedLongLong(value);
  }

 private:
  static std::string range() {
    return "an int of " + std::to_string(8 * sizeof(Int)) + " bits" +
           (kSigned ? "" : ", 0 or more");
  }
  static bool load_widest(PyObject* object, Int& value, const Argument& where) {
    PyObject* number = call_python(PyNumber_Index, object);
    if (!number) return explain(where, expected(), object);
    const unsigned long long wide = PyLong_AsUnsignedLongLong(number);
    Py_DECREF(number);
    if (PyErr_Occurred()) {
      PyErr_Clear();
      return refuse_range(where, range(), object);
    }
    value = Int(wide);
    return true;
  }
};

/// Floats, ints and what has __float__.
template <std::floating_point Float>
struct Convert<Float> {
  static std::string expected() { return "a number"; }
  static bool load(PyObject* object, Float& value, const Argument& where) {
    if (PyFloat_CheckExact(object)) {
      value = Float(PyFloat_AS_DOUBLE(object));
      return true;
    }
    const double wide = call_python(PyFloat_AsDouble, object);
    if (wide == -1.0 && PyErr_Occurred()) {
      if (!PyErr_ExceptionMatches(PyExc_OverflowError) || !PyLong_Check(object)) {
        return explain(where, expected(), object);
      }
      PyErr_Format(PyExc_OverflowError, "[%s] expected %s for '%s', got %s", where.function,
                   "a number below 1.8e308", where.text().c_str(), "a larger int");
      return false;
    }
    value = Float(wide);
    return true;
  }
  static PyObject* cast(Float value) { return PyFloat_FromDouble(double(value)); }
};

/// Whatever has a truth value.
template <>
struct Convert<bool> {
  static std::string expected() { return "a bool"; }
  static bool load(PyObject* object, bool& value, const Argument&) {
    const int truth = call_python(PyObject_IsTrue, object);
    value = truth > 0;
    return truth >= 0;
  }
  static PyObject* cast(bool value) { return PyBool_FromLong(value); }
};

/// A str, as UTF-8, NUL included; lone surrogates are a UnicodeEncodeError, and bytes
/// from C++ that are no UTF-8 a UnicodeDecodeError.
template <>
struct Convert<std::string> {
  static std::string expected() { return "a str"; }
  static bool load(PyObject* object, std::string& value, const Argument& where) {
    if (!PyUnicode_Check(object)) return refuse(where, expected(), object);
    Py_ssize_t size;
    const char* data = PyUnicode_AsUTF8AndSize(object, &size);
    if (!data) return say_where(where);
    value.assign(data, size_t(size));
    return true;
  }
  static PyObject* cast(const std::string& value) {
    return PyUnicode_FromStringAndSize(value.data(), Py_ssize_t(value.size()));
  }

 private:
  // The UnicodeEncodeError says what is wrong with which character, but not whose.
  [[gnu::cold]] static bool say_where(const Argument& where) {
    PyObject *type, *error, *traceback;
    PyErr_Fetch(&type, &error, &traceback);
    call_python(PyErr_NormalizeException, &type, &error, &traceback);
    if (PyErr_GivenExceptionMatches(type, PyExc_UnicodeEncodeError)) {
      const std::string reason = std::string("[") + where.function +
                                 "] expected no lone surrogates for '" + where.text() + "'";
      PyUnicodeEncodeError_SetReason(error, reason.c_str());
    }
    PyErr_Restore(type, error, traceback);
    return false;
  }
};

}  // namespace pkg::python
