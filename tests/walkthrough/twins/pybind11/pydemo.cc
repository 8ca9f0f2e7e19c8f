// SPDX-License-Identifier: Apache-2.0
// pybind11/pydemo.cc: pydemo.h by pybind11.
#include "pydemo/pydemo.h"

#include <pybind11/pybind11.h>

namespace py = pybind11;

PYBIND11_MODULE(pydemo, m) {
  m.doc() = "pybind11 demo doc";
  m.def("add", &pydemo::add, py::arg("a"), py::arg("b"), "Adds two doubles.");
}
