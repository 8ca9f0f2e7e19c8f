// SPDX-License-Identifier: Apache-2.0
// pybind11/overload_ops_queue.cc: overload_ops_queue.h by pybind11.
#include "overload_ops_queue/overload_ops_queue.h"

#include "later.h"

PYBIND11_MODULE(overload_ops_queue, m) {
  m.doc() = "Scalar + operator with global task queue (async enqueue + on-demand wait)";
  bind_later(m);
  m.def("flush", &overload_ops_queue::flush, py::arg("idle") = false,
        py::arg("raise_errors") = false, "Wait until the global task queue is empty");
  m.def("queue_size", &overload_ops_queue::queue_size, "Current queued jobs");
  m.def("pending", &overload_ops_queue::pending, "Current running/queued jobs");
  m.def("default_queue", &overload_ops_queue::default_queue);
}
