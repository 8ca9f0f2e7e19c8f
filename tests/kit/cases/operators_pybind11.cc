// SPDX-License-Identifier: Apache-2.0
// tests/kit/cases/operators_pybind11.cc: operators.h by pybind11.
#include "operators.h"

#include <pybind11/operators.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <sstream>

namespace py = pybind11;
using namespace operators;

namespace {

void bind_numbers(py::module_& m) {
  py::class_<Vec>(m, "Vec")
      .def(py::init<double, double>(), py::arg("x"), py::arg("y"))
      .def_readwrite("x", &Vec::x)
      .def_readwrite("y", &Vec::y)
      .def(py::self + py::self)
      .def(py::self - py::self)
      .def(-py::self)
      .def(py::self * double())
      .def(py::self * py::self)
      .def(py::self / double())
      .def(double() * py::self)
      .def(double() - py::self)
      .def(py::self += py::self)
      .def(py::self *= double())
      .def(py::self == py::self)
      .def(py::self != py::self)
      .def("__bool__", [](const Vec& vec) { return bool(vec); });
  py::class_<Bits>(m, "Bits")
      .def(py::init<int64_t>(), py::arg("value"))
      .def("value", &Bits::value)
      .def(py::self & py::self)
      .def(py::self | py::self)
      .def(py::self ^ py::self)
      .def(~py::self)
      .def(py::self << int())
      .def(py::self >> int())
      .def(py::self % int64_t())
      .def(+py::self)
      .def(py::self |= py::self)
      .def(py::self <<= int());
  py::class_<Version>(m, "Version")
      .def(py::init<int, int>(), py::arg("major"), py::arg("minor"))
      .def(py::self == py::self)
      .def(py::self != py::self)
      .def(py::self < py::self)
      .def(py::self <= py::self)
      .def(py::self > py::self)
      .def(py::self >= py::self)
      .def("__hash__", &hash_of)
      .def("__str__", &Version::text);
}

void bind_slots(py::module_& m) {
  py::class_<Linear>(m, "Linear")
      .def(py::init<double, double>(), py::arg("a"), py::arg("b"))
      .def("__call__", py::overload_cast<double>(&Linear::operator(), py::const_),
           py::arg("x"))
      .def("__call__",
           py::overload_cast<const std::vector<double>&>(&Linear::operator(), py::const_),
           py::arg("xs"));
  py::class_<Row>(m, "Row")
      .def(py::init<const std::vector<int>&>(), py::arg("values"))
      .def("__getitem__", &Row::at)
      .def("__setitem__", &Row::set)
      .def("__len__", &Row::size)
      .def("__contains__", &Row::holds)
      .def("__repr__", &Row::text);
  py::class_<Table>(m, "Table")
      .def(py::init<>())
      .def("__getitem__", &Table::get)
      .def("__setitem__",
           [](Table& table, const std::string& name, double value) { table[name] = value; })
      .def("__delitem__", &Table::erase)
      .def("__len__", &Table::size);
  py::register_exception<Done>(m, "Done", PyExc_StopIteration);
  py::class_<Countdown>(m, "Countdown")
      .def(py::init<int>())
      .def("__iter__", [](const py::object& self) { return self; })
      .def("__next__", &Countdown::next);
  py::class_<Door>(m, "Door")
      .def(py::init<>())
      .def_readonly("open", &Door::open)
      .def("__enter__",
           [](py::object self) {
             self.cast<Door&>().enter();
             return self;
           })
      .def("__exit__", [](Door& door, const py::args&) { door.leave(); });
}

}  // namespace

PYBIND11_MODULE(operators, m) {
  bind_numbers(m);
  bind_slots(m);
  py::class_<Shelf>(m, "Shelf")
      .def(py::init<>())
      .def("count", &Shelf::count)
      .def("__getitem__", [](const Shelf& self, size_t i) { return self[i]; })
      .def("__getitem__", [](Shelf& self, const std::string& name) { return self[name]; })
      .def("__setitem__", [](Shelf& self, size_t i, double value) { self[i] = value; })
      .def("__setitem__", [](Shelf& self, const std::string& name,
                             const std::string& value) { self[name] = value; });
  py::class_<Path>(m, "Path")
      .def(py::init<>())
      .def(
          "__getitem__", [](Path& self, int i) -> Vec& { return self[i]; },
          py::return_value_policy::reference_internal)
      .def("__setitem__", [](Path& self, int i, const Vec& value) { self[i] = value; });
  py::class_<Listed>(m, "Listed")
      .def(py::init<>())
      .def_readwrite("number", &Listed::number);
  py::class_<Holder>(m, "Holder")
      .def(py::init<>())
      .def_readwrite("listed", &Holder::listed);
  const auto printed = [](const auto& object) {
    std::ostringstream out;
    out << object;
    return out.str();
  };
  py::class_<Label>(m, "Label")
      .def(py::init<>())
      .def_readwrite("text", &Label::text)
      .def("__pow__", &Label::pow)
      .def("__or__", [](const Label& a, const Label& b) { return a | b; })
      .def("__str__", [=](const Label& label) { return printed(label); });
  py::class_<Wide, Label>(m, "Wide").def(py::init<>());
  py::class_<Pair<int>>(m, "IntPair")
      .def(py::init<>())
      .def_readwrite("second", &Pair<int>::second)
      .def("__str__", [=](const Pair<int>& pair) { return printed(pair); });
  py::class_<OTHER::Sum>(m, "Sum")
      .def(py::init<>())
      .def_readwrite("n", &OTHER::Sum::n)
      .def(py::self + py::self);
  py::class_<OTHER::Difference>(m, "Difference")
      .def(py::init<>())
      .def_readwrite("n", &OTHER::Difference::n)
      .def(py::self - int());
  py::class_<Fixed>(m, "Fixed")
      .def(py::init<>())
      .def("__getitem__", [](const Fixed& self, int i) { return self[i]; });
}
