// SPDX-License-Identifier: Apache-2.0
// tests/bindings/kept.h: Python objects that C++ keeps and drops on any thread.
#pragma once

#include <pybind11/pybind11.h>

#include <cxxabi.h>
#include <unistd.h>

#include <memory>
#include <optional>
#include <utility>

#include "base/foreign_error.h"
#include "scheduler/scheduler.h"

namespace pkg::pybind {

namespace py = pybind11;

/// False once the interpreter is going away: then objects are leaked, not released.
inline bool interpreter_alive() {
#if PY_VERSION_HEX >= 0x030D0000
  return Py_IsInitialized() && !Py_IsFinalizing();
#else
  return Py_IsInitialized() && !_Py_IsFinalizing();
#endif
}

/// Calls a function of the C API which may run Python code or wait for the GIL.  CPython
/// before 3.14 ends a daemon thread that wants the GIL of an ending interpreter by
/// unwinding it: destructors then touch objects without the GIL, and one that waits for it
/// aborts the process.  Here the thread sleeps, and goes with the process.
template <class F, class... Args>
auto call_python(F&& function, Args... args) {
  try {
    return function(args...);
  } catch (const abi::__forced_unwind&) {
    for (;;) pause();
  }
}

/// callable(*args), by call_python().
template <class... Args>
py::object call(const py::object& callable, Args&&... args) {
  const py::tuple packed = py::make_tuple(std::forward<Args>(args)...);
  PyObject* result = call_python(PyObject_CallObject, callable.ptr(), packed.ptr());
  if (!result) throw py::error_already_set();
  return py::reinterpret_steal<py::object>(result);
}

/// py::gil_scoped_release for waits; see call_python().
class WithoutGil {
 public:
  WithoutGil() : state_(PyEval_SaveThread()) {}
  ~WithoutGil() { call_python(PyEval_RestoreThread, state_); }
  WithoutGil(const WithoutGil&) = delete;
  WithoutGil& operator=(const WithoutGil&) = delete;

 private:
  PyThreadState* state_;
};

/// A worker's state for Python, which lasts as long as the worker: else a child that is forked
/// while one is made hangs.  See Note [Thread states of workers] in swigkit/ref.h.
class WorkerState {
 public:
  static void keep() {
    if (t_kept || !on_worker() || PyGILState_GetThisThreadState()) return;
    call_python(PyGILState_Ensure);
    PyEval_SaveThread();
    t_kept = true;
  }
  /// The hook for the end of a worker.
  static void give_back() {
    if (!std::exchange(t_kept, false) || !interpreter_alive()) return;
    call_python(PyGILState_Ensure);
    for (int i = 0; i < 3; ++i) {  // what ends may store something new, though not for ever
      PyObject* locals = PyThreadState_GetDict();
      if (locals) call_python(PyDict_Clear, locals);
    }
    call_python(PyGILState_Release, PyGILState_LOCKED);    // this one, and
    call_python(PyGILState_Release, PyGILState_UNLOCKED);  // that of keep()
  }

 private:
  static inline thread_local constinit bool t_kept = false;
};

/// py::gil_scoped_acquire, which may be waited for in a destructor; see call_python().
/// When Python has ended it would ask an interpreter that is no more.
class WithGil {
 public:
  WithGil() {
    while (!has_gil() && !interpreter_alive()) pause();
    WorkerState::keep();
    call_python([this] { gil_.emplace(); });
  }

 private:
  static bool has_gil() {  // the second says true once Python has ended
    return py::detail::get_thread_state_unchecked() && PyGILState_Check();
  }

  std::optional<py::gil_scoped_acquire> gil_;
};

/// Copies need no GIL; the last one gives the object back under it.
using Kept = std::shared_ptr<py::object>;

inline Kept keep(py::object object = {}) {
  return Kept(new py::object(std::move(object)), [](py::object* kept) {
    if (!interpreter_alive()) return;
    WithGil gil;
    delete kept;
  });
}

/// A Python exception as an error of the core, which tries some calls and goes on where they
/// fail.  The very exception comes out at the other end.  Made with the GIL.
class PythonFailure final : public ForeignError {
 public:
  explicit PythonFailure(const py::error_already_set& error, bool of_signal = false)
      : ForeignError(error.what(), of_signal || !error.matches(PyExc_Exception)),
        value_(keep(error.value())) {
    if (error.trace()) PyException_SetTraceback(value_->ptr(), error.trace().ptr());
  }
  /// Makes it the current Python error again.
  void restore() const {
    PyObject* value = value_->ptr();
    PyErr_Restore(py::handle(py::type::handle_of(value)).inc_ref().ptr(),
                  py::handle(value).inc_ref().ptr(), PyException_GetTraceback(value));
  }

 private:
  Kept value_;
};

}  // namespace pkg::pybind
