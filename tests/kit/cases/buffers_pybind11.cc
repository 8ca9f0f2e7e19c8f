// SPDX-License-Identifier: Apache-2.0
// tests/kit/cases/buffers_pybind11.cc: buffers.h by pybind11.
#include "buffers.h"

#include <pybind11/complex.h>
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

namespace py = pybind11;
using namespace buffers;

PYBIND11_MODULE(buffers, m) {
  py::class_<Matrix>(m, "Matrix", py::buffer_protocol())
      .def(py::init<int, int>(), py::arg("rows"), py::arg("cols"))
      .def("rows", &Matrix::rows)
      .def("cols", &Matrix::cols)
      .def("at", &Matrix::at, py::arg("row"), py::arg("col"))
      .def("set", &Matrix::set, py::arg("row"), py::arg("col"), py::arg("value"))
      .def_buffer([](Matrix& self) {
        return py::buffer_info(self.data(), sizeof(float), "f", 2,
                               {self.rows(), self.cols()},
                               {sizeof(float) * size_t(self.cols()), sizeof(float)});
      });
  py::class_<Samples>(m, "Samples", py::buffer_protocol())
      .def(py::init<const std::vector<int16_t>&>(), py::arg("samples"))
      .def("count", &Samples::count)
      .def_buffer([](Samples& self) {
        return py::buffer_info(self.begin(), py::ssize_t(self.count()));
      });
  py::class_<Plane>(m, "Plane", py::buffer_protocol())
      .def(py::init<>())
      .def_buffer(
          [](Plane& self) { return py::buffer_info(self.items(), {3, 4}, {32, 96}); });
  m.def(
      "sum",
      [](const py::array_t<float, py::array::c_style>& values) {
        return sum({values.data(), size_t(values.size())});
      },
      py::arg("values"));
}
