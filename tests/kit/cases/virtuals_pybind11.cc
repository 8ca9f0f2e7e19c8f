// SPDX-License-Identifier: Apache-2.0
// tests/kit/cases/virtuals_pybind11.cc: virtuals.h by pybind11.
#include "virtuals.h"

#include <pybind11/functional.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>
#include <pybind11/trampoline_self_life_support.h>

namespace py = pybind11;
using namespace virtuals;

namespace {

template <class Base>
class PyVisitor : public Base, public py::trampoline_self_life_support {
 public:
  using Base::Base;
  std::string name() const override { PYBIND11_OVERRIDE(std::string, Base, name, ); }
  void moved(Point& point) override {
    PYBIND11_OVERRIDE(void, Base, moved, std::ref(point));  // not a copy
  }
  Point mirror(const Point& point) const override {
    PYBIND11_OVERRIDE(Point, Base, mirror, point);
  }
  std::vector<std::string> words(const std::vector<int>& numbers) const override {
    PYBIND11_OVERRIDE(std::vector<std::string>, Base, words, numbers);
  }
  bool less(const Point& a, const Point& b) const override {
    PYBIND11_OVERRIDE(bool, Base, less, a, b);
  }
  const std::string& title() const override {
    PYBIND11_OVERRIDE(const std::string&, Base, title, );
  }
  Point* chosen(Point* a, Point* b) const override {
    PYBIND11_OVERRIDE(Point*, Base, chosen, a, b);
  }
  int weigh(std::unique_ptr<Point> point) const override {
    PYBIND11_OVERRIDE(int, Base, weigh, std::move(point));
  }
  int visit(int value) override {
    if constexpr (std::is_same_v<Base, Visitor>) {
      PYBIND11_OVERRIDE_PURE(int, Base, visit, value);
    } else {
      PYBIND11_OVERRIDE(int, Base, visit, value);
    }
  }
};

class PyListener : public Listener, public py::trampoline_self_life_support {
 public:
  int heard(const std::string& text) override {
    PYBIND11_OVERRIDE(int, Listener, heard, text);
  }
};

void bind_visitors(py::module_& m) {
  py::class_<Visitor, PyVisitor<Visitor>, py::smart_holder>(m, "Visitor")
      .def(py::init<>())
      .def(py::init<const std::string&>(), py::arg("name"))
      .def("name", &Visitor::name)
      .def("visit", &Visitor::visit, py::arg("value"))
      .def("moved", &Visitor::moved, py::arg("point"))
      .def("mirror", &Visitor::mirror, py::arg("point"))
      .def("words", &Visitor::words, py::arg("numbers"))
      .def("less", &Visitor::less, py::arg("a"), py::arg("b"))
      .def("title", &Visitor::title)
      .def("weigh", &Visitor::weigh, py::arg("point"))
      .def("greeting", &Visitor::greeting)
      .def("twice", &Visitor::twice, py::arg("value"));
  py::class_<Doubler, Visitor, PyVisitor<Doubler>, py::smart_holder>(m, "Doubler")
      .def(py::init<>());
  py::class_<Party>(m, "Party")
      .def(py::init<>())
      .def("invite", &Party::invite, py::arg("visitor"))
      .def("send_home", &Party::send_home)
      .def("visit", &Party::visit, py::arg("value"))
      .def("end", &Party::end, py::call_guard<py::gil_scoped_release>());
  m.def("visit_all", &visit_all, py::arg("visitor"), py::arg("values"));
  m.def("name_of", &name_of, py::arg("visitor"));
  m.def("move", &virtuals::move, py::arg("visitor"), py::arg("point"));
  m.def("mirrored", &mirrored, py::arg("visitor"), py::arg("point"));
  m.def("words_of", &words_of, py::arg("visitor"));
  m.def("ordered", &ordered, py::arg("visitor"), py::arg("points"));
  m.def("title_of", &title_of, py::arg("visitor"));
  m.def("x_of_chosen", &x_of_chosen, py::arg("visitor"));
  m.def("weigh", &weigh, py::arg("visitor"));
  m.def("visit_or_error", &visit_or_error, py::arg("visitor"), py::arg("value"));
  using Released = py::call_guard<py::gil_scoped_release>;
  m.def("visit_on_threads", &visit_on_threads, py::arg("visitor"), py::arg("n"),
        Released());

  py::class_<Listener, PyListener, py::smart_holder>(m, "Listener")
      .def(py::init<>())
      .def("heard", &Listener::heard, py::arg("text"));
  m.def("add", &add, py::arg("listener"));
  m.def("tell", &tell, py::arg("text"));
  m.def("last", &last);
  m.def("forget", &forget, Released());
}

void bind_families(py::module_& m) {
  py::class_<Shape, std::shared_ptr<Shape>>(m, "Shape")
      .def(py::init<>())
      .def("kind", &Shape::kind)
      .def("corners", &Shape::corners);
  py::class_<Polygon, Shape, std::shared_ptr<Polygon>>(m, "Polygon")
      .def(py::init<int>(), py::arg("corners"))
      .def("sides", &Polygon::sides);
  py::class_<Square, Polygon, std::shared_ptr<Square>>(m, "Square")
      .def(py::init<>())
      .def_readwrite("side", &Square::side);
  m.def("make", &make, py::arg("kind"));
  m.def("make_all", &make_all);
  m.def("kind_of", &kind_of, py::arg("shape"));
  m.def("sides_of", &sides_of, py::arg("polygon"));
  m.def("best", py::overload_cast<const Square&>(&best));
  m.def("best", py::overload_cast<const Shape&>(&best));
  m.def("read_by", &read_by);

  py::class_<Flyer>(m, "Flyer")
      .def(py::init<>())
      .def("fly", &Flyer::fly)
      .def_readwrite("wings", &Flyer::wings);
  py::class_<Swimmer>(m, "Swimmer")
      .def(py::init<>())
      .def("swim", &Swimmer::swim)
      .def_readwrite("depth", &Swimmer::depth);
  py::class_<Duck, Flyer, Swimmer>(m, "Duck").def(py::init<>()).def("quack", &Duck::quack);
  m.def("fly", &fly, py::arg("flyer"));
  m.def("swim", &swim, py::arg("swimmer"));
  m.def("hatch", &hatch);
  py::class_<Named>(m, "Named").def(py::init<>()).def_readwrite("name", &Named::name);
  py::class_<Labelled, Named>(m, "Labelled")
      .def(py::init<>())
      .def_readwrite("label", &Labelled::label);
  m.def("name_of_named", &name_of_named, py::arg("named"));
}

}  // namespace

PYBIND11_MODULE(virtuals, m) {
  py::class_<Point, py::smart_holder>(m, "Point")
      .def(py::init<int, int>(), py::arg("x"), py::arg("y"))
      .def_readwrite("x", &Point::x)
      .def_readwrite("y", &Point::y);
  bind_visitors(m);
  bind_families(m);
  m.def("mapped", &mapped, py::arg("points"), py::arg("function"));
  m.def("same_measure", &same_measure, py::arg("measure"));
  m.def("total", &total, py::arg("function"));
  m.def("tell_one", &tell_one, py::arg("function"));
  m.def("adder", &adder, py::arg("by"));
  m.def("call_maybe", &call_maybe, py::arg("function"));
}
