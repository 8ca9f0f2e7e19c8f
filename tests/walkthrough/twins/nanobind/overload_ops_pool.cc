// SPDX-License-Identifier: Apache-2.0
// nanobind/overload_ops_pool.cc: overload_ops_pool.h by nanobind.
#include "overload_ops_pool/overload_ops_pool.h"

#include "later.h"

NB_MODULE(overload_ops_pool, m) {
  bind_later(m);
  m.def("flush", &overload_ops_pool::flush, "idle"_a = false, "raise_errors"_a = false);
  m.def("queue_size", &overload_ops_pool::queue_size);
  m.def("pending", &overload_ops_pool::pending);
  m.def("default_queue", &overload_ops_pool::default_queue);
}
