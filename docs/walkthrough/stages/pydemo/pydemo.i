// SPDX-License-Identifier: Apache-2.0
// pydemo.i: pydemo.h in Python.
%module(docstring="pybind11 demo doc") pydemo
%include "swigkit.i"
%{
#include "pydemo.h"
%}
%include "pydemo.h"
