// SPDX-License-Identifier: Apache-2.0
// nanobind/numbers.h: what the twins of the stages with a Scalar have in common.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/operators.h>
#include <nanobind/stl/function.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "shared/python_glue.h"

namespace nb = nanobind;
using namespace nb::literals;

[[noreturn]] inline void raise_python_error() { throw nb::python_error(); }

inline void join(nb::module_& m, void (*last)() = nullptr) {
  if (!stages::join_python<raise_python_error>(m.ptr(), last)) raise_python_error();
}

/// The operators of shared/operators.h, the comparisons and conversions of a value.
template <class Class>
void bind_value(Class& type) {
  using Scalar = typename Class::Type;
  type.def(nb::self + nb::self)
      .def(nb::self - nb::self)
      .def(nb::self * nb::self)
      .def(nb::self / nb::self)
      .def(nb::self % nb::self)
      .def(nb::self + double())
      .def(nb::self - double())
      .def(nb::self * double())
      .def(nb::self / double())
      .def(nb::self % double())
      .def(double() + nb::self)
      .def(double() - nb::self)
      .def(double() * nb::self)
      .def(double() / nb::self)
      .def(double() % nb::self)
      .def(-nb::self)
      .def(nb::self == nb::self)
      .def(nb::self != nb::self)
      .def(nb::self < nb::self)
      .def(nb::self <= nb::self)
      .def(nb::self > nb::self)
      .def(nb::self >= nb::self)
      .def(nb::self == double())
      .def(nb::self < double())
      .def(nb::self <= double())
      .def(nb::self > double())
      .def(nb::self >= double())
      .def("__float__", [](const Scalar& x) { return double(x); })
      .def("__bool__", [](const Scalar& x) { return bool(x); })
      .def("__repr__", &Scalar::repr);
  type.attr("__array_ufunc__") = nb::none();
}
