// SPDX-License-Identifier: Apache-2.0
// overload_ops_pool.i: overload_ops_pool.h in Python.
%module overload_ops_pool
%include "swigkit.i"
%include "shared/later.i"
%{
#include "overload_ops_pool.h"
%}
%include "overload_ops_pool.h"
%init %{
  PyModule_SetDocString(m, "Scalar + operator with fixed thread pool (async + on-demand wait)");
%}
