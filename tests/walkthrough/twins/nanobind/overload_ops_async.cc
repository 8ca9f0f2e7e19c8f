// SPDX-License-Identifier: Apache-2.0
// nanobind/overload_ops_async.cc: overload_ops_async.h by nanobind.
#include "overload_ops_async/overload_ops_async.h"

#include "later.h"

NB_MODULE(overload_ops_async, m) { bind_later(m); }
