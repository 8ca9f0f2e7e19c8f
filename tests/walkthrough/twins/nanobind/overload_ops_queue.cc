// SPDX-License-Identifier: Apache-2.0
// nanobind/overload_ops_queue.cc: overload_ops_queue.h by nanobind.
#include "overload_ops_queue/overload_ops_queue.h"

#include "later.h"

NB_MODULE(overload_ops_queue, m) {
  bind_later(m);
  m.def("flush", &overload_ops_queue::flush, "idle"_a = false, "raise_errors"_a = false);
  m.def("queue_size", &overload_ops_queue::queue_size);
  m.def("pending", &overload_ops_queue::pending);
  m.def("default_queue", &overload_ops_queue::default_queue);
}
