// SPDX-License-Identifier: Apache-2.0
// tests/kit/cases/headers_pybind11.cc: headers.h by pybind11, as far as it goes there.
#include "headers.h"

#include <pybind11/functional.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

namespace py = pybind11;
using namespace headers;

PYBIND11_MODULE(headers, m) {
  m.def("add_c", &add_c, py::arg("a"), py::arg("b"));
  py::enum_<CColor>(m, "CColor")
      .value("C_RED", C_RED)
      .value("C_BLUE", C_BLUE)
      .export_values();
  py::class_<CPoint>(m, "CPoint")
      .def(py::init<>())
      .def_readwrite("x", &CPoint::x)
      .def_readwrite("y", &CPoint::y);
  m.def("sum_c", &sum_c, py::arg("point"));
  py::class_<Record>(m, "Record")
      .def(py::init<>())
      .def_readonly_static("pi", &Record::pi)
      .def_property_readonly_static("big", [](py::object) { return int(Record::big); })
      .def_readwrite_static("count", &Record::count);
  py::class_<Reader> reader(m, "Reader");
  py::class_<Reader::Options>(reader, "Options")
      .def(py::init<>())
      .def_readwrite("buffer", &Reader::Options::buffer);
  reader.def(py::init<>()).def_readwrite("options", &Reader::options);
  py::class_<Writer> writer(m, "Writer");
  py::class_<Writer::Options>(writer, "Options")
      .def(py::init<>())
      .def_readwrite("buffer", &Writer::Options::buffer)
      .def_readwrite("sync", &Writer::Options::sync);
  writer.def(py::init<>()).def_readwrite("options", &Writer::options);
  py::class_<Base>(m, "Base")
      .def(py::init<int>(), py::arg("level") = 1)
      .def("get", &Base::get)
      .def_readwrite("level", &Base::level);
  py::class_<Derived, Base>(m, "Derived").def(py::init<int>(), py::arg("level") = 1);
  m.def("get", &get, py::arg("base"));
  py::class_<L0>(m, "L0").def(py::init<>());
  py::class_<L1, L0>(m, "L1").def(py::init<>());
  py::class_<L2, L1>(m, "L2").def(py::init<>());
  py::class_<L3, L2>(m, "L3").def(py::init<>());
  m.def("level", py::overload_cast<const L2&>(&level));
  m.def("level", py::overload_cast<const L0&>(&level));
  m.def("total", &total, py::arg("values"));
  m.def("size_of", &size_of, py::arg("data"));
  m.def("size_of_view", &size_of_view, py::arg("data"));
  m.def("kind", py::overload_cast<const std::string&>(&kind));
  m.def("kind", py::overload_cast<const std::vector<int>&>(&kind));
  m.def("fail_io", &fail_io);
  m.def(
      "pick", [](char sign) { return std::function<int(int, int)>(pick(sign)); },
      py::arg("sign"));
  m.def(
      "apply",
      [](const std::function<int(int, int)>& function, int a, int b) {
        auto* plain = function ? function.target<Binary>() : nullptr;
        if (!plain) throw py::type_error("expected C++'s function");
        return apply(*plain, a, b);
      },
      py::arg("function").none(true), py::arg("a"), py::arg("b"));
  m.def("apply_any", &apply_any, py::arg("function"), py::arg("a"));
  m.attr("kHalves") = std::vector<double>(std::begin(kHalves), std::end(kHalves));
}
