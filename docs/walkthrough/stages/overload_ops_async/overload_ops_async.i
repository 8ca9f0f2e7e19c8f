// SPDX-License-Identifier: Apache-2.0
// overload_ops_async.i: overload_ops_async.h in Python.
%module overload_ops_async
%include "swigkit.i"
%include "shared/later.i"
%{
#include "overload_ops_async.h"
%}
%include "overload_ops_async.h"
%init %{
  PyModule_SetDocString(m, "Scalar with async + operator (minimal lazy/async demo)");
%}
