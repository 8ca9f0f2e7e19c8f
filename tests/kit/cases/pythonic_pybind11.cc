// SPDX-License-Identifier: Apache-2.0
// tests/kit/cases/pythonic_pybind11.cc: pythonic.h by pybind11.
#include "pythonic.h"

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

namespace py = pybind11;
using namespace pythonic;

PYBIND11_DECLARE_HOLDER_TYPE(T, Pointer<T>, true)

namespace {

// What CPython's collector asks.
void collect(PyHeapTypeObject* heap) {
  PyTypeObject* type = &heap->ht_type;
  type->tp_flags |= Py_TPFLAGS_HAVE_GC;
  type->tp_traverse = [](PyObject* self, visitproc visit, void* arg) {
    Py_VISIT(Py_TYPE(self));
    if (!py::detail::is_holder_constructed(self)) return 0;
    return py::cast<Basket&>(py::handle(self)).traverse(visit, arg);
  };
  type->tp_clear = [](PyObject* self) {
    py::cast<Basket&>(py::handle(self)).clear();
    return 0;
  };
}

}  // namespace

PYBIND11_MODULE(pythonic, m) {
  m.def("text_of", &text_of, py::arg("number"), py::pos_only(), py::arg("prefix") = "",
        py::kw_only(), py::arg("width") = 1);
  py::class_<Length>(m, "Length")
      .def(py::init<double>())
      .def(py::init<const std::string&>())
      .def("metres", &Length::metres)
      .def(
          "__add__", [](const Length& a, const Length& b) { return a + b; },
          py::is_operator());
  py::implicitly_convertible<double, Length>();
  py::implicitly_convertible<py::int_, Length>();
  py::implicitly_convertible<std::string, Length>();
  m.def("twice", &twice);
  m.def("sum_of", &sum_of);
  m.def("which", py::overload_cast<const std::vector<int>&>(&which));
  m.def("which", py::overload_cast<const Length&>(&which));

  py::class_<Profile, std::shared_ptr<Profile>>(m, "Profile")
      .def(py::init<>())
      .def_property("marks", &Profile::marks, &Profile::set_marks)
      .def_property("parent", &Profile::parent, &Profile::set_parent)
      .def_property_readonly("highest", &Profile::highest, "Greatest mark.")
      .def_property("title", py::overload_cast<>(&Profile::title, py::const_),
                    py::overload_cast<const std::string&>(&Profile::title));
  py::class_<Tank>(m, "Tank")
      .def(py::init<double>())
      .def_property_readonly("depth", py::overload_cast<>(&Tank::depth), "How deep it is.",
                             py::return_value_policy::reference_internal)
      .def_property_readonly("gauge", &Tank::gauge)
      .def_property_readonly("litres", &Tank::litres)
      .def("fill", &Tank::fill);
  m.def(
      "added", [](int a, int b) { return a + b; }, py::arg("a"), py::arg("b") = 2,
      py::pos_only());
  m.def("negated", [](int number) { return -number; });
  py::class_<Special, Profile, std::shared_ptr<Special>>(m, "Special").def(py::init<>());

  py::class_<Counted, Pointer<Counted>>(m, "Counted")
      .def(py::init<int>())
      .def("shares", &Counted::shares)
      .def_readwrite("value", &Counted::value)
      .def_readonly_static("alive", &Counted::alive);
  m.def("make_counted", &make_counted);
  m.def("put_on_shelf", &put_on_shelf);
  m.def("on_shelf", &on_shelf);

  py::class_<Base>(m, "Base").def_readwrite("Class", &Base::Class);
  py::class_<Name>(m, "Name")
      .def(py::init<>())
      .def_property_readonly("Getter", &Name::Type);
  py::register_exception<Function>(m, "Function", PyExc_KeyError);
  m.def("State", &State);

  py::class_<Note>(m, "Note", py::dynamic_attr())
      .def(py::init<>())
      .def_readwrite("size", &Note::size)
      .def("twice", &Note::twice)
      .def("listed", &Note::listed);
  py::class_<LongNote, Note>(m, "LongNote", py::dynamic_attr())
      .def(py::init<>())
      .def_readwrite("pages", &LongNote::pages);
  py::class_<Basket>(m, "Basket", py::custom_type_setup(collect), py::module_local())
      .def(py::init<>())
      .def("put", [](Basket& self, py::object thing) { self.put(thing.ptr()); })
      .def("size", &Basket::size)
      .def("itself", [](py::object self) { return self; })
      .def("put_all",
           [](Basket& self, py::args things) {
             for (py::handle thing : things) self.put(thing.ptr());
             return self.size();
           })
      .def("__await__", [](Basket&) { return py::iter(py::tuple()); })
      .def_readonly_static("alive", &Basket::alive);
  m.attr("Basket").attr("__module__") = "shop.baskets";
  m.def("rest_of_all", [](int, py::args rest) { return rest; }, py::arg("first"));
}
