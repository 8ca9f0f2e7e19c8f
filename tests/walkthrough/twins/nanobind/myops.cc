// SPDX-License-Identifier: Apache-2.0
// nanobind/myops.cc: myops.h by nanobind.
#include "myops/myops.h"

#include "numbers.h"

using myops::TaskGroup;

NB_MODULE(myops, m) {
  join(m);
  nb::exception<stages::Timeout>(m, "Timeout", PyExc_TimeoutError);
  nb::class_<TaskGroup>(m, "TaskGroup")
      .def(nb::init<>())
      .def("add", &TaskGroup::add, "a"_a, "b"_a)
      .def("submit", &TaskGroup::submit, "work"_a)
      .def("result", &TaskGroup::result, "task"_a, "timeout"_a = nb::none())
      .def("wait_all", &TaskGroup::wait_all, "otherwise"_a = nb::none());
  m.def("add", &myops::add, "a"_a, "b"_a, "Submit async add task, return task ID");
  m.def("submit", &myops::submit, "work"_a);
  m.def("wait_all", &myops::wait_all, "otherwise"_a = nb::none(),
        "Wait all tasks and return results");
  m.def("set_delay", &myops::set_delay, "ms"_a);
}
