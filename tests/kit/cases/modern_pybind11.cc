// SPDX-License-Identifier: Apache-2.0
// tests/kit/cases/modern_pybind11.cc: modern.h by pybind11.
#include "modern.h"

#include <pybind11/functional.h>
#include <pybind11/native_enum.h>
#include <pybind11/operators.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

namespace py = pybind11;
using namespace modern;

PYBIND11_MODULE(modern, m) {
  m.def("versioned", &versioned);
  py::class_<left::Same>(m, "Same").def(py::init<>()).def("side", &left::Same::side);
  py::class_<right::Same>(m, "RightSame").def(py::init<>()).def("side", &right::Same::side);
  m.def("side_of", &right::side_of, py::arg("same"), py::arg("other"));
  py::native_enum<Kind>(m, "Kind", "enum.IntEnum")
      .value("One", Kind::One)
      .value("Two", Kind::Two)
      .finalize();
  m.def("names", &names, py::arg("counts"));
  m.def("doubled", &doubled, py::arg("values"));
  m.def("listed", &listed, py::arg("value"));
  m.def("moved", [](std::string text) { return moved(std::move(text)); }, py::arg("text"));
  m.def("total", &total, py::arg("values") = std::vector<int>(),
        py::arg("kind") = Kind::Two);

  py::class_<Size>(m, "Size")
      .def(py::init<int, int>(), py::arg("width"), py::arg("height"))
      .def("width", &Size::width)
      .def("height", &Size::height)
      .def_static("unit", &Size::unit)
      .def(py::self == py::self)
      .def(py::self + py::self)
      .def(int() * py::self);
  m.def("sizes", &sizes);
  m.def("pair", &modern::pair);
  m.def("area", &area, py::arg("size") = Size(2, 3));
  m.def("areas", &areas, py::arg("both"));

  py::class_<Base, std::shared_ptr<Base>>(m, "Base")
      .def(py::init<int>(), py::arg("value"))
      .def(py::init<int, int>(), py::arg("a"), py::arg("b"))
      .def("value", &Base::value)
      .def("over", &Base::over)
      .def("who", &Base::who);
  py::class_<Derived, Base, std::shared_ptr<Derived>>(m, "Derived")
      .def(py::init<int>(), py::arg("value"))
      .def(py::init<int, int>(), py::arg("a"), py::arg("b"))
      .def("over", &Base::over)
      .def("over", py::overload_cast<const std::string&>(&Derived::over, py::const_));
  py::class_<Widget>(m, "Widget")
      .def(py::init<>())
      .def_readwrite("on_click", &Widget::on_click)
      .def_readwrite("size", &Widget::size)
      .def_readwrite("base", &Widget::base)
      .def_readwrite("title", &Widget::title)
      .def_readwrite("kind", &Widget::kind)
      .def_readwrite("names", &Widget::names)
      .def_readwrite("pair", &Widget::pair)
      .def("click", &Widget::click, py::arg("x"))
      .def("text", py::overload_cast<>(&Widget::text, py::const_))
      .def("constness", py::overload_cast<>(&Widget::constness))
      .def("all", [](const Widget& widget) { return widget.all(); })
      .def("as_double", &Widget::to<double>);
  m.def("call", &modern::call, py::arg("function") = nullptr);
  py::class_<Fixed<double>>(m, "Fixed3")
      .def(py::init<>())
      .def_readwrite("items", &Fixed<double>::items)
      .def_static("size", &Fixed<double>::size);
  m.def("first", &first, py::arg("fixed"));
  py::class_<Outer> outer(m, "Outer");
  outer.def(py::init<>()).def_readwrite("x", &Outer::x);
  py::class_<Outer::Inner>(outer, "Inner")
      .def(py::init<>())
      .def_readwrite("y", &Outer::Inner::y);
  m.def("make_inner", &make_inner);

  py::class_<Link>(m, "Link")
      .def(py::init<>())
      .def_readwrite("value", &Link::value)
      .def_property(
          "next", [](const Link& self) { return self.next; },
          py::cpp_function([](Link& self, Link* next) { self.next = next; },
                           py::keep_alive<1, 2>()));
  py::class_<Secret>(m, "Secret").def(py::init<>());
  m.def("reveal", &reveal);
  m.def("hide", &hide);
  m.def("half", &half, py::arg("value"));
  m.def("kind", py::overload_cast<const int&>(&kind));
  m.def("kind", py::overload_cast<const std::string&>(&kind));
  m.def("kind", py::overload_cast<const std::vector<int>&>(&kind));
  m.def("same", [](int value) { return same(value); });
  // pybind11 has no conversion of these two.
  using Pairs = std::vector<std::pair<std::string, int>>;
  const auto twice_of = [](const Pairs& pairs) {
    const auto result = twice({pairs.begin(), pairs.end()});
    return Pairs(result.begin(), result.end());
  };
  m.def("twice", twice_of);
  m.def("twice", [twice_of](const std::map<std::string, int>& map) {
    return twice_of(Pairs(map.begin(), map.end()));
  });
  m.def("sorted", [](const std::vector<int>& values) {
    const auto result = sorted({values.begin(), values.end()});
    return std::vector<int>(result.begin(), result.end());
  });
  py::class_<Cell>(m, "Cell")
      .def(py::init<int>(), py::arg("value") = 0)
      .def("next", &Cell::next)
      .def("value", &Cell::value)
      .def("reset", &Cell::reset, py::arg("to") = Cell())
      .def("__len__", &Cell::size)
      .def("__getitem__", [](const Cell& self, int index) {
        if (index >= self.size()) throw py::index_error();
        return self[index];
      });
}
