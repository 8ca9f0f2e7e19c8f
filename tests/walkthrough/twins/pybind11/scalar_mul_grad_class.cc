// SPDX-License-Identifier: Apache-2.0
// pybind11/scalar_mul_grad_class.cc: scalar_mul_grad_class.h by pybind11.
#include "scalar_mul_grad_class/scalar_mul_grad_class.h"

#include "numbers.h"

using namespace scalar_mul_grad_class;
using Shared = Scalar::Shared;

namespace {

template <class Class>
void bind_operator(Class& type, const char* name, const char* reflected,
                   Shared (Scalar::*method)(Scalar&)) {
  type.def(name, [=](Scalar& a, Scalar& b) { return (a.*method)(b); }, py::is_operator());
  type.def(
      name, [=](Scalar& a, double b) { return (a.*method)(*constant(b)); },
      py::is_operator());
  type.def(
      reflected, [=](Scalar& a, double b) { return ((*constant(b)).*method)(a); },
      py::is_operator());
}

}  // namespace

PYBIND11_MODULE(scalar_mul_grad_class, m) {
  m.doc() = "Autograd look-alike with explicit Grad class (only mul op)";
  join(m);
  py::class_<Grad>(m, "Grad")
      .def(py::init<double>(), py::arg("val") = 0.0)
      .def_readwrite("val", &Grad::val)
      .def(py::self == py::self)
      .def("__repr__", &Grad::repr);
  py::class_<Scalar, Shared> scalar(m, "Scalar");
  py::class_<Edge>(m, "Edge")
      .def_readonly("parent", &Edge::parent)
      .def_readonly("grad", &Edge::grad);
  scalar.def(py::init<double>(), py::arg("value") = 0.0)
      .def_property("v", &Scalar::get_v, &Scalar::set_v)
      .def_property("grad", &Scalar::get_grad, &Scalar::set_grad)
      .def_property_readonly("edges", &Scalar::get_edges)
      .def("sin", &Scalar::sin)
      .def("backward", &Scalar::backward, py::arg("grad_out") = 1.0,
           py::call_guard<py::gil_scoped_release>())
      .def("derivative", &Scalar::derivative, py::arg("x"))
      .def("zero_grad", &Scalar::zero_grad)
      .def("__repr__", &Scalar::repr);
  bind_operator(scalar, "__add__", "__radd__", &Scalar::add);
  bind_operator(scalar, "__sub__", "__rsub__", &Scalar::sub);
  bind_operator(scalar, "__mul__", "__rmul__", &Scalar::mul);
  bind_operator(scalar, "__truediv__", "__rtruediv__", &Scalar::div);
  scalar.attr("__array_ufunc__") = py::none();
}
