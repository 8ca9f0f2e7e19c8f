// SPDX-License-Identifier: Apache-2.0
// tests/bindings/bind_fork.cc: the wait before os.fork(), which pkg/__init__.py registers.
// Such a function cannot raise, so what Ctrl-C raises waits as a pending call until the
// function that called os.fork() goes on.
#include <unistd.h>

#include <memory>

#include "bind.h"
#include "kept.h"
#include "scheduler/scheduler.h"

namespace pkg::pybind {
namespace {

struct Interrupted {
  py::error_already_set error;
  py::object forking;  // the frame that called os.fork()
  pid_t process;
};

py::object current_frame() {
  auto* frame = reinterpret_cast<PyObject*>(PyEval_GetFrame());
  return frame ? py::reinterpret_borrow<py::object>(frame) : py::none();
}

bool is_below(const py::object& frame) {
  py::object f = current_frame();
  while (!f.is_none()) {
    f = f.attr("f_back");
    if (f.is(frame)) return !f.is_none();
  }
  return false;
}

int raise_later(void* data) {
  std::unique_ptr<Interrupted> held(static_cast<Interrupted*>(data));
  if (held->process != getpid()) return 0;
  if (is_below(held->forking) && Py_AddPendingCall(raise_later, held.get()) == 0) {
    held.release();
    return 0;
  }
  held->error.restore();
  return -1;
}

void before_fork() {
  try {
    const WithoutGil released;
    quiesce();
  } catch (const PythonFailure& error) {
    error.restore();
    auto held = std::make_unique<Interrupted>(
        Interrupted{py::error_already_set(), current_frame(), getpid()});
    if (Py_AddPendingCall(raise_later, held.get()) < 0) throw held->error;
    held.release();
  }
}

}  // namespace

void bind_fork(py::module_& m) {
  m.def(
      "_before_fork", &before_fork,
      "_before_fork()\n--\n\nWaits until nothing runs, for at most 5 s; what Ctrl-C raises "
      "comes after the fork.");
}

}  // namespace pkg::pybind
