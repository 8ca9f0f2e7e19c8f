// SPDX-License-Identifier: Apache-2.0
// tests/bindings/bind_hooks.cc: Python's part in the scheduler (scheduler/hooks.h).
#include "bind.h"
#include "scheduler/hooks.h"

namespace pkg::pybind {
namespace {

bool interpreter_alive() {
#if PY_VERSION_HEX >= 0x030D0000
  return Py_IsInitialized() && !Py_IsFinalizing();
#else
  return Py_IsInitialized() && !_Py_IsFinalizing();
#endif
}

void* enter_blocking() {
  // A thread without the GIL (a worker, or an outer region) has nothing to give up.
  if (!interpreter_alive() || !PyGILState_Check()) return nullptr;
  return new py::gil_scoped_release;
}

void leave_blocking(void* released) {
  delete static_cast<py::gil_scoped_release*>(released);
}

void check_interrupt() {
  if (!interpreter_alive()) return;
  py::gil_scoped_acquire gil;
  if (PyErr_CheckSignals() != 0) throw py::error_already_set();
}

std::string call_site() {
  if (!interpreter_alive() || !PyGILState_Check()) return "";
  const auto frame = py::reinterpret_borrow<py::object>(
      reinterpret_cast<PyObject*>(PyEval_GetFrame()));
  if (!frame) return "";
  return py::str("{}:{}")
      .format(frame.attr("f_code").attr("co_filename"), frame.attr("f_lineno"))
      .cast<std::string>();
}

}  // namespace

void bind_hooks() {
  set_hooks({enter_blocking, leave_blocking, check_interrupt, call_site});
}

}  // namespace pkg::pybind
