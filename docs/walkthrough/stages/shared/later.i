// SPDX-License-Identifier: Apache-2.0
// shared/later.i: what overload_ops_async, _queue and _pool have in common.
%{
#include "shared/later.h"
#include "shared/python_glue.h"
%}
%value(stages::Job)
%ignore stages::Job::Job;  // of what C++ submits
%value(stages::Scalar)
%shared(stages::JobQueue)
%shared(stages::Promise)
%property(stages::Scalar, double, v, get_value)
%pickled(stages::Scalar, get_value, restored)
%exceptions(stages::QueueClosed, "QueueClosed", PyExc_RuntimeError)
%exceptions(stages::QueueFull, "QueueFull", PyExc_RuntimeError)
%exceptions(stages::Timeout, "Timeout", PyExc_TimeoutError)
%exceptions(pkg::CancelledError, "CancelledError", stages::core_class("CancelledError"))
%include "shared/operators.h"
%include "shared/job_queue.h"
%include "shared/later.h"
%extend stages::Scalar {
  std::string __repr__() const { return $self->repr(); }
  long __hash__() const {
    PyObject* number = PyFloat_FromDouble($self->get_value());
    const long hash = number ? PyObject_Hash(number) : -1;
    Py_XDECREF(number);
    return hash;
  }
  static stages::Scalar restored(double v) { return stages::Scalar(v); }
}
%init %{
  if (!stages::join_python<swigkit::throw_python_error>(m)) return -1;
  if (!stages::decline_arrays(m, "Scalar")) return -1;
%}
