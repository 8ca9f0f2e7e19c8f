// SPDX-License-Identifier: Apache-2.0
// cases/members.h by pybind11.
#include <pybind11/chrono.h>
#include <pybind11/operators.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "members.h"

namespace py = pybind11;
using namespace members;

namespace {
// A bit-field has no address: a property by hand, which has to look at the value.
template <class Set>
void set_bits(unsigned value, unsigned limit, Set set) {
  if (value > limit) throw std::overflow_error("too large");
  set(value);
}
}  // namespace

PYBIND11_MODULE(members, m) {
  py::class_<Leaf>(m, "Leaf", "What others refer to.")
      .def(py::init<int>(), py::arg("value") = 0)
      .def_readwrite("value", &Leaf::value);
  m.def("leaves", &leaves);
  py::class_<Bits>(m, "Bits")
      .def(py::init())
      .def_property(
          "low", [](const Bits& self) { return self.low; },
          [](Bits& self, unsigned value) {
            set_bits(value, 7, [&](unsigned v) { self.low = v & 7u; });
          })
      .def_readwrite("whole", &Bits::whole);
  py::class_<Clock>(m, "Clock")
      .def(py::init())
      .def_readwrite("step", &Clock::step)
      .def_readwrite("pause", &Clock::pause)
      .def_readwrite("start", &Clock::start)
      .def("total", &Clock::total, py::arg("parts"))
      .attr("PRIMES") = std::vector<int>{2, 3, 5};
  py::class_<Vector2<double>>(m, "Vector2d")
      .def(py::init<double, double>())
      .def_readwrite("x", &Vector2<double>::x)
      .def(py::self + py::self)
      .def(py::self * double())
      .def(double() * py::self);
  m.def("doubled", py::overload_cast<int>(&doubled), "Of an int.");
  m.def("doubled", py::overload_cast<const std::string&>(&doubled), "Of a text.");
  m.def("length", [](const py::object& list) { return py::len(list); });
}
