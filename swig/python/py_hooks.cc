// SPDX-License-Identifier: Apache-2.0
// swig/python/py_hooks.cc: the four hooks of scheduler/hooks.h for Python.
#include "py_hooks.h"

#include "py_error.h"

#include <dlfcn.h>

#include <cstring>

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

// Folder of the package, with a slash: the extension lies in it.
const std::string& package_folder() {
  static const std::string folder = [] {
    Dl_info info;
    if (!dladdr(reinterpret_cast<const void*>(&enter_blocking), &info)) return std::string();
    const std::string path = info.dli_fname;
    return path.substr(0, path.rfind('/') + 1);
  }();
  return folder;
}

// The innermost line outside of the package: the user wants to see his own.
std::string call_site() {
  if (!interpreter_alive() || !PyGILState_Check()) return "";
  const std::string& package = package_folder();
  PyRef frame = PyRef::borrow(reinterpret_cast<PyObject*>(PyEval_GetFrame()));
  while (frame) {
    auto* at = reinterpret_cast<PyFrameObject*>(frame.get());
    PyRef code(reinterpret_cast<PyObject*>(PyFrame_GetCode(at)));
    PyObject* name = reinterpret_cast<PyCodeObject*>(code.get())->co_filename;
    const char* file = PyUnicode_AsUTF8(name);
    if (!file) {
      PyErr_Clear();
      return "";
    }
    if (package.empty() || std::strncmp(file, package.c_str(), package.size()) != 0) {
      return file + (":" + std::to_string(PyFrame_GetLineNumber(at)));
    }
    frame = PyRef(reinterpret_cast<PyObject*>(PyFrame_GetBack(at)));
  }
  return "";
}

}  // namespace

void init_hooks() {
  set_hooks({enter_blocking, leave_blocking, check_interrupt, call_site});
}

}  // namespace pkg::python
