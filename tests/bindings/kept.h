// SPDX-License-Identifier: Apache-2.0
// tests/bindings/kept.h: Python objects that C++ keeps and drops on any thread.
#pragma once

#include <pybind11/pybind11.h>

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
