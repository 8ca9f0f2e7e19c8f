// SPDX-License-Identifier: Apache-2.0
// swig/python/py_type.h: what heap types and their tables of methods need.
#pragma once

#include <cstring>

#include "py_error.h"

namespace pkg::python {

/// A method that takes keywords, as the method table wants it.
inline PyCFunction with_keywords(PyCFunctionWithKeywords function) {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function));
}

/// Makes a type and adds it to the module under its last name; it lives with the process.
inline PyTypeObject* add_type(PyObject* module, PyType_Spec* spec) {
  PyRef type = check(PyType_FromSpec(spec));
  check(PyObject_SetAttrString(module, std::strrchr(spec->name, '.') + 1, type.get()));
  return reinterpret_cast<PyTypeObject*>(type.release());
}

}  // namespace pkg::python
