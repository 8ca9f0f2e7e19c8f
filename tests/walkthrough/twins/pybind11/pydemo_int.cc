// SPDX-License-Identifier: Apache-2.0
// pybind11/pydemo_int.cc: pydemo_int.h by pybind11.
#include "pydemo_int/pydemo_int.h"

#include <pybind11/pybind11.h>

namespace py = pybind11;

PYBIND11_MODULE(pydemo_int, m) {
  m.doc() = "pybind11 demo doc: two C ints";
  m.def("add", &pydemo_int::add, py::arg("a"), py::arg("b"),
        "Adds two 32-bit integers; OverflowError beyond 32 bits.");
}
