// SPDX-License-Identifier: Apache-2.0
// tests/bindings/bind_scheduler.cc: threads and pending work.  What waits does so
// without the GIL.
#include "bind.h"
#include "scheduler/scheduler.h"

namespace pkg::pybind {

void bind_scheduler(py::module_& m) {
  using WithoutGil = py::call_guard<py::gil_scoped_release>;
  m.def("num_threads", &num_threads);
  m.def("set_num_threads", &set_num_threads, py::arg("n"));
  m.def("synchronize", &synchronize, WithoutGil());
  m.def("pending_tasks", &pending_tasks);
  m.def("async_enabled", &async_enabled);
  m.def("set_async", &set_async, py::arg("enabled"));
  m.def("shutdown", &shutdown, py::arg("seconds") = 10.0, WithoutGil());
  m.def("quiesce", &quiesce, py::arg("seconds") = 5.0, WithoutGil());
}

}  // namespace pkg::pybind
