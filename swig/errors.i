// errors.i: what stands around every wrapped call: C++ exceptions become Python's by the
// one table in swig/python/py_error.cc, and the function enters the table of symbols.
%include "swigkit/errors.i"
%{
#include "python/py_error.h"
#include "python/symbol.h"
%}

%define PKG_CALL(gil, before, function...)
%exception function {
  PKG_SYMBOL(symbol, "$symname", "$fulldecl", gil, "value");
  try {
    before
    $action
  } catch (...) {
    swigkit::translate();
    SWIG_fail;
  }
}
%enddef

// Without more words a call keeps the GIL.
PKG_CALL("kept", )
// It gives the GIL up by itself while it waits (scheduler/hooks.h).
%define PKG_WAITS(function...)
PKG_CALL("waits", , function)
%enddef
