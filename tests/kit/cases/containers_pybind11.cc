// SPDX-License-Identifier: Apache-2.0
// tests/kit/cases/containers_pybind11.cc: containers.h by pybind11.
#include "containers.h"

#include <pybind11/functional.h>
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

namespace py = pybind11;
using namespace containers;

namespace {

/// pybind11 has no std::span: arrays take its place.
template <class T>
using Array = py::array_t<T, py::array::c_style>;
template <class T>
std::span<const T> span(const Array<T>& array) {
  return {array.data(), size_t(array.size())};
}

void bind_views(py::module_& m) {
  m.def(
      "text_of", [](std::string_view data) { return text_of({data.data(), data.size()}); },
      py::arg("data"));
  m.def(
      "total", [](const Array<double>& values) { return total(span(values)); },
      py::arg("values").noconvert());
  m.def(
      "total_ints", [](const Array<int32_t>& values) { return total_ints(span(values)); },
      py::arg("values").noconvert());
  m.def(
      "scale",
      [](Array<double>& values, double by) {
        scale({values.mutable_data(), size_t(values.size())}, by);
      },
      py::arg("values").noconvert(), py::arg("by"));
  m.def(
      "offsets",
      [](const py::buffer& data, uint8_t wanted) {
        const py::buffer_info info = data.request();
        return offsets({static_cast<const uint8_t*>(info.ptr), size_t(info.size)}, wanted);
      },
      py::arg("data"), py::arg("wanted"));
  m.def("row_sums", &row_sums, py::arg("rows"));
}

void bind_classes(py::module_& m) {
  py::class_<Point>(m, "Point")
      .def(py::init<>())
      .def(py::init<int, int>(), py::arg("x"), py::arg("y"))
      .def_readwrite("x", &Point::x)
      .def_readwrite("y", &Point::y);
  py::class_<Node, std::shared_ptr<Node>>(m, "Node")
      .def(py::init<const std::string&>(), py::arg("name"))
      .def_readwrite("name", &Node::name);
  py::class_<Path>(m, "Path")
      .def(py::init<>())
      .def_readwrite("points", &Path::points)
      .def_readwrite("weights", &Path::weights)
      .def("size", &Path::size);
}

}  // namespace

PYBIND11_MODULE(containers, m) {
  bind_classes(m);
  bind_views(m);
  m.def("doubled", &doubled, py::arg("values"));
  m.def("flipped", &flipped, py::arg("flags"));
  m.def("reversed", &reversed, py::arg("words"));
  m.def("sorted", &sorted, py::arg("values"));
  m.def("rotated", &rotated, py::arg("values"));
  m.def("squares", &squares, py::arg("v"));
  m.def("unique", &unique, py::arg("words"));
  m.def("has", &has, py::arg("values"), py::arg("value"));
  m.def("odd_ones", &odd_ones, py::arg("values"));
  m.def("counts", &counts, py::arg("words"));
  m.def("by_length", &by_length, py::arg("words"));
  m.def("swapped", &swapped, py::arg("pair"));
  m.def("turned", &turned, py::arg("three"));
  m.def("same_deep", &same_deep, py::arg("deep"));
  m.def("applied", &applied, py::arg("functions"), py::arg("x"));
  m.def("sum", &sum, py::arg("points"));
  m.def("diagonal", &diagonal, py::arg("n"));
  m.def("named", &named, py::arg("all"));
  m.def("at", &at, py::arg("points"), py::arg("name"));
  m.def("x_or", &x_or, py::arg("point"), py::arg("other"));
  m.def("held", &held, py::arg("value"));
  m.def("mixed", &mixed);
  m.def("with_length", &with_length, py::arg("point"));
  m.def("backwards", &backwards, py::arg("nodes"));
  m.def("names", &names, py::arg("nodes"));
  m.def("total_x", &total_x, py::arg("points"));
}
