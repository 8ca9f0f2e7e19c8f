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
inline PyTypeObject* add_type(PyObject* module, PyType_Spec* spec,
                              PyTypeObject* base = nullptr) {
  const PyRef bases(base ? PyTuple_Pack(1, base) : nullptr);
  PyRef type = check(PyType_FromSpecWithBases(spec, bases.get()));
  const char* dot = std::strrchr(spec->name, '.');
  check(PyObject_SetAttrString(module, dot + 1, type.get()));
  return reinterpret_cast<PyTypeObject*>(type.release());
}

/// For types whose objects only C++ can make: calling one is a TypeError.
inline void forbid_construction(PyTypeObject* type) { type->tp_new = nullptr; }

}  // namespace pkg::python
