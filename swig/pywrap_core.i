// SPDX-License-Identifier: Apache-2.0
// pywrap_core.i: contents page of the binding.  SWIG wraps the plain functions listed in
// the files below; Tensor and Operator are hand-written in swig/python/.
%module(package="pkg", moduleimport="from ._pywrap_core import *") pywrap_core

%include "swigkit/errors.i"
%include "swigkit/values.i"
%include "swigkit/classes.i"
%include "swigkit/module.i"
%include "errors.i"
%include "tensor.i"
%include "scheduler.i"
%include "autograd.i"
%include "graph.i"
%include "dispatcher.i"
%include "profiler.i"
%include "config.i"

%once_in_a_process("pkg._pywrap_core")
PKG_WAITS(pkg::python::_before_fork)
%include "python/py_module.h"

%init %{
  if (pkg::python::init_module(m) < 0) return -1;
%}
