// errors.i: what stands around every wrapped call: C++ exceptions become Python's by the
// one table in swig/python/py_error.cc, and the function enters the table of symbols.
%include "swigkit/errors.i"
%{
#include "python/py_error.h"
#include "python/symbol.h"
%}

%define PKG_CALL(gil_, result_, function_...)
%exception function_ {
  PKG_SYMBOL(symbol, "$symname", "$fulldecl", gil_, result_);
  try {
    $action
  } catch (...) {
    swigkit::translate();
    SWIG_fail;
  }
}
%enddef

// Without more words a call keeps the GIL.
PKG_CALL("kept", "value")
// The members of classes are no names of the module; the kit's entries catch their
// exceptions.  PKG_FUNCTIONS ends what PKG_CLASSES begins.
%define PKG_CLASSES
%exception;
%enddef
%define PKG_FUNCTIONS
PKG_CALL("kept", "value")
%enddef
// It gives the GIL up by itself while it waits (scheduler/hooks.h).
%define PKG_WAITS(function_...)
PKG_CALL("waits", "value", function_)
%enddef
