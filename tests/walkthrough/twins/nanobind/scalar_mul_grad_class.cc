// SPDX-License-Identifier: Apache-2.0
// nanobind/scalar_mul_grad_class.cc: scalar_mul_grad_class.h by nanobind.
#include "scalar_mul_grad_class/scalar_mul_grad_class.h"

#include "numbers.h"

using namespace scalar_mul_grad_class;
using Shared = Scalar::Shared;

namespace {

template <class Class>
void bind_operator(Class& type, const char* name, const char* reflected,
                   Shared (Scalar::*method)(Scalar&)) {
  type.def(name, [=](Scalar& a, Scalar& b) { return (a.*method)(b); }, nb::is_operator());
  type.def(
      name, [=](Scalar& a, double b) { return (a.*method)(*constant(b)); },
      nb::is_operator());
  type.def(
      reflected, [=](Scalar& a, double b) { return ((*constant(b)).*method)(a); },
      nb::is_operator());
}

}  // namespace

NB_MODULE(scalar_mul_grad_class, m) {
  join(m);
  nb::class_<Grad>(m, "Grad")
      .def(nb::init<double>(), "val"_a = 0.0)
      .def_rw("val", &Grad::val)
      .def(nb::self == nb::self)
      .def("__repr__", &Grad::repr);
  nb::class_<Scalar> scalar(m, "Scalar");
  nb::class_<Edge>(m, "Edge").def_ro("parent", &Edge::parent).def_ro("grad", &Edge::grad);
  // Born in a shared_ptr: the graph holds what it was made of.
  scalar
      .def(nb::new_([](double value) { return std::make_shared<Scalar>(value); }),
           "value"_a = 0.0)
      .def_prop_rw("v", &Scalar::get_v, &Scalar::set_v)
      .def_prop_rw("grad", &Scalar::get_grad, &Scalar::set_grad)
      .def_prop_ro("edges", &Scalar::get_edges, nb::rv_policy::copy)
      .def("sin", &Scalar::sin)
      .def("backward", &Scalar::backward, "grad_out"_a = 1.0,
           nb::call_guard<nb::gil_scoped_release>())
      .def("derivative", &Scalar::derivative, "x"_a)
      .def("zero_grad", &Scalar::zero_grad)
      .def("__repr__", &Scalar::repr);
  bind_operator(scalar, "__add__", "__radd__", &Scalar::add);
  bind_operator(scalar, "__sub__", "__rsub__", &Scalar::sub);
  bind_operator(scalar, "__mul__", "__rmul__", &Scalar::mul);
  bind_operator(scalar, "__truediv__", "__rtruediv__", &Scalar::div);
  scalar.attr("__array_ufunc__") = nb::none();
}
