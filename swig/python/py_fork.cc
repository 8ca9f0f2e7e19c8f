// SPDX-License-Identifier: Apache-2.0
// swig/python/py_fork.cc: the wait before os.fork(), which pkg/__init__.py registers.
//
// Note [Ctrl-C before a fork]
// A function of os.register_at_fork() cannot raise: Python prints the error and forks.
// So the error is kept, as one of the interpreter's pending calls, until the function
// that called os.fork() goes on, and is raised there, in the parent alone.  Functions
// that others registered run in between and must not be hit by it: logging's would leave
// a lock behind.
#include <unistd.h>

#include <memory>

#include "py_error.h"
#include "py_module.h"
#include "scheduler/scheduler.h"

namespace pkg::python {
namespace {

struct Interrupted {
  PyError error;
  PyRef forking;  // the frame that called os.fork(), if any
  pid_t process;
};

PyRef current_frame() {
  return PyRef::borrow(reinterpret_cast<PyObject*>(PyEval_GetFrame()));
}

// Whether `frame` called what runs now.
bool is_below(PyObject* frame) {
  for (PyRef f = current_frame(); f;) {
    auto* back = PyFrame_GetBack(reinterpret_cast<PyFrameObject*>(f.get()));
    f = PyRef(reinterpret_cast<PyObject*>(back));
    if (f.get() == frame) return true;
  }
  return false;
}

int raise_later(void* data) {
  std::unique_ptr<Interrupted> held(static_cast<Interrupted*>(data));
  if (held->process != getpid()) return 0;
  if (held->forking && is_below(held->forking.get()) &&
      Py_AddPendingCall(raise_later, held.get()) == 0) {
    held.release();
    return 0;
  }
  held->error.restore();
  return -1;
}

}  // namespace

void _before_fork() {
  try {
    quiesce();
  } catch (const PyError& error) {
    auto held = std::make_unique<Interrupted>(
        Interrupted{error, current_frame(), getpid()});
    if (Py_AddPendingCall(raise_later, held.get()) < 0) throw;
    held.release();
  }
}

}  // namespace pkg::python
