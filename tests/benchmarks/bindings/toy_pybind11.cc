// SPDX-License-Identifier: Apache-2.0
// toy_pybind11.cc: toy.h by pybind11.
#include "toy.h"

#include <pybind11/functional.h>
#include <pybind11/operators.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

namespace py = pybind11;
using py::operator""_a;

PYBIND11_MODULE(toy_pybind11, m) {
  m.def("add", &toy::add, "a"_a, "b"_a, "Sum of two numbers.");
  m.def("twice", &toy::twice, "n"_a, "`n` times two.");
  m.def("clamp", &toy::clamp, "value"_a, "low"_a = 0.0, "high"_a = 1.0,
        "`value`, but not below `low` nor above `high`.");
  m.def("greet", &toy::greet, "name"_a, "A greeting.");
  m.def("scaled", &toy::scaled, "values"_a, "by"_a, "Each value times `by`.");
  m.def("divide", &toy::divide, "a"_a, "b"_a, "`a` divided by `b`.");
  m.def("apply", &toy::apply, "f"_a, "x"_a, "`f(x)`.");
  py::class_<toy::Point>(m, "Point", "A point of the plane.")
      .def(py::init<double, double>(), "x"_a, "y"_a)
      .def("norm2", &toy::Point::norm2, "Square of the distance from the origin.")
      .def("dot", &toy::Point::dot, "other"_a, "Scalar product.")
      .def("move", &toy::Point::move, "dx"_a, "dy"_a, "Moves the point in place.")
      .def_readwrite("x", &toy::Point::x)
      .def_readwrite("y", &toy::Point::y)
      .def(py::self + py::self)
      .def(py::self == py::self);
}
