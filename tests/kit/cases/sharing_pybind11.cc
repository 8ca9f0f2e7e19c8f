// SPDX-License-Identifier: Apache-2.0
// tests/kit/cases/sharing_pybind11.cc: sharing.h by pybind11.
#include "sharing.h"

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>
#include <pybind11/trampoline_self_life_support.h>

namespace py = pybind11;
using namespace sharing;

namespace {

class PyObserver : public Observer, public py::trampoline_self_life_support {
 public:
  int told(int value) override { PYBIND11_OVERRIDE(int, Observer, told, value); }
};
class PyNode : public Node, public py::trampoline_self_life_support {
 public:
  int value() const override { PYBIND11_OVERRIDE(int, Node, value, ); }
};
class PyBoth : public Both {
 public:
  int side() const override { PYBIND11_OVERRIDE(int, Both, side, ); }
  int other() const override { PYBIND11_OVERRIDE(int, Both, other, ); }
};

}  // namespace

PYBIND11_MODULE(sharing, m) {
  m.def("alive", &alive);
  py::class_<Observer, PyObserver, py::smart_holder>(m, "Observer")
      .def(py::init<>())
      .def("told", &Observer::told, py::arg("value"));
  py::class_<Subject>(m, "Subject")
      .def(py::init<>())
      .def("watch",
           [](Subject& self, const std::shared_ptr<Observer>& observer) {
             self.watch(py::potentially_slicing_weak_ptr<Observer>(py::cast(observer)));
           })
      .def("watch_shared", &Subject::watch_shared)
      .def("tell", &Subject::tell, py::arg("value"))
      .def("keep", &Subject::keep)
      .def("tell_kept", &Subject::tell_kept, py::arg("value"))
      .def("kept", &Subject::kept)
      .def("forget", &Subject::forget, py::call_guard<py::gil_scoped_release>());

  py::class_<Node, PyNode, py::smart_holder>(m, "Node")
      .def(py::init<>())
      .def("value", &Node::value);
  m.def("keep_node", &keep_node, py::arg("node"));
  m.def("keep_shared_node", &keep_shared_node, py::arg("node"));
  m.def("node_value", &node_value);
  m.def("node", &node);
  m.def("drop_node", &drop_node);

  py::class_<Left>(m, "Left")
      .def(py::init<int>(), py::arg("left") = 1)
      .def("side", &Left::side)
      .def_readwrite("left", &Left::left);
  py::class_<Right>(m, "Right")
      .def(py::init<int>(), py::arg("right") = 2)
      .def("other", &Right::other)
      .def_readwrite("right", &Right::right);
  py::class_<Both, Left, Right, PyBoth>(m, "Both").def(py::init<>());
  m.def("as_left", &as_left, py::return_value_policy::reference, py::arg("both"));
  m.def("as_right", &as_right, py::return_value_policy::reference, py::arg("both"));
  m.def("sides", &sides, py::arg("left"), py::arg("right"));

  py::class_<Wheels, std::shared_ptr<Wheels>>(m, "Wheels")
      .def(py::init<int>(), py::arg("wheels"))
      .def("count", &Wheels::count)
      .def_readwrite("wheels", &Wheels::wheels);
  py::class_<Engine, std::shared_ptr<Engine>>(m, "Engine")
      .def(py::init<std::string>(), py::arg("fuel"))
      .def("start", &Engine::start)
      .def_readwrite("fuel", &Engine::fuel);
  m.def("wheels_of", &wheels_of, py::arg("wheels"));
  m.def("fuel_of", &fuel_of, py::arg("engine"));
  m.def("keep_engine", &keep_engine, py::arg("engine"));
  m.def("engine", &engine);
}
