// SPDX-License-Identifier: Apache-2.0
// overload_ops_sync.i: overload_ops_sync.h in Python.
%module overload_ops_sync
%include "swigkit.i"
%{
#include "overload_ops_sync.h"
#include "shared/python_glue.h"
%}
%value(overload_ops_sync::Scalar)
%property(overload_ops_sync::Scalar, double, v, get_v, set_v)
%pickled(overload_ops_sync::Scalar, get_v, restored)
%include "shared/operators.h"
%include "overload_ops_sync.h"
%extend overload_ops_sync::Scalar {
  std::string __repr__() const { return $self->repr(); }
  static overload_ops_sync::Scalar restored(double v) { return overload_ops_sync::Scalar(v); }
}
%init %{
  if (!stages::join_python<swigkit::throw_python_error>(m)) return -1;
  if (!stages::decline_arrays(m, "Scalar")) return -1;
%}
