// SPDX-License-Identifier: Apache-2.0
// pydemo.i: pydemo.h in Python.
%module pydemo
%include "swigkit.i"
%{
#include "pydemo.h"
%}
%include "pydemo.h"
%init %{
  PyModule_SetDocString(m, "pybind11 demo doc");
%}
