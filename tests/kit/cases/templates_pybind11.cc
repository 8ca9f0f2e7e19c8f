// SPDX-License-Identifier: Apache-2.0
// tests/kit/cases/templates_pybind11.cc: templates.h by pybind11, as far as it goes there.
#include "templates.h"

#include <pybind11/functional.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

namespace py = pybind11;
using namespace templates;

namespace {

struct PyHalf : Half {
  using Half::Half;
  double area() const override { PYBIND11_OVERRIDE_PURE(double, Half, area); }
  double factor() const override { PYBIND11_OVERRIDE(double, Half, factor); }
};
struct PyThrower : Thrower {
  int plain(int x) throw() override { PYBIND11_OVERRIDE(int, Thrower, plain, x); }
};
struct PyRecipe : Recipe {
  std::string ingredients(int portions) const override {
    PYBIND11_OVERRIDE_PURE(std::string, Recipe, ingredients, portions);
  }
  int heat(std::pair<int, int> of) const override {
    PYBIND11_OVERRIDE_PURE(int, Recipe, heat, of);
  }
};
template <class T>
void counted(py::module_& m, const char* base, const char* name) {
  py::class_<Counted<T>>(m, base).def("number", &Counted<T>::number);
  py::class_<T, Counted<T>>(m, name)
      .def(py::init<>())
      .def_readwrite("no", &T::no)
      .def_readwrite_static("alive", &Counted<T>::alive);
}

template <class T>
void outer(py::module_& m, const char* name) {
  py::class_<Outer<T>> bound(m, name);
  py::class_<typename Outer<T>::Inner>(bound, "Inner")
      .def_readwrite("x", &Outer<T>::Inner::x);
  bound.def(py::init<>()).def("make", &Outer<T>::make);
}

}  // namespace

PYBIND11_MODULE(templates, m) {
  py::class_<Shape<double>>(m, "DoubleShape")
      .def("area", &Shape<double>::area)
      .def("twice", &Shape<double>::twice);
  py::class_<Square, Shape<double>>(m, "Square", "A square.")
      .def(py::init<double>())
      .def_readwrite("side", &Square::side);
  py::class_<Half, Shape<double>, PyHalf>(m, "Half")
      .def(py::init<>())
      .def("factor", &Half::factor);
  m.def("area_of", &area_of);
  counted<Thing>(m, "CountedThing", "Thing");
  counted<Other>(m, "CountedOther", "Other");
  py::class_<Named<Thing>, Thing>(m, "NamedBase")
      .def_readwrite("name", &Named<Thing>::name);
  py::class_<NamedThing, Named<Thing>>(m, "NamedThing").def(py::init<>());
  py::class_<IntShape>(m, "IntShape").def("twice", &IntShape::twice);
  py::class_<Unit, IntShape>(m, "Unit").def(py::init<>()).def("area", &Unit::area);

  using Ints = Holder<int>;
  py::class_<Ints>(m, "Holder")
      .def(py::init<>())
      .def("add", &Ints::add)
      .def_readwrite("items", &Ints::items);
  py::class_<Trait<int>>(m, "IntTrait")
      .def(py::init<>())
      .def_static("id", &Trait<int>::id)
      .def("zero", &Trait<int>::zero);
  py::class_<Trait<double>>(m, "FloatTrait").def_static("id", &Trait<double>::id);
  py::class_<Trait<double*>>(m, "PointerTrait").def_static("id", &Trait<double*>::id);
  using IntFloat = Pack<int, double>;
  py::class_<IntFloat>(m, "Pack")
      .def(py::init<>())
      .def_static("count", &IntFloat::count)
      .def_readwrite("values", &IntFloat::values);
  m.def("count_of", &count_of<int, double>);
  m.def("doubled", &doubled<int>);
  m.def("doubled", &doubled<double>);
  m.def("negated", &negated<int>);
  outer<int>(m, "Outer");
  outer<double>(m, "FloatOuter");
  m.def("total", &total);

  m.attr("kMillion") = kMillion;
  py::class_<Strict>(m, "Strict")
      .def(py::init<int>())
      .def_readwrite("value", &Strict::value);
  m.def("ruled", &ruled);
  m.def("sum", &sum);
  m.def("first", [](int value) { return first(&value); });
  py::class_<Thrower, PyThrower>(m, "Thrower")
      .def(py::init<>())
      .def("plain", &Thrower::plain);
  m.def("plain_of", &plain_of);

  py::class_<Bag>(m, "Bag")
      .def(py::init<>())
      .def(py::init<int, int>())
      .def(py::init([](const std::vector<int>& items) {
        Bag made;
        made.items = items;
        return made;
      }))
      .def_readwrite("items", &Bag::items);
  m.def("joined", [](const std::vector<std::string>& texts) {
    std::string all;
    for (const std::string& text : texts) all += text;
    return all;
  });
  m.def("numbers_of", [](const std::vector<Thing>& things) {
    int sum = 0;
    for (const Thing& thing : things) sum += thing.no;
    return sum;
  });
  py::class_<Recipe, PyRecipe>(m, "Recipe")
      .def(py::init<>())
      .def("cook", &Recipe::cook, py::arg("portions"));
}
