// SPDX-License-Identifier: Apache-2.0
// nanobind/overload_ops_sync.cc: overload_ops_sync.h by nanobind.
#include "overload_ops_sync/overload_ops_sync.h"

#include "numbers.h"

using overload_ops_sync::Scalar;

NB_MODULE(overload_ops_sync, m) {
  join(m);
  nb::class_<Scalar> scalar(m, "Scalar");
  scalar.def(nb::init<double>(), "x"_a).def_prop_rw("v", &Scalar::get_v, &Scalar::set_v);
  bind_value(scalar);
}
