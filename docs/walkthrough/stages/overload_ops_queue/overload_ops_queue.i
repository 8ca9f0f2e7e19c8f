// SPDX-License-Identifier: Apache-2.0
// overload_ops_queue.i: overload_ops_queue.h in Python.
%module overload_ops_queue
%include "swigkit.i"
%include "shared/later.i"
%{
#include "overload_ops_queue.h"
%}
%include "overload_ops_queue.h"
%init %{
  PyModule_SetDocString(m, "Scalar + operator with global task queue (async enqueue + on-demand wait)");
%}
