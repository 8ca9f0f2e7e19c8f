// SPDX-License-Identifier: Apache-2.0
// shared/python_glue.h: joins a stage to Python, by any binding.  pkg is imported for the
// core's hooks: a wait gives up the GIL, exit runs out what is queued, fork waits for it.
#pragma once

#include <Python.h>

#include "shared/python.h"

namespace stages {

/// A class or function of pkg; a new reference, null with an error set.
inline PyObject* core_class(const char* name) {
  PyObject* module = PyImport_ImportModule("pkg");
  PyObject* found = module ? PyObject_GetAttrString(module, name) : nullptr;
  Py_XDECREF(module);
  return found;
}

/// Runs `last`, if any, at exit, while there is an interpreter.  False with an error set.
template <void (*raise)()>
bool join_python(PyObject* module, void (*last)() = nullptr) {
  g_check_signals = [] {
    const PyGILState_STATE state = PyGILState_Ensure();
    const bool stop = PyErr_CheckSignals() < 0;
    if (!stop) return PyGILState_Release(state);
    struct Released {
      PyGILState_STATE state;
      ~Released() { PyGILState_Release(state); }
    } released{state};
    raise();
  };
  g_print = [](const std::string& text) {
    const PyGILState_STATE state = PyGILState_Ensure();
    PySys_FormatStdout("%s", text.c_str());
    PyGILState_Release(state);
  };
  PyObject* core = PyImport_ImportModule("pkg");
  if (!core) return false;
  Py_DECREF(core);
  if (!last) return true;
  static void (*at_exit)() = last;
  static PyMethodDef method = {"_drop",
                               [](PyObject*, PyObject*) -> PyObject* {
                                 at_exit();
                                 Py_RETURN_NONE;
                               },
                               METH_NOARGS, nullptr};
  PyObject* function = PyCFunction_New(&method, module);
  PyObject* home = function ? PyImport_ImportModule("atexit") : nullptr;
  PyObject* done = home ? PyObject_CallMethod(home, "register", "N", function) : nullptr;
  Py_XDECREF(home);
  Py_XDECREF(done);
  return done != nullptr;
}

/// NumPy's operators leave mixed expressions to the class.
inline bool decline_arrays(PyObject* module, const char* name) {
  PyObject* type = PyObject_GetAttrString(module, name);
  const int status = type ? PyObject_SetAttrString(type, "__array_ufunc__", Py_None) : -1;
  Py_XDECREF(type);
  return status == 0;
}

}  // namespace stages
