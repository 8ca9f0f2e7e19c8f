// SPDX-License-Identifier: Apache-2.0
// myops_dispatch_cpu.i: myops_dispatch_cpu.h in Python.
%module myops_dispatch_cpu
%include "swigkit.i"
%{
#include "myops_dispatch_cpu.h"
#include "shared/python_glue.h"
%}
%value(myops_dispatch_cpu::Registration)
%ignore myops_dispatch_cpu::Registration::Registration;
%exceptions(myops_dispatch_cpu::OpLookupError, "OpLookupError",
            stages::core_class("OpLookupError"))
%releases_gil(myops_dispatch_cpu::run_op)
%include "myops_dispatch_cpu.h"
%init %{
  PyModule_SetDocString(m, "Mini dispatcher (single CPU backend)");
  if (!stages::join_python<swigkit::throw_python_error>(m, myops_dispatch_cpu::drop_ops)) {
    return -1;
  }
  myops_dispatch_cpu::init_ops();
%}
