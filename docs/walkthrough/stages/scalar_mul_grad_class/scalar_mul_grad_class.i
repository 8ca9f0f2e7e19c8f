// SPDX-License-Identifier: Apache-2.0
// scalar_mul_grad_class.i: scalar_mul_grad_class.h in Python.
%module scalar_mul_grad_class
%include "swigkit.i"
%warnfilter(401) scalar_mul_grad_class::Scalar;  // std::enable_shared_from_this
%{
#include "scalar_mul_grad_class.h"
#include "shared/python_glue.h"
using scalar_mul_grad_class::constant;
%}
%value(scalar_mul_grad_class::Grad)
%value(scalar_mul_grad_class::Edge)
%shared(scalar_mul_grad_class::Scalar)
%property(scalar_mul_grad_class::Scalar, double, v, get_v, set_v)
%property(scalar_mul_grad_class::Scalar, double, grad, get_grad, set_grad)
%property(scalar_mul_grad_class::Scalar, const std::vector<scalar_mul_grad_class::Edge>&, edges,
          get_edges)
%releases_gil(scalar_mul_grad_class::Scalar::backward)
%include "scalar_mul_grad_class.h"
%extend scalar_mul_grad_class::Grad {
  std::string __repr__() const { return $self->repr(); }
}
%define OPERATOR(name, method)
  std::shared_ptr<scalar_mul_grad_class::Scalar> __##name##__(
      scalar_mul_grad_class::Scalar& other) {
    return $self->method(other);
  }
  std::shared_ptr<scalar_mul_grad_class::Scalar> __##name##__(double other) {
    return $self->method(*constant(other));
  }
  std::shared_ptr<scalar_mul_grad_class::Scalar> __r##name##__(double other) {
    return constant(other)->method(*$self);
  }
%enddef
%extend scalar_mul_grad_class::Scalar {
  OPERATOR(add, add)
  OPERATOR(sub, sub)
  OPERATOR(mul, mul)
  OPERATOR(truediv, div)
  std::string __repr__() const { return $self->repr(); }
}
%init %{
  PyModule_SetDocString(m, "Autograd look-alike with explicit Grad class (only mul op)");
  if (!stages::join_python<swigkit::throw_python_error>(m)) return -1;
  if (!stages::decline_arrays(m, "Scalar")) return -1;
%}
