// SPDX-License-Identifier: Apache-2.0
// tests/kit/cases/ranges_pybind11.cc: ranges.h by pybind11, as far as it goes there.
#include "ranges.h"

#include <pybind11/chrono.h>
#include <pybind11/functional.h>
#include <pybind11/operators.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>
#include <pybind11/trampoline_self_life_support.h>

namespace py = pybind11;
using namespace ranges;

namespace {

class PyReader : public Reader, public py::trampoline_self_life_support {
 public:
  void grow(std::vector<int>& numbers) override {
    PYBIND11_OVERRIDE(void, Reader, grow, numbers);
  }
  void add(int& number) override { PYBIND11_OVERRIDE(void, Reader, add, number); }
  bool parse(const std::string& text, double* number) const override {
    PYBIND11_OVERRIDE(bool, Reader, parse, text, number);
  }
  int take(std::unique_ptr<Child> child) override {
    PYBIND11_OVERRIDE(int, Reader, take, std::move(child));
  }
  int def(int a, int b) override { PYBIND11_OVERRIDE_NAME(int, Reader, "def_", def, a, b); }
  int over(int a) const override { PYBIND11_OVERRIDE(int, Reader, over, a); }
  int over(const std::string& a) const override { PYBIND11_OVERRIDE(int, Reader, over, a); }
  int pure(int a) override { PYBIND11_OVERRIDE_PURE(int, Reader, pure, a); }
};

template <class T>
void bind_range(py::module_& m, const char* name) {
  py::class_<T>(m, name)
      .def(py::init<>())
      .def(
          "__iter__", [](T& self) { return py::make_iterator(self.begin(), self.end()); },
          py::keep_alive<0, 1>());
}

}  // namespace

PYBIND11_MODULE(ranges, m) {
  py::class_<Child, py::smart_holder>(m, "Child")
      .def(py::init<int>(), py::arg("value"))
      .def("__copy__", [](const Child& self) { return Child(self); })
      .def("__deepcopy__", [](const Child& self, py::dict) { return Child(self); })
      .def_readwrite("value", &Child::value);
  bind_range<Family>(m, "Family");
  bind_range<Numbers>(m, "Numbers");
  bind_range<Prices>(m, "Prices");
  bind_range<Bits>(m, "Bits");
  py::class_<MoreNumbers, Numbers>(m, "MoreNumbers").def(py::init<>());
  py::class_<Version>(m, "Version")
      .def(py::init<int, int>(), py::arg("major"), py::arg("minor"))
      .def(py::self < py::self)
      .def(py::self <= py::self)
      .def(py::self > py::self)
      .def(py::self >= py::self)
      .def(py::self == py::self)
      .def(py::self != py::self);
  py::class_<Level>(m, "Level")
      .def(py::init<double>(), py::arg("level"))
      .def(py::self < py::self)
      .def(py::self <= py::self)
      .def(py::self > py::self)
      .def(py::self >= py::self)
      .def(py::self == py::self)
      .def(py::self != py::self);
  py::class_<Reader, PyReader, py::smart_holder>(m, "Reader")
      .def(py::init<>())
      .def("def_", &Reader::def, py::arg("a"), py::arg("b") = 7)
      .def("over", py::overload_cast<int>(&Reader::over, py::const_))
      .def("over", py::overload_cast<const std::string&>(&Reader::over, py::const_));
  m.def("grow", &grow);
  m.def("add", &add);
  m.def("parse", &parse);
  m.def("take", &take);
  m.def("call_def", &call_def);
  m.def("over", &over);
  m.def("call_pure", &call_pure);
  m.def("fail_nested", &fail_nested);
  m.def("caught", &caught, py::arg("function"));
  m.def("doubled", &doubled, py::arg("values"));
  m.def("later", &later, py::arg("t"));
  m.def("call_or_not", &call_or_not, py::arg("function"));
  m.def("text_or", &text_or, py::arg("maybe"));
  py::class_<Pool>(m, "Pool", py::release_gil_before_calling_cpp_dtor())
      .def(py::init<>())
      .def("submit", &Pool::submit, py::arg("function"));
  py::class_<Left>(m, "Left").def(py::init<>()).def_readwrite("left", &Left::left);
  py::class_<Right>(m, "Right").def(py::init<>()).def_readwrite("right", &Right::right);
  py::class_<Both, Left, Right>(m, "Both").def(py::init<>());
}
