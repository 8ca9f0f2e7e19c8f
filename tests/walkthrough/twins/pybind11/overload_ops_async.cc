// SPDX-License-Identifier: Apache-2.0
// pybind11/overload_ops_async.cc: overload_ops_async.h by pybind11.
#include "overload_ops_async/overload_ops_async.h"

#include "later.h"

PYBIND11_MODULE(overload_ops_async, m) {
  m.doc() = "Scalar with async + operator (minimal lazy/async demo)";
  bind_later(m);
}
