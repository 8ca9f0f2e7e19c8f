// SPDX-License-Identifier: Apache-2.0
// tests/bindings/kept.h: Python objects that C++ keeps and drops on any thread.
#pragma once

#include <pybind11/pybind11.h>

#include <cxxabi.h>
#include <unistd.h>

#include <memory>

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

/// py::gil_scoped_release for waits.  Its destructor must not throw, but CPython before
/// 3.14 ends a daemon thread that wants the GIL of an ending interpreter by unwinding it,
/// which then aborts the process.  Here the thread sleeps, and goes with the process.
class WithoutGil {
 public:
  WithoutGil() : state_(PyEval_SaveThread()) {}
  ~WithoutGil() {
    try {
      PyEval_RestoreThread(state_);
    } catch (const abi::__forced_unwind&) {
      for (;;) pause();
    }
  }
  WithoutGil(const WithoutGil&) = delete;
  WithoutGil& operator=(const WithoutGil&) = delete;

 private:
  PyThreadState* state_;
};

/// Copies need no GIL; the last one gives the object back under it.
using Kept = std::shared_ptr<py::object>;

inline Kept keep(py::object object = {}) {
  return Kept(new py::object(std::move(object)), [](py::object* kept) {
    if (!interpreter_alive()) return;
    py::gil_scoped_acquire gil;
    delete kept;
  });
}

}  // namespace pkg::pybind
