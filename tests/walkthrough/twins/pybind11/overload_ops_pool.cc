// SPDX-License-Identifier: Apache-2.0
// pybind11/overload_ops_pool.cc: overload_ops_pool.h by pybind11.
#include "overload_ops_pool/overload_ops_pool.h"

#include "later.h"

PYBIND11_MODULE(overload_ops_pool, m) {
  m.doc() = "Scalar + operator with fixed thread pool (async + on-demand wait)";
  bind_later(m);
  m.def("flush", &overload_ops_pool::flush, py::arg("idle") = false,
        py::arg("raise_errors") = false, "Wait until all jobs are finished");
  m.def("queue_size", &overload_ops_pool::queue_size, "Jobs waiting in queue");
  m.def("pending", &overload_ops_pool::pending, "Running + queued jobs");
  m.def("default_queue", &overload_ops_pool::default_queue);
}
