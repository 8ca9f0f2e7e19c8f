// SPDX-License-Identifier: Apache-2.0
// swig/python/py_hooks.cc: the four hooks of scheduler/hooks.h for Python.
#include "py_hooks.h"

#include "py_error.h"
#include "scheduler/hooks.h"

namespace pkg::python {
namespace {

void* enter_blocking() {
  // A thread without the GIL (a worker, or an outer region) has nothing to give up.
  return interpreter_alive() && PyGILState_Check() ? PyEval_SaveThread() : nullptr;
}

void leave_blocking(void* token) {
  if (token) PyEval_RestoreThread(static_cast<PyThreadState*>(token));
}

void check_interrupt() {
  if (!interpreter_alive()) return;
  GilAcquire gil;
  if (PyErr_CheckSignals() < 0) throw_python_error();
}

std::string call_site() {
  if (!interpreter_alive() || !PyGILState_Check()) return "";
  PyFrameObject* frame = PyEval_GetFrame();  // borrowed
  if (!frame) return "";
  PyCodeObject* code = PyFrame_GetCode(frame);
  const char* file = PyUnicode_AsUTF8(code->co_filename);
  std::string site;
  if (file) site = file + (":" + std::to_string(PyFrame_GetLineNumber(frame)));
  else PyErr_Clear();
  Py_DECREF(code);
  return site;
}

}  // namespace

void init_hooks() {
  set_hooks({enter_blocking, leave_blocking, check_interrupt, call_site});
}

}  // namespace pkg::python
