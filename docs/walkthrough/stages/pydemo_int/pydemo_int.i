// SPDX-License-Identifier: Apache-2.0
// pydemo_int.i: pydemo_int.h in Python.
%module pydemo_int
%include "swigkit.i"
%{
#include "pydemo_int.h"
%}
%include "pydemo_int.h"
%init %{
  PyModule_SetDocString(m, "pybind11 demo doc: two C ints");
%}
