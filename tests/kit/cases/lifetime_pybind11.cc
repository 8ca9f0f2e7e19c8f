// SPDX-License-Identifier: Apache-2.0
// tests/kit/cases/lifetime_pybind11.cc: lifetime.h by pybind11.
#include "lifetime.h"

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

namespace py = pybind11;
using namespace lifetime;
using policy = py::return_value_policy;

PYBIND11_MODULE(lifetime, m) {
  m.def("count_alive", &count_alive);
  py::class_<Item, py::smart_holder>(m, "Item")
      .def(py::init<const std::string&>(), py::arg("name"))
      .def("name", &Item::name)
      .def("rename", &Item::rename, py::arg("name"));
  py::class_<World>(m, "World")
      .def(py::init<>())
      .def("add", &World::add, py::arg("name"), policy::reference_internal)
      .def("adopt", &World::adopt, py::arg("item"))
      .def("release", &World::release)
      .def("find", &World::find, py::arg("name"), policy::reference_internal)
      .def("first", &World::first, policy::reference_internal)
      .def("copy_of_first", &World::copy_of_first)
      .def("all", &World::all, policy::reference_internal)
      .def("size", &World::size)
      .def("watch", &World::watch, py::arg("item"), py::keep_alive<1, 2>())
      .def("watched", &World::watched);
  py::class_<View>(m, "View")
      .def(py::init<World&>(), py::arg("world"), py::keep_alive<1, 2>())
      .def("size", &View::size)
      .def("world", &View::world, policy::reference_internal);
  m.def("first_of", &first_of, py::arg("world"), policy::reference, py::keep_alive<0, 1>());
  m.def("make_item", &make_item, py::arg("name"));
  m.def("make_items", &make_items, py::arg("n"));
  m.def("consume", &consume, py::arg("item"));
  m.def("pass_", &pass, py::arg("item"));
  m.def("new_item", &new_item, py::arg("name"), policy::take_ownership);
  m.def("no_item", &no_item);
  m.def("name_of", &name_of, py::arg("item"));
  m.def("name_or", &name_or, py::arg("item") = nullptr);

  py::class_<Node, std::shared_ptr<Node>>(m, "Node")
      .def(py::init<int>(), py::arg("value"))
      .def("value", &Node::value)
      .def("set_next", &Node::set_next, py::arg("next"))
      .def("next", &Node::next)
      .def("shared", &Node::shared)
      .def("reference", &Node::reference, policy::reference_internal)
      .def("uses", &Node::uses);
  m.def("keep", &keep, py::arg("node"));
  m.def("get_kept", &get_kept);
  m.def("get_const", [] { return std::const_pointer_cast<Node>(get_const()); });
  m.def("sum", &sum, py::arg("nodes"));
  m.def("value_of", &value_of, py::arg("node"));

  py::class_<Part, py::smart_holder>(m, "Part")
      .def(py::init<int>(), py::arg("size"))
      .def_readwrite("size", &Part::size);
  py::class_<Stock>(m, "Stock")
      .def(py::init())
      .def("add", &Stock::add, policy::reference_internal, py::arg("size"))
      .def("at", &Stock::at, policy::reference_internal, py::arg("i"))
      .def("take", &Stock::take, policy::take_ownership, py::arg("i"))
      .def(
          "give",
          [](Stock& self, std::unique_ptr<Part> part) { self.give(part.release()); },
          py::arg("part"))
      .def("holds", &Stock::holds, py::arg("part"));
  const auto part = [](auto get) {
    return py::cpp_function(get, policy::reference_internal);
  };
  py::class_<Chest>(m, "Chest")
      .def(py::init())
      .def_property_readonly("fixed", part([](Chest& c) { return c.fixed.get(); }))
      .def_property_readonly("sealed", part([](Chest& c) { return c.sealed.get(); }))
      .def_property_readonly("pair", part([](Chest& c) {
                               return std::vector{c.pair[0].get(), c.pair[1].get()};
                             }))
      .def_readonly("plain", &Chest::plain);
  m.def("size_of", &size_of, py::arg("part"));

  auto small = [&]<class T>(py::class_<T, py::smart_holder> cls) {
    cls.def(py::init()).def_readwrite("x", &T::x);
    cls.def("itself", &T::itself, policy::reference_internal);
  };
  small(py::class_<Bare, py::smart_holder>(m, "Bare"));
  small(py::class_<Given, py::smart_holder>(m, "Given"));
  small(py::class_<Shared, py::smart_holder>(m, "Shared"));
  small(py::class_<Pooled, py::smart_holder>(m, "Pooled"));
  py::class_<Marked, py::smart_holder>(m, "Marked")
      .def(py::init<const std::string&>(), py::arg("text"))
      .def(py::init<const std::string&, const std::string&>(), py::arg("text"),
           py::arg("more"), py::call_guard<py::gil_scoped_release>())
      .def_readwrite("text", &Marked::text)
      .def_readwrite("more", &Marked::more)
      .def("address", &Marked::address)
      .def("twice", &Marked::twice);
  py::class_<Lettered, Marked, py::smart_holder>(m, "Lettered")
      .def(py::init<const std::string&>(), py::arg("text"))
      .def(py::init<const std::string&, const std::string&>(), py::arg("text"),
           py::arg("more"));
  m.def("hold", &hold, py::arg("lettered"));
  m.def("let_out", &let_out);
  py::class_<GivenMore, Given, py::smart_holder>(m, "GivenMore")
      .def(py::init())
      .def_readwrite("y", &GivenMore::y);
  py::class_<SharedMore, Shared, py::smart_holder>(m, "SharedMore")
      .def(py::init())
      .def_readwrite("y", &SharedMore::y);
  m.def("pooled", &pooled);
  m.def("give", &give, py::arg("given"));
  m.def("get_back", &get_back);
  m.def("share", &share, py::arg("shared"));
  m.def("get_shared", &get_shared);
  m.def("write_shared", &write_shared, py::arg("x"));
  m.def("y_of_given", &y_of_given);
  m.def("y_of_shared", &y_of_shared);

  py::class_<Registry, std::unique_ptr<Registry, py::nodelete>>(m, "Registry")
      .def_static("get", &Registry::get, policy::reference)
      .def("note", &Registry::note, py::arg("text"))
      .def("size", &Registry::size)
      .def("pointer", &Registry::pointer, policy::reference);
}
