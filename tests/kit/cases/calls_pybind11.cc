// SPDX-License-Identifier: Apache-2.0
// tests/kit/cases/calls_pybind11.cc: calls.h by pybind11.
#include "calls.h"

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

namespace py = pybind11;
using namespace calls;

PYBIND11_MODULE(calls, m) {
  py::class_<Box>(m, "Box", "A box with a width and a height.")
      .def(py::init<>())
      .def(py::init<int>(), "A square.", py::arg("side"))
      .def(py::init<int, int>(), py::arg("width"), py::arg("height"))
      .def(py::init<const std::string&>(), py::arg("text"))
      .def("area", &Box::area, "Width times height.")
      .def("grow", py::overload_cast<int>(&Box::grow),
           "Makes it larger in both directions.", py::arg("by"))
      .def("grow", py::overload_cast<int, int>(&Box::grow), py::arg("width"),
           py::arg("height"))
      .def("holds", py::overload_cast<const Box&, bool>(&Box::holds, py::const_),
           "Whether it is at least as large.", py::arg("other"), py::arg("turned") = false)
      .def("holds", py::overload_cast<int>(&Box::holds, py::const_), py::arg("width"));
  py::class_<Circle>(m, "Circle")
      .def(py::init<double>(), py::arg("radius") = 1)
      .def_readwrite("radius", &Circle::radius);

  m.def("kind", py::overload_cast<bool>(&kind));
  m.def("kind", py::overload_cast<int64_t>(&kind));
  m.def("kind", py::overload_cast<double>(&kind));
  m.def("kind", py::overload_cast<const std::string&>(&kind));
  m.def("kind", py::overload_cast<const std::vector<double>&>(&kind));
  m.def("kind", py::overload_cast<const Box&>(&kind));
  m.def("kind", py::overload_cast<const Circle&>(&kind));
  m.def("near", py::overload_cast<double>(&near));
  m.def("nearer", py::overload_cast<int>(&nearer));  // a float takes an int, too
  m.def("nearer", py::overload_cast<float>(&nearer));
  m.def("near", py::overload_cast<const std::string&>(&near));
  m.def("empty", py::overload_cast<const Box*>(&empty), py::arg("box") = nullptr);
  m.def("empty", py::overload_cast<const std::string&>(&empty));
  m.def("many", py::overload_cast<const std::vector<int64_t>&>(&many));
  m.def("many", py::overload_cast<const std::vector<std::string>&>(&many));
  m.def("many", py::overload_cast<const std::vector<Box>&>(&many));
  m.def("area", py::overload_cast<double>(&area), py::arg("side"));
  m.def("area", py::overload_cast<double, double>(&area), py::arg("width"),
        py::arg("height"));
  m.def("area", py::overload_cast<const Circle&>(&area), py::arg("circle"));

  m.def("one_or_many", py::overload_cast<double>(&one_or_many), py::arg().noconvert());
  m.def("one_or_many", [](const py::array_t<double, py::array::c_style>& values) {
    return one_or_many(std::span(values.data(), size_t(values.size())));
  });
  m.def("place", &place, py::arg("at"), py::arg("of"));
  m.def("join", &join, "Joins words.\n\nThe last one may have another text before it.",
        py::arg("words"), py::arg("between") = ", ", py::arg("last") = std::nullopt);
  m.def("defaults", &defaults, "All kinds of defaults.", py::arg("a"), py::arg("b") = -2,
        py::arg("c") = 1.5, py::arg("d") = true, py::arg("e") = "e",
        py::arg("f") = std::vector<int>{1, 2}, py::arg("g") = Box(2, 3),
        py::arg("h") = nullptr);
  m.def("times", &times, py::arg("a"), py::arg("b") = 2 * kThree + 1);
  m.def("add", &add, "The sum of both.", py::arg("first"), py::arg("second"));
  m.def("span", &span, "Names that are words of Python.", py::arg("from"), py::arg("to"));
  m.def("unnamed", &unnamed);
  m.def("none_at_all", &none_at_all);
}
