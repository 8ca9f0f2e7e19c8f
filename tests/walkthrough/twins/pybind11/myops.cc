// SPDX-License-Identifier: Apache-2.0
// pybind11/myops.cc: myops.h by pybind11.
#include "myops/myops.h"

#include "numbers.h"

using myops::TaskGroup;

PYBIND11_MODULE(myops, m) {
  m.doc() = "Async add backend (Python fires sequentially, C++ runs concurrently)";
  join(m);
  py::register_local_exception<stages::Timeout>(m, "Timeout", PyExc_TimeoutError);
  py::class_<TaskGroup, std::shared_ptr<TaskGroup>>(m, "TaskGroup")
      .def(py::init<>())
      .def("add", &TaskGroup::add, py::arg("a"), py::arg("b"))
      .def("submit", &TaskGroup::submit, py::arg("work"))
      .def("result", &TaskGroup::result, py::arg("task"), py::arg("timeout") = py::none())
      .def("wait_all", &TaskGroup::wait_all, py::arg("otherwise") = py::none());
  m.def("add", &myops::add, py::arg("a"), py::arg("b"),
        "Submit async add task, return task ID");
  m.def("submit", &myops::submit, py::arg("work"));
  m.def("wait_all", &myops::wait_all, py::arg("otherwise") = py::none(),
        "Wait all tasks and return results");
  m.def("set_delay", &myops::set_delay, py::arg("ms"));
}
