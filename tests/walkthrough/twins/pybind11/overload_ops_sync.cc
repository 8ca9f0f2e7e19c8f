// SPDX-License-Identifier: Apache-2.0
// pybind11/overload_ops_sync.cc: overload_ops_sync.h by pybind11.
#include "overload_ops_sync/overload_ops_sync.h"

#include "numbers.h"

using overload_ops_sync::Scalar;

PYBIND11_MODULE(overload_ops_sync, m) {
  join(m);
  py::class_<Scalar> scalar(m, "Scalar");
  scalar.def(py::init<double>(), py::arg("x"))
      .def_property("v", &Scalar::get_v, &Scalar::set_v)
      .def(py::pickle([](const Scalar& x) { return x.get_v(); },
                      [](double v) { return Scalar(v); }));
  bind_value(scalar);
}
