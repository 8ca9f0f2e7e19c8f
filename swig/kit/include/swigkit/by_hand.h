// SPDX-License-Identifier: Apache-2.0
// swigkit/by_hand.h: for types and methods that are written in the C API beside what SWIG
// wraps: all of it throws what is wrong, so it belongs below guarded().
#pragma once

#include "error.h"

#include <structseq.h>

#include <cstring>
#include <string>
#include <vector>

namespace [[gnu::visibility("hidden")]] swigkit {

/// The object itself; throws the Python error that is set when it is null.
inline PyObject* checked(PyObject* object) {
  if (!object) throw_python_error();
  return object;
}

/// A new tuple of n objects, which item(i) gives as new references.
template <class F>
PyObject* make_tuple(size_t n, F item) {
  PyRef tuple(checked(PyTuple_New(Py_ssize_t(n))));
  for (size_t i = 0; i < n; ++i) {
    PyTuple_SET_ITEM(tuple.get(), Py_ssize_t(i), checked(item(i)));
  }
  return tuple.release();
}

/// A method that takes keywords, as the method table wants it.
inline PyCFunction with_keywords(PyCFunctionWithKeywords function) {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function));
}

/// What such a method was given: `format` is that of PyArg_ParseTupleAndKeywords(), and a
/// name of "" that of a parameter without one.
template <size_t n, class... Places>
void parse_arguments(PyObject* args, PyObject* keywords, const char* format,
                     const char* const (&names)[n], Places*... places) {
  static_assert(n == sizeof...(places));
  char* all[n + 1] = {};
  for (size_t i = 0; i < n; ++i) all[i] = const_cast<char*>(names[i]);
  const bool fits = call_python(
      [&] { return PyArg_ParseTupleAndKeywords(args, keywords, format, all, places...); });
  if (!fits) throw_python_error();
}

/// Makes a type and adds it to the module under its last name; it lives with the process.
inline PyTypeObject* add_type(PyObject* module, PyType_Spec* spec) {
  PyRef type = check(PyType_FromSpec(spec));
  check(PyObject_SetAttrString(module, std::strrchr(spec->name, '.') + 1, type.get()));
  return reinterpret_cast<PyTypeObject*>(type.release());
}

/// A class of tuples whose items have names, for results whose names are known when the
/// program runs: PyStructSequence_New() makes one.  The items' names must live as long.  A
/// pickle holds a plain tuple, as no module has the class.
inline PyTypeObject* make_named_tuple(const char* name, const char* doc,
                                      const std::vector<const char*>& names) {
  static PyMethodDef reduce = {
      "__reduce__",
      [](PyObject* self, PyObject*) -> PyObject* {
        PyRef items(PySequence_GetSlice(self, 0, PyTuple_GET_SIZE(self)));
        if (!items) return nullptr;
        return Py_BuildValue("O(O)", reinterpret_cast<PyObject*>(&PyTuple_Type),
                             items.get());
      },
      METH_NOARGS, nullptr};
  std::vector<PyStructSequence_Field> fields;
  for (const char* each : names) fields.push_back({each, nullptr});
  fields.push_back({nullptr, nullptr});
  PyStructSequence_Desc description{name, doc, fields.data(), int(names.size())};
  PyRef made = check(reinterpret_cast<PyObject*>(PyStructSequence_NewType(&description)));
  auto* type = reinterpret_cast<PyTypeObject*>(made.get());
  const PyRef method = check(PyDescr_NewMethod(type, &reduce));
  check(PyObject_SetAttrString(made.get(), "__reduce__", method.get()));
  return reinterpret_cast<PyTypeObject*>(made.release());
}

}  // namespace swigkit
