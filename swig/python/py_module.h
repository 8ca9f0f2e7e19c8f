// SPDX-License-Identifier: Apache-2.0
// swig/python/py_module.h: what the SWIG module calls while it is imported.
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

namespace pkg::python {

/// Adds the hand-written types and functions; -1 with an error set on failure.
int init_module(PyObject* module) noexcept;

}  // namespace pkg::python
