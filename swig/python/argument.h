// SPDX-License-Identifier: Apache-2.0
// swig/python/argument.h: where an argument belongs, and the one text for a wrong one:
//
//     [function] expected a number for 'values[3]', got str
//
// Used by every conversion (convert.h and what includes it).
#pragma once

#include "py_ref.h"

#include <string>

#include "base/error.h"

namespace pkg::python {

/// Where an argument belongs, for errors: a parameter, or a part of another argument.
struct Argument {
  const char* function;
  const char* name;
  // Of a part: what it is a part of, and how it is got from there.
  enum class Part { Item, Value, Key, Result };
  const Argument* whole = nullptr;
  Part part = Part::Item;
  Py_ssize_t index = 0;
  PyObject* key = nullptr;

  /// A sequence's item.
  Argument item(Py_ssize_t i) const { return {function, name, this, Part::Item, i}; }
  /// A mapping's value, and its key.
  Argument value_of(PyObject* k) const { return {function, name, this, Part::Value, 0, k}; }
  Argument key_of(PyObject* k) const { return {function, name, this, Part::Key, 0, k}; }
  /// What a callable returned.
  Argument result() const { return {function, name, this, Part::Result}; }

  /// "values[3]", "prices['tea']", "prices (key 7)", "callback()".
  std::string text() const {
    if (!whole) return name;
    switch (part) {
      case Part::Item: return whole->text() + "[" + std::to_string(index) + "]";
      case Part::Value: return whole->text() + "[" + repr(key) + "]";
      case Part::Key: return whole->text() + " (key " + repr(key) + ")";
      default: return whole->text() + "()";
    }
  }

 private:
  static std::string repr(PyObject* object) {
    PyObject* text = call_python(PyObject_Repr, object);
    const char* utf8 = text ? PyUnicode_AsUTF8(text) : nullptr;
    const std::string shown = utf8 ? utf8 : "?";
    if (!utf8) PyErr_Clear();
    Py_XDECREF(text);
    return shown;
  }
};

/// Sets TypeError; `expected` is such as "an int".
[[gnu::cold, gnu::noinline]] inline bool refuse(const Argument& where,
                                                const std::string& expected,
                                                PyObject* got) {
  PyErr_SetString(PyExc_TypeError, wrong_argument(where.function, where.text(), expected,
                                                  Py_TYPE(got)->tp_name)
                                       .c_str());
  return false;
}

/// The same as a C++ exception, for code below guarded().
inline void expect(bool fits, const Argument& where, const char* expected, PyObject* got) {
  if (__builtin_expect(fits, 1)) return;
  detail::raise<TypeError>(
      wrong_argument(where.function, where.text(), expected, Py_TYPE(got)->tp_name));
}

/// A conversion failed: the usual TypeError gets our text, another error stays.
[[gnu::cold, gnu::noinline]] inline bool explain(const Argument& where,
                                                 const std::string& expected,
                                                 PyObject* got) {
  return PyErr_ExceptionMatches(PyExc_TypeError) ? refuse(where, expected, got) : false;
}

/// Sets OverflowError for an int that does not fit.
[[gnu::cold, gnu::noinline]] inline bool refuse_range(const Argument& where,
                                                      const std::string& expected,
                                                      PyObject* got) {
  PyErr_Format(PyExc_OverflowError, "[%s] expected %s for '%s', got %R", where.function,
               expected.c_str(), where.text().c_str(), got);
  return false;
}

}  // namespace pkg::python
