// SPDX-License-Identifier: Apache-2.0
// pydemo_int.i: pydemo_int.h in Python.
%module(docstring="pybind11 demo doc: two C ints") pydemo_int
%include "swigkit.i"
%{
#include "pydemo_int.h"
%}
%include "pydemo_int.h"
