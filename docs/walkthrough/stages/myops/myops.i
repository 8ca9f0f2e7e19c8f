// SPDX-License-Identifier: Apache-2.0
// myops.i: myops.h in Python.
%module myops
%include "swigkit.i"
%{
#include "myops.h"
#include "shared/python_glue.h"
%}
%shared(myops::TaskGroup)
%exceptions(stages::Timeout, "Timeout", PyExc_TimeoutError)
%include "myops.h"
%init %{
  PyModule_SetDocString(
      m, "Async add backend (Python fires sequentially, C++ runs concurrently)");
  if (!stages::join_python<swigkit::throw_python_error>(m)) return -1;
%}
