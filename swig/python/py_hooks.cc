// SPDX-License-Identifier: Apache-2.0
// swig/python/py_hooks.cc: the hooks of scheduler/hooks.h for Python.
#include "py_hooks.h"

#include "py_error.h"
#include "py_sites.h"
#include "scheduler/hooks.h"
#include "scheduler/scheduler.h"

namespace pkg::python {
namespace {

void* enter_blocking() {
  // A thread without the GIL (a worker, or an outer region) has nothing to give up.
  return interpreter_alive() && PyGILState_Check() ? PyEval_SaveThread() : nullptr;
}

void leave_blocking(void* token) {
  if (!token) return;
  call_python(PyEval_RestoreThread, static_cast<PyThreadState*>(token));
}

void check_interrupt() {
  if (!interpreter_alive()) return;
  GilAcquire gil;
  if (call_python(PyErr_CheckSignals) < 0) throw PyError::fetch(true);
}

}  // namespace

void init_hooks() {
  WorkerState::on_worker = [] { return on_worker(); };
  set_hooks({enter_blocking, leave_blocking, check_interrupt, mark_site, site_text,
             WorkerState::give_back});
}

}  // namespace pkg::python
