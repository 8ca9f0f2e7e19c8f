// SPDX-License-Identifier: Apache-2.0
// pybind11/numbers.h: what the twins of the stages with a Scalar have in common.
#pragma once

#include <pybind11/functional.h>
#include <pybind11/operators.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "shared/python_glue.h"

namespace py = pybind11;

[[noreturn]] inline void raise_python_error() { throw py::error_already_set(); }

inline void join(py::module_& m, void (*last)() = nullptr) {
  if (!stages::join_python<raise_python_error>(m.ptr(), last)) raise_python_error();
}

/// The operators of shared/operators.h.
template <class Class>
void bind_operators(Class& type) {
  type.def(py::self + py::self)
      .def(py::self - py::self)
      .def(py::self * py::self)
      .def(py::self / py::self)
      .def(py::self % py::self)
      .def(py::self + double())
      .def(py::self - double())
      .def(py::self * double())
      .def(py::self / double())
      .def(py::self % double())
      .def(double() + py::self)
      .def(double() - py::self)
      .def(double() * py::self)
      .def(double() / py::self)
      .def(double() % py::self)
      .def(-py::self);
  type.attr("__array_ufunc__") = py::none();
}

/// The comparisons and conversions of a Scalar that is a value.
template <class Class>
void bind_value(Class& type) {
  bind_operators(type);
  type.def(py::self == py::self)
      .def(py::self != py::self)
      .def(py::self < py::self)
      .def(py::self <= py::self)
      .def(py::self > py::self)
      .def(py::self >= py::self)
      .def(py::self == double())
      .def(py::self < double())
      .def(py::self <= double())
      .def(py::self > double())
      .def(py::self >= double())
      .def("__float__", [](const typename Class::type& x) { return double(x); })
      .def("__bool__", [](const typename Class::type& x) { return bool(x); })
      .def("__repr__", &Class::type::repr);
}
