// errors.i: every wrapped call translates C++ exceptions by the one table in
// swig/python/py_error.cc.
%{
#include "python/py_error.h"
%}
%exception {
  try {
    $action
  } catch (...) {
    pkg::python::translate();
    SWIG_fail;
  }
}

// The same for a function that blocks or computes for long: other threads run meanwhile.
// It costs 30 ns when nobody wants the GIL and a switch of threads (25 us) when somebody
// does, so it is not for every call.
%define PKG_RELEASES_GIL(function)
%exception function {
  try {
    pkg::python::GilRelease released;
    $action
  } catch (...) {
    pkg::python::translate();
    SWIG_fail;
  }
}
%enddef
