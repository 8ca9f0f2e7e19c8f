// SPDX-License-Identifier: Apache-2.0
// tests/kit/cases/classes_pybind11.cc: classes.h by pybind11.
#include "classes.h"

#include <pybind11/operators.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

namespace py = pybind11;
using namespace classes;

namespace {

void bind_points(py::module_& m) {
  py::class_<Point>(m, "Point")
      .def(py::init<double, double>(), py::arg("x") = 0, py::arg("y") = 0)
      .def_readwrite("x", &Point::x)
      .def_readwrite("y", &Point::y)
      .def_property("length", &Point::get_length, &Point::set_length)
      .def_property_readonly("sum", &Point::get_sum)
      .def(py::self == py::self)
      .def(py::pickle(&to_state, &from_state));
  m.def("length_of", &length_of, py::arg("point"));
  py::class_<Line>(m, "Line")
      .def(py::init<const Point&, const Point&>(), py::arg("start"), py::arg("end"))
      .def_readwrite("start", &Line::start)
      .def_readwrite("end", &Line::end)
      .def("length", &Line::length)
      .def(py::pickle([](const Line& line) { return line.state(); }, &Line::restored));
}

void bind_counter(py::module_& m) {
  py::class_<Counter>(m, "Counter")
      .def(py::init<int64_t>(), py::arg("start"))
      .def("next", &Counter::next)
      .def("value", &Counter::value)
      .def_static("sum", &Counter::sum, py::arg("a"), py::arg("b"))
      .def_static("from_text", &Counter::from_text, py::arg("text"))
      .def_readwrite_static("alive", &Counter::alive)
      .def_readwrite_static("label", &Counter::label)
      .def_property_readonly_static("kStep",
                                    [](const py::object&) { return Counter::kStep; });
  py::class_<Fixed>(m, "Fixed")
      .def(py::init<>())
      .def_readwrite("value", &Fixed::value)
      .def("add", &Fixed::add, py::arg("by"), py::return_value_policy::reference_internal);
  py::class_<Hidden>(m, "Hidden")
      .def_static("make", &Hidden::make, py::arg("value"))
      .def("value", &Hidden::value);
}

template <class T>
void bind_stack(py::module_& m, const char* name) {
  py::class_<Stack<T>>(m, name)
      .def(py::init<>())
      .def("push", &Stack<T>::push, py::arg("value"))
      .def("pop", &Stack<T>::pop)
      .def("size", &Stack<T>::size);
}

}  // namespace

PYBIND11_MODULE(classes, m) {
  py::class_<Numbers>(m, "Numbers", "A member of each kind of number.")
      .def(py::init<>())
      .def_readwrite("i8", &Numbers::i8)
      .def_readwrite("i16", &Numbers::i16)
      .def_readwrite("i32", &Numbers::i32)
      .def_readwrite("i64", &Numbers::i64)
      .def_readwrite("u8", &Numbers::u8)
      .def_readwrite("u16", &Numbers::u16)
      .def_readwrite("u32", &Numbers::u32)
      .def_readwrite("u64", &Numbers::u64)
      .def_readwrite("f32", &Numbers::f32)
      .def_readwrite("f64", &Numbers::f64)
      .def_readwrite("flag", &Numbers::flag)
      .def_readwrite("text", &Numbers::text)
      .def_readonly("fixed", &Numbers::fixed);
  bind_points(m);
  bind_counter(m);

  py::class_<Tree> tree(m, "Tree");
  py::class_<Tree::Leaf> leaf(tree, "Leaf");
  py::class_<Tree::Leaf::Vein>(leaf, "Vein")
      .def(py::init<>())
      .def_readwrite("width", &Tree::Leaf::Vein::width);
  leaf.def(py::init<>())
      .def_readwrite("color", &Tree::Leaf::color)
      .def_readwrite("vein", &Tree::Leaf::vein);
  tree.def(py::init<>())
      .def("add", &Tree::add, py::arg("leaf"))
      .def("leaves", &Tree::leaves);

  bind_stack<int>(m, "IntStack");
  bind_stack<Point>(m, "PointStack");
  m.def("sizes", &sizes, py::arg("a"), py::arg("b"));
  m.def("larger", &larger<double>, py::arg("a"), py::arg("b"));
  m.def("larger_text", &larger<std::string>, py::arg("a"), py::arg("b"));
  py::class_<Seed>(m, "Seed")
      .def(py::init<>())
      .def_readwrite("grown", &Seed::grown)
      .def(py::pickle([](const Seed& seed) { return seed.state(); }, &Seed::from));
}
