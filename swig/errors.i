// errors.i: what stands around every wrapped call: C++ exceptions become Python's by the
// one table in swig/python/py_error.cc; and what pkg.symbols() says of it (py_module.cc):
// whether it gives the GIL up, and what its result shares with C++.
%{
#include "python/py_error.h"
#include "python/py_module.h"
#include "swigkit/listed.h"
%}

// It gives the GIL up by itself while it waits (scheduler/hooks.h).
%define PKG_WAITS(function_...)
%remark(function_, "waits value")
%enddef
